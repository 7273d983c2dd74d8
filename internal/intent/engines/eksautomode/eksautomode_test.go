// SPDX-License-Identifier: Apache-2.0

package eksautomode_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/eksautomode"
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

// situations are policies with the facts for their translation, by the names of their golden files.
func situations() map[string]func() (intent.Policy, intent.Facts) {
	hosts := map[string][]string{"names": {"api.example.com", "b.example.org"}}
	all := map[string][]string{"names": {"api.example.com", "*.example.org"}, "ports": {"443", "8443"}, "inCluster": {"allow"}}
	agent := []netip.Prefix{netip.MustParsePrefix("169.254.170.23/32"), netip.MustParsePrefix("fd00:ec2::23/128")}
	address := intent.ClusterDNS{Networks: []netip.Prefix{netip.MustParsePrefix("10.100.0.10/32")}}
	with := func(params map[string][]string, nodes intent.NodeShare, dns intent.ClusterDNS, beside ...intent.Rule) func() (intent.Policy,
		intent.Facts) {
		return func() (intent.Policy, intent.Facts) {
			return policy(append(beside, names(params))...), intent.Facts{AutoMode: nodes, DNS: dns, Credentials: agent}
		}
	}
	off := func() (intent.Policy, intent.Facts) {
		return policy(names(hosts)), intent.Facts{AutoMode: intent.AllNodes, DNS: address,
			Enforcer: intent.Enforcer{Off: true, Problem: "the network policy controller is off"}}
	}
	return map[string]func() (intent.Policy, intent.Facts){
		"hosts": with(hosts, intent.AllNodes, address),
		"everything": with(all, intent.AllNodes,
			intent.ClusterDNS{Namespace: "kube-system", Labels: map[string]string{"k8s-app": "coredns"}, Ports: []int32{1053},
				Networks: []netip.Prefix{netip.MustParsePrefix("fd00::a/128")}}),
		"pods-serve-dns":  with(hosts, intent.AllNodes, intent.ClusterDNS{}),
		"no-names":        with(nil, intent.AllNodes, address),
		"some-nodes":      with(hosts, intent.SomeNodes, address),
		"off":             off,
		"no-nodes":        with(hosts, intent.NoNodes, address),
		"dns-unknown":     with(hosts, intent.AllNodes, intent.ClusterDNS{Problem: "Service kube-system/kube-dns does not exist"}),
		"beside-dns-deny": with(all, intent.AllNodes, address, named("dnsManipulation", nil)),
		"beside-external": with(all, intent.AllNodes, address, named("denyExternalNetworkAccess", nil)),
	}
}

func TestWhatEKSAutoModeIsGivenInEachSituation(t *testing.T) {
	for file, situation := range situations() {
		t.Run(file, func(t *testing.T) {
			p, f := situation()
			got := eksautomode.New().Translate(p, f)
			var out strings.Builder
			for _, c := range got.Claims {
				out.WriteString(strings.TrimSpace(fmt.Sprintf("# %s: %s %s %s", c.Intent, c.Level, c.Reason, c.Message)) + "\n")
			}
			golden.Check(t, file+".yaml", out.String()+golden.Manifests(t, got.Objects))
		})
	}
}

func TestWhatEKSAutoModeIsGivenIsStoredAsItIs(t *testing.T) {
	for file, situation := range situations() {
		p, f := situation()
		for _, u := range eksautomode.New().Translate(p, f).Objects {
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
		for _, u := range eksautomode.New().Translate(p, f).Objects {
			if strings.Contains(fmt.Sprint(u.Object), "domainNames") {
				t.Errorf("%s opens names: %v", file, u.Object)
			}
		}
	}
}
