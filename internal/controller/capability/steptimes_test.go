// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"maps"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

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
			times, now, got := newStepTimes(), time.Unix(1000, 0), map[string]time.Duration{}
			for i, states := range c.looks {
				maps.Copy(got, times.observe(types.NamespacedName{Name: "c"}, stepLook{uid: "u", fresh: c.fresh && i == 0, states: states, begin: now, end: now.Add(time.Second)}))
				now = now.Add(10 * time.Second)
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestStepTimes_ForgetsACapabilityOfAnEarlierUID(t *testing.T) {
	times, now, key := newStepTimes(), time.Unix(1000, 0), types.NamespacedName{Name: "c"}
	look := stepLook{uid: "old", fresh: true, states: map[string]capability.StepState{"S3": capability.StepUnderWay}, begin: now, end: now}
	times.observe(key, look)
	look.uid, look.begin, look.end = "new", now.Add(time.Hour), now.Add(time.Hour)
	times.observe(key, look)
	look.fresh, look.states, look.end = false, map[string]capability.StepState{"S3": capability.StepDone}, now.Add(time.Hour+time.Second)
	if got := times.observe(key, look)["S3"]; got != time.Second {
		t.Errorf("%v, want 1s", got)
	}
	times.forget(key)
	if got := times.observe(key, look); len(got) > 0 {
		t.Errorf("%v after it was forgotten", got)
	}
}
