// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// clusters are the shapes of clusters that make a difference to NetworkPolicies.
func clusters() map[string]intent.Facts {
	networks := func(texts ...string) (out []netip.Prefix) {
		for _, t := range texts {
			out = append(out, netip.MustParsePrefix(t))
		}
		return out
	}
	pods := intent.ClusterDNS{Namespace: "kube-system", Labels: map[string]string{"k8s-app": "kube-dns"}, Ports: []int32{53},
		Source: "Service kube-system/kube-dns"}
	cached, lost := pods, intent.ClusterDNS{Problem: "the cluster's DNS cannot be located"}
	cached.Networks = networks("169.254.20.10/32", "10.100.0.10/32")
	return map[string]intent.Facts{
		"pods":      {DNS: pods},
		"auto-mode": {DNS: intent.ClusterDNS{Networks: networks("10.100.0.10/32"), Source: "nodes"}, Credentials: intent.PodIdentityNetworks()},
		"ipv6":      {DNS: intent.ClusterDNS{Networks: networks("fd12::a/128"), Source: "nodes"}, Credentials: intent.PodIdentityNetworks()},
		"nodelocal": {DNS: cached},
		"no-dns":    {DNS: lost},
		"off":       {DNS: pods, Enforcer: intent.Enforcer{Off: true, Problem: "network policies are off"}},
		"unknown":   {DNS: pods, Enforcer: intent.Enforcer{Problem: "nothing found that enforces NetworkPolicies"}},
	}
}

func TestEachClusterMakesExactlyTheseObjects(t *testing.T) {
	web := labels("app", "web")
	for name, facts := range clusters() {
		p := policy("web", web, dns(nil))
		q := policy("web", web, external(params{"awsCIDRs": {"10.20.0.0/16"}}))
		golden.Check(t, "cluster-"+name+".yaml", show(t, New().Translate(p, facts))+show(t, New().Translate(q, facts)))
	}
}

func TestNoClaimIsEnforcedWhereDNSMayBeClosed(t *testing.T) {
	lost := clusters()["no-dns"]
	for name, tc := range map[string]struct {
		rule intent.Rule
		want string
	}{
		"DNS":                 {dns(nil), "Partial DNSNotFound"},
		"others are open":     {dns(params{"otherEgress": {"allow"}}), "Partial DNSNotFound"},
		"the user names it":   {dns(params{"dnsPeers": {"10.0.0.10/32"}}), "Enforced "},
		"external":            {external(nil), "Partial DNSNotFound"},
		"only what comes in":  {segment(params{"fromNamespaces": {"front"}}), "Enforced "},
		"an account as well":  {segment(params{"fromServiceAccounts": {"front/web"}}), "Partial NotCovered"},
		"only who may listen": {audit(dns(nil)), "None AuditUnsupported"},
	} {
		c := New().Translate(policy("web", labels("app", "web"), tc.rule), lost).Claims[0]
		if got := string(c.Level) + " " + c.Reason; got != tc.want {
			t.Errorf("%s: %s: %s", name, got, c.Message)
		}
	}
}

func TestNoClaimIsEnforcedWhereThePluginClosesNodes(t *testing.T) {
	cached := clusters()["nodelocal"]
	cached.DNS.OnNodes = []netip.Prefix{netip.MustParsePrefix("169.254.20.10/32")}
	cached.Enforcer.HidesNodes = "set policy-cidr-match-mode: nodes"
	agent := clusters()["pods"]
	agent.Credentials, agent.Enforcer = intent.PodIdentityNetworks(), cached.Enforcer
	pods := clusters()["pods"]
	pods.Enforcer = cached.Enforcer
	open := params{"otherEgress": {"allow"}}
	for name, tc := range map[string]struct {
		rule  intent.Rule
		facts intent.Facts
		want  string
	}{
		"DNS on the node":                  {dns(nil), cached, "Partial EngineLimit"},
		"DNS on the node, others are open": {dns(open), cached, "Partial EngineLimit"},
		"DNS on the node, external":        {external(nil), cached, "Partial EngineLimit"},
		"credentials":                      {dns(nil), agent, "Partial EngineLimit"},
		"credentials, others are open":     {dns(open), agent, "Enforced "},
		"credentials, external":            {external(nil), agent, "Partial EngineLimit"},
		"nothing on the node":              {dns(nil), pods, "Enforced "},
		"only what comes in":               {segment(params{"fromNamespaces": {"front"}}), cached, "Enforced "},
	} {
		c := New().Translate(policy("web", labels("app", "web"), tc.rule), tc.facts).Claims[0]
		if got := string(c.Level) + " " + c.Reason; got != tc.want || (c.Reason != "") != strings.Contains(c.Message, "policy-cidr-match-mode") {
			t.Errorf("%s: %s: %s", name, got, c.Message)
		}
	}
}
