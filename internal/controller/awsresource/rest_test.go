// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kinds/s3"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestWhatIsAsDeclaredRestsUntilItsCheckIsDue(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	r := New(reconciler.Environment{Clock: clock,
		Intervals: reconciler.Intervals{Check: 5 * time.Minute, Stalled: time.Minute, RetryFirst: 500 * time.Millisecond,
			RetryMost: time.Minute}}, engine.For(s3.NewBucket), nil, nil)
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "n", Namespace: "ns", Generation: 2,
		Finalizers: []string{v1alpha1.FinalizerOf("S3Bucket")}, Annotations: map[string]string{engine.AnnotationHome: "aws/1/r"}}}
	if r.cadence().timeToNextCheck(o) != 0 {
		t.Error("what was never seen rests")
	}
	status.Summarize(&o.Status.Conditions, status.Result{Generation: 2, Now: clock.Now()})
	first := r.cadence().timeToNextCheck(o)
	if first <= 0 || first > 5*time.Minute {
		t.Errorf("after a restart the first check comes in %s", first)
	}
	clock.SetTime(clock.Now().Add(first))
	if r.cadence().timeToNextCheck(o) != 0 {
		t.Error("a check that is due does not come")
	}
	r.checks.Set(types.NamespacedName{Namespace: "ns", Name: "n"}, clock.Now().Add(time.Minute))
	if r.cadence().timeToNextCheck(o) != time.Minute {
		t.Error("a check comes before its time")
	}
	for what, edit := range map[string]func(){
		"an edit":            func() { o.Generation = 3 },
		"a request":          func() { o.Annotations[wellknown.AnnotationReconcileAt] = "now" },
		"a lost finalizer":   func() { o.Finalizers = nil },
		"a lost record":      func() { o.Annotations = nil },
		"a deletion":         func() { o.DeletionTimestamp = new(metav1.Now()) },
		"the end of a pause": func() { o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{Type: status.Paused}) },
	} {
		kept := o.DeepCopy()
		if edit(); r.cadence().timeToNextCheck(o) != 0 {
			t.Errorf("%s is not looked at", what)
		}
		o = kept
	}
	r.Intervals.CheckOf = map[string]time.Duration{"S3Bucket": time.Hour}
	if r.cadence().interval() != time.Hour {
		t.Error("the kind's own interval is not used")
	}
}
