// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// passSpacing is how long the events of a capability's children wait for each other: while a capability is created, its
// forty children change three times each within seconds. An edit of the capability itself does not wait.
const passSpacing = 200 * time.Millisecond

// progressSpacing is how long a status of a capability that tells of nothing but progress waits for the one before.
const progressSpacing = time.Second

// spacing knows when something was last done for each object: when a pass began, or a status was written.
type spacing struct {
	clock clock.PassiveClock
	apart time.Duration
	mu    sync.Mutex
	last  map[types.NamespacedName]time.Time
}

func newSpacing(c clock.PassiveClock, apart time.Duration) *spacing {
	return &spacing{clock: c, apart: apart, last: map[types.NamespacedName]time.Time{}}
}

// begin notes that it is done now.
func (s *spacing) begin(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[key] = s.clock.Now()
}

func (s *spacing) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, key)
}

// delay is how long the next one waits from now.
func (s *spacing) delay(key types.NamespacedName) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last[key]
	if !ok {
		return 0
	}
	return min(max(0, s.apart-s.clock.Since(last)), s.apart)
}

// handler has an event handler's requests wait until the spacing is over.
func (s *spacing) handler(h handler.EventHandler) handler.EventHandler { return spaced{h, s} }

type spaced struct {
	inner   handler.EventHandler
	spacing *spacing
}

type requestQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (s spaced) queue(q requestQueue) requestQueue {
	if p, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		return spacedQueue{p, s.spacing}
	}
	return q
}

// Create implements handler.EventHandler.
func (s spaced) Create(ctx context.Context, e event.CreateEvent, q requestQueue) {
	s.inner.Create(ctx, e, s.queue(q))
}

// Update implements handler.EventHandler.
func (s spaced) Update(ctx context.Context, e event.UpdateEvent, q requestQueue) {
	s.inner.Update(ctx, e, s.queue(q))
}

// Delete implements handler.EventHandler.
func (s spaced) Delete(ctx context.Context, e event.DeleteEvent, q requestQueue) {
	s.inner.Delete(ctx, e, s.queue(q))
}

// Generic implements handler.EventHandler.
func (s spaced) Generic(ctx context.Context, e event.GenericEvent, q requestQueue) {
	s.inner.Generic(ctx, e, s.queue(q))
}

// spacedQueue delays what is added. A request that is due earlier stays so.
type spacedQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	spacing *spacing
}

// AddWithOpts implements priorityqueue.PriorityQueue.
func (q spacedQueue) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	for _, item := range items {
		each := o
		each.After = max(o.After, q.spacing.delay(item.NamespacedName))
		q.PriorityQueue.AddWithOpts(each, item)
	}
}

// Add implements workqueue.TypedInterface.
func (q spacedQueue) Add(item reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, item) }

// AddAfter implements workqueue.TypedDelayingInterface.
func (q spacedQueue) AddAfter(item reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, item)
}
