// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Start is the start time of the clocks of tests.
func Start() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// things are the resources that the errors below are about.
var things = schema.GroupResource{Resource: "things"}

// Outage returns the error that a client gets while no API server answers.
func Outage() *apierrors.StatusError {
	return apierrors.NewServiceUnavailable("the API server restarts")
}

// Forbidden returns the error that a client without a right gets.
func Forbidden() *apierrors.StatusError {
	return apierrors.NewForbidden(things, "x", errors.New("RBAC says no"))
}

// Conflict returns the error that the second of two writers gets.
func Conflict() *apierrors.StatusError {
	return apierrors.NewConflict(things, "x", errors.New("the object has been modified"))
}

// Read reads an object as it is in the store.
func (a *API) Read(t testing.TB, o client.Object) {
	t.Helper()
	if err := a.Store.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
}

// CheckWrites checks the writes since the last call, in any order.
func (a *API) CheckWrites(t testing.TB, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := a.Writes(); !slices.Equal(got, want) {
		t.Errorf("writes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// CheckCondition checks one of an object's conditions, and that its message has all of the texts.
func CheckCondition(t testing.TB, conditions []metav1.Condition, kind, status, reason string, texts ...string) {
	t.Helper()
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil || string(c.Status) != status || c.Reason != reason {
		t.Errorf("condition %s is %+v, want %s %s", kind, c, status, reason)
		return
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			t.Errorf("condition %s: %q lacks %q", kind, c.Message, text)
		}
	}
}

// TakeEvents returns the events since the last call.
func TakeEvents(from *events.FakeRecorder) (out []string) {
	for {
		select {
		case e := <-from.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// CheckEvent checks that there was exactly one event since the last call, and that it has all of the texts; without texts, none.
func CheckEvent(t testing.TB, from *events.FakeRecorder, texts ...string) {
	t.Helper()
	got := TakeEvents(from)
	if len(got) != min(1, len(texts)) || slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(got[0], s) }) {
		t.Errorf("events %q, want one with %q", got, texts)
	}
}
