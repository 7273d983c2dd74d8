// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func bucketWith(generation int64, conditions ...metav1.Condition) *v1alpha1.S3Bucket {
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Generation: generation}}
	for _, c := range conditions {
		c.ObservedGeneration = 1
		o.Status.Conditions = append(o.Status.Conditions, c)
	}
	return o
}

func TestCensus_CountsObjectsByState(t *testing.T) {
	is := func(kind, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason}
	}
	c := newCensus([]string{"S3Bucket"}, []string{"S3Bucket"}, nil)
	deleting, drifted := bucketWith(1, is("Ready", "Ready"), is("Stalled", "BucketNotEmpty")), bucketWith(1, is("Ready", "Ready"))
	deleting.DeletionTimestamp = &metav1.Time{}
	drifted.Status.Drift = []v1alpha1.DriftEntry{{Path: "Versioning"}}
	for _, o := range []*v1alpha1.S3Bucket{bucketWith(1), bucketWith(2, is("Ready", "Ready")),
		bucketWith(1, is("Paused", "Paused"), is("Ready", "Ready")),
		bucketWith(1, is("Stalled", "Conflict")), deleting, drifted} {
		c.add("S3Bucket", o)
	}
	for state, want := range map[string]int{stateProgressing: 2, statePaused: 1, stateStalled: 1, stateDeleting: 1, stateReady: 1} {
		if got := c.states[pair{"S3Bucket", state}]; got != want {
			t.Errorf("%d objects are %s, want %d", got, state, want)
		}
	}
	for reason, want := range map[string]int{"Conflict": 1, "BucketNotEmpty": 1} {
		if got := c.stalled[pair{"S3Bucket", reason}]; got != want {
			t.Errorf("%d objects are stalled for %s, want %d", got, reason, want)
		}
	}
	if c.drifted["S3Bucket"] != 1 {
		t.Errorf("%d objects drifted, want 1", c.drifted["S3Bucket"])
	}
}

func TestCensus_CountsPlansThatWait(t *testing.T) {
	extent.Full(t)
	c := newCensus([]string{"S3Bucket", "SQSQueue"}, []string{"S3Bucket", "SQSQueue"}, nil)
	for _, of := range []struct {
		at    int64
		state metav1.ConditionStatus
	}{{300, metav1.ConditionFalse}, {200, metav1.ConditionFalse}, {100, metav1.ConditionTrue}} {
		c.add("S3Bucket", bucketWith(1, metav1.Condition{Type: status.PlanApproved, Status: of.state, LastTransitionTime: metav1.Unix(of.at, 0)}))
	}
	c.add("S3Bucket", bucketWith(1))
	if c.pending["S3Bucket"] != 2 || c.pendingSince["S3Bucket"] != 200 {
		t.Errorf("%d plans wait, since %d", c.pending["S3Bucket"], c.pendingSince["S3Bucket"])
	}
	if n, ok := c.pending["SQSQueue"]; n != 0 || !ok || c.pendingSince["SQSQueue"] != 0 {
		t.Errorf("%d plans of another kind wait", n)
	}
}

func TestCensus_TellsRecoverableFromDeleting(t *testing.T) {
	extent.Full(t)
	c := newCensus([]string{"S3Bucket", "NexusAICapability"}, []string{"S3Bucket"}, nil)
	if end, ok := c.recoveryEnds[nexusv1.RecoveryReleased]; end != 0 || !ok || len(c.recoveryEnds) != 2 {
		t.Errorf("before the first deletion: %v", c.recoveryEnds)
	}
	for name, at := range map[string]int64{"late": 300, "soon": 200, "ended": 100} {
		state, phase, reason := nexusv1.RecoveryWaiting, nexusv1.PhaseRecoverable, status.ReasonRecoverable
		if name == "ended" {
			state, phase, reason = nexusv1.RecoveryEnded, nexusv1.PhaseDeleting, status.ReasonDeleting
		}
		c.add("NexusAICapability", &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: name, DeletionTimestamp: &metav1.Time{}},
			Status: nexusv1.NexusAICapabilityStatus{Phase: phase, Recovery: &nexusv1.RecoveryStatus{State: state, Until: metav1.Unix(at, 0)},
				Conditions: []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionFalse, Reason: reason}}}})
	}
	held := bucketWith(1, metav1.Condition{Type: status.Ready, Status: metav1.ConditionFalse, Reason: status.ReasonRecoverable})
	held.DeletionTimestamp = &metav1.Time{}
	c.add("S3Bucket", held)
	for p, want := range map[pair]int{{"NexusAICapability", stateRecoverable}: 2, {"NexusAICapability", stateDeleting}: 1,
		{"S3Bucket", stateRecoverable}: 1, {"S3Bucket", stateDeleting}: 0} {
		if got := c.states[p]; got != want {
			t.Errorf("%v: %d, want %d", p, got, want)
		}
	}
	if c.recoveryEnds[nexusv1.RecoveryWaiting] != 200 || c.recoveryEnds[nexusv1.RecoveryReleased] != 0 {
		t.Errorf("the first deletion ends at %v", c.recoveryEnds)
	}
}

func TestCensus_BoundsLabelsThatAnybodyCouldWrite(t *testing.T) {
	c := newCensus([]string{"S3Bucket", "NexusAICapability", "SecurityIntentBinding"}, []string{"S3Bucket"}, []string{"KubeArmor"})
	series := len(c.conditions)
	for i := range mostSeries + 5 {
		name := fmt.Sprintf("X%04d", i)
		c.add("S3Bucket", bucketWith(1, metav1.Condition{Type: "Stalled", Status: metav1.ConditionTrue, Reason: name}))
		c.add("NexusAICapability", &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: name},
			Status: nexusv1.NexusAICapabilityStatus{Phase: nexusv1.Phase(name), Conditions: []metav1.Condition{{Type: name, Status: "True"}}}})
	}
	b := &intentv1alpha1.SecurityIntentBinding{}
	b.Status.Coverage = []intentv1alpha1.Coverage{{Engine: "KubeArmor", Level: "Audited"}, {Engine: "Mine", Level: "Enforced"},
		{Engine: "KubeArmor", Level: "Great"}}
	c.add("SecurityIntentBinding", b)
	if len(c.stalled) != mostReasons+1 || c.stalled[pair{"S3Bucket", metrics.Other}] != mostSeries+5-mostReasons {
		t.Errorf("%d reasons", len(c.stalled))
	}
	if len(c.phases) != len(phases())+1 || len(c.conditions) != series {
		t.Errorf("%d phases, %d conditions", len(c.phases), len(c.conditions))
	}
	if shown := c.shownCapabilities(); len(shown) != mostSeries || shown[0].Name != "X0000" || shown[mostSeries-1].Name != "X0999" {
		t.Errorf("%d capabilities have a series", len(shown))
	}
	if len(c.coverage) != len(levels()) || c.coverage[pair{"KubeArmor", "Audited"}] != 1 {
		t.Errorf("coverage: %v", c.coverage)
	}
}
