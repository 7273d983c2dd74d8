// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/testkit/ekswebhook"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// patience bounds the wait for a state that no other step precedes. It promises no speed.
const patience = 2 * time.Minute

// onlyNode is the node of the world of this package.
const onlyNode = "node-0"

// deadWebhook is a webhook that must judge what becomes of Deployments in a namespace, and whose Service does not exist.
func deadWebhook(namespace string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "dead-" + namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "validate.dead.example.com",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "policies", Name: "policy-svc", Path: new("/validate")}},
			AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			FailurePolicy:     new(admissionregistrationv1.Fail),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create,
				admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}}}},
		}}}
}

// failWebhooks lets a dead webhook judge the Deployments of a namespace until the test ends. The API server follows its webhooks a little
// later.
func (b *bed) failWebhooks(namespace string) client.Object {
	b.Helper()
	hook := deadWebhook(namespace)
	b.Create(hook)
	b.Cleanup(func() { _ = b.Client.Delete(b.Ctx(), hook) })
	labels := map[string]string{"app": "probe"}
	probe := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}}}}}
	b.Eventually(patience, "the webhook to be asked", func() error {
		if err := b.Client.Create(b.Ctx(), probe.DeepCopy(), client.DryRunAll); err == nil ||
			!strings.Contains(err.Error(), "failed calling webhook") {
			return fmt.Errorf("a Deployment is created: %v", err)
		}
		return nil
	})
	return hook
}

// A webhook whose Service is gone refuses what it should judge, with an internal error of the API server. The API server is well: the rest
// is created, the webhook is named, and a deletion is not held.
func TestOutage_ADeadWebhookOfOthersIsNamed(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("webhook"))
	hook := b.failWebhooks(c.Namespace)
	b.Create(c)
	for _, part := range []string{nexusv1.ConditionBackendReady, nexusv1.ConditionFrontendReady} {
		b.contains(b.Shows(c, part, metav1.ConditionFalse, "WebhookFailing"), "validate.dead.example.com", "Service policies/policy-svc",
			"kubectl get pods,endpointslices -n policies")
	}
	for _, part := range []string{nexusv1.ConditionDataServicesReady, nexusv1.ConditionIdentityReady, nexusv1.ConditionParametersReady} {
		b.Shows(c, part, metav1.ConditionTrue, "Ready")
	}
	if k, err := b.Condition(c, "Stalled"); err != nil || k.Status != metav1.ConditionFalse {
		t.Errorf("what passes is taken for what needs a person: %+v, %v", k, err)
	}
	b.Remove(hook)
	b.Running(c)

	b.failWebhooks(c.Namespace)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

// The agent runs on one of two nodes, and the pods on the other one.
func TestOutage_NodesWithoutThePodIdentityAgentAreNamed(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--eks-cluster-name="+eksCluster)
	b.makeEKSCluster()
	ekswebhook.Start(t, b.World, eksCluster)
	b.deleteOIDCProvider(homeAccount)
	labels := map[string]string{corev1.LabelHostname: "node-agent", corev1.LabelOSStable: "linux"}
	other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-agent", Labels: labels,
		Annotations: map[string]string{wellknown.AnnotationSimulatedNode: "fake"}},
		Spec: corev1.NodeSpec{Unschedulable: true}} // for all but DaemonSets
	b.Create(other)
	t.Cleanup(func() { _ = b.Client.Delete(b.Ctx(), other) })
	b.runAgent(map[string]string{corev1.LabelHostname: other.Name})
	agent := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "eks-pod-identity-agent"}}
	b.Eventually(patience, "the agent to be ready on the other node", func() error {
		if err := b.Get(agent); err != nil || agent.Status.NumberReady != 1 {
			return fmt.Errorf("%+v, %w", agent.Status, err)
		}
		return nil
	})
	c := b.small("agents")
	c.Spec.Identity = &nexusv1.IdentitySpec{Mode: nexusv1.IdentityPodIdentity}
	b.Create(c)
	message := b.Shows(c, "Stalled", metav1.ConditionTrue, "PodIdentityAgentMissing")
	b.contains(message, "no EKS Pod Identity Agent is ready", "credentials there: "+onlyNode+";", "spec.identity.mode: IRSA")
	b.Shows(c, nexusv1.ConditionIdentityReady, metav1.ConditionFalse, "PodIdentityAgentMissing")
	if c.Status.Ready || strings.Contains(message, other.Name) {
		t.Errorf("ready %t: %s", c.Status.Ready, message)
	}
	b.runAgent(nil)
	b.Running(c)
	b.Remove(c)
}

// withoutKubelets runs what happens while nothing plays the kubelets: no pod starts, and no node comes back.
func (b *bed) withoutKubelets(do func()) {
	b.Helper()
	if err := b.World.Kill(world.Kwok); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := b.World.Restart(world.Kwok); err != nil {
			b.Error(err)
		}
	}()
	do()
}

// podsOf returns the pods of a component of a capability.
func (b *bed) podsOf(c *nexusv1.NexusAICapability, component string) []corev1.Pod {
	b.Helper()
	pods := &corev1.PodList{}
	if err := b.Client.List(b.Ctx(), pods, client.InNamespace(c.Spec.CapabilityName+"-dev"),
		client.MatchingLabels{"app.kubernetes.io/component": component}); err != nil || len(pods.Items) == 0 {
		b.Fatalf("%d pods of the %s, %v", len(pods.Items), component, err)
	}
	return pods.Items
}

// phasesOf returns a function that tells which phases a capability has had from now on until it was read last, each change once.
func (b *bed) phasesOf(c *nexusv1.NexusAICapability) func() []nexusv1.Phase {
	b.Helper()
	w, err := b.Client.Watch(b.Ctx(), &nexusv1.NexusAICapabilityList{}, client.InNamespace(c.Namespace),
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", c.Name)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Stop)
	seen := make(chan *nexusv1.NexusAICapability, 1000) // more than a test makes: the API server ends watches that are slow
	go func() {
		defer close(seen)
		for e := range w.ResultChan() {
			if o, ok := e.Object.(*nexusv1.NexusAICapability); ok {
				seen <- o
			}
		}
	}()
	return func() []nexusv1.Phase {
		b.Helper()
		var out []nexusv1.Phase
		for o := range seen {
			if len(out) == 0 || out[len(out)-1] != o.Status.Phase {
				out = append(out, o.Status.Phase)
			}
			if o.ResourceVersion == c.ResourceVersion {
				return out
			}
		}
		b.Fatalf("the watch ended after the phases %v", out)
		return nil
	}
}

// Pods that die without an edit make an outage, not an update.
func TestOutage_PodsThatDieMakeACapabilityDegraded(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("deaths")
	b.Create(c)
	b.Running(c)
	phases := b.phasesOf(c)
	b.withoutKubelets(func() {
		for _, p := range b.podsOf(c, "backend") {
			if err := b.Client.Delete(b.Ctx(), &p, client.GracePeriodSeconds(0)); err != nil {
				t.Fatal(err)
			}
		}
		b.Shows(c, "Ready", metav1.ConditionFalse, "Progressing", "0 of 2 replicas are available")
	})
	b.Running(c)
	if got, want := phases(), []nexusv1.Phase{nexusv1.PhaseRunning, nexusv1.PhaseDegraded, nexusv1.PhaseRunning}; !slices.Equal(got, want) {
		t.Errorf("phases %v, want %v", got, want)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

// A kubelet that says nothing more takes its pods with it. The node controller of Kubernetes tells so, whose part the test plays.
func TestOutage_ADeadNodeIsNamed(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("node")
	b.Create(c)
	b.Running(c)
	phases := b.phasesOf(c)
	b.withoutKubelets(func() {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: onlyNode}}
		b.alterStatus(node, func() {
			for i := range node.Status.Conditions {
				if k := &node.Status.Conditions[i]; k.Type == corev1.NodeReady {
					k.Status, k.Reason, k.Message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
				}
			}
		})
		for _, p := range slices.Concat(b.podsOf(c, "backend"), b.podsOf(c, "frontend")) {
			b.alterStatus(&p, func() {
				for i := range p.Status.Conditions {
					if k := &p.Status.Conditions[i]; k.Type == corev1.PodReady {
						k.Status, k.Reason = corev1.ConditionFalse, "NodeNotReady"
					}
				}
			})
		}
		for _, part := range []string{nexusv1.ConditionBackendReady, nexusv1.ConditionFrontendReady} {
			b.Shows(c, part, metav1.ConditionFalse, "NodeNotReady", "0 of 2 replicas are available", "node "+onlyNode+" is not ready since ",
				"delete the Node if the machine is gone")
		}
	})
	// The kubelet is back, and the pods that it had are replaced.
	for _, p := range slices.Concat(b.podsOf(c, "backend"), b.podsOf(c, "frontend")) {
		if err := b.Client.Delete(b.Ctx(), &p, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	b.Running(c)
	if got, want := phases(), []nexusv1.Phase{nexusv1.PhaseRunning, nexusv1.PhaseDegraded, nexusv1.PhaseRunning}; !slices.Equal(got, want) {
		t.Errorf("phases %v, want %v", got, want)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

// alterStatus changes the status of an object as it is now.
func (b *bed) alterStatus(o client.Object, change func()) {
	b.Helper()
	if err := b.Get(o); err != nil {
		b.Fatal(err)
	}
	was := o.DeepCopyObject().(client.Object)
	change()
	if err := b.Client.Status().Patch(b.Ctx(), o, client.MergeFrom(was)); err != nil {
		b.Fatal(err)
	}
}

// An autoscaler that wants more pods than the nodes have room for takes nothing from a capability that has its minimum.
func TestOutage_AnAutoscalerBeyondTheRoomLeavesACapabilityReady(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("crowd")
	// The node has 64 processors: two such pods fit on it, or three with nothing beside them, and never six.
	c.Spec.Backend.Resources = &nexusv1.ComponentResources{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20")}}
	c.Spec.Backend.Autoscaling = &nexusv1.AutoscalingSpec{Min: new(int32(2)), Max: 8}
	b.Create(c)
	b.Running(c)
	was := *meta.FindStatusCondition(c.Status.Conditions, "Ready")
	phases := b.phasesOf(c)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "crowd-dev-backend"}}
	b.alterStatus(d, func() { // pods take longer to start than these: a change in the second of the rollout could be one of the template
		for i := range d.Status.Conditions {
			d.Status.Conditions[i].LastUpdateTime = metav1.NewTime(d.Status.Conditions[i].LastUpdateTime.Add(2 * time.Second))
		}
	})
	if err := b.Client.SubResource("scale").Update(b.Ctx(), d,
		client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 6}})); err != nil {
		t.Fatal(err)
	}
	b.Until(c, patience, "the pods without a node to be told of", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		for _, r := range c.Status.Resources {
			if r.Kind == "Deployment" && r.Name == d.Name && r.Reason == "Unschedulable" {
				return nil
			}
		}
		return fmt.Errorf("%s; %+v", c.Status.Message, c.Status.Resources)
	})
	if now := meta.FindStatusCondition(c.Status.Conditions, "Ready"); now.Status != metav1.ConditionTrue ||
		!now.LastTransitionTime.Equal(&was.LastTransitionTime) {
		t.Errorf("Ready was %+v and is %+v", was, now)
	}
	if got := phases(); !slices.Equal(got, []nexusv1.Phase{nexusv1.PhaseRunning}) {
		t.Errorf("phases %v, want Running alone", got)
	}

	// More than fit as the minimum are a failure.
	b.Edit(c, func() { c.Spec.Backend.Autoscaling.Min = new(int32(5)) })
	b.contains(b.Shows(c, nexusv1.ConditionBackendReady, metav1.ConditionFalse, "Unschedulable"), "lower its requests")
	b.removeAll([]*nexusv1.NexusAICapability{c})
}
