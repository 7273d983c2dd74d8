// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"maps"
	"testing"
	"time"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

func TestStepTimes_MeasuresFromTheBeginningToTheEnd(t *testing.T) {
	type state = map[string]capability.StepState
	idle, busy, done := capability.StepIdle, capability.StepUnderWay, capability.StepDone
	// Every pass lasts a second and begins ten seconds after the one before.
	for name, c := range map[string]struct {
		fresh bool
		looks []state
		want  map[string]time.Duration
	}{
		"a fresh capability":              {true, []state{{"S3": busy, "IAM": idle}, {"S3": busy, "IAM": idle}, {"S3": done, "IAM": busy}, {"S3": done, "IAM": done}}, map[string]time.Duration{"S3": 21 * time.Second, "IAM": 11 * time.Second}},
		"a step of one pass":              {true, []state{{"Namespace": done}}, map[string]time.Duration{"Namespace": time.Second}},
		"a step of one later pass":        {false, []state{{"Namespace": idle}, {"Namespace": done}}, map[string]time.Duration{"Namespace": time.Second}},
		"a step of an earlier process":    {false, []state{{"S3": busy, "IAM": done}, {"S3": done, "IAM": done}}, nil},
		"a step that was disturbed":       {false, []state{{"Backend": done}, {"Backend": busy}, {"Backend": busy}, {"Backend": done}}, map[string]time.Duration{"Backend": 21 * time.Second}},
		"a step that an edit adds":        {false, []state{{"S3": done}, {"S3": done, "Ingress": busy}, {"S3": done, "Ingress": done}}, map[string]time.Duration{"Ingress": 11 * time.Second}},
		"a step whose objects are lost":   {true, []state{{"S3": busy}, {"S3": idle}, {"S3": busy}, {"S3": done}}, map[string]time.Duration{"S3": 31 * time.Second}},
		"a step that is done and remains": {true, []state{{"S3": done}, {"S3": done}}, map[string]time.Duration{"S3": time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			times, now, got := stepTimes{}, time.Unix(1000, 0), map[string]time.Duration{}
			for i, states := range c.looks {
				maps.Copy(got, times.observe(stepLook{fresh: c.fresh && i == 0, states: states, begin: now, end: now.Add(time.Second)}))
				now = now.Add(10 * time.Second)
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestMemories_AreOfOneCapability(t *testing.T) {
	m := newMemories()
	old := named("ns", "c", func(c *nexusv1.NexusAICapability) { c.UID = "old" })
	m.doom(old)
	m.rememberApplied(old, "S3Bucket/a", appliedChild{version: "1"})
	if _, known := m.appliedChild(old, "S3Bucket/a"); !known || !m.isDoomed(old) {
		t.Error("nothing is remembered")
	}
	m.stopApplying(old)
	if _, known := m.appliedChild(old, "S3Bucket/a"); known || !m.isDoomed(old) {
		t.Error("a capability in deletion keeps what serves to apply, or forgets that it is doomed")
	}
	if m.isDoomed(named("ns", "c", func(c *nexusv1.NexusAICapability) { c.UID = "new" })) {
		t.Error("another capability of the name is doomed as well")
	}
}
