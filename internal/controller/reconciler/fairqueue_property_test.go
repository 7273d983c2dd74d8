// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// queueModel draws the actions of controllers and workers on a queue, and checks after each step that no request is lost or served by two
// workers, and that no namespace keeps another one from being served.
type queueModel struct {
	q       *fairQueue
	workers int
	// waiting holds the requests that are ready, serving those that a worker has, and again those that were added while a worker had them.
	waiting, serving, again map[reconcile.Request]bool
	// overtaken counts by namespace the requests of each other one that were served while it waited.
	overtaken map[string]map[string]int
}

func newQueueModel(t *rapid.T) *queueModel {
	workers := rapid.IntRange(1, 9).Draw(t, "workers")
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	q := newFairQueue("", workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute), now, workers)
	return &queueModel{q: q, workers: workers, waiting: map[reconcile.Request]bool{}, serving: map[reconcile.Request]bool{},
		again: map[reconcile.Request]bool{}, overtaken: map[string]map[string]int{}}
}

// servable reports whether the queue must hand out a request now.
func (m *queueModel) servable() bool {
	for r := range m.waiting {
		if m.held(r.Namespace) < mostOfOne(m.workers) {
			return true
		}
	}
	return false
}

func (m *queueModel) held(namespace string) int { return countOf(m.serving, namespace) }

func countOf(requests map[reconcile.Request]bool, namespace string) int {
	n := 0
	for r := range requests {
		if r.Namespace == namespace {
			n++
		}
	}
	return n
}

func (m *queueModel) add(t *rapid.T) {
	r := requestOf(rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "namespace"), fmt.Sprint(rapid.IntRange(0, 15).Draw(t, "name")))
	priority := rapid.SampledFrom([]int{0, 0, -100}).Draw(t, "priority")
	m.q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, r)
	if m.serving[r] {
		m.again[r] = true
	} else {
		m.waiting[r] = true
	}
}

func (m *queueModel) take(t *rapid.T) {
	if len(m.serving) == m.workers || !m.servable() {
		t.Skip("no worker is free, or nothing may be served")
	}
	r, _, shutdown := m.q.GetWithPriority()
	if shutdown || !m.waiting[r] || m.serving[r] {
		t.Fatalf("served %v, which does not wait", r)
	}
	delete(m.waiting, r)
	m.serving[r] = true
	m.countTurn(t, r.Namespace)
}

// countTurn fails where a namespace that waits, and may be served, is passed over for more than its turn. Every tenth turn
// serves the lowest priority, so that each of the two has a separate round.
func (m *queueModel) countTurn(t *rapid.T, served string) {
	for _, ns := range []string{"", "a", "b", "c"} {
		if ns == served || countOf(m.waiting, ns) == 0 || m.held(ns) >= mostOfOne(m.workers) {
			delete(m.overtaken, ns)
			continue
		}
		if m.overtaken[ns] == nil {
			m.overtaken[ns] = map[string]int{}
		}
		if m.overtaken[ns][served]++; m.overtaken[ns][served] > 4*lowestTurn {
			t.Fatalf("namespace %q waits while %q is served: %v", ns, served, m.overtaken[ns])
		}
	}
}

func (m *queueModel) finish(t *rapid.T) {
	var held []reconcile.Request
	for _, ns := range []string{"", "a", "b", "c"} {
		for i := range 16 {
			if r := requestOf(ns, fmt.Sprint(i)); m.serving[r] {
				held = append(held, r)
			}
		}
	}
	if len(held) == 0 {
		t.Skip("no worker is busy")
	}
	m.done(rapid.SampledFrom(held).Draw(t, "done"))
}

func (m *queueModel) done(r reconcile.Request) {
	m.q.Done(r)
	delete(m.serving, r)
	if m.again[r] {
		delete(m.again, r)
		m.waiting[r] = true
	}
}

// check runs after each step.
func (m *queueModel) check(t *rapid.T) {
	if m.q.Len() != len(m.waiting) {
		t.Fatalf("%d requests are ready, want %d", m.q.Len(), len(m.waiting))
	}
	for _, ns := range []string{"", "a", "b", "c"} {
		if n := m.held(ns); n > mostOfOne(m.workers) {
			t.Fatalf("namespace %q has %d of %d workers", ns, n, m.workers)
		}
	}
}

// drain serves the remaining requests, and fails where a request is lost.
func (m *queueModel) drain(t *rapid.T) {
	for len(m.waiting)+len(m.serving) > 0 {
		for r := range m.serving {
			m.done(r)
		}
		if len(m.waiting) == 0 {
			continue
		}
		r, _, _ := m.q.GetWithPriority()
		if !m.waiting[r] {
			t.Fatalf("served %v, which does not wait", r)
		}
		delete(m.waiting, r)
		m.serving[r] = true
	}
	if m.q.Len() != 0 {
		t.Fatalf("%d requests are left", m.q.Len())
	}
}

func TestFairQueue_LosesNothingAndServesNamespacesInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newQueueModel(t)
		defer m.q.ShutDown()
		t.Repeat(map[string]func(*rapid.T){"add": m.add, "take": m.take, "finish": m.finish, "": m.check})
		m.drain(t)
	})
}
