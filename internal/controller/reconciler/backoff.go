// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Backoff is the rate limiter of a controller's work queue: it decides when to retry an object after its reconcile returned an error. A
// stalled object has its own interval, because only a person or another object can end its failure; other failures back off exponentially,
// to shorter pauses while the API server does not answer.
type Backoff struct {
	intervals Intervals
	clock     clock.PassiveClock
	backoff   workqueue.TypedRateLimiter[reconcile.Request]
	waits     workqueue.TypedRateLimiter[reconcile.Request]
	conflicts workqueue.TypedRateLimiter[reconcile.Request]

	mu      sync.Mutex
	stalled map[types.NamespacedName]bool
	failing map[types.NamespacedName]time.Time
	// outages are the objects without an answer from the API server, or from a webhook that it calls, in their last pass.
	outages map[types.NamespacedName]bool
}

// NewBackoff returns the rate limiter of a controller.
func NewBackoff(p Intervals, c clock.PassiveClock) *Backoff {
	limiter := func(most time.Duration) workqueue.TypedRateLimiter[reconcile.Request] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](min(p.RetryFirst, most), most)
	}
	return &Backoff{
		intervals: p, clock: c, backoff: limiter(p.RetryMost), waits: limiter(p.RetryMost), conflicts: limiter(min(p.RetryMost, conflictRetry)),
		stalled: map[types.NamespacedName]bool{}, failing: map[types.NamespacedName]time.Time{}, outages: map[types.NamespacedName]bool{},
	}
}

// When implements workqueue.TypedRateLimiter.
func (r *Backoff) When(req reconcile.Request) time.Duration {
	r.mu.Lock()
	stalled, most := r.stalled[req.NamespacedName], r.intervals.RetryMost
	if r.outages[req.NamespacedName] {
		most = min(most, outageRetry)
	}
	r.mu.Unlock()
	if stalled {
		r.backoff.Forget(req)
		return r.intervals.Jitter(r.intervals.Stalled)
	}
	d := r.backoff.When(req)
	return min(d+time.Duration(0.3*rand.Float64()*float64(d)), most)
}

// Forget implements workqueue.TypedRateLimiter. The work queue calls it after each reconcile without an
// error.
func (r *Backoff) Forget(req reconcile.Request) { r.backoff.Forget(req) }

// NumRequeues implements workqueue.TypedRateLimiter.
func (r *Backoff) NumRequeues(req reconcile.Request) int { return r.backoff.NumRequeues(req) }

// Observe notes how a pass over an object ended and returns since when its passing failures, or bounded waits, last
// without a break; zero when it did not end so.
func (r *Backoff) Observe(key types.NamespacedName, err error) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, isStalled := status.AsStalled(err)
	waiting, isWaiting := status.AsWaiting(err)
	if isStalled {
		r.stalled[key] = true
	} else {
		delete(r.stalled, key)
	}
	delete(r.outages, key)
	r.conflicts.Forget(reconcile.Request{NamespacedName: key})
	if passesSoon(err) {
		r.outages[key] = true
	}
	if !isWaiting {
		r.waits.Forget(reconcile.Request{NamespacedName: key})
	}
	if !IsTransient(err) && (!isWaiting || !waiting.Bounded) {
		delete(r.failing, key)
		return time.Time{}
	}
	if _, known := r.failing[key]; !known {
		r.failing[key] = r.clock.Now()
	}
	return r.failing[key]
}

// Result returns the result of Reconcile for a failed pass. Waiting is no error and is looked at again; every
// other failure goes to the work queue, which counts it, logs it and asks When.
func (r *Backoff) Result(key types.NamespacedName, err error) (reconcile.Result, error) {
	w, ok := status.AsWaiting(err)
	if !ok {
		return reconcile.Result{}, err
	}
	if w.After > 0 {
		return reconcile.Result{RequeueAfter: w.After}, nil
	}
	return reconcile.Result{RequeueAfter: r.waits.When(reconcile.Request{NamespacedName: key})}, nil
}

// Failed returns the result of Reconcile for an error outside a pass. An object that is gone is no failure.
func (r *Backoff) Failed(key types.NamespacedName, err error) (reconcile.Result, error) {
	if client.IgnoreNotFound(err) == nil {
		return reconcile.Result{}, nil
	}
	if apierrors.IsConflict(err) {
		return r.Conflict(key), nil
	}
	r.Observe(key, err)
	return r.Result(key, err)
}

// conflictRetry is the longest pause between passes that each met something newer than they had read. A busy namespace has many such
// passes in a row, which events bring about, and after the last of them no event may come any more.
const conflictRetry = 2 * time.Second

// Conflict is the result of a write that met a newer version of the object: the event of that
// version usually brings the object back sooner.
func (r *Backoff) Conflict(key types.NamespacedName) reconcile.Result {
	return reconcile.Result{RequeueAfter: r.conflicts.When(reconcile.Request{NamespacedName: key})}
}

// Drop forgets an object that is gone.
func (r *Backoff) Drop(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.stalled, key)
	delete(r.failing, key)
	delete(r.outages, key)
	req := reconcile.Request{NamespacedName: key}
	r.waits.Forget(req)
	r.conflicts.Forget(req)
	r.backoff.Forget(req)
}

// IsTransient reports whether an error may pass without a person and is not merely waiting.
func IsTransient(err error) bool {
	_, isStalled := status.AsStalled(err)
	_, isWaiting := status.AsWaiting(err)
	return err != nil && !isStalled && !isWaiting
}
