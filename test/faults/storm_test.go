package faults

import (
	"fmt"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
)

func TestAThrottlingStormCostsTimeAndNothingElse(t *testing.T) {
	r := newRig(t)
	created, deleted := r.clean()
	r.anew(t)
	c := r.fresh()
	m := r.marks()
	hits := r.storm(func() { r.Create(c) })
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
	hits = r.storm(func() { r.delete(c) })
	r.Gone(c)
	aws, _ = r.since(d)
	t.Logf("deleted under %d throttled calls, %d AWS calls", hits, len(aws))
	complain(t, "bounded work", excessive(aws, deleted.calls, hits))
	r.empty(c.Namespace)
	r.judge(m, things)
}

// storm throttles every other AWS call for ten seconds, during which something is done, and says how many.
func (r *rig) storm(do func()) int {
	rule := r.World.AWS().Fault(awsproxy.Match{Percent: 50}, awsproxy.Throttle())
	do()
	time.Sleep(10 * time.Second)
	rule.Remove()
	return rule.Hits()
}

// lags lets AWS show everything late.
func (r *rig) lags(d time.Duration) {
	for _, service := range []string{"s3", "dynamodb", "iam", "glue", "ssm", "secretsmanager"} {
		r.World.AWS().SetEventualConsistency(service, d)
	}
	r.World.AWS().SetTableCreating(d)
}

func TestAnAWSThatShowsLateWhatItHasDoneIsWaitedFor(t *testing.T) {
	r := newRig(t)
	created, _ := r.clean()
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			sub := *r
			sub.Bed = r.For(t)
			defer func() { r.Op, r.decoys, r.base = sub.Op, sub.decoys, sub.base }()
			sub.lateAWS(t, created, killed)
		})
	}
}

func (r *rig) lateAWS(t *testing.T, created course, killed bool) {
	r.anew(t)
	r.lags(2 * time.Second)
	c := r.fresh()
	m := r.marks()
	r.Create(c)
	if killed { // what it has just made does not show yet when it comes back
		r.Eventually(10*time.Second, "creates", func() error {
			if aws, _ := r.since(m); len(aws.Writes()) < 10 {
				return fmt.Errorf("%d writes", len(aws.Writes()))
			}
			return nil
		})
		r.Restart()
	}
	took := r.Running(c)
	r.calm()
	aws, _ := r.since(m)
	t.Logf("Running after %.1f s, %d AWS calls (clean: %d)", took.Seconds(), len(aws), created.calls)
	// Every object may look a few times until it sees what it has made.
	complain(t, "bounded work", excessive(aws, created.calls, 2*len(created.end.inventory)*4))
	r.same(created.end, c.Namespace)
	things := thingsOf(r.resources(c.Namespace))
	r.judge(m, things)
	r.Remove(c)
	r.empty(c.Namespace)
	r.judge(m, things)

	// Deleted while it is being created: what does not show yet must not stay.
	r.anew(t)
	r.lags(2 * time.Second)
	c = r.fresh()
	m = r.marks()
	r.Create(c)
	r.Eventually(10*time.Second, "creates", func() error {
		if aws, _ := r.since(m); len(aws.Writes()) < 15 {
			return fmt.Errorf("%d writes", len(aws.Writes()))
		}
		return nil
	})
	if killed {
		r.Restart()
	}
	things = thingsOf(r.resources(c.Namespace))
	r.Remove(c)
	r.empty(c.Namespace)
	r.judge(m, things)
}
