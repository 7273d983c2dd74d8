// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestBindings_ReportLastingFailuresAsStalled(t *testing.T) {
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	clock := testingclock.NewFakePassiveClock(start)
	r := New(reconciler.Environment{Clock: clock, Intervals: reconciler.Intervals{Check: 5 * time.Minute, Stalled: time.Minute, RetryFirst: 500 * time.Millisecond, RetryMost: time.Minute}, Events: reconciler.Events{Recorder: events.NewFakeRecorder(10)}}, options.Options{}, nil, &EngineKinds{})
	b := &v1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Generation: 1}}
	failing := intent.BindingReport{Err: errors.New("the API server refuses a policy")}
	for _, step := range []struct {
		after   time.Duration
		report  intent.BindingReport
		stalled bool
	}{
		{0, failing, false}, {9 * time.Minute, failing, false}, {11 * time.Minute, failing, true},
		{12 * time.Minute, intent.BindingReport{}, false}, {13 * time.Minute, failing, false}, {24 * time.Minute, failing, true},
	} {
		clock.SetTime(start.Add(step.after))
		r.updateConditions(b, step.report)
		if got := meta.IsStatusConditionTrue(b.Status.Conditions, status.Stall); got != step.stalled {
			t.Errorf("after %v: Stalled is %v\n%+v", step.after, got, b.Status.Conditions)
		}
		if res, err := r.requeue(requestOf(b), step.report); !errors.Is(err, step.report.Err) || step.report.Err != nil && !res.IsZero() {
			t.Errorf("after %v: %+v %v: the work queue does not see the failure", step.after, res, err)
		}
	}
}
