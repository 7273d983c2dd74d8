// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func (h *home) secure(c *nexusv1.NexusAICapability, list ...nexusv1.IntentReference) {
	h.Helper()
	h.alter(c, func() { c.Spec.Security = &nexusv1.SecuritySpec{Intents: list} })
}

// bindingKind and capabilityKind are for looking whether objects of them are gone.
var (
	bindingKind    = intentv1alpha1.GroupVersion.WithKind("SecurityIntentBinding")
	capabilityKind = nexusv1.GroupVersion.WithKind("NexusAICapability")
)

func bindingNamed(namespace, name string) *intentv1alpha1.SecurityIntentBinding {
	return &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func intentNamed(name, id string) *intentv1alpha1.SecurityIntent {
	return &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: intentv1alpha1.SecurityIntentSpec{Intent: intentv1alpha1.Intent{ID: id}}}
}

func TestIntentsOfACapabilityAreBoundReportedAndUnbound(t *testing.T) {
	h := start(t)
	c := example("bound")
	c.Spec.DataServices = nil
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "bound-late"}}}
	h.create(c)

	// An intent that does not exist keeps nothing from running.
	h.shows(c, "BackendReady", "True", "Ready")
	if m := h.shows(c, "PoliciesReady", "False", "IntentMissing"); !strings.Contains(m, "bound-late") {
		t.Errorf("the message does not name the intent: %s", m)
	}
	h.make(intentNamed("bound-late", "noSuchThing"))
	h.shows(c, "PoliciesReady", "False", "NotEnforced")
	h.shows(c, "Stalled", "True", "NotEnforced")
	h.eventually("the coverage", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		for _, row := range c.Status.Coverage {
			if row.Intent != "noSuchThing" || row.Level != "None" || row.Engine == "" || row.Reason == "" || row.Message == "" {
				return fmt.Errorf("%+v", row)
			}
		}
		if len(c.Status.Coverage) == 0 {
			return errors.New("there is none")
		}
		return nil
	})

	// Intents that a person adds to a binding are removed: with it the policy would hold fewer pods.
	b := bindingNamed("bound-dev", "bound-dev-policies")
	h.alter(b, func() { b.Spec.Selector.WorkloadSelector.MatchLabels["nobody"] = "has-it" })
	h.eventually("the selector to be restored", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if _, there := b.Spec.Selector.WorkloadSelector.MatchLabels["nobody"]; there {
			return errors.New("the label is still there")
		}
		return nil
	})

	h.secure(c)
	h.gone(bindingKind, b.Namespace, b.Name)
	h.shows(c, "PoliciesReady", "True", "Skipped")
	h.shows(c, "Ready", "True", "Ready")
	// Into a new object: decoding leaves a field alone that the answer does not have.
	after := &nexusv1.NexusAICapability{}
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), after); err != nil || len(after.Status.Coverage) > 0 {
		t.Errorf("the coverage outlives the intents: %v, %v", after.Status.Coverage, err)
	}
	h.remove(c)
}

func TestIntentThatClosesEgressToAWS_IsReportedAtOnce(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("closed")
	c.Spec.DataServices = nil
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "closed-dns", Component: "backend"}}}
	h.create(c)
	h.shows(c, "PoliciesReady", "False", "IntentMissing")
	si := intentNamed("closed-dns", "dnsManipulation")
	h.make(si)
	if m := h.shows(c, "PoliciesReady", "False", "EgressToAWSBlocked"); !strings.Contains(m, "closed-dns") ||
		!strings.Contains(m, "awsCIDRs") {
		t.Errorf("the message names neither the intent nor the remedy: %s", m)
	}
	h.shows(c, "Stalled", "True", "EgressToAWSBlocked")
	blocked := func(want bool) func() error {
		return func() error {
			if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
				return err
			}
			for _, k := range c.Status.Conditions {
				if k.Type == "PoliciesReady" && k.ObservedGeneration == c.Generation && (k.Reason == "EgressToAWSBlocked") == want {
					return nil
				}
			}
			return fmt.Errorf("%+v", c.Status.Conditions)
		}
	}
	h.alter(si, func() { si.Spec.Intent.Params = intentv1alpha1.Params{"otherEgress": {"allow"}} })
	h.eventually("the way to be open", blocked(false))
	h.alter(si, func() { si.Spec.Intent.Params = nil })
	h.eventually("the way to be closed", blocked(true))
	h.secure(c, nexusv1.IntentReference{Name: "closed-dns", Component: "frontend"})
	h.eventually("only the frontend to be held", blocked(false))
	h.gone(bindingKind, "closed-dev", "closed-dev-backend-policies")
	h.remove(c)
}

func TestIntentThatClosesPodsToALoadBalancer_IsReported(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("segments")
	c.Spec.DataServices = nil
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "segments-calls", Component: "backend"}}}
	si := intentNamed("segments-calls", "networkSegmentation")
	si.Spec.Intent.Params = intentv1alpha1.Params{"fromNamespaces": {"segments-dev"}}
	h.make(si)
	h.create(c)
	if m := h.shows(c, "PoliciesReady", "False", "LoadBalancerBlocked"); !strings.Contains(m, "segments-calls") ||
		!strings.Contains(m, "call the backend") {
		t.Errorf("the message names neither the intent nor the component: %s", m)
	}
	h.shows(c, "Stalled", "True", "LoadBalancerBlocked")
	h.alter(c, func() {
		c.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
		c.Spec.Backend.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}
	})
	h.shows(c, "PoliciesReady", "True", "Ready")
	h.remove(c)
}

func TestIntentForTLSInAMesh_ClosesPodsToALoadBalancer(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "mutual-dev", Labels: map[string]string{"istio-injection": "enabled"}}}
	if err := h.c.Create(h.ctx(), ns); err != nil {
		t.Fatal(err)
	}
	c := example("mutual")
	c.Namespace = ns.Name
	c.Spec.DataServices = nil
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "mutual-tls", Component: "backend"}}}
	si := intentNamed("mutual-tls", "ensureTLS")
	h.make(si)
	h.create(c)
	if m := h.shows(c, "PoliciesReady", "False", "LoadBalancerBlocked"); !strings.Contains(m, "mutual-tls") ||
		!strings.Contains(m, "add 8000 to its parameter exceptPorts") {
		t.Errorf("the message names neither the intent nor the remedy: %s", m)
	}
	h.alter(si, func() { si.Spec.Intent.Params = intentv1alpha1.Params{"exceptPorts": {"8000"}} })
	h.eventually("the way to be open", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		for _, k := range c.Status.Conditions {
			if k.Type == "PoliciesReady" && k.Reason == "LoadBalancerBlocked" {
				return fmt.Errorf("%+v", k)
			}
		}
		return nil
	})
	h.remove(c)
}

func TestPoliciesStayForAsLongAsAPodOfTheirsDoes(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("held")
	c.Spec.DataServices = nil
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "held-none"}}}
	h.create(c)
	h.shows(c, "BackendReady", "True", "Ready")
	b := bindingNamed("held-dev", "held-dev-policies")
	h.shows(b, "Ready", "False", "IntentMissing")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "slow-to-end", Namespace: "held-dev", Finalizers: []string{"example.com/slow"},
		Labels: map[string]string{
			"app.kubernetes.io/managed-by": "nexus-operator", "nexus.ai/capability-uid": string(c.UID),
		}}, Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: new(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{Name: "c", Image: "i", SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}},
	}}
	if err := h.c.Create(h.ctx(), pod); err != nil {
		t.Fatal(err)
	}
	if err := h.c.Delete(h.ctx(), c); err != nil {
		t.Fatal(err)
	}
	h.eventually("the wait to be told of", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if !strings.Contains(c.Status.Message, "slow-to-end") {
			return errors.New(c.Status.Message)
		}
		return nil
	})
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil || b.DeletionTimestamp != nil {
		t.Errorf("the binding is gone before the pod: %v", err)
	}
	if err := h.c.Delete(h.ctx(), pod); err != nil {
		t.Fatal(err)
	}
	h.alter(pod, func() { pod.Finalizers = nil })
	h.gone(capabilityKind, c.Namespace, c.Name)
	h.gone(bindingKind, b.Namespace, b.Name)
}

func TestTheExampleWithIntentsRunsWithAllOfThemInForce(t *testing.T) {
	extent.Full(t)
	h := start(t)
	objects, err := world.ReadManifests("../../examples/capability-with-intents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := &nexusv1.NexusAICapability{}
	for _, o := range objects {
		if o.GetKind() != "NexusAICapability" {
			h.make(o)
		} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, c); err != nil {
			t.Fatal(err)
		}
	}
	h.create(c)
	h.shows(c, "PoliciesReady", "True", "Ready")
	h.shows(c, "Ready", "True", "Ready")
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
		t.Fatal(err)
	}
	enforced := map[string]string{}
	for _, row := range c.Status.Coverage {
		if row.Level == "Enforced" {
			enforced[row.Intent] = string(row.Component) + " by " + row.Engine
		}
	}
	if enforced["dnsManipulation"] != " by NetworkPolicy" || enforced["networkSegmentation"] != "backend by NetworkPolicy" {
		t.Errorf("in force: %v, of %+v", enforced, c.Status.Coverage)
	}
	h.remove(c)
	h.gone(bindingKind, c.Namespace, "guarded-dev-policies")
	if s := h.left(); s != "" {
		t.Errorf("left in AWS: %s", s)
	}
}
