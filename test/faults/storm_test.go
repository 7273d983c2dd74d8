// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"testing"
	"time"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestAThrottlingStormCostsTimeAndNothingElse(t *testing.T) {
	extent.Full(t)
	r := newRig(t)
	created, deleted := r.clean()
	r.anew(t)
	c := r.fresh()
	m := r.marks()
	hits := r.storm(10*time.Second, func() { r.Create(c) })
	took := r.Running(c)
	r.calm()
	aws, _ := r.since(m)
	t.Logf("created under %d throttled calls, Running %.1f s after the storm, %d AWS calls", hits, took.Seconds(), len(aws))
	if took > 30*time.Second {
		t.Errorf("%s after the last fault, want at most 30 s", took)
	}
	complain(t, "bounded work", excessive(aws, created.calls, hits))
	r.same(created.end, c.Namespace)
	things := thingsOf(r.resources(c.Namespace))
	r.judge(m, things)
	r.quiet(c.Namespace, 1)
	d := r.marks()
	start := time.Now()
	hits = r.storm(time.Duration(extent.Size(t, 5, 10))*time.Second, func() { r.delete(c) })
	r.Gone(c)
	aws, _ = r.since(d)
	t.Logf("deleted under %d throttled calls, after %.1f s, %d AWS calls", hits, time.Since(start).Seconds(), len(aws))
	complain(t, "bounded work", excessive(aws, deleted.calls, hits))
	r.empty(c.Namespace)
	r.judge(m, things)
}

// storm throttles every other AWS call for so long, during which something is done, and says how many.
func (r *rig) storm(lasts time.Duration, do func()) int {
	rule := r.World.AWS().Fault(emulator.Match{Percent: 50}, emulator.Throttle())
	do()
	time.Sleep(lasts)
	rule.Remove()
	return rule.Hits()
}

// lags lets AWS show everything late.
func (r *rig) lags(d time.Duration) {
	for _, service := range []string{"s3", "dynamodb", "iam", "glue", "ssm", "secretsmanager"} {
		r.World.AWS().SetEventualConsistency(service, d)
	}
	r.World.AWS().DynamoDB.SetTableCreating(d)
}

func TestAnAWSThatShowsLateWhatItHasDoneIsWaitedFor(t *testing.T) {
	extent.Full(t)
	r := newRig(t)
	created, _ := r.clean()
	for _, c := range []struct {
		name   string
		killed bool
		sample bool
		run    func(*rig, course, bool)
	}{
		{"created and deleted", false, true, (*rig).lateLife},
		{"created and deleted, killed meanwhile", true, false, (*rig).lateLife},
		{"deleted while it is created", false, false, (*rig).lateEnd},
		{"deleted while it is created, killed meanwhile", true, true, (*rig).lateEnd},
	} {
		if !c.sample && !extent.IsFull(t) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			sub := *r
			sub.Bed = r.For(t)
			defer func() { r.Op, r.decoys, r.base = sub.Op, sub.decoys, sub.base }()
			sub.anew(t)
			sub.lags(2 * time.Second)
			c.run(&sub, created, c.killed)
		})
	}
}

// begun creates the example and waits until so many writes have reached AWS.
func (r *rig) begun(m marks, writes int) *nexusv1.NexusAICapability {
	r.Helper()
	c := r.fresh()
	r.Create(c)
	r.Eventually(10*time.Second, "writes to AWS", func() error {
		if aws, _ := r.since(m); len(aws.Writes()) < writes {
			return fmt.Errorf("%d writes", len(aws.Writes()))
		}
		return nil
	})
	return c
}

// lateLife creates and deletes. Killed, it comes back when what it has just made does not show yet.
func (r *rig) lateLife(created course, killed bool) {
	m := r.marks()
	c := r.begun(m, 10)
	if killed {
		r.Restart()
	}
	took := r.Running(c)
	r.calm()
	aws, _ := r.since(m)
	r.Logf("Running after %.1f s, %d AWS calls (clean: %d)", took.Seconds(), len(aws), created.calls)
	things := thingsOf(r.resources(c.Namespace))
	complain(r, "bounded work", excessive(aws, created.calls, 2*len(things))) // each looks for its own a few times
	r.same(created.end, c.Namespace)
	r.judge(m, things)
	r.Remove(c)
	r.empty(c.Namespace)
	r.judge(m, things)
}

// lateEnd deletes what is being created: what does not show yet must not stay.
func (r *rig) lateEnd(_ course, killed bool) {
	m := r.marks()
	c := r.begun(m, 15)
	if killed {
		r.Restart()
	}
	things := thingsOf(r.resources(c.Namespace))
	r.Remove(c)
	r.empty(c.Namespace)
	r.judge(m, things)
	// A request that was on its way must not take effect afterwards either.
	time.Sleep(3 * time.Second)
	r.empty(c.Namespace)
}
