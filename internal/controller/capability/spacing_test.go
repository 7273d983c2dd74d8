// SPDX-License-Identifier: Apache-2.0

package capability

import (
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
	s := newSpacing(c, passSpacing)
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
