// SPDX-License-Identifier: Apache-2.0

package cilium_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/cilium"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

func names(params map[string][]string) intent.Rule { return named(intent.EgressToNames, params) }

func named(id string, params map[string][]string) intent.Rule {
	return intent.Rule{ID: id, Canonical: id, Intent: "wish", Description: "As the house rules say", Action: v1alpha1.Block, Params: params}
}

func policy(rules ...intent.Rule) intent.Policy {
	return intent.Policy{Name: "guard", Namespace: "shop", Selector: intent.Selector{Labels: map[string]string{"app": "web"}}, Rules: rules}
}

func sibling(name string, labels map[string]string, rules ...intent.Rule) intent.Policy {
	p := policy(rules...)
	p.Name, p.Selector.Labels = name, labels
	return p
}

func TestNoMoreIsClaimedThanIsEnforced(t *testing.T) {
	for want, e := range map[string]intent.Enforcer{"Enforced": {}, "Partial": {Problem: "nothing on node w"},
		"None": {Off: true, Problem: "switched off"}} {
		got := cilium.New().Translate(policy(names(map[string][]string{"names": {"api.example.com"}})), intent.Facts{Enforcer: e}).Claims[0]
		if string(got.Level) != want || got.Message != e.Problem {
			t.Errorf("%+v: %+v", e, got)
		}
	}
}

// An uninstall of Cilium leaves its kinds behind, and another plugin then enforces NetworkPolicies.
func TestKindsWithoutCiliumHoldNothing(t *testing.T) {
	rule := names(map[string][]string{"names": {"api.example.com"}})
	for name, tc := range map[string]struct {
		facts  intent.Facts
		level  v1alpha1.Level
		reason string
	}{
		"Cilium":          {intent.Facts{Enforcer: intent.Enforcer{Names: []string{"Cilium"}}}, v1alpha1.LevelEnforced, ""},
		"by another name": {intent.Facts{Enforcer: intent.Enforcer{Names: []string{"cilium-enterprise"}}}, v1alpha1.LevelEnforced, ""},
		"another plugin": {intent.Facts{Enforcer: intent.Enforcer{Names: []string{"Calico"}}}, v1alpha1.LevelNone,
			intent.ReasonEngineMissing},
		"nodes of EKS Auto Mode": {intent.Facts{AutoMode: intent.SomeNodes,
			Enforcer: intent.Enforcer{Names: []string{"EKS Auto Mode", "Cilium"}}}, v1alpha1.LevelPartial, intent.ReasonNodesNotCovered},
	} {
		got := cilium.New().Translate(policy(rule), tc.facts)
		if c := got.Claims[0]; c.Level != tc.level || c.Reason != tc.reason || (c.Level == v1alpha1.LevelNone) != (len(got.Objects) == 0) {
			t.Errorf("%s: %+v, %d objects", name, c, len(got.Objects))
		}
		if holds := cilium.New().(intent.NamesHolder).HoldsNames(tc.facts); holds != (tc.level != v1alpha1.LevelNone) {
			t.Errorf("%s: holds names: %v", name, holds)
		}
	}
}

// situations are policies with the facts for their translation, by the names of their golden files.
func situations() map[string]func() (intent.Policy, intent.Facts) {
	open := map[string][]string{"names": {"api.example.com", "*.example.org"}}
	agent := []netip.Prefix{netip.MustParsePrefix("169.254.170.23/32")}
	all := map[string][]string{"names": {"api.example.com", "*.example.org"}, "ports": {"443", "8443"}, "inCluster": {"allow"}}
	with := func(params map[string][]string, f intent.Facts, beside ...intent.Rule) func() (intent.Policy, intent.Facts) {
		return func() (intent.Policy, intent.Facts) { return policy(append(beside, names(params))...), f }
	}
	expressions := func() (intent.Policy, intent.Facts) {
		p := policy(names(open))
		p.Selector.Expressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn,
			Values: []string{"front", "back"}}, {Key: "canary", Operator: metav1.LabelSelectorOpDoesNotExist}}
		return p, intent.Facts{}
	}
	cache := []netip.Prefix{netip.MustParsePrefix("169.254.20.10/32")}
	everyPod := func() (intent.Policy, intent.Facts) {
		p := policy(names(open))
		p.Selector = intent.Selector{}
		return p, intent.Facts{}
	}
	ignored := func() (intent.Policy, intent.Facts) {
		p := policy(names(open))
		p.Selector.Labels = map[string]string{"pod-template-hash": "abc"}
		return p, intent.Facts{}
	}
	isolated := networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "default-deny"},
		Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Egress"}}}
	others := isolated
	others.Spec.PodSelector.MatchLabels = map[string]string{"app": "api"}
	return map[string]func() (intent.Policy, intent.Facts){
		"names": with(open, intent.Facts{}),
		"everything": with(all,
			intent.Facts{DNS: intent.ClusterDNS{Namespace: "dns", Labels: map[string]string{"app": "coredns"}, Ports: []int32{1053}},
				Credentials: agent}),
		"node-local-dns": with(open, intent.Facts{DNS: intent.ClusterDNS{Networks: cache, OnNodes: cache}}),
		"no-names":       with(nil, intent.Facts{}),
		"dns-unknown":    with(open, intent.Facts{DNS: intent.ClusterDNS{Problem: "Service kube-system/kube-dns does not exist"}}),
		"expressions":    expressions,
		"every-pod":      everyPod,
		"ignored-label":  ignored,
		"isolated-by-cilium": with(open,
			intent.Facts{OtherPolicies: []intent.OtherPolicy{{Kind: "CiliumNetworkPolicy", Name: "theirs", Isolates: intent.Egress}}}),
		"opened-by-cilium": with(open,
			intent.Facts{OtherPolicies: []intent.OtherPolicy{{Kind: "CiliumNetworkPolicy", Name: "theirs", Opens: intent.Egress}}}),
		"isolated":         with(open, intent.Facts{NetworkPolicies: []networkingv1.NetworkPolicy{isolated}}),
		"others-isolated":  with(open, intent.Facts{NetworkPolicies: []networkingv1.NetworkPolicy{others}}),
		"beside-dns-allow": with(all, intent.Facts{}, named("dnsManipulation", map[string][]string{"otherEgress": {"allow"}})),
		"beside-dns-deny":  with(all, intent.Facts{}, named("dnsManipulation", nil)),
		"beside-external":  with(all, intent.Facts{}, named("denyExternalNetworkAccess", nil)),
		"beside-ingress":   with(open, intent.Facts{}, named("networkSegmentation", map[string][]string{"fromNamespaces": {"web"}})),
		"sibling-names": with(all,
			intent.Facts{Siblings: []intent.Policy{sibling("other", nil, names(map[string][]string{"names": {"a.example.org", "b.example.net"}}))}}),
		"sibling-elsewhere": with(open,
			intent.Facts{Siblings: []intent.Policy{sibling("other", map[string]string{"app": "api"}, named("denyExternalNetworkAccess", nil))}}),
	}
}

func TestWhatCiliumIsGivenInEachSituation(t *testing.T) {
	for file, situation := range situations() {
		t.Run(file, func(t *testing.T) {
			p, f := situation()
			got := cilium.New().Translate(p, f)
			var out strings.Builder
			for _, c := range got.Claims {
				out.WriteString(strings.TrimSpace(fmt.Sprintf("# %s: %s %s %s", c.Intent, c.Level, c.Reason, c.Message)) + "\n")
			}
			golden.Check(t, file+".yaml", out.String()+golden.Manifests(t, got.Objects))
		})
	}
}

func TestWhatCiliumIsGivenIsStoredAsItIs(t *testing.T) {
	for file, situation := range situations() {
		p, f := situation()
		for _, u := range cilium.New().Translate(p, f).Objects {
			stored, problem := enginecrds.Admit(t, u)
			if problem != "" || !reflect.DeepEqual(stored.Object, u.Object) {
				t.Errorf("%s: %s\n%v", file, problem, stored.Object)
			}
		}
	}
}

// TestWhatOthersClose_IsNeverOpened is the rule of intents, for engines with additive policies.
func TestWhatOthersClose_IsNeverOpened(t *testing.T) {
	for _, file := range []string{"beside-dns-deny", "beside-external"} {
		p, f := situations()[file]()
		for _, u := range cilium.New().Translate(p, f).Objects {
			if strings.Contains(fmt.Sprint(u.Object), "toFQDNs") {
				t.Errorf("%s opens names: %v", file, u.Object)
			}
		}
	}
}
