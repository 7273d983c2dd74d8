// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

var (
	ciliumPolicy      = schema.GroupVersionKind{Group: "cilium.io", Version: "v2", Kind: "CiliumNetworkPolicy"}
	applicationPolicy = schema.GroupVersionKind{Group: "networking.k8s.aws", Version: "v1alpha1", Kind: "ApplicationNetworkPolicy"}
)

// opensOtherPorts reports whether a NetworkPolicy opens ports to everybody.
func opensOtherPorts(u *unstructured.Unstructured) bool {
	egress, _, _ := unstructured.NestedSlice(u.Object, "spec", "egress")
	return slices.ContainsFunc(egress, func(rule any) bool { _, restricted := rule.(map[string]any)["to"]; return !restricted })
}

// An uninstall of Cilium leaves its kinds behind: another engine then enforces NetworkPolicies, and nothing holds names.
func TestNamesOutward_KindsThatCiliumLeftHoldNothing(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.Cilium)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("allowEgressToNames", intentv1alpha1.Block, intentv1alpha1.Params{"names": {"api.example.com"}}))
	h.make(b)
	h.eventually("the claim to name what is missing", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		for _, c := range b.Status.Coverage {
			if c.Engine == "Cilium" && c.Level == "None" && c.Reason == "EngineMissing" &&
				strings.Contains(c.Message, "no pod of Cilium's DaemonSet is ready") {
				return nil
			}
		}
		return fmt.Errorf("%+v", b.Status.Coverage)
	})
	h.shows(b, "Enforced", "False", "NotEnforced")
	h.areThere(ns, false, ciliumPolicy)
	h.remove(b)
}

func TestNamesOutward_FollowTheirEngineAndNarrowOthers(t *testing.T) {
	extent.Full(t)
	h := start(t, "--cluster-dns-service=default/names-dns", "--network-policy-enforcer=Cilium")
	dnsService := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "names-dns"}}
	dnsService.Spec.Selector, dnsService.Spec.Ports = map[string]string{"app": "dns"},
		[]corev1.ServicePort{{Port: 53, Protocol: corev1.ProtocolUDP}}
	h.make(dnsService)
	ns := h.namespace(nil)
	names := h.declared("allowEgressToNames", intentv1alpha1.Block, intentv1alpha1.Params{"names": {"api.example.com", "*.example.org"}})
	dns := h.declared("dnsManipulation", intentv1alpha1.Block, intentv1alpha1.Params{"otherEgress": {"allow"}})
	b, beside := h.binds(ns, "web", app, names), h.binds(ns, "beside", app, dns)
	h.make(b, beside)
	otherPorts := func(want bool) {
		h.Helper()
		h.eventually(fmt.Sprintf("other ports to be open: %v", want), func() error {
			u, err := h.object(networkPolicy, ns, "beside-dnsmanipulation")
			if err == nil && opensOtherPorts(u) != want {
				err = fmt.Errorf("%v", u.Object["spec"])
			}
			return err
		})
	}
	for range 2 {
		h.covers(b, "allowEgressToNames", "Cilium", "None", "EngineMissing")
		h.covers(b, "allowEgressToNames", "EKSAutoMode", "None", "EngineMissing")
		h.covers(b, "allowEgressToNames", "NetworkPolicy", "None", "NotCovered")
		h.shows(b, "Enforced", "False", "NotEnforced")
		otherPorts(true)
		h.install(enginecrds.Cilium)
		h.covers(b, "allowEgressToNames", "Cilium", "Enforced", "")
		h.shows(b, "Enforced", "True", "Enforced")
		otherPorts(false)
		u := h.there(ciliumPolicy, ns, "web-allowegresstonames")
		h.healed("names", u, func(u *unstructured.Unstructured) {
			egress, _, _ := unstructured.NestedSlice(u.Object, "spec", "egress")
			i := slices.IndexFunc(egress, func(rule any) bool { return rule.(map[string]any)["toFQDNs"] != nil })
			egress[i].(map[string]any)["toFQDNs"] = []any{map[string]any{"matchPattern": "*"}}
			_ = unstructured.SetNestedSlice(u.Object, egress, "spec", "egress")
		})
		h.quiet()
		h.uninstall(enginecrds.Cilium)
	}
	h.install(enginecrds.EKSAutoMode)
	if world.AutoMode() { // which takes the wildcard for more than one label
		h.covers(b, "allowEgressToNames", "EKSAutoMode", "Partial", "NotCovered")
	} else {
		h.covers(b, "allowEgressToNames", "EKSAutoMode", "None", "EngineMissing")
	}
	h.remove(b, beside)
}

// Node pools of EKS Auto Mode begin without nodes: no label says that it is on.
func TestNamesOutward_AutoModeIsKnownBeforeItsFirstNode(t *testing.T) {
	extent.Full(t)
	w := world.Shared(t)
	if err := w.ResetAWS(t.Context()); err != nil {
		t.Fatal(err)
	}
	makeEKSCluster(t, w, "pools", true)
	h := startOn(t, "--eks-cluster-name=pools")
	h.install(enginecrds.EKSAutoMode)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("allowEgressToNames", intentv1alpha1.Block, intentv1alpha1.Params{"names": {"api.example.com"}}))
	h.make(b)
	h.areThere(ns, true, applicationPolicy)
	h.remove(b)
}
