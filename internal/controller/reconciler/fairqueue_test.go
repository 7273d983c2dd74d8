// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestManyRequestsOfOneNamespaceDoNotDelayOthers(t *testing.T) {
	q := WorkerOptions(1).NewQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	request := func(ns string, n int) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: ns, Name: fmt.Sprint(n)}}
	}
	for i := range 1000 {
		q.Add(request("crowded", i))
	}
	q.Add(request("quiet", 0))
	q.Add(request("", 0))
	q.Add(request("quiet", 1))
	if q.Len() != 1003 {
		t.Errorf("%d requests", q.Len())
	}
	var got []string
	seen := map[reconcile.Request]bool{}
	for range 1003 {
		r, _ := q.Get()
		q.Done(r)
		got, seen[r] = append(got, r.Namespace), true
	}
	if want := "[crowded quiet  crowded quiet crowded]"; fmt.Sprint(got[:6]) != want || len(seen) != 1003 || q.Len() != 0 {
		t.Errorf("served %v and %d in all", got[:6], len(seen))
	}
}

// A request that is added again before it is served keeps its place, and is served once.
func TestFairQueue_ServesARepeatedRequestOnce(t *testing.T) {
	q := WorkerOptions(1).NewQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
	}
	for _, name := range []string{"a", "b", "a", "a"} {
		q.Add(request(name))
	}
	first, _ := q.Get()
	q.Add(request("a")) // while it is reconciled: once more, after those that wait
	q.Done(first)
	var got []string
	for range 2 {
		r, _ := q.Get()
		q.Done(r)
		got = append(got, r.Name)
	}
	if first.Name != "a" || fmt.Sprint(got) != "[b a]" || q.Len() != 0 {
		t.Errorf("served %s, then %v, and %d are left", first.Name, got, q.Len())
	}
}

// fair is a queue with a clock that the test sets.
func fair(t *testing.T) (*fairQueue, *clocktesting.FakeClock) {
	now := clocktesting.NewFakeClock(time.Unix(1000, 0))
	q := newFairQueue("", workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute), now, 1)
	t.Cleanup(q.ShutDown)
	return q, now
}

func requestOf(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// next takes a request from a queue.
func next(q *fairQueue) string {
	r, priority, _ := q.GetWithPriority()
	q.Done(r)
	return fmt.Sprintf("%s/%s %d", r.Namespace, r.Name, priority)
}

func TestFairQueue_ServesHigherPrioritiesFirst(t *testing.T) {
	q, _ := fair(t)
	low := -100
	for i := range 30 {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, requestOf("a", fmt.Sprint(i)))
	}
	for i := range 30 {
		q.Add(requestOf("b", fmt.Sprint(i)))
	}
	q.Add(requestOf("a", "29")) // edited while it waits for its periodic check
	if got := next(q) + ", " + next(q); got != "b/0 0, a/29 0" {
		t.Errorf("served %s", got)
	}
	var checks int
	for range 20 {
		if strings.HasPrefix(next(q), "a/") {
			checks++
		}
	}
	if checks != 2 || q.Len() != 60-22 {
		t.Errorf("%d periodic checks among 20, %d are left", checks, q.Len())
	}
}

func TestFairQueue_HoldsRequestsUntilTheyAreDue(t *testing.T) {
	q, now := fair(t)
	low := -100
	wait := func(n int) {
		t.Helper()
		for range 1000 {
			if q.Len() == n {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatalf("%d requests are ready, want %d", q.Len(), n)
	}
	q.AddWithOpts(priorityqueue.AddOpts{After: 5 * time.Minute, Priority: &low}, requestOf("a", "check"))
	q.AddAfter(requestOf("a", "check"), 10*time.Minute) // the earlier time, and the higher priority
	q.AddRateLimited(requestOf("a", "failed"))
	q.AddRateLimited(requestOf("a", "failed"))
	q.AddWithOpts(priorityqueue.AddOpts{After: time.Hour, Priority: &low}, requestOf("a", "edited"))
	q.Add(requestOf("a", "edited"))
	q.AddAfter(requestOf("a", "edited"), time.Minute) // it is ready, and stays so
	if got := next(q); got != "a/edited 0" || q.NumRequeues(requestOf("a", "failed")) != 2 {
		t.Errorf("served %s", got)
	}
	q.Forget(requestOf("a", "failed"))
	for !now.HasWaiters() {
		time.Sleep(time.Millisecond)
	}
	now.Step(2 * time.Second)
	wait(1)
	if got := next(q); got != "a/failed 0" {
		t.Errorf("served %s", got)
	}
	for now.Since(time.Unix(1000, 0)) < 5*time.Minute {
		now.Step(time.Minute)
		time.Sleep(5 * time.Millisecond)
	}
	wait(1)
	if got := next(q); got != "a/check 0" {
		t.Errorf("served %s", got)
	}
	now.Step(2 * time.Hour)
	time.Sleep(10 * time.Millisecond)
	wait(0)
	q.ShutDownWithDrain()
	if _, _, ended := q.GetWithPriority(); !ended {
		t.Error("a queue that was shut down hands out requests")
	}
}

// Passes that take long hold at most three quarters of the workers, so that another namespace does not wait for their end.
func TestFairQueue_OneNamespaceLeavesWorkersToOthers(t *testing.T) {
	for workers, want := range map[int]int{1: 1, 2: 1, 3: 2, 8: 6, 16: 12} {
		q := WorkerOptions(workers).NewQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		for i := range 3 * workers {
			q.Add(requestOf("slow", fmt.Sprint(i)))
		}
		var held []reconcile.Request
		served := make(chan reconcile.Request)
		take := func() {
			r, _ := q.Get()
			served <- r
		}
		for range want {
			go take()
			held = append(held, <-served)
		}
		go take()
		select {
		case r := <-served:
			t.Errorf("of %d workers, one namespace has %d: %v", workers, want+1, r)
		case <-time.After(20 * time.Millisecond):
			q.Add(requestOf("quiet", "first"))
			if r := <-served; r.Namespace != "quiet" {
				t.Errorf("served %v", r)
			}
			q.Done(held[0]) // the worker takes the next one
			go take()
			if r := <-served; r.Namespace != "slow" {
				t.Errorf("served %v", r)
			}
		}
		if n := q.Len(); n < 2*workers-1 {
			t.Errorf("%d requests wait", n)
		}
		q.ShutDown()
	}
}

// No worker sleeps for good while a request waits that it may serve, whichever worker ends when.
func TestFairQueue_WorkersServeEveryRequest(t *testing.T) {
	const workers, namespaces, each = 8, 4, 500
	q := WorkerOptions(workers).NewQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	served := make(chan reconcile.Request)
	for range workers {
		go func() {
			for r, ended := q.Get(); !ended; r, ended = q.Get() {
				served <- r
				q.Done(r)
			}
		}()
	}
	for ns := range namespaces {
		go func() {
			for i := range each {
				q.Add(requestOf(fmt.Sprint(ns), fmt.Sprint(i)))
			}
		}()
	}
	seen := map[reconcile.Request]bool{}
	for range namespaces * each {
		select {
		case r := <-served:
			seen[r] = true
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of %d were served, and %d wait", len(seen), namespaces*each, q.Len())
		}
	}
	q.ShutDown()
	if len(seen) != namespaces*each {
		t.Errorf("%d of %d were served", len(seen), namespaces*each)
	}
}
