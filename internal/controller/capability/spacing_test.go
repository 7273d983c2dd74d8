// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// recordingQueue notes after how long each request is due.
type recordingQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	after []time.Duration
}

func (q *recordingQueue) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	for range items {
		q.after = append(q.after, o.After)
	}
}

func TestSpacing_EventsOfChildrenWaitForThePassBefore(t *testing.T) {
	c := testclock.NewFakePassiveClock(time.Unix(1000, 0))
	s := newPassSpacing(c)
	key := types.NamespacedName{Namespace: "team", Name: "app"}
	q := &recordingQueue{}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	changed := func(after time.Duration) {
		c.SetTime(time.Unix(1000, 0).Add(after))
		s.handler(&handler.EnqueueRequestForObject{}).Update(t.Context(), event.UpdateEvent{ObjectOld: child, ObjectNew: child}, q)
	}
	changed(0) // no pass yet
	s.begin(key)
	changed(50 * time.Millisecond)
	changed(passSpacing)
	changed(time.Hour)
	changed(-time.Hour) // the clock was set back
	s.forget(key)
	changed(0)
	if want := []time.Duration{0, passSpacing - 50*time.Millisecond, 0, 0, passSpacing, 0}; !slices.Equal(q.after, want) {
		t.Errorf("due after %v, want %v", q.after, want)
	}
}

func TestSpacing_GrowsWithTheNumberUnderWay(t *testing.T) {
	c := testclock.NewFakePassiveClock(time.Unix(1000, 0))
	const few, most = 8, 5
	s := newSpacing(c, passSpacing, few, most)
	key := func(i int) types.NamespacedName { return types.NamespacedName{Namespace: "team", Name: fmt.Sprint(i)} }
	for n, want := range map[int]time.Duration{1: passSpacing, few: passSpacing, 2 * few: 2 * passSpacing, 100 * few: most * passSpacing} {
		for i := range n {
			s.begin(key(i))
			s.begin(key(i))
		}
		if got := s.delay(key(0)); got != want {
			t.Errorf("with %d under way the next pass waits %v, want %v", n, got, want)
		}
		c.SetTime(c.Now().Add(time.Hour))
		s.begin(key(0))
		if got := s.delay(key(0)); got != passSpacing || len(s.recent) != 1 || len(s.underWay) != 1 {
			t.Errorf("an hour later it waits %v, and %d passes of %d are remembered", got, len(s.recent), len(s.underWay))
		}
		c.SetTime(c.Now().Add(-2 * time.Hour)) // the clock was set back
		s.begin(key(0))
		if len(s.recent) != 1 || len(s.underWay) != 1 {
			t.Errorf("after the clock was set back, %d passes of %d are remembered", len(s.recent), len(s.underWay))
		}
		c.SetTime(c.Now().Add(2 * time.Hour))
	}
}
