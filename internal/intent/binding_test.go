// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
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

// publicIPv4 are networks that hold all public addresses of IPv4, and no private ones.
func publicIPv4() []string {
	var out []string
	for i := 1; i < 224; i++ {
		switch {
		case slices.Contains([]int{10, 100, 127, 169, 172, 192}, i):
		default:
			out = append(out, fmt.Sprintf("%d.0.0.0/8", i))
		}
	}
	for _, i := range []int{100, 169, 172, 192} {
		for j := range 256 {
			network := netip.MustParsePrefix(fmt.Sprintf("%d.%d.0.0/16", i, j))
			private := network.Addr().IsPrivate() || i == 100 && j >= 64 && j < 128 || network.Addr().IsLinkLocalUnicast()
			if !private {
				out = append(out, network.String())
			}
		}
	}
	return out
}

func TestWhichIntentsCloseTheWayToAWS(t *testing.T) {
	const dns, external, names = "dnsManipulation", "denyExternalNetworkAccess", "allowEgressToNames"
	for name, tc := range map[string]struct {
		id     string
		action v1alpha1.Action
		params v1alpha1.Params
		want   bool
		ipv6   bool
	}{
		"DNS only":             {dns, v1alpha1.Block, nil, true, false},
		"DNS only, enforced":   {dns, v1alpha1.Enforce, nil, true, false},
		"DNS only, by default": {dns, "", nil, true, false},
		"DNS only, audited":    {dns, v1alpha1.Audit, nil, false, false},
		"DNS, others denied":   {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"deny"}}, true, false},
		"DNS, others allowed":  {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"allow"}}, false, false},
		"DNS, others allowed, peers": {dns, v1alpha1.Block,
			v1alpha1.Params{"otherEgress": {"allow"}, "dnsPeers": {"169.254.20.10/32"}}, false, false},
		"DNS, others misspelled": {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"Allow"}}, true, false},
		"DNS, others allowed and a typing error": {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"allow"}, "dnsPeer": {"x"}}, true,
			false},
		"DNS, others allowed and denied": {dns, v1alpha1.Block, v1alpha1.Params{"otherEgress": {"allow", "deny"}}, true, false},
		"external":                       {external, v1alpha1.Block, nil, true, false},
		"external, audited":              {external, v1alpha1.Audit, nil, false, false},
		"external, some network":         {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"52.0.0.0/8"}}, true, false},
		"external, every address": {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"1.2.3.4/32", "0.0.0.0/0"}}, false,
			false},
		"external, only IPv6":                       {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"::/0"}}, true, false},
		"external, every address and no network":    {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"0.0.0.0/0", "x"}}, true, false},
		"ingress only":                              {"networkSegmentation", v1alpha1.Block, nil, false, false},
		"nothing of the network, invalid parameter": {"pkgMgrs", v1alpha1.Block, v1alpha1.Params{"x": {"y"}}, false, false},
		"unknown": {"unheardOf", v1alpha1.Block, nil, false, false},
		"external, two halves": {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"0.0.0.0/1", "128.0.0.0/1"}},
			false, false},
		"external, one half":             {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"0.0.0.0/1"}}, true, false},
		"external, all public addresses": {external, v1alpha1.Block, v1alpha1.Params{"allowCIDRs": publicIPv4()}, false, false},
		"external, halves in both parameters": {external, v1alpha1.Block,
			v1alpha1.Params{"allowEgressCIDRs": {"0.0.0.0/1"}, "allowCIDRs": {"128.0.0.0/1"}}, false, false},
		"external, VPC endpoints": {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"10.20.0.0/16"}}, false,
			false},
		"external, VPC endpoints of IPv6": {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"fd00:1::/64"}}, true,
			false},
		"external, the same where pods have it": {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"fd00:1::/64"}},
			false, true},
		"external, a prefix list of IPv6":  {external, v1alpha1.Block, v1alpha1.Params{"awsCIDRs": {"2600:1fa0::/29"}}, true, false},
		"DNS, a prefix list of IPv6":       {dns, v1alpha1.Block, v1alpha1.Params{"awsCIDRs": {"2600:1fa0::/29"}}, true, false},
		"DNS, the same where pods have it": {dns, v1alpha1.Block, v1alpha1.Params{"awsCIDRs": {"2600:1fa0::/29"}}, false, true},
		"DNS, prefix lists of both": {dns, v1alpha1.Block, v1alpha1.Params{"awsCIDRs": {"2600:1fa0::/29", "3.5.0.0/19"}}, false,
			false},
		"external, more than a private network": {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"10.0.0.0/7"}}, true, false},
		"external, the networks of a prefix list": {external, v1alpha1.Block, v1alpha1.Params{"awsCIDRs": {"3.5.0.0/19", "52.219.0.0/16"}},
			false, false},
		"external, IPv6 where pods have it": {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"::/0"}}, false, true},
		"external, public IPv6 where pods have it": {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"2000::/4", "3000::/4"}},
			false, true},
		"external, half of IPv6":             {external, v1alpha1.Block, v1alpha1.Params{"allowEgressCIDRs": {"2000::/4"}}, true, true},
		"DNS, the networks of a prefix list": {dns, v1alpha1.Block, v1alpha1.Params{"awsCIDRs": {"3.5.0.0/19"}}, false, false},
		"names, none":                        {names, v1alpha1.Block, nil, true, false},
		"names, of somebody else": {names, v1alpha1.Block,
			v1alpha1.Params{"names": {"api.example.com", "amazonaws.com.example.com"}}, true, false},
		"names, of AWS": {names, v1alpha1.Block,
			v1alpha1.Params{"names": {"api.example.com", "*.eu-west-1.amazonaws.com"}}, false, false},
		"names, of AWS in China": {names, v1alpha1.Block, v1alpha1.Params{"names": {"sts.cn-north-1.amazonaws.com.cn"}}, false,
			false},
		"names, of AWS on another port": {names, v1alpha1.Block,
			v1alpha1.Params{"names": {"*.eu-west-1.amazonaws.com"}, "ports": {"8443"}}, true, false},
		"names, of AWS and a typing error": {names, v1alpha1.Block, v1alpha1.Params{"names": {"*.eu-west-1.amazonaws.com", "*"}}, true,
			false},
	} {
		if got := intent.ClosesEgressToAWS(securityIntent("i", tc.id, tc.action, tc.params),
			intent.WayToAWS{IPv6: tc.ipv6}); got != "" != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if intent.ClosesEgressToAWS(nil, intent.WayToAWS{}) != "" {
		t.Error("an intent that does not exist closes nothing")
	}
}

func TestClosesWayIn(t *testing.T) {
	from := v1alpha1.Params{"fromNamespaces": {"shop"}}
	everywhere := intent.WayIn{IPv6: true, Mesh: true, Ports: []string{"8080"}}
	for name, tc := range map[string]struct {
		id     string
		action v1alpha1.Action
		params v1alpha1.Params
		way    intent.WayIn
		want   string
	}{
		"namespaces": {"networkSegmentation", v1alpha1.Block, from, intent.WayIn{}, "set ingress.gateway"},
		"accounts": {"networkSegmentation", v1alpha1.Block, v1alpha1.Params{"fromServiceAccounts": {"shop/web"}},
			intent.WayIn{}, "set ingress.gateway"},
		"an audit":                   {"networkSegmentation", v1alpha1.Audit, from, everywhere, ""},
		"nobody, which is refused":   {"networkSegmentation", v1alpha1.Block, nil, everywhere, ""},
		"a typing error":             {"networkSegmentation", v1alpha1.Block, v1alpha1.Params{"fromNamespaces": {"Shop"}}, everywhere, ""},
		"an unknown intent":          {"networkSegments", v1alpha1.Block, from, everywhere, ""},
		"private networks stay open": {"denyExternalNetworkAccess", v1alpha1.Block, nil, intent.WayIn{Mesh: true}, ""},
		"public addresses of IPv6":   {"denyExternalNetworkAccess", v1alpha1.Block, nil, everywhere, "allowCIDRs"},
		"other networks": {"denyExternalNetworkAccess", v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"192.0.2.0/24"}},
			everywhere, "allowCIDRs"},
		"the IPv6 network of the VPC": {"denyExternalNetworkAccess", v1alpha1.Block, v1alpha1.Params{"allowCIDRs": {"2001:db8::/56"}},
			everywhere, ""},
		"TLS in a mesh":           {"ensureTLS", v1alpha1.Block, nil, everywhere, "add 8080 to its parameter exceptPorts"},
		"TLS outside a mesh":      {"ensureTLS", v1alpha1.Block, nil, intent.WayIn{Ports: everywhere.Ports}, ""},
		"TLS but on this port":    {"ensureTLS", v1alpha1.Block, v1alpha1.Params{"exceptPorts": {"8080"}}, everywhere, ""},
		"TLS but on another port": {"ensureTLS", v1alpha1.Block, v1alpha1.Params{"exceptPorts": {"9090"}}, everywhere, "exceptPorts"},
		"TLS for those who can":   {"ensureTLS", v1alpha1.Block, v1alpha1.Params{"mode": {"permissive"}}, everywhere, ""},
		"identities, whatever the TLS is": {"ensureTLS", v1alpha1.Block, v1alpha1.Params{"mode": {"permissive"}, "requireIdentity": {"true"}},
			everywhere, "exceptPorts"},
	} {
		got := intent.ClosesWayIn(securityIntent("i", tc.id, tc.action, tc.params), tc.way)
		if (got == nil) != (tc.want == "") || got != nil && !strings.Contains(got.Remedy, tc.want) {
			t.Errorf("%s: %+v, want %q", name, got, tc.want)
		}
	}
	if intent.ClosesWayIn(nil, everywhere) != nil {
		t.Error("an intent that does not exist closes nothing")
	}
}

// remedies matches the remedy in a message about egress to AWS: a parameter, and values for it.
var remedies = regexp.MustCompile(`parameter (names|ports|awsCIDRs)|[*a-z][-*.a-z0-9]*\.amazonaws\.com|\[([0-9./]+)\]|add ([0-9]+)`)

func TestClosesEgressToAWS_NamesWhatClearsIt(t *testing.T) {
	way := intent.WayToAWS{SignIn: "sts.us-east-1.amazonaws.com"}
	for id, given := range map[string]v1alpha1.Params{
		"dnsManipulation": nil, "denyExternalNetworkAccess": nil,
		intent.EgressToNames: {"names": {"api.example.com"}, "ports": {"8443"}},
	} {
		params := maps.Clone(given)
		if params == nil {
			params = v1alpha1.Params{}
		}
		for range 4 {
			remedy := intent.ClosesEgressToAWS(securityIntent("i", id, v1alpha1.Block, params), way)
			if remedy == "" {
				break
			}
			name, values := "", []string(nil)
			for _, m := range remedies.FindAllStringSubmatch(remedy, -1) {
				if m[1] != "" {
					name = m[1]
				} else {
					values = append(values, cmp.Or(m[2], m[3], m[0]))
				}
			}
			params[name] = append(params[name], values...)
		}
		si := securityIntent("i", id, v1alpha1.Block, params)
		if remedy := intent.ClosesEgressToAWS(si, way); remedy != "" || intent.CheckIntent(si) != nil {
			t.Errorf("%s with %v is still said to close the way: %s, %v", id, params, remedy, intent.CheckIntent(si))
		}
	}
}

func TestNamesOutward_CoverWhereThePodsSignIn(t *testing.T) {
	const sts = "sts.eu-west-1.amazonaws.com"
	for name, tc := range map[string]struct {
		signIn string
		names  []string
		want   string
	}{
		"the endpoint of a service":         {sts, []string{"bedrock-runtime.eu-west-1.amazonaws.com"}, "add " + sts},
		"the same with EKS Pod Identity":    {"", []string{"bedrock-runtime.eu-west-1.amazonaws.com"}, ""},
		"that of STS, too":                  {sts, []string{"bedrock-runtime.eu-west-1.amazonaws.com", sts}, ""},
		"all of the region":                 {sts, []string{"*.eu-west-1.amazonaws.com"}, ""},
		"all of another region":             {sts, []string{"*.us-east-1.amazonaws.com"}, "add " + sts},
		"one label below the domain of AWS": {sts, []string{"*.amazonaws.com"}, "add " + sts},
		"a VPC endpoint of STS":             {sts, []string{"vpce-1.sts.eu-west-1.vpce.amazonaws.com"}, ""},
		"somebody else's":                   {sts, []string{"sts.example.com"}, sts + " among them"},
	} {
		si := securityIntent("i", intent.EgressToNames, v1alpha1.Block, v1alpha1.Params{"names": tc.names})
		if got := intent.ClosesEgressToAWS(si, intent.WayToAWS{SignIn: tc.signIn}); !strings.Contains(got, tc.want) || tc.want == "" &&
			got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTheWayToAWSIsKnownOfEveryIntentThatRestrictsEgress(t *testing.T) {
	// A new entry that restricts egress counts as closing; the person who adds it decides here which parameters open egress to AWS.
	var closing []string
	for _, e := range intent.Catalog() {
		if intent.ClosesEgressToAWS(securityIntent("i", e.ID, v1alpha1.Block, nil), intent.WayToAWS{IPv6: true}) != "" {
			closing = append(closing, e.ID)
		}
	}
	equal(t, "closing", closing, []string{"dnsManipulation", "denyExternalNetworkAccess", "allowEgressToNames"})
}
