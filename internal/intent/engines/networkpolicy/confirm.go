// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// existing is a NetworkPolicy as it exists. A field that cannot be read counts as allowing everything.
type existing struct {
	pods podSet
	// exact says that pods are those selected and not more; none that nothing is selected.
	exact, none bool
	// ingress and egress are nil when the direction is not isolated.
	ingress, egress *flows
	// ingressText and egressText are the rules as they are written.
	ingressText, egressText string
}

func (e existing) text(direction intent.Direction) string {
	if direction == intent.Ingress {
		return e.ingressText
	}
	return e.egressText
}

func (e existing) in(direction intent.Direction) *flows {
	if direction == intent.Ingress {
		return e.ingress
	}
	return e.egress
}

// concerns reports whether the policy isolates the direction for some pods of a demand.
func (e existing) concerns(d demand, direction intent.Direction) bool {
	return !e.none && e.in(direction) != nil && e.pods.meets(d.pods)
}

// Parse implements intent.Divider.
func (engine) Parse(live *unstructured.Unstructured) any {
	np := networkingv1.NetworkPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &np); err != nil {
		all := allFlows()
		return existing{pods: podSet{}, ingress: &all, egress: &all}
	}
	var e existing
	var some bool
	e.pods, e.exact, some = podSetOf(&np.Spec.PodSelector)
	e.none = !some
	if isolates(np, networkingv1.PolicyTypeIngress) {
		e.ingress = &flows{}
		for _, r := range np.Spec.Ingress {
			*e.ingress = append(*e.ingress, allowanceOf(r.From, r.Ports))
		}
		e.ingressText = rulesText(np.Spec.Ingress)
	}
	if isolates(np, networkingv1.PolicyTypeEgress) {
		e.egress = &flows{}
		for _, r := range np.Spec.Egress {
			*e.egress = append(*e.egress, allowanceOf(r.To, r.Ports))
		}
		e.egressText = rulesText(np.Spec.Egress)
	}
	return e
}

// rulesText renders rules; empty when that fails, which compares with nothing.
func rulesText(rules any) string {
	b, err := json.Marshal(rules)
	if err != nil {
		return ""
	}
	return string(b)
}

func allFlows() flows { return flows{{peers: []peer{{kind: everybody}}}} }

// allowanceOf reads a rule. It never allows less than the rule does.
func allowanceOf(others []networkingv1.NetworkPolicyPeer, on []networkingv1.NetworkPolicyPort) allowance {
	a := allowance{ports: portsOf(on)}
	for _, o := range others {
		a.peers = append(a.peers, peerOf(o))
	}
	if len(others) == 0 {
		a.peers = []peer{{kind: everybody}}
	}
	return a
}

func peerOf(o networkingv1.NetworkPolicyPeer) peer {
	if o.IPBlock != nil {
		if network, err := netip.ParsePrefix(o.IPBlock.CIDR); err == nil {
			return peer{kind: networkPeer, network: network}
		}
		return peer{kind: everybody}
	}
	if o.NamespaceSelector == nil {
		return peer{kind: podPeer} // none of ours: pods of any namespace is more than is meant
	}
	p := peer{kind: podPeer}
	var exact, some bool
	if p.namespaces, exact, some = podSetOf(o.NamespaceSelector); !exact || !some {
		p.namespaces = nil
	}
	if o.PodSelector != nil {
		if p.pods, exact, some = podSetOf(o.PodSelector); !exact || !some {
			p.pods = nil
		}
	}
	return p
}

func portsOf(on []networkingv1.NetworkPolicyPort) ports {
	var out ports
	for _, p := range on {
		r := portRange{protocol: corev1.ProtocolTCP, from: 1, to: 65535}
		if p.Protocol != nil {
			r.protocol = *p.Protocol
		}
		if p.Port != nil && p.Port.StrVal == "" {
			r.from, r.to = p.Port.IntVal, p.Port.IntVal
			if p.EndPort != nil {
				r.to = *p.EndPort
			}
		}
		out = append(out, r)
	}
	return out
}

// isolates reports whether a policy isolates a direction. Without policyTypes it isolates ingress, and egress
// when it has rules for it.
func isolates(np networkingv1.NetworkPolicy, direction networkingv1.PolicyType) bool {
	if types := np.Spec.PolicyTypes; len(types) > 0 {
		return slices.Contains(types, direction)
	}
	return direction == networkingv1.PolicyTypeIngress || len(np.Spec.Egress) > 0
}

// Confirm implements intent.Divider.
func (e engine) Confirm(p intent.Policy, f intent.Facts, claims []intent.Claim, live []intent.Live) []intent.Claim {
	out := slices.Clone(claims)
	for i, r := range p.Rules {
		if i >= len(out) || !out[i].Holds() {
			continue
		}
		d, no := readDemand(p, r, f)
		if no != nil || d.pods == nil {
			continue
		}
		for _, direction := range []intent.Direction{intent.Ingress, intent.Egress} {
			if d.in(direction) == nil || !out[i].Holds() {
				continue
			}
			if reason, message := e.contradicted(d, direction, f, live); reason != "" {
				out[i] = intent.Not(r, reason, message)
			}
		}
	}
	return out
}

// comparison caches, by the text of its rules, whether a live object allows no more than a demand: the objects of one intent, perhaps
// hundreds, allow the same.
type comparison struct {
	allowed flows
	known   map[string]bool
}

// allow reports whether an object allows no more than the demand.
func (c comparison) allow(o existing, direction intent.Direction) bool {
	text := o.text(direction)
	within, known := c.known[text]
	if !known || text == "" {
		within = c.allowed.allow(*o.in(direction))
		c.known[text] = within
	}
	return within
}

// contradicted returns why the existing objects do not enforce a demand in a direction, or "".
func (e engine) contradicted(d demand, direction intent.Direction, f intent.Facts, live []intent.Live) (reason, message string) {
	said := strings.ToLower(string(policyType(direction)))
	left := []podSet{d.pods}
	for _, o := range isolatingPolicies(f, direction) {
		left = cutOff(left, o.pods)
	}
	var wider []string
	mine := comparison{allowed: *d.in(direction), known: map[string]bool{}}
	for _, l := range live {
		o, ok := l.Parsed.(existing)
		switch {
		case !ok || !o.concerns(d, direction):
		case !mine.allow(o, direction):
			wider = append(wider, fmt.Sprintf("%s of policy %s", l.Name, l.Policy))
		case o.exact && l.Policy == d.policy && l.Rule == d.rule.ID:
			left = cutOff(left, o.pods)
		}
	}
	switch {
	case len(wider) > 0:
		return intent.ReasonOverlaps,
			fmt.Sprintf("NetworkPolicy %s still allows more %s on some of these pods; it is written next", slices.Min(wider), said)
	case len(left) > 0:
		return intent.ReasonNotLive, fmt.Sprintf("no NetworkPolicy of the policy selects all of these pods for %s yet", said)
	}
	return "", ""
}

// cutOff returns the parts of sets outside of an exclusion.
func cutOff(sets []podSet, exclusion podSet) []podSet {
	if len(sets) == 0 {
		return nil
	}
	keys := cutOrder([]podSet{exclusion})
	var out []podSet
	for _, b := range sets {
		out = append(out, b.minus(exclusion, keys)...)
	}
	return out
}
