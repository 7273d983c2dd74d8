// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/driftevents"
)

const (
	// eventGap is the least time between two checks of an object that events cause.
	eventGap = 10 * time.Second
	// eventPriority puts checks that events cause behind new objects and edits, and before periodic checks.
	eventPriority = -50
	// restPriority is that of periodic checks.
	restPriority = -100
)

// changes remembers the changes in AWS that events reported, of each object the newest one until a check has looked at the resource.
type changes struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	// due holds the start time of the last check that an event caused, past or future.
	due   map[types.NamespacedName]time.Time
	event map[types.NamespacedName]driftevents.Event
}

func newChanges() *changes {
	return &changes{due: map[types.NamespacedName]time.Time{}, event: map[types.NamespacedName]driftevents.Event{}}
}

// start keeps the queue of the controller; it implements source.Func.
func (c *changes) start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = queue
	return nil
}

// record keeps an event and returns when the check is to begin, and whether it is still to be requested.
func (c *changes) record(key types.NamespacedName, e driftevents.Event, now time.Time) (due time.Time, request bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Names = nil
	if had, ok := c.event[key]; !ok || !had.Time.After(e.Time) {
		c.event[key] = e
	}
	last, ok := c.due[key]
	if ok && last.After(now) {
		return last, false
	}
	due = now
	if next := last.Add(eventGap); ok && next.After(now) {
		due = next
	}
	c.due[key] = due
	return due, true
}

// enqueue adds a request after a time. Priorities are those of controller-runtime.
func (c *changes) enqueue(key types.NamespacedName, after time.Duration, priority int) {
	c.mu.Lock()
	queue := c.queue
	c.mu.Unlock()
	request := reconcile.Request{NamespacedName: key}
	switch q := queue.(type) {
	case nil: // the controller has not started: its first look at the object comes
	case priorityqueue.PriorityQueue[reconcile.Request]:
		q.AddWithOpts(priorityqueue.AddOpts{After: after, Priority: &priority}, request)
	default:
		q.AddAfter(request, after)
	}
}

// reported returns the newest event about an object that no check has served.
func (c *changes) reported(key types.NamespacedName) (driftevents.Event, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.event[key]
	return e, ok
}

// served drops an event after a check, unless a newer one arrived.
func (c *changes) served(key types.NamespacedName, e driftevents.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if had, ok := c.event[key]; ok && had.ID == e.ID && had.Time.Equal(e.Time) {
		delete(c.event, key)
	}
}

func (c *changes) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.due, key)
	delete(c.event, key)
}
