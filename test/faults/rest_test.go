// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"math"
	"testing"
	"time"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// atRest makes so many capabilities and waits until nothing moves.
func (r *rig) atRest(n int) []*nexusv1.NexusAICapability {
	r.Helper()
	all := make([]*nexusv1.NexusAICapability, n)
	for i := range all {
		c := r.Capability(example)
		c.Name, c.Spec.CapabilityName = fmt.Sprintf("rest%d-dev", i), fmt.Sprintf("rest%d", i)
		c.Namespace = r.MakeNamespace(c.Name)
		r.Create(c)
		all[i] = c
	}
	for _, c := range all {
		deadline := time.Now().Add(5 * time.Minute)
		for r.Get(c) != nil || c.Status.Phase != nexusv1.PhaseRunning {
			if time.Now().After(deadline) {
				r.Fatalf("%s is not Running: %s", c.Name, c.Status.Message)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	r.calm()
	return all
}

func TestARestartWritesNothingAndAsksNothingBeforeItsTime(t *testing.T) {
	extent.Full(t)
	r := newRig(t)
	all := r.atRest(extent.Size(t, 4, 50))
	objects := 0
	for _, c := range all {
		objects += len(r.resources(c.Namespace)) + 1
	}
	const window = 5 * time.Second
	identities := 0
	look := func(flags ...string) (asked int) {
		m := r.marks()
		r.Restart(flags...)
		time.Sleep(window) // what is not asked for before its time cannot be waited for
		aws, kube := r.since(m)
		complain(t, "quiet", noisy(aws, kube))
		resources := map[string]bool{}
		for _, c := range aws {
			if c.Service == "sts" { // one question a provider: who am I, after a restart anew
				identities++
				continue
			}
			resources[c.Service+" "+c.Resource] = true
		}
		return len(resources)
	}
	// No check is due within a thousand hours.
	if n := look("--check-interval=1000h"); n > 0 {
		t.Errorf("%d resources were asked for before their time", n)
	}
	if identities > len(all) {
		t.Errorf("%d questions to STS for %d providers", identities, len(all))
	}
	// By default the first checks are spread over five minutes: few fall into the window. A parameter set is
	// asked for in parts, a table with its database.
	due := float64(objects) * window.Seconds() / (5 * time.Minute).Seconds()
	n := look("--check-interval=5m")
	t.Logf("%d objects at rest; %d resources asked for within %s of a restart, %.1f objects were due", objects, n, window, due)
	if most := 3 * (due + 4*math.Sqrt(due) + 1); float64(n) > most {
		t.Errorf("%d resources were asked for within %s of a restart, at most %.0f were due", n, window, most)
	}
}

func TestChecksAtRestWriteNothing(t *testing.T) {
	extent.Full(t)
	r := newRig(t, "--check-interval=1s")
	c := r.fresh()
	r.Create(c)
	r.Running(c)
	time.Sleep(time.Second) // the last events of pods and endpoints, which other controllers send when they please
	m := r.marks()
	things := thingsOf(r.resources(c.Namespace))
	r.Eventually(30*time.Second, "three checks of everything", func() error {
		aws, _ := r.since(m)
		for _, x := range things {
			if n := len(x.about(aws)); n < 3 {
				return fmt.Errorf("%s: %d calls", x, n)
			}
		}
		return nil
	})
	aws, kube := r.since(m)
	complain(t, "quiet", noisy(aws, kube))
	complain(t, "hot loop", hot(aws))
	audit, err := r.World.Audit().Mark()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // two intervals, in each of which everything is checked
	if w := r.KubeWrites(audit); len(w) > 0 {
		t.Errorf("the API server's own log has writes: %v", w)
	}
	r.Remove(c)
	r.empty(c.Namespace)
}
