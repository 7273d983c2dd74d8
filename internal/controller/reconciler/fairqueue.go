// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"k8s.io/client-go/util/workqueue"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// FairOptions returns controller options with a queue that serves namespaces in turn: however many requests one
// namespace has, another one's waits for at most one pass of each. Requests of cluster scope are one more
// namespace.
func FairOptions(workers int) ctrlcontroller.Options {
	o := WorkerOptions(workers)
	o.NewQueue = func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: newTurns()})
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{
			Name:          name,
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{Name: name, Queue: queue}),
		})
	}
	return o
}

// turns stores the requests of a work queue, which locks it. It implements workqueue.Queue.
type turns struct {
	// waiting holds the requests of each namespace, in the order in which they came.
	waiting map[string][]reconcile.Request
	// order are the namespaces that have any; the first one is served next.
	order []string
	size  int
}

func newTurns() *turns { return &turns{waiting: map[string][]reconcile.Request{}} }

// Touch implements workqueue.Queue: a request that is added again keeps its place.
func (t *turns) Touch(reconcile.Request) {}

// Push implements workqueue.Queue.
func (t *turns) Push(r reconcile.Request) {
	if len(t.waiting[r.Namespace]) == 0 {
		t.order = append(t.order, r.Namespace)
	}
	t.waiting[r.Namespace] = append(t.waiting[r.Namespace], r)
	t.size++
}

// Len implements workqueue.Queue.
func (t *turns) Len() int { return t.size }

// Pop implements workqueue.Queue: the namespace that is served goes to the end of the line.
func (t *turns) Pop() reconcile.Request {
	ns := t.order[0]
	t.order = t.order[1:]
	r := t.waiting[ns][0]
	t.size--
	if rest := t.waiting[ns][1:]; len(rest) > 0 {
		t.waiting[ns] = rest
		t.order = append(t.order, ns)
	} else {
		delete(t.waiting, ns)
	}
	return r
}
