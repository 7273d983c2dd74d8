package networkpolicy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// objects says the pieces of one demand: one object for each selector, with both directions where they share
// it.
func objects(p intent.Policy, d demand, ingress, egress []piece) []*unstructured.Unstructured {
	var specs []*networkingv1.NetworkPolicySpec
	bySelector := map[string]*networkingv1.NetworkPolicySpec{}
	at := func(b box) *networkingv1.NetworkPolicySpec {
		selector := b.selector()
		if b.equal(d.pods) {
			selector = d.selector // in the user's words
		}
		key := text(selector)
		if bySelector[key] == nil {
			bySelector[key] = &networkingv1.NetworkPolicySpec{PodSelector: selector}
			specs = append(specs, bySelector[key])
		}
		return bySelector[key]
	}
	for _, piece := range ingress {
		for _, b := range piece.pods {
			s := at(b)
			s.PolicyTypes = append(s.PolicyTypes, networkingv1.PolicyTypeIngress)
			s.Ingress = piece.allowed.ingress()
		}
	}
	for _, piece := range egress {
		for _, b := range piece.pods {
			s := at(b)
			s.PolicyTypes = append(s.PolicyTypes, networkingv1.PolicyTypeEgress)
			s.Egress = piece.allowed.egress()
		}
	}
	var out []*unstructured.Unstructured
	for _, s := range specs {
		suffix := ""
		if len(specs) > 1 {
			suffix = short(text(s.PodSelector))
		}
		o := intent.NewObject(Name, kind(), p, d.rule, suffix)
		o.Object["spec"] = generic(s)
		out = append(out, o)
	}
	return out
}

// short is a suffix that stays while the selector does, whatever other objects there are.
func short(selector string) string {
	sum := sha256.Sum256([]byte(selector))
	return hex.EncodeToString(sum[:4])
}

// text is the same for selectors that are written alike.
func text(s metav1.LabelSelector) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("a selector is strings only: " + err.Error())
	}
	return string(b)
}

// generic is the form that objects of any kind have.
func generic(s *networkingv1.NetworkPolicySpec) map[string]any {
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
