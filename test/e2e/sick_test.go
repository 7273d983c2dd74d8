// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// small is a capability without data services, in the namespace of its workloads.
func (b *bed) small(name string) *nexusv1.NexusAICapability {
	b.Helper()
	return smallIn(b.MakeNamespace(name+"-dev"), name)
}

// smallIn is small in any namespace that exists; its workloads are in the namespace NAME-dev.
func smallIn(namespace, name string) *nexusv1.NexusAICapability {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: name + "-dev", Namespace: namespace}}
	c.Spec.CapabilityName, c.Spec.Environment, c.Spec.Version = name, "dev", "1"
	c.Spec.Backend.Image, c.Spec.Frontend.Image = "registry.example/backend:1", "registry.example/frontend:1"
	return c
}

// healed waits until a capability is Running again and complains when that took longer than promised.
func (b *bed) healed(c *nexusv1.NexusAICapability) {
	b.Helper()
	took := b.Running(c)
	b.Logf("%s is well after %.1f s", c.Name, took.Seconds())
	if took > 10*time.Second {
		b.Errorf("%s took %s to heal, want at most 10 s", c.Name, took)
	}
}

func TestSickWorkloadsShowTheirReasonAndRemedyAndHeal(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	sick := []struct {
		name, condition, reason, remedy string
		failed                          bool
		spoil                           func(*nexusv1.NexusAICapability)
	}{
		{"sick-image", "BackendReady", "ImagePullBackOff", "push it", true,
			func(c *nexusv1.NexusAICapability) { c.Spec.Backend.Image = "registry.example/backend:ImagePullBackOff" }},
		{"sick-crash", "BackendReady", "CrashLoopBackOff", "kubectl logs --previous", true,
			func(c *nexusv1.NexusAICapability) { c.Spec.Backend.Image = "registry.example/backend:CrashLoopBackOff" }},
		{"sick-root", "FrontendReady", "ImageRunsAsRoot", "numeric USER", true,
			func(c *nexusv1.NexusAICapability) {
				c.Spec.Frontend.Image = "registry.example/frontend:CreateContainerConfigError"
			}},
		{"sick-lost", "FrontendReady", "Unschedulable", "lower its requests", false,
			func(c *nexusv1.NexusAICapability) {
				c.Spec.Frontend.Resources = &nexusv1.ComponentResources{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("900")}}
			}},
		{"sick-probe", "BackendReady", "ProbeFailing", "readiness probe", false,
			func(c *nexusv1.NexusAICapability) { c.Spec.Backend.Image = "registry.example/backend:NotReady" }},
	}
	all := make([]*nexusv1.NexusAICapability, len(sick))
	for i, s := range sick {
		all[i] = b.small(s.name)
		s.spoil(all[i])
		b.Create(all[i])
	}
	for i, s := range sick {
		c := all[i]
		message := b.Shows(c, s.condition, metav1.ConditionFalse, s.reason)
		if !strings.Contains(message, s.remedy) {
			t.Errorf("%s: %q does not say %q", s.name, message, s.remedy)
		}
		b.Eventually(10*time.Second, "the capability as a whole to say it", func() error { // once the rest is up
			if err := b.Get(c); err != nil || !strings.Contains(c.Status.Message, s.remedy) {
				return fmt.Errorf("%v %s", err, c.Status.Message)
			}
			return nil
		})
		if failed := c.Status.Phase == nexusv1.PhaseFailed; failed != s.failed {
			t.Errorf("%s: phase %s, want Failed: %t", s.name, c.Status.Phase, s.failed)
		}
		if stalled, err := b.Condition(c, "Stalled"); err != nil || (stalled.Status == metav1.ConditionTrue) != s.failed {
			t.Errorf("%s: Stalled=%s %v", s.name, stalled.Status, err)
		}
	}
	for i := range sick {
		b.Edit(all[i], func() {
			well := b.small(all[i].Spec.CapabilityName)
			all[i].Spec.Backend, all[i].Spec.Frontend = well.Spec.Backend, well.Spec.Frontend
		})
	}
	for _, c := range all {
		b.healed(c)
	}
	b.removeAll(all)
}

func (b *bed) removeAll(all []*nexusv1.NexusAICapability) {
	b.Helper()
	var objs []client.Object
	for _, c := range all {
		objs = append(objs, c)
	}
	b.Remove(objs...)
	if inv := b.Inventory(); len(inv) > 0 {
		b.Errorf("left behind: %v", inv)
	}
}

func TestPodsThatTheClusterRefusesShowWhoRefusesThem(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("refused")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "no-pods", Namespace: c.Namespace},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}}
	b.Create(quota)
	b.Eventually(15*time.Second, "the quota to be in force", func() error {
		if err := b.Get(quota); err != nil || len(quota.Status.Hard) == 0 {
			return fmt.Errorf("%v %+v", err, quota.Status)
		}
		return nil
	})
	b.Create(c)
	for _, part := range []string{"BackendReady", "FrontendReady"} {
		message := b.Shows(c, part, metav1.ConditionFalse, "PodsRefused")
		for _, want := range []string{"Deployment/refused-dev-", "exceeded quota: no-pods", "pods=0", "raise the quota"} {
			if !strings.Contains(message, want) {
				t.Errorf("%s does not say %q: %s", part, want, message)
			}
		}
	}
	message := b.Shows(c, "Stalled", metav1.ConditionTrue, "PodsRefused")
	if c.Status.Phase != nexusv1.PhaseFailed || !strings.Contains(c.Status.Message, "no-pods") {
		t.Errorf("phase %s: %s; %s", c.Status.Phase, c.Status.Message, message)
	}
	if err := b.Client.Delete(b.Ctx(), quota); err != nil {
		t.Fatal(err)
	}
	// The ReplicaSet's controller tries again in growing pauses: about as long as it was refused already.
	took := b.Running(c)
	t.Logf("Running %.1f s after the quota was gone", took.Seconds())
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestWorkloadThatFailsLater_FailsTheCapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("later")
	b.Create(c)
	b.Running(c)
	pods := &corev1.PodList{}
	if err := b.Client.List(b.Ctx(), pods, client.InNamespace(c.Namespace),
		client.MatchingLabels{"app.kubernetes.io/component": "backend"}); err != nil || len(pods.Items) == 0 {
		t.Fatalf("%d pods, %v", len(pods.Items), err)
	}
	// One of the pods begins to crash, as a kubelet would tell it.
	p := &pods.Items[0]
	for i := range p.Status.Conditions {
		if k := p.Status.Conditions[i].Type; k == corev1.PodReady || k == corev1.ContainersReady {
			p.Status.Conditions[i].Status = corev1.ConditionFalse
		}
	}
	st := &p.Status.ContainerStatuses[0]
	st.Ready, st.RestartCount = false, 3
	st.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	st.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}
	if err := b.Client.Status().Update(b.Ctx(), p); err != nil {
		t.Fatal(err)
	}
	message := b.Shows(c, "BackendReady", metav1.ConditionFalse, "CrashLoopBackOff")
	if !strings.Contains(message, "137") || c.Status.Phase != nexusv1.PhaseFailed || c.Status.Ready {
		t.Errorf("phase %s, ready %t: %s", c.Status.Phase, c.Status.Ready, message)
	}
	if err := b.Client.Delete(b.Ctx(), p); err != nil {
		t.Fatal(err)
	}
	b.healed(c)
	if c, err := b.Condition(c, "Stalled"); err != nil || c.Status != metav1.ConditionFalse {
		t.Errorf("Stalled=%s %v", c.Status, err)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestWithoutItsIngressClassACapabilitySaysWhatToInstall(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}}
	if err := b.Get(class); err != nil {
		t.Fatal(err)
	}
	// What plays the load balancer controller plays the pods too: neither is there for a while.
	if err := b.World.Kill(world.Kwok); err != nil {
		t.Fatal(err)
	}
	if err := b.Client.Delete(b.Ctx(), class); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.World.Restart(world.Kwok); err != nil {
			t.Error(err)
		}
		_ = b.Client.Create(b.Ctx(), fresh(class))
	})
	c := b.small("classless")
	b.Create(c)
	message := b.Shows(c, "IngressReady", metav1.ConditionFalse, "IngressClassMissing")
	for _, want := range []string{"AWS Load Balancer Controller", "ingress.enabled"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message does not say %q: %s", want, message)
		}
	}
	if c.Status.Phase != nexusv1.PhaseFailed {
		t.Errorf("phase %s, want Failed", c.Status.Phase)
	}
	if err := b.Client.Create(b.Ctx(), fresh(class)); err != nil {
		t.Fatal(err)
	}
	b.Eventually(10*time.Second, "the class to be noticed", func() error {
		s, err := b.Condition(c, "Stalled")
		if err == nil && s.Status == metav1.ConditionTrue {
			err = fmt.Errorf("%s", s.Message)
		}
		return err
	})
	if err := b.World.Restart(world.Kwok); err != nil {
		t.Fatal(err)
	}
	b.healed(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

// fresh is an IngressClass as it would be created again.
func fresh(i *networkingv1.IngressClass) *networkingv1.IngressClass {
	return &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: i.Name}, Spec: i.Spec}
}
