// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// heals deletes a capability's ConfigMap and returns how long it took until it was there again.
func (b *bed) heals(c *nexusv1.NexusAICapability, within time.Duration) time.Duration {
	b.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: named(c.Namespace, c.Name+"-config")}
	if err := b.Client.Delete(b.Ctx(), cm); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	b.Eventually(within, "the ConfigMap to be created again", func() error { return b.Get(cm) })
	return time.Since(start)
}

func TestFailover_AStandbyTakesOverInTime(t *testing.T) {
	extent.Full(t)
	flags := []string{"--leader-elect=true", "--namespace=" + operator.Namespace}
	b := newBed(t, flags...)
	c := b.small("standby")
	b.Create(c)
	b.Running(c)
	second := operator.Start(t, b.World, operator.Options{Flags: flags})
	defer second.Stop()
	time.Sleep(4 * time.Second) // it has seen the lease, which it does not log
	b.Op.Kill()
	t.Logf("%.1f s after the leader was killed the standby heals", b.heals(c, 20*time.Second).Seconds())
	third := operator.Start(t, b.World, operator.Options{Flags: flags})
	defer third.Stop()
	time.Sleep(4 * time.Second) // as above
	second.Terminate()
	t.Logf("%.1f s after the leader was stopped the standby heals", b.heals(c, 5*time.Second).Seconds())
	b.Running(c)
	b.Remove(c)
}

func TestOutage_ACapabilityHealsSoonAfterTheAPIServerReturns(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--retry-first=500ms", "--retry-most=60s", "--stalled-interval=60s")
	c, half := withStores(b.small("outage")), withStores(b.small("outage2"))
	b.Create(c)
	b.Running(c)
	b.Create(half)
	time.Sleep(300 * time.Millisecond) // in the middle of the creation
	if err := b.World.Kill(world.APIServer); err != nil {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Second) // the outage lasts
	if err := b.World.Restart(world.APIServer); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	b.Eventually(15*time.Second, "the API server to accept writes", func() error {
		cm := &corev1.ConfigMap{ObjectMeta: named(c.Namespace, fmt.Sprintf("probe-%d", time.Now().UnixNano()))}
		return b.Client.Create(b.Ctx(), cm)
	})
	t.Logf("%.1f s after the API server returned a deleted ConfigMap was there again", b.heals(c, 15*time.Second-time.Since(start)).Seconds())
	b.Eventually(15*time.Second-time.Since(start), "the children of the other capability to be ready in AWS", func() error {
		if err := b.Get(half); err != nil {
			return err
		}
		for _, r := range half.Status.Resources {
			if r.Kind == "IAMRole" && r.State == nexusv1.ResourceReady {
				return nil
			}
		}
		return fmt.Errorf("%s", half.Status.Message)
	})
	t.Logf("%.1f s after the API server returned the other capability's role was ready", time.Since(start).Seconds())
	b.Op.IgnoreRefusals()
	b.Running(c)
	for _, component := range []string{world.ControllerManager, world.Scheduler, world.Kwok} { // they back off for minutes
		if err := b.World.Restart(component); err != nil {
			t.Fatal(err)
		}
	}
	b.Running(half)
	b.Remove(c, half)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}
