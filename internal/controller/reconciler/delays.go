// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"container/heap"
	"math"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// delays holds requests until they are due. Each is there once.
type delays struct {
	clock clock.WithTicker
	// due is called with each request when it is due, and with its priority.
	due func(reconcile.Request, int)

	mu      sync.Mutex
	byKey   map[reconcile.Request]*delayed
	byTime  delayHeap
	changed chan struct{}
	done    chan struct{}
	once    sync.Once
}

type delayed struct {
	request  reconcile.Request
	priority int
	at       time.Time
	index    int
}

func newDelays(now clock.WithTicker, due func(reconcile.Request, int)) *delays {
	return &delays{clock: now, due: due, byKey: map[reconcile.Request]*delayed{}, changed: make(chan struct{}, 1), done: make(chan struct{})}
}

// add has a request wait; one that waits already is due at the earlier time, with the higher priority.
func (d *delays) add(r reconcile.Request, priority int, after time.Duration) {
	at := d.clock.Now().Add(after)
	d.mu.Lock()
	if have, ok := d.byKey[r]; ok {
		have.priority = max(have.priority, priority)
		if at.Before(have.at) {
			have.at = at
			heap.Fix(&d.byTime, have.index)
		}
	} else {
		have = &delayed{request: r, priority: priority, at: at}
		d.byKey[r] = have
		heap.Push(&d.byTime, have)
	}
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// remove takes out a request that is due before its time, and returns its priority; a low one if it did not wait.
func (d *delays) remove(r reconcile.Request, lowest int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	have, ok := d.byKey[r]
	if !ok {
		return lowest
	}
	d.take(have)
	return have.priority
}

func (d *delays) take(have *delayed) {
	heap.Remove(&d.byTime, have.index)
	delete(d.byKey, have.request)
}

// takeDue takes out the requests that are due, and returns how long the next one waits.
func (d *delays) takeDue() (due []*delayed, next time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	for len(d.byTime) > 0 {
		first := d.byTime[0]
		if wait := first.at.Sub(now); wait > 0 {
			return due, wait
		}
		d.take(first)
		due = append(due, first)
	}
	return due, math.MaxInt64
}

// run hands out requests as they are due, until stop.
func (d *delays) run() {
	for {
		due, next := d.takeDue()
		for _, each := range due {
			d.due(each.request, each.priority)
		}
		timer := d.clock.NewTimer(next)
		select {
		case <-d.done:
			timer.Stop()
			return
		case <-d.changed:
		case <-timer.C():
		}
		timer.Stop()
	}
}

func (d *delays) stop() { d.once.Do(func() { close(d.done) }) }

// delayHeap orders by time.
type delayHeap []*delayed

// Len implements heap.Interface.
func (h delayHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h delayHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

// Swap implements heap.Interface.
func (h delayHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *delayHeap) Push(x any) {
	item := x.(*delayed)
	item.index = len(*h)
	*h = append(*h, item)
}

// Pop implements heap.Interface.
func (h *delayHeap) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return item
}
