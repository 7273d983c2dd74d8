// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestEverythingOfABindingIsRead(t *testing.T) {
	b := &v1alpha1.SecurityIntentBinding{}
	b.Namespace, b.Name, b.Labels = "shop", "web", map[string]string{"l": "1"}
	b.Spec.Intents = []v1alpha1.MatchIntent{{Name: "b"}, {Name: "a"}}
	b.Spec.Selector.MatchLabels = map[string]string{"m": "1"}
	b.Spec.Selector.CEL, b.Spec.CEL = []string{"one"}, []string{"two"}
	want := intent.Binding{
		Kind: "SecurityIntentBinding", Namespace: "shop", Name: "web", Labels: map[string]string{"l": "1"}, Intents: []string{"b", "a"},
		MatchLabels: map[string]string{"m": "1"}, SelectorCEL: []string{"one"}, CEL: []string{"two"},
	}
	equal(t, "without a workloadSelector", intent.OfBinding(b), want)
	b.Spec.Selector.WorkloadSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"w": "1"}}
	want.WorkloadLabels = map[string]string{"w": "1"}
	equal(t, "with a workloadSelector", intent.OfBinding(b), want)
}

func TestEverythingOfAClusterBindingIsRead(t *testing.T) {
	b := &v1alpha1.ClusterSecurityIntentBinding{}
	b.Name, b.Labels = "all", map[string]string{"l": "1"}
	b.Spec.Intents = []v1alpha1.MatchIntent{{Name: "b"}, {Name: "a"}}
	b.Spec.Selector = v1alpha1.ClusterSelector{
		NodeSelector:     v1alpha1.LabelSelector{MatchLabels: map[string]string{"n": "1"}},
		NsSelector:       v1alpha1.NamespaceSelector{MatchNames: namespaceNames([]string{"x"}), ExcludeNames: namespaceNames([]string{"y"})},
		WorkloadSelector: v1alpha1.LabelSelector{MatchLabels: map[string]string{"w": "1"}},
	}
	equal(t, "the binding", intent.OfClusterBinding(b), intent.Binding{
		Kind: "ClusterSecurityIntentBinding", Name: "all", Labels: map[string]string{"l": "1"}, Intents: []string{"b", "a"},
		WorkloadLabels: map[string]string{"w": "1"}, NodeSelector: map[string]string{"n": "1"}, Namespaces: b.Spec.Selector.NsSelector,
	})
}

func TestBinding_MayRestrictWhateverTheAction(t *testing.T) {
	k := intents("dns", "dnsManipulation", "from", "networkSegmentation", "tools", "pkgMgrs", "odd", "unheardOf")
	k["audit"] = securityIntent("audit", "denyExternalNetworkAccess", v1alpha1.Audit, nil)
	k["gone"] = nil
	for _, tc := range []struct {
		names []string
		want  intent.Direction
	}{
		{nil, 0}, {[]string{"tools", "odd", "gone", "missing"}, 0}, {[]string{"tools", "dns"}, intent.Egress}, {[]string{"from"}, intent.Ingress},
		{[]string{"from", "dns"}, intent.Ingress | intent.Egress}, {[]string{"audit"}, intent.Ingress | intent.Egress},
	} {
		if got := bind(tc.names...).Restricts(k); got != tc.want {
			t.Errorf("%v restrict %d, not %d", tc.names, got, tc.want)
		}
	}
}

func TestOnlyTheBlockingRulesOfAPolicyRestrict(t *testing.T) {
	k := intents("dns", "dnsManipulation", "tools", "pkgMgrs", "odd", "unheardOf")
	k["audit"] = securityIntent("audit", "networkSegmentation", v1alpha1.Audit, nil)
	for _, tc := range []struct {
		names []string
		want  intent.Direction
	}{{[]string{"tools", "odd"}, 0}, {[]string{"audit"}, 0}, {[]string{"audit", "dns"}, intent.Egress}} {
		if got := only(t, resolve(bind(tc.names...), k)).Restricts(); got != tc.want {
			t.Errorf("%v restrict %d, not %d", tc.names, got, tc.want)
		}
	}
}

func TestWhichIntentsCloseTheWayToAWS(t *testing.T) {
	const dns, external = "dnsManipulation", "denyExternalNetworkAccess"
	for name, tc := range map[string]struct {
		id     string
		action v1alpha1.Action
		params v1alpha1.Params
		want   bool
	}{
		"DNS only":                                  {dns, v1alpha1.Block, nil, true},
		"DNS only, enforced":                        {dns, v1alpha1.Enforce, nil, true},
		"DNS only, by default":                      {dns, "", nil, true},
		"DNS only, audited":                         {dns, v1alpha1.Audit, nil, false},
		"DNS, others denied":                        {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"deny"}}, true},
		"DNS, others allowed":                       {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"allow"}}, false},
		"DNS, others allowed, peers":                {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"allow"}, "dnsPeers": {"169.254.20.10/32"}}, false},
		"DNS, others misspelled":                    {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"Allow"}}, true},
		"DNS, others allowed and a typing error":    {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"allow"}, "dnsPeer": {"x"}}, true},
		"DNS, others allowed and denied":            {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"allow", "deny"}}, true},
		"external":                                  {external, v1alpha1.Block, nil, true},
		"external, audited":                         {external, v1alpha1.Audit, nil, false},
		"external, some network":                    {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"52.0.0.0/8"}}, true},
		"external, every address":                   {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"1.2.3.4/32", "0.0.0.0/0"}}, false},
		"external, only IPv6":                       {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"::/0"}}, true},
		"external, every address and no network":    {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"0.0.0.0/0", "x"}}, true},
		"ingress only":                              {"networkSegmentation", v1alpha1.Block, nil, false},
		"nothing of the network, invalid parameter": {"pkgMgrs", v1alpha1.Block, v1alpha1.Params{"x": {"y"}}, false},
		"unknown":                                   {"unheardOf", v1alpha1.Block, nil, false},
	} {
		if got := intent.ClosesEgressToAWS(securityIntent("i", tc.id, tc.action, tc.params)); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if intent.ClosesEgressToAWS(nil) {
		t.Error("an intent that does not exist closes nothing")
	}
}

func TestTheWayToAWSIsKnownOfEveryIntentThatRestrictsEgress(t *testing.T) {
	// A new entry that restricts egress counts as closing; whoever adds it decides here what opens the way.
	var closing []string
	for _, e := range intent.Catalog() {
		if intent.ClosesEgressToAWS(securityIntent("i", e.ID, v1alpha1.Block, nil)) {
			closing = append(closing, e.ID)
		}
	}
	equal(t, "closing", closing, []string{"dnsManipulation", "denyExternalNetworkAccess"})
}
