// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestRetries(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	r := NewBackoff(Intervals{Stalled: time.Minute, RetryFirst: time.Second, RetryMost: 10 * time.Second}, clock)
	key := types.NamespacedName{Namespace: "ns", Name: "n"}
	req := reconcile.Request{NamespacedName: key}
	within := func(d, from, to time.Duration) {
		t.Helper()
		if d < from || d > to {
			t.Errorf("%v, want %v to %v", d, from, to)
		}
	}
	throttled := &status.Retrying{Reason: status.ReasonThrottled, Cause: errors.New("AWS throttles")}
	stalled := &status.Stalled{Reason: status.ReasonConflict, Message: "m"}

	// Passing failures back off exponentially up to the longest pause, and go to the work queue.
	for _, want := range []time.Duration{1, 2, 4, 8, 10, 10} {
		r.Observe(key, throttled)
		if res, err := r.Result(key, throttled); !errors.Is(err, throttled) || !res.IsZero() {
			t.Fatalf("%+v %v: the work queue does not see the error", res, err)
		}
		within(r.When(req), want*time.Second, min(10, want*13/10+1)*time.Second)
	}
	// A stalled object has its own interval, whatever came before.
	r.Observe(key, stalled)
	within(r.When(req), 54*time.Second, 66*time.Second)
	// Waiting is no error; without a time it is looked at with growing pauses.
	for _, want := range []time.Duration{1, 2, 4} {
		wait := &status.Waiting{For: "AWS"}
		r.Observe(key, wait)
		res, err := r.Result(key, wait)
		if err != nil {
			t.Fatal(err)
		}
		within(res.RequeueAfter, want*time.Second, want*time.Second)
	}
	if res, err := r.Result(key, &status.Waiting{For: "x", After: time.Hour}); err != nil || res.RequeueAfter != time.Hour {
		t.Errorf("%+v %v", res, err)
	}
	// Kubernetes' own answers: gone is done, a conflict is looked at again, any other answer is an error.
	group := schema.GroupResource{Resource: "things"}
	if res, err := r.Failed(key, apierrors.NewNotFound(group, "n")); err != nil || !res.IsZero() {
		t.Errorf("%+v %v", res, err)
	}
	if res, err := r.Failed(key, apierrors.NewConflict(group, "n", errors.New("x"))); err != nil || res.RequeueAfter == 0 {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := r.Failed(key, apierrors.NewForbidden(group, "n", errors.New("x"))); err == nil {
		t.Error("a forbidden request is no error")
	}
}

func TestRetries_ComeSoonAfterManyConflictsInARow(t *testing.T) {
	r := NewBackoff(Intervals{RetryFirst: 500 * time.Millisecond, RetryMost: time.Minute}, testingclock.NewFakePassiveClock(time.Now()))
	key := types.NamespacedName{Name: "n"}
	for range 50 { // a busy namespace has them within a second
		if d := r.Conflict(key).RequeueAfter; d <= 0 || d > conflictRetry {
			t.Fatalf("again after %v", d)
		}
	}
}

func TestRetries_AreSoonerWhileTheAPIServerDoesNotAnswer(t *testing.T) {
	r := NewBackoff(Intervals{RetryFirst: time.Minute, RetryMost: time.Hour}, testingclock.NewFakePassiveClock(time.Now()))
	key := types.NamespacedName{Name: "n"}
	req := reconcile.Request{NamespacedName: key}
	r.Observe(key, apierrors.NewServiceUnavailable("starting"))
	if d := r.When(req); d != outageRetry {
		t.Errorf("%v during an outage, want %v", d, outageRetry)
	}
	r.Observe(key, errors.New("another failure"))
	if d := r.When(req); d < time.Minute {
		t.Errorf("%v after an outage", d)
	}
}

func TestRetries_FailingSince(t *testing.T) {
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	clock := testingclock.NewFakePassiveClock(start)
	r := NewBackoff(Intervals{Check: 5 * time.Minute, Stalled: time.Minute, RetryFirst: 500 * time.Millisecond, RetryMost: time.Minute}, clock)
	key := types.NamespacedName{Name: "n"}
	throttled := &status.Retrying{Cause: errors.New("x")}
	if since := r.Observe(key, throttled); !since.Equal(start) {
		t.Error(since)
	}
	clock.SetTime(start.Add(time.Minute))
	if since := r.Observe(key, throttled); !since.Equal(start) {
		t.Errorf("%v: the series began at %v", since, start)
	}
	if since := r.Observe(key, &status.Waiting{For: "x", Bounded: true}); !since.Equal(start) {
		t.Errorf("%v: a bounded wait ends the series", since)
	}
	for _, end := range []error{nil, &status.Waiting{For: "x"}, &status.Stalled{Message: "x"}} {
		if since := r.Observe(key, end); !since.IsZero() {
			t.Errorf("%v does not end the series", end)
		}
		if since := r.Observe(key, throttled); !since.Equal(start.Add(time.Minute)) {
			t.Errorf("after %v the series goes on from %v", end, since)
		}
	}
}

func TestBackoff_StartsAgainAfterASuccess(t *testing.T) {
	r := NewBackoff(Intervals{RetryFirst: time.Second, RetryMost: time.Hour}, testingclock.NewFakePassiveClock(time.Now()))
	key := types.NamespacedName{Name: "n"}
	req := reconcile.Request{NamespacedName: key}
	for what, end := range map[string]func(){"a success": func() { r.Forget(req) }, "the object's end": func() { r.Drop(key) }} {
		for range 5 {
			r.When(req)
		}
		if n := r.NumRequeues(req); n != 5 {
			t.Fatalf("%d failures are counted, want 5", n)
		}
		if end(); r.NumRequeues(req) != 0 {
			t.Errorf("%s: %d failures are counted", what, r.NumRequeues(req))
		}
		if d := r.When(req); d < time.Second || d > 2*time.Second {
			t.Errorf("%s: the next failure is retried after %s", what, d)
		}
		r.Drop(key)
	}
}
