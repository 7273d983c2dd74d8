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

// passSpacing is the delay that collects the events of a capability's children: while a capability is created, its forty children change
// three times each within seconds. An edit of the capability itself does not wait.
const passSpacing = 200 * time.Millisecond

// progressSpacing is the least time between statuses of a capability that show only progress.
const progressSpacing = time.Second

// spacing knows when something was last done for each object: when a pass began, or a status was written. While it is done for more
// than a few objects at a time, the spacing of each grows with their number, so that the work for all of them does not. One alone is
// not slowed down.
type spacing struct {
	clock clock.PassiveClock
	apart time.Duration
	// few is for how many objects the spacing does not grow, and most how many times as long it becomes.
	few, most int

	mu   sync.Mutex
	last map[types.NamespacedName]time.Time
	// recent are the latest times, the oldest first, and underWay how many of them each object has.
	recent   []begun
	underWay map[types.NamespacedName]int
}

type begun struct {
	key types.NamespacedName
	at  time.Time
}

// newPassSpacing returns the spacing of passes: of more than eight capabilities, all together, some forty begin in a second.
func newPassSpacing(c clock.PassiveClock) *spacing { return newSpacing(c, passSpacing, 8, 5) }

// newStatusSpacing returns the spacing of statuses that show only progress: half a minute with many capabilities.
func newStatusSpacing(c clock.PassiveClock) *spacing { return newSpacing(c, progressSpacing, 2, 30) }

func newSpacing(c clock.PassiveClock, apart time.Duration, few, most int) *spacing {
	return &spacing{clock: c, apart: apart, few: few, most: most, last: map[types.NamespacedName]time.Time{}, underWay: map[types.NamespacedName]int{}}
}

// begin notes that it is done now.
func (s *spacing) begin(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.last[key] = now
	s.recent = append(s.recent, begun{key, now})
	s.underWay[key]++
	s.dropOld(now)
}

// dropOld forgets passes that began so long ago that they do not count as under way.
func (s *spacing) dropOld(now time.Time) {
	for len(s.recent) > 0 {
		first := s.recent[0]
		if age := now.Sub(first.at); age >= 0 && age <= time.Duration(s.most)*s.apart {
			return
		}
		s.recent = s.recent[1:]
		if s.underWay[first.key]--; s.underWay[first.key] == 0 {
			delete(s.underWay, first.key)
		}
	}
}

func (s *spacing) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, key)
}

// delay returns how long the next one waits from now.
func (s *spacing) delay(key types.NamespacedName) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last[key]
	if !ok {
		return 0
	}
	now := s.clock.Now()
	s.dropOld(now)
	apart := s.apart * time.Duration(min(max(s.few, len(s.underWay)), s.most*s.few)) / time.Duration(s.few)
	return min(max(0, apart-now.Sub(last)), apart)
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

// spacedQueue delays the requests that are added. A request that is due earlier stays so.
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
