// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// show renders a translation: claims as comments, then the objects.
func show(t *testing.T, tr intent.Translation) string {
	t.Helper()
	var b strings.Builder
	for _, c := range tr.Claims {
		b.WriteString(strings.TrimRight(fmt.Sprintf("# %s: %s %s %s", c.Intent, c.Level, c.Reason, c.Message), " ") + "\n")
	}
	return b.String() + golden.Manifests(t, tr.Objects)
}

// Builders, shared by the tests of this package.

func policy(name string, selector intent.Selector, rules ...intent.Rule) intent.Policy {
	return intent.Policy{Name: name, Namespace: "shop", Selector: selector, Rules: rules}
}

func labels(pairs ...string) intent.Selector {
	s := intent.Selector{Labels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.Labels[pairs[i]] = pairs[i+1]
	}
	return s
}

func expressions(e ...metav1.LabelSelectorRequirement) intent.Selector {
	return intent.Selector{Expressions: e}
}

func expr(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
}

func rule(id string, params map[string][]string) intent.Rule {
	return intent.Rule{ID: id, Canonical: id, Intent: id, Action: v1alpha1.Block, Params: params}
}

func audit(r intent.Rule) intent.Rule {
	r.Action = v1alpha1.Audit
	return r
}

type params = map[string][]string

func dns(p params) intent.Rule      { return rule("dnsManipulation", p) }
func external(p params) intent.Rule { return rule("denyExternalNetworkAccess", p) }
func segment(p params) intent.Rule  { return rule("networkSegmentation", p) }

func isolated(name string, selector intent.Selector, types ...networkingv1.PolicyType) networkingv1.NetworkPolicy {
	return networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: selector.Labels, MatchExpressions: selector.Expressions}, PolicyTypes: types,
		},
	}
}

func TestEachIntentBecomesExactlyTheseObjects(t *testing.T) {
	web := labels("app", "web")
	cases := map[string]intent.Policy{
		"dns":               policy("web", web, dns(nil)),
		"dns-deny-peers":    policy("web", web, dns(params{"otherEgress": {"deny"}, "dnsPeers": {"169.254.20.10/32", "fd00::10/128"}})),
		"dns-allow":         policy("web", web, dns(params{"otherEgress": {"allow"}})),
		"dns-allow-peers":   policy("web", web, dns(params{"otherEgress": {"allow"}, "dnsPeers": {"169.254.20.10/32"}})),
		"dns-audit":         policy("web", web, audit(dns(nil))),
		"external":          policy("web", web, external(nil)),
		"external-allow":    policy("web", web, external(params{"allowCIDRs": {"203.0.113.0/24", "10.0.0.0/8", "2001:db8::/32"}})),
		"external-audit":    policy("web", web, audit(external(nil))),
		"segment-namespace": policy("web", web, segment(params{"fromNamespaces": {"front"}})),
		"segment-ports":     policy("web", web, segment(params{"fromNamespaces": {"ops", "front", "ops"}, "ports": {"8443", "8080"}})),
		"segment-accounts": policy("web", web,
			segment(params{"fromServiceAccounts": {"front/web", "front/job", "ops/probe"}, "ports": {"8080"}})),
		"segment-both": policy("web", web,
			segment(params{"fromNamespaces": {"front"}, "fromServiceAccounts": {"front/web", "ops/probe"}})),
		"segment-nobody": policy("web", web, segment(params{"ports": {"8080"}})),
		"segment-audit":  policy("web", web, audit(segment(params{"fromNamespaces": {"front"}}))),
		"every-pod":      policy("all", intent.Selector{}, dns(nil)),
		"selector-expressions": policy("web", intent.Selector{Labels: map[string]string{"app": "web"},
			Expressions: []metav1.LabelSelectorRequirement{expr("tier", metav1.LabelSelectorOpNotIn, "db", "cache"),
				expr("team", metav1.LabelSelectorOpExists)}}, dns(nil)),
		"all-three": policy("web", web, dns(params{"otherEgress": {"allow"}}), external(nil),
			segment(params{"fromNamespaces": {"front"}, "ports": {"8080"}})),
	}
	for name, p := range cases {
		t.Run(name, func(t *testing.T) { golden.Check(t, name+".yaml", show(t, New().Translate(p, intent.Facts{}))) })
	}
}

func TestOverlappingIntentsBecomeExactlyTheseObjects(t *testing.T) {
	allow := params{"otherEgress": {"allow"}}
	cases := map[string]struct {
		policies []intent.Policy
		foreign  []networkingv1.NetworkPolicy
	}{
		"overlap-narrower-inside": {policies: []intent.Policy{
			policy("a", intent.Selector{}, external(nil)), policy("b", labels("app", "web"), dns(nil)),
		}},
		"overlap-mixed": {policies: []intent.Policy{
			policy("a", labels("app", "web"), external(nil)), policy("b", labels("tier", "front", "team", "x"), dns(allow)),
		}},
		"overlap-disjoint-segments": {policies: []intent.Policy{
			policy("a", labels("app", "web"), segment(params{"fromNamespaces": {"front"}})),
			policy("b", labels("tier", "front"), segment(params{"fromNamespaces": {"ops"}})),
		}},
		"foreign-some": {
			policies: []intent.Policy{policy("a", labels("app", "web"), external(nil), dns(allow))},
			foreign:  []networkingv1.NetworkPolicy{isolated("theirs", labels("tier", "front"), networkingv1.PolicyTypeEgress)},
		},
		"foreign-all": {
			policies: []intent.Policy{policy("a", labels("app", "web"), external(nil), dns(allow))},
			foreign:  []networkingv1.NetworkPolicy{isolated("default-deny", intent.Selector{}, networkingv1.PolicyTypeEgress)},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i, p := range c.policies {
				fmt.Fprintf(&b, "# policy %s\n%s", p.Name,
					show(t, New().Translate(p, intent.Facts{Siblings: siblings(c.policies, i), NetworkPolicies: c.foreign})))
			}
			golden.Check(t, name+".yaml", b.String())
		})
	}
}

// siblings are all policies but one.
func siblings(all []intent.Policy, but int) []intent.Policy {
	var out []intent.Policy
	for i, p := range all {
		if i != but {
			out = append(out, p)
		}
	}
	return out
}
