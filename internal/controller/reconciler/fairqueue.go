// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fairQueue is a work queue that serves the namespaces in turn: however many requests one namespace has, another one's waits for at most
// one of each. However long they take, one namespace has three quarters of the workers at most. Among the requests that are ready, those of
// a higher priority go first, except for every tenth. A request is in the queue once: with the highest priority and the earliest time of
// all its additions.
type fairQueue struct {
	workqueue.TypedInterface[reconcile.Request]
	turns   *turns
	delays  *delays
	limiter workqueue.TypedRateLimiter[reconcile.Request]
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = (*fairQueue)(nil)

func newFairQueue(name string, limiter workqueue.TypedRateLimiter[reconcile.Request], now clock.WithTicker, workers int) *fairQueue {
	t := newTurns(mostOfOne(workers))
	q := &fairQueue{turns: t, limiter: limiter,
		TypedInterface: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: t, Clock: now})}
	q.delays = newDelays(now, q.addReady)
	go q.delays.run()
	return q
}

// AddWithOpts implements priorityqueue.PriorityQueue.
func (q *fairQueue) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	for _, r := range items {
		after := o.After
		if o.RateLimited {
			if limited := q.limiter.When(r); after == 0 || limited < after {
				after = limited
			}
		}
		switch {
		case after <= 0:
			q.addReady(r, max(priority, q.delays.remove(r, priority)))
		case q.turns.raise(r, priority): // it is ready already
		default:
			q.delays.add(r, priority, after)
		}
	}
}

// addReady adds a request that need not wait.
func (q *fairQueue) addReady(r reconcile.Request, priority int) {
	q.turns.offer(r, priority)
	q.TypedInterface.Add(r)
}

// Add implements workqueue.TypedInterface.
func (q *fairQueue) Add(r reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, r) }

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *fairQueue) AddAfter(r reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, r)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *fairQueue) AddRateLimited(r reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, r)
}

// Forget implements workqueue.TypedRateLimitingInterface.
func (q *fairQueue) Forget(r reconcile.Request) { q.limiter.Forget(r) }

// NumRequeues implements workqueue.TypedRateLimitingInterface.
func (q *fairQueue) NumRequeues(r reconcile.Request) int { return q.limiter.NumRequeues(r) }

// GetWithPriority implements priorityqueue.PriorityQueue.
func (q *fairQueue) GetWithPriority() (r reconcile.Request, priority int, shutdown bool) {
	r, shutdown = q.Get()
	return r, q.turns.served(r), shutdown
}

// Done implements workqueue.TypedInterface. It wakes no other worker for a namespace that has a worker less now: the one that
// calls Done takes the next request, as each worker of controller-runtime does.
func (q *fairQueue) Done(r reconcile.Request) {
	q.turns.done(r) // before the request may be served again
	q.TypedInterface.Done(r)
}

// Len implements workqueue.TypedInterface: it counts the requests of namespaces that have their share of the workers, too.
func (q *fairQueue) Len() int {
	q.turns.mu.Lock()
	defer q.turns.mu.Unlock()
	return q.turns.size
}

// ShutDown implements workqueue.TypedInterface.
func (q *fairQueue) ShutDown() {
	q.delays.stop()
	q.TypedInterface.ShutDown()
}

// ShutDownWithDrain implements workqueue.TypedInterface.
func (q *fairQueue) ShutDownWithDrain() {
	q.delays.stop()
	q.TypedInterface.ShutDownWithDrain()
}

// lowestTurn is the number of turns in a cycle. One turn of each cycle serves the lowest priority first, so that a namespace that always
// has new requests delays the periodic checks of others and does not stop them.
const lowestTurn = 10

// turns stores the requests of a work queue that are ready. It implements workqueue.Queue.
type turns struct {
	mu sync.Mutex
	// priority is that of each request from the time when it was added until it is served.
	priority map[reconcile.Request]int
	// serving is the priority of each request that is being reconciled.
	serving map[reconcile.Request]int
	// workersOf counts those requests by namespace, and most limits them.
	workersOf map[string]int
	most      int
	// levels hold the requests by priority, the highest first.
	levels []*level
	size   int
	pops   int
}

// level holds the requests of one priority.
type level struct {
	priority int
	// waiting holds the requests of each namespace, in the order of their arrival.
	waiting map[string][]reconcile.Request
	// order are the namespaces that have any; the first one is served next.
	order []string
}

func newTurns(most int) *turns {
	return &turns{priority: map[reconcile.Request]int{}, serving: map[reconcile.Request]int{}, workersOf: map[string]int{}, most: most}
}

// offer records the priority of a request that is added next. A priority that was recorded before is never lowered.
func (t *turns) offer(r reconcile.Request, priority int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if had, ok := t.priority[r]; ok {
		t.move(r, had, priority)
	} else {
		t.priority[r] = priority
	}
}

// raise records a higher priority of a request that is ready, and reports whether it is.
func (t *turns) raise(r reconcile.Request, priority int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	had, ready := t.priority[r]
	if ready {
		t.move(r, had, priority)
	}
	return ready
}

func (t *turns) move(r reconcile.Request, had, priority int) {
	if priority <= had {
		return
	}
	t.priority[r] = priority
	if t.remove(r, had) {
		t.insert(r, priority)
	}
}

// served returns the priority of a request that was handed out.
func (t *turns) served(r reconcile.Request) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.serving[r]
}

// done gives the worker of a request back to its namespace.
func (t *turns) done(r reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.serving[r]; !ok {
		return
	}
	delete(t.serving, r)
	if t.workersOf[r.Namespace]--; t.workersOf[r.Namespace] == 0 {
		delete(t.workersOf, r.Namespace)
	}
}

// hasItsShare reports whether a namespace has as many workers as it may have.
func (t *turns) hasItsShare(namespace string) bool { return t.workersOf[namespace] >= t.most }

// Touch implements workqueue.Queue: a request that is added again keeps its place.
func (t *turns) Touch(reconcile.Request) {}

// Push implements workqueue.Queue.
func (t *turns) Push(r reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.priority[r] += 0 // it is ready, also if its priority was that of the request that was served meanwhile
	t.insert(r, t.priority[r])
}

func (t *turns) insert(r reconcile.Request, priority int) {
	i, found := slices.BinarySearchFunc(t.levels, priority, func(l *level, p int) int { return p - l.priority })
	if !found {
		t.levels = slices.Insert(t.levels, i, &level{priority: priority, waiting: map[string][]reconcile.Request{}})
	}
	l := t.levels[i]
	if len(l.waiting[r.Namespace]) == 0 {
		l.order = append(l.order, r.Namespace)
	}
	l.waiting[r.Namespace] = append(l.waiting[r.Namespace], r)
	t.size++
}

// remove takes a request out of the level of a priority, and reports whether it was there.
func (t *turns) remove(r reconcile.Request, priority int) bool {
	i := slices.IndexFunc(t.levels, func(l *level) bool { return l.priority == priority })
	if i < 0 {
		return false
	}
	l := t.levels[i]
	at := slices.Index(l.waiting[r.Namespace], r)
	if at < 0 {
		return false
	}
	l.waiting[r.Namespace] = slices.Delete(l.waiting[r.Namespace], at, at+1)
	if len(l.waiting[r.Namespace]) == 0 {
		delete(l.waiting, r.Namespace)
		l.order = slices.DeleteFunc(l.order, func(ns string) bool { return ns == r.Namespace })
	}
	t.size--
	t.dropEmpty(i)
	return true
}

func (t *turns) dropEmpty(i int) {
	if len(t.levels[i].order) == 0 {
		t.levels = slices.Delete(t.levels, i, i+1)
	}
}

// Len implements workqueue.Queue: it counts the requests that may be served now.
func (t *turns) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.size
	for ns := range t.workersOf {
		if t.hasItsShare(ns) {
			for _, l := range t.levels {
				n -= len(l.waiting[ns])
			}
		}
	}
	return n
}

// Pop implements workqueue.Queue: the namespace that is served goes to the end of the line.
func (t *turns) Pop() reconcile.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, turn := t.next()
	r := t.levels[i].take(turn)
	t.size--
	t.serving[r] = t.levels[i].priority
	t.workersOf[r.Namespace]++
	delete(t.priority, r)
	t.dropEmpty(i)
	return r
}

// next returns the level that is served next, and the place of the namespace in its order. There is one: Len is not zero.
func (t *turns) next() (at, turn int) {
	t.pops++
	order := slices.All(t.levels)
	if t.pops%lowestTurn == 0 {
		order = slices.Backward(t.levels)
	}
	for i, l := range order {
		if turn := slices.IndexFunc(l.order, func(ns string) bool { return !t.hasItsShare(ns) }); turn >= 0 {
			return i, turn
		}
	}
	panic("a work queue handed out a request although Len is zero")
}

// take takes out the first request of the namespace at a place in the order.
func (l *level) take(turn int) reconcile.Request {
	ns := l.order[turn]
	l.order = slices.Delete(l.order, turn, turn+1)
	r := l.waiting[ns][0]
	if rest := l.waiting[ns][1:]; len(rest) > 0 {
		l.waiting[ns] = rest
		l.order = append(l.order, ns)
	} else {
		delete(l.waiting, ns)
	}
	return r
}

// mostOfOne returns how many of so many workers serve one namespace at a time: three quarters, and never all of several.
func mostOfOne(workers int) int { return max(1, workers-max(1, workers/4)) }
