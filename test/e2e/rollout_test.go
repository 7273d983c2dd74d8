// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestRollout_ABadImageLeavesThePreviousVersionServing(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("badroll")
	b.Create(c)
	b.Running(c)
	b.Edit(c, func() { c.Spec.Backend.Image = "registry.example/backend:ImagePullBackOff" })
	message := b.Shows(c, "Stalled", metav1.ConditionTrue, "ImagePullBackOff")
	for _, want := range []string{"update failed, the previous version is serving", "push it"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message does not say %q: %s", want, message)
		}
	}
	if c.Status.Phase != nexusv1.PhaseDegraded || c.Status.Ready {
		t.Errorf("phase %s, ready %t", c.Status.Phase, c.Status.Ready)
	}
	if k := meta.FindStatusCondition(c.Status.Conditions, "BackendReady"); k == nil || k.Status != metav1.ConditionTrue ||
		k.Reason != "PreviousVersionServing" {
		t.Errorf("%+v", k)
	}
	b.Edit(c, func() { c.Spec.Backend.Image = "registry.example/backend:2" })
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestRollout_StatusTellsWhatAnEditChanges(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("telling"))
	c.Spec.DataServices.DynamoDB.Tables = append(c.Spec.DataServices.DynamoDB.Tables, nexusv1.TableSpec{Name: "old"})
	b.Create(c)
	b.Running(c)
	if c.Status.Rollout != nil {
		t.Errorf("a rollout without an edit: %+v", c.Status.Rollout)
	}
	b.Edit(c, func() {
		c.Spec.Backend.Image, c.Spec.Backend.Replicas = "registry.example/backend:2", new(int32(3))
		c.Spec.DataServices.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "license"}, {Name: "fresh"}}
	})
	b.Running(c)
	r := c.Status.Rollout
	if r == nil || r.Generation != c.Generation || r.State != nexusv1.RolloutComplete {
		t.Fatalf("%+v, generation %d", r, c.Generation)
	}
	told := fmt.Sprint(r.Changes)
	for _, want := range []string{"{Deployment telling-dev-backend Updated", "image", "replicas", "{DynamoDBTable telling-dev-fresh Created",
		"{DynamoDBTable telling-dev-old Deleted"} {
		if !strings.Contains(told, want) {
			t.Errorf("the changes do not say %q: %s", want, told)
		}
	}
	if strings.Contains(told, "S3Bucket") || strings.Contains(told, "telling-dev-license") {
		t.Errorf("the changes name what the edit left alone: %s", told)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestRollout_ARefusedEditLeavesEverythingRunning(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("refusal")
	b.Create(c)
	b.Running(c)
	b.Edit(c, func() { c.Spec.Backend.Image = "registry.example/Backend:2" })
	message := b.Shows(c, "Stalled", metav1.ConditionTrue, "InvalidSpec")
	if !strings.Contains(message, "spec.backend.image") || c.Status.Phase != nexusv1.PhaseDegraded ||
		!strings.Contains(c.Status.Message, "update refused, the previous version is serving") {
		t.Errorf("phase %s: %s; %s", c.Status.Phase, c.Status.Message, message)
	}
	for _, part := range []string{"BackendReady", "FrontendReady", "IngressReady"} {
		if !meta.IsStatusConditionTrue(c.Status.Conditions, part) {
			t.Errorf("%s is not True", part)
		}
	}
	b.Edit(c, func() { c.Spec.Backend.Image = "registry.example/backend:2" })
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

// What a kubelet says of an image whose USER is a name.
func TestSick_ANamedUserIsNotReportedAsRoot(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("named")
	b.Create(c)
	b.Running(c)
	pods := &corev1.PodList{}
	if err := b.Client.List(b.Ctx(), pods, client.InNamespace(c.Namespace),
		client.MatchingLabels{"app.kubernetes.io/component": "frontend"}); err != nil || len(pods.Items) == 0 {
		t.Fatalf("%d pods, %v", len(pods.Items), err)
	}
	p := &pods.Items[0]
	for i := range p.Status.Conditions {
		if k := p.Status.Conditions[i].Type; k == corev1.PodReady || k == corev1.ContainersReady {
			p.Status.Conditions[i].Status = corev1.ConditionFalse
		}
	}
	st := &p.Status.ContainerStatuses[0]
	st.Ready = false
	st.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError",
		Message: "container has runAsNonRoot and image has non-numeric user (nonroot), cannot verify user is non-root"}}
	if err := b.Client.Status().Update(b.Ctx(), p); err != nil {
		t.Fatal(err)
	}
	if message := b.Shows(c, "FrontendReady", metav1.ConditionFalse, "ImageUserNotNumeric"); !strings.Contains(message, "numeric USER") {
		t.Errorf("no remedy: %s", message)
	}
	if err := b.Client.Delete(b.Ctx(), p); err != nil {
		t.Fatal(err)
	}
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestSick_LoadBalancerWithoutControllerNamesTheRemedy(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}}
	if err := b.Get(class); err != nil {
		t.Fatal(err)
	}
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
	c := b.small("balanced")
	c.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
	b.Create(c)
	message := b.Shows(c, "FrontendReady", metav1.ConditionFalse, "LoadBalancerControllerMissing")
	for _, want := range []string{"AWS Load Balancer Controller", "service.type: ClusterIP"} {
		if !strings.Contains(message, want) {
			t.Errorf("the message does not say %q: %s", want, message)
		}
	}
	if err := b.World.Restart(world.Kwok); err != nil {
		t.Fatal(err)
	}
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestPods_WithoutAWayToCredentialsAreReported(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("uncredited")
	b.Create(c)
	b.Running(c)
	k, err := b.Condition(c, "CredentialsInPods")
	if err != nil || k.Status != metav1.ConditionFalse || k.Reason != "CredentialsNotInPods" ||
		!strings.Contains(k.Message, "pod identity webhook") {
		t.Errorf("%+v %v", k, err)
	}
	if !strings.Contains(c.Status.Message, "CredentialsInPods") {
		t.Errorf("the capability does not say it: %s", c.Status.Message)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestRollout_ARefusedStatusWriteLosesNoReport(t *testing.T) {
	extent.Full(t)
	k := kit.Proxied(t)
	b := &bed{k}
	c := withStores(b.small("retelling"))
	b.Create(c)
	b.Running(c)
	refused := k.Kube.Fault(kubeproxy.Match{Resource: "nexuscapabilities/status", WritesOnly: true, Times: 3}, kubeproxy.Conflict())
	b.Edit(c, func() {
		c.Spec.Backend.Image = "registry.example/backend:2"
		c.Spec.DataServices.DynamoDB.Tables = append(c.Spec.DataServices.DynamoDB.Tables, nexusv1.TableSpec{Name: "fresh"})
	})
	b.Running(c)
	if n := refused.Hits(); n != 3 {
		t.Fatalf("%d writes of the status were refused", n)
	}
	told := fmt.Sprint(c.Status.Rollout.Changes)
	for _, want := range []string{"{Deployment retelling-dev-backend Updated", "{DynamoDBTable retelling-dev-fresh Created"} {
		if !strings.Contains(told, want) {
			t.Errorf("the changes do not say %q: %s", want, told)
		}
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}
