// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// objects says the allotments of one demand: one object for each selector, with both directions where they share
// it.
func objects(p intent.Policy, d demand, ingress, egress []allotment) []*unstructured.Unstructured {
	var specs []*networkingv1.NetworkPolicySpec
	bySelector := map[string]*networkingv1.NetworkPolicySpec{}
	at := func(b podSet) *networkingv1.NetworkPolicySpec {
		selector := b.selector()
		if b.equal(d.pods) {
			selector = d.selector // in the user's words
		}
		key := selectorText(selector)
		if bySelector[key] == nil {
			bySelector[key] = &networkingv1.NetworkPolicySpec{PodSelector: selector}
			specs = append(specs, bySelector[key])
		}
		return bySelector[key]
	}
	for _, allotment := range ingress {
		for _, b := range allotment.pods {
			s := at(b)
			s.PolicyTypes = append(s.PolicyTypes, networkingv1.PolicyTypeIngress)
			s.Ingress = allotment.allowed.ingress()
		}
	}
	for _, allotment := range egress {
		for _, b := range allotment.pods {
			s := at(b)
			s.PolicyTypes = append(s.PolicyTypes, networkingv1.PolicyTypeEgress)
			s.Egress = allotment.allowed.egress()
		}
	}
	var out []*unstructured.Unstructured
	for _, s := range specs {
		suffix := ""
		if len(specs) > 1 {
			suffix = shortName(selectorText(s.PodSelector), s.PolicyTypes)
		}
		o := intent.NewObject("netpol", kind(), p, d.rule, suffix) // the adapter's name as Nimbus writes it
		o.Object["spec"] = toUnstructured(s)
		out = append(out, o)
	}
	return out
}

// shortName is a suffix that depends on selector and directions only, not on other objects. No write to an object with a suffix ever
// removes pods or a direction from it, so the replacement of an object can always be created before the object is deleted.
func shortName(selector string, types []networkingv1.PolicyType) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(selector, types)))
	return hex.EncodeToString(sum[:4])
}

// selectorText is the same for selectors that are written alike.
func selectorText(s metav1.LabelSelector) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("a selector is strings only: " + err.Error())
	}
	return string(b)
}

// toUnstructured is the form that objects of any kind have.
func toUnstructured(s *networkingv1.NetworkPolicySpec) map[string]any {
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
	if err != nil {
		panic("a spec is plain data: " + err.Error())
	}
	return o
}

func (f flows) ingress() []networkingv1.NetworkPolicyIngressRule {
	var out []networkingv1.NetworkPolicyIngressRule
	for _, a := range f {
		out = append(out, networkingv1.NetworkPolicyIngressRule{From: a.others(), Ports: a.ports.spec()})
	}
	return out
}

func (f flows) egress() []networkingv1.NetworkPolicyEgressRule {
	var out []networkingv1.NetworkPolicyEgressRule
	for _, a := range f {
		out = append(out, networkingv1.NetworkPolicyEgressRule{To: a.others(), Ports: a.ports.spec()})
	}
	return out
}

// others are the peers; none at all means everybody.
func (a allowance) others() []networkingv1.NetworkPolicyPeer {
	var out []networkingv1.NetworkPolicyPeer
	for _, p := range a.peers {
		switch p.kind {
		case everybody:
			return nil
		case networkPeer:
			out = append(out, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: p.network.String()}})
		case podPeer:
			namespaces, pods := p.namespaces.selector(), p.pods.selector()
			peer := networkingv1.NetworkPolicyPeer{NamespaceSelector: &namespaces}
			if len(p.pods) > 0 {
				peer.PodSelector = &pods
			}
			out = append(out, peer)
		}
	}
	return out
}

func (p ports) spec() []networkingv1.NetworkPolicyPort {
	var out []networkingv1.NetworkPolicyPort
	for _, r := range p {
		from := intstr.FromInt32(r.from)
		port := networkingv1.NetworkPolicyPort{Protocol: &r.protocol, Port: &from}
		if r.to > r.from {
			port.EndPort = &r.to
		}
		out = append(out, port)
	}
	return out
}
