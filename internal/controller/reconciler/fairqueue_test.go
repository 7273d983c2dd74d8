// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestManyRequestsOfOneNamespaceDoNotDelayOthers(t *testing.T) {
	q := FairOptions(1).NewQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
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
	q := FairOptions(1).NewQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
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
