// SPDX-License-Identifier: Apache-2.0

package securityintent

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakeapi"
)

var start = fakeapi.Start()

// bed is a reconciler before a fake API server that has one intent.
type bed struct {
	*testing.T
	*Reconciler
	api    *fakeapi.API
	clock  *testingclock.FakePassiveClock
	events *events.FakeRecorder
	intent *v1alpha1.SecurityIntent
}

func newBed(t *testing.T, id string, params v1alpha1.Params) *bed {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	i := &v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: "dns", Generation: 1}}
	i.Spec.Intent = v1alpha1.Intent{ID: id, Action: v1alpha1.Block, Params: params}
	api := fakeapi.New(fake.NewClientBuilder().WithScheme(scheme).WithObjects(i).WithStatusSubresource(i))
	b := &bed{T: t, api: api, clock: testingclock.NewFakePassiveClock(start), events: events.NewFakeRecorder(10), intent: i}
	b.Reconciler = &Reconciler{reconciler.Environment{Client: api, Live: api.Live(), Clock: b.clock,
		Events: reconciler.Events{Recorder: b.events}}}
	return b
}

func (b *bed) pass() (reconcile.Result, error) {
	b.Helper()
	return b.Reconcile(b.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(b.intent)})
}

func (b *bed) passed() {
	b.Helper()
	if res, err := b.pass(); err != nil || !res.IsZero() {
		b.Fatalf("%+v %v: an edit wakes it, nothing else", res, err)
	}
	b.api.Read(b, b.intent)
}

func (b *bed) edit(change func(i *v1alpha1.SecurityIntent)) {
	b.Helper()
	change(b.intent)
	b.intent.Generation++
	if err := b.api.Store.Update(b.Context(), b.intent); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) shows(kind, status, reason string, texts ...string) {
	b.Helper()
	fakeapi.CheckCondition(b, b.intent.Status.Conditions, kind, status, reason, texts...)
	if c := meta.FindStatusCondition(b.intent.Status.Conditions, kind); c != nil && c.ObservedGeneration != b.intent.Generation {
		b.Errorf("condition %s is of generation %d, want %d", kind, c.ObservedGeneration, b.intent.Generation)
	}
}

func (b *bed) takeEvents() []string { return fakeapi.TakeEvents(b.events) }

func TestReconcile_ReportsAValidIntentOnce(t *testing.T) {
	b := newBed(t, "dnsManipulation", nil)
	b.passed()
	b.shows("Ready", "True", "Ready")
	if s := b.intent.Status; s.ID != "dnsManipulation" || s.Action != "Block" || s.Status != v1alpha1.StatusCreated ||
		s.ObservedGeneration != 1 {
		t.Errorf("status %+v", s)
	}
	if got := b.api.Writes(); !slices.Equal(got, []string{"status SecurityIntent /dns"}) {
		t.Errorf("writes %q", got)
	}
	b.clock.SetTime(start.Add(time.Hour))
	b.passed()
	if got := b.api.Writes(); len(got) != 0 {
		t.Errorf("a second pass writes %q", got)
	}
	if got := b.takeEvents(); len(got) != 0 {
		t.Errorf("events %q", got)
	}
}

func TestReconcile_SaysWhatIsWrongWithAnIntent(t *testing.T) {
	for _, c := range []struct {
		name, id string
		params   v1alpha1.Params
		reason   string
		texts    []string
	}{
		{"unknown", "dnsManipulaton", nil, "UnknownIntent", []string{"spec.intent.id", `"dnsManipulaton"`, "docs/intents.md"}},
		{"a parameter that it does not have", "dnsManipulation", v1alpha1.Params{"nope": {"x"}}, "InvalidParams",
			[]string{"spec.intent", "nope"}},
		{"a value that it does not take", "escapeToHost", v1alpha1.Params{"psaLevel": {"lax"}}, "InvalidParams", []string{"psaLevel", "lax"}},
	} {
		b := newBed(t, c.id, c.params)
		for range 3 {
			b.passed()
		}
		b.shows("Ready", "False", c.reason, c.texts...)
		b.shows("Stalled", "True", c.reason)
		if got := b.takeEvents(); len(got) != 1 || !strings.HasPrefix(got[0], "Warning "+c.reason) {
			t.Errorf("%s: events %q, want one", c.name, got)
		}
		if got := b.api.Writes(); len(got) != 1 {
			t.Errorf("%s: writes %q", c.name, got)
		}
		b.edit(func(i *v1alpha1.SecurityIntent) { i.Spec.Intent.ID, i.Spec.Intent.Params = "dnsManipulation", nil })
		b.passed()
		b.shows("Ready", "True", "Ready")
		b.shows("Stalled", "False", "Ready")
		b.edit(func(i *v1alpha1.SecurityIntent) { i.Spec.Intent.ID, i.Spec.Intent.Params = c.id, c.params })
		b.passed()
		if got := b.takeEvents(); len(got) != 1 {
			t.Errorf("%s, again: events %q", c.name, got)
		}
	}
}

func TestReconcile_AcceptsAliases(t *testing.T) {
	b := newBed(t, "pkgManagerExecution", nil)
	b.passed()
	b.shows("Ready", "True", "Ready")
	if b.intent.Status.ID != "pkgManagerExecution" {
		t.Errorf("shows %s, which its user did not write", b.intent.Status.ID)
	}
}

func TestReconcile_BoundsTheNoteOfItsEvent(t *testing.T) {
	b := newBed(t, strings.Repeat("x", 3000), nil)
	b.passed()
	if got := b.takeEvents(); len(got) != 1 || len(got[0]) > 1024 {
		t.Errorf("the API server refuses this event: %d", len(got[0]))
	}
}

func TestReconcile_ReturnsWhatTheAPIServerAnswers(t *testing.T) {
	dns := schema.GroupResource{Resource: "securityintents"}
	for _, c := range []struct {
		call  string
		err   error
		fails bool
	}{
		{"get SecurityIntent", apierrors.NewServiceUnavailable("restarts"), true},
		{"get SecurityIntent", apierrors.NewNotFound(dns, "dns"), false},
		{"status SecurityIntent", apierrors.NewForbidden(dns, "dns", errors.New("RBAC says no")), true},
		{"status SecurityIntent", apierrors.NewServiceUnavailable("restarts"), true},
		{"status SecurityIntent", apierrors.NewNotFound(dns, "dns"), false},
	} {
		b := newBed(t, "dnsManipulation", nil)
		b.api.Fail(c.call, c.err)
		if res, err := b.pass(); (err != nil) != c.fails || !res.IsZero() {
			t.Errorf("%s %v: %+v %v", c.call, c.err, res, err)
		}
		b.api.Fail(c.call, nil)
		b.passed()
		b.shows("Ready", "True", "Ready")
	}
}

func TestReconcile_LeavesAnIntentThatIsBeingDeleted(t *testing.T) {
	b := newBed(t, "dnsManipulation", nil)
	b.intent.Finalizers = []string{"example.com/x"}
	b.edit(func(*v1alpha1.SecurityIntent) {})
	if err := b.api.Store.Delete(t.Context(), b.intent); err != nil {
		t.Fatal(err)
	}
	b.passed()
	if got := b.api.Writes(); len(got) != 0 {
		t.Errorf("writes %q", got)
	}
}
