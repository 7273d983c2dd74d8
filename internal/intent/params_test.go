// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func check(t *testing.T, id string, params map[string][]string) string {
	t.Helper()
	e, ok := intent.Lookup(id)
	if !ok {
		t.Fatalf("there is no %s", id)
	}
	return e.Check(params)
}

func TestValuesThatParametersTakeAndRefuse(t *testing.T) {
	for _, tc := range []struct {
		id, name string
		good     []string
		bad      []string
	}{
		{"dnsManipulation", "otherEgress", []string{"deny", "allow"}, []string{"", "Allow", "yes", "allow "}},
		{"dnsManipulation", "dnsPeers", []string{"169.254.20.10/32", "fd00::10/128", "0.0.0.0/0"},
			[]string{"", "169.254.20.10", "10.0.0.1/8", "10.0.0.0/33", "kube-dns", "10.0.0.0/8 "}},
		{"denyExternalNetworkAccess", "allowCIDRs", []string{"52.0.0.0/8", "::/0"}, []string{"*", "52.1.0.0/8"}},
		{"allowEgressToNames", "names",
			[]string{"api.example.com", "*.example.com", "xn--bcher-kva.example", strings.Repeat("a", 63) + ".example.com"}, []string{
				strings.Repeat("a", 64) + ".example.com", "*." + strings.Repeat("a", 64) + ".com",
				"", "*", "localhost", "*.com", "Api.example.com", "a.*.com", "a*.example.com", "*.*.example.com", "10.0.0.1", "2001:db8::1",
				"example.com.", "https://example.com", "example.com:443", "a_b.example.com",
				"db.shop.svc.cluster.local", "*.svc.cluster.local", "-a.example.com",
			}},
		{"allowEgressToNames", "ports", []string{"443", "8443"}, []string{"https", "0", "443/udp"}},
		{"allowEgressToNames", "inCluster", []string{"deny", "allow"}, []string{"", "yes"}},
		{"escapeToHost", "psaLevel", []string{"baseline", "restricted"}, []string{"privileged", ""}},
		{"cocoWorkload", "runtimeClass", []string{"kata-clh", "kata2"}, []string{"Kata", "kata_clh", "", "-kata"}},
		{"virtualPatch", "cveList", []string{"CVE-2024-4439"}, nil},
		{"virtualPatch", "schedule", []string{"@weekly"}, nil},
		{"assessTLS", "external_addresses", []string{"example.com:443", "a.b-c:1", "192.0.2.1:8443", "[2001:db8::1]:443", "localhost:65535"},
			[]string{
				"", "example.com", "example.com:", ":443", "example.com:0", "example.com:65536", "example.com:+1", "example.com:https",
				"Example.com:443", "example.com:443 ", "a b:443",
				"-x:443", "--help:443", "$(id):443", "a;b:443", "a,b:443", "a/b:443", "a@b:443", "a..b:443", "[example.com]:443", "2001:db8::1:443",
				"[fe80::1%eth0]:443", "[::1", "2130706433:443",
				"127.1:443", "0x7f.0x1:443", "https://example.com:443", "a{b:443", "*.example.com:443",
			}},
		{"assessTLS", "schedule", []string{"@weekly", "@every 1h", "30 2 * * 0", "*/5 1-3,7 * JAN MON"}, []string{
			"", "weekly", "@never", "* * * *", "* * * * * *", "60 * * * *", "0 0 30 2 *", "TZ=UTC 0 0 * * *", "TZ=0", "CRON_TZ=Asia/Tokyo 0 0 * * *",
			"*/0 * * * *", "@every x", "0 0 * * *; id",
		}},
		{"ensureTLS", "mode", []string{"strict", "permissive"}, []string{"STRICT"}},
		{"ensureTLS", "exceptPorts", []string{"1", "8080", "65535"}, []string{"0", "65536", "-1", "08", "+80", "http", "", "80-90", "1e2"}},
		{"ensureTLS", "requireIdentity", []string{"true", "false"}, []string{"True", "1"}},
		{"networkSegmentation", "fromNamespaces", []string{"shop", "a-1"}, []string{"*", "Shop", "a.b", ""}},
		{"networkSegmentation", "fromServiceAccounts", []string{"shop/web", "shop/web.v2"},
			[]string{"web", "shop/", "/web", "shop/*", "a/b/c", "S/web"}},
		{"networkSegmentation", "ports", []string{"443"}, []string{"https"}},
		{"apiSegmentation", "allowMethods", []string{"GET", "PATCH"}, []string{"get", "", "GET,POST", "*", "G ET"}},
		{"apiSegmentation", "allowPaths", []string{"/", "/api", "/api/*", "/*"}, []string{"", "api", "*", "*/api", "/a/*/b", "/a**", "/*/*"}},
		{"apiSegmentation", "denyPaths", []string{"/admin/*"}, []string{"admin"}},
	} {
		for _, v := range tc.good {
			if problem := check(t, tc.id, map[string][]string{tc.name: {v}}); problem != "" {
				t.Errorf("%s refuses %q: %s", tc.id, v, problem)
			}
		}
		for _, v := range tc.bad {
			problem := check(t, tc.id, map[string][]string{tc.name: {v}})
			if !strings.HasPrefix(problem, "params."+tc.name+": ") || !strings.Contains(problem, `"`+v+`"`) {
				t.Errorf("%s %s %q: %q", tc.id, tc.name, v, problem)
			}
		}
	}
}

func TestEveryValueOfAListIsChecked(t *testing.T) {
	if problem := check(t, "ensureTLS", map[string][]string{"exceptPorts": {"80", "81"}}); problem != "" {
		t.Errorf("two ports: %s", problem)
	}
	if problem := check(t, "ensureTLS", map[string][]string{"exceptPorts": {"80", "x"}}); !strings.Contains(problem, `"x"`) {
		t.Errorf("a port and something else: %q", problem)
	}
}

func TestAParameterWithOneValueRefusesTwo(t *testing.T) {
	if problem := check(t, "dnsManipulation",
		map[string][]string{"otherEgress": {"allow", "allow"}}); problem != "params.otherEgress: has one value, not 2" {
		t.Errorf("two values: %q", problem)
	}
}

func TestAnUnknownParameterIsRefusedAndTheKnownOnesAreNamed(t *testing.T) {
	if problem := check(t, "dnsManipulation",
		map[string][]string{"dnsPeer": {"x"}}); problem != "params.dnsPeer is not a parameter of dnsManipulation; it has otherEgress, dnsPeers, awsCIDRs" {
		t.Errorf("the problem is %q", problem)
	}
	if problem := check(t, "pkgMgrs", map[string][]string{"x": nil}); problem != "params.x is not a parameter of pkgMgrs, which has none" {
		t.Errorf("the problem is %q", problem)
	}
}

func TestOfSeveralProblemsTheFirstByNameIsSaid(t *testing.T) {
	for range 20 {
		if problem := check(t, "ensureTLS", map[string][]string{"mode": {"x"}, "exceptPorts": {"x"}, "zzz": nil}); !strings.HasPrefix(problem,
			"params.exceptPorts") {
			t.Fatalf("the problem is %q", problem)
		}
	}
}

func TestNoParametersAreValidParameters(t *testing.T) {
	for _, e := range intent.Catalog() {
		for _, params := range []map[string][]string{nil, {}} {
			if problem := e.Check(params); problem != "" {
				t.Errorf("%s: %s", e.ID, problem)
			}
		}
		for _, p := range e.Params {
			if problem := e.Check(map[string][]string{p.Name: {}}); problem != "" {
				t.Errorf("%s: %s", e.ID, problem)
			}
		}
	}
}

func TestAParameterThatIsNotGivenHasItsDefault(t *testing.T) {
	r := intent.Rule{Params: map[string][]string{"given": {"x", "y"}, "empty": {""}, "none": {}}}
	for name, want := range map[string]string{"given": "x", "empty": "d", "none": "d", "absent": "d"} {
		if got := r.Param(name, "d"); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
}

func TestAParameterMayHaveTheNameThatOtherToolsGiveIt(t *testing.T) {
	for _, tc := range []struct {
		given v1alpha1.Params
		want  string
	}{
		{v1alpha1.Params{"psa_level": {"restricted"}}, "restricted"},
		{v1alpha1.Params{"psa_level": {"restricted"}, "psaLevel": {"baseline"}}, "baseline"},
	} {
		i := &v1alpha1.SecurityIntent{}
		i.Name, i.Spec.Intent = "escape", v1alpha1.Intent{ID: "escapeToHost", Params: tc.given}
		b := intent.Binding{Kind: intent.KindBinding, Namespace: "a", Name: "b", Intents: []string{"escape"}}
		r := intent.Resolve(b, map[string]*v1alpha1.SecurityIntent{"escape": i}, nil, intent.Options{})
		if got := r.Policies[0].Rules[0].Param("psaLevel", ""); got != tc.want {
			t.Errorf("%v is read as %q", tc.given, got)
		}
	}
	if problem := check(t, "escapeToHost", map[string][]string{"psa_level": {"none"}}); problem == "" {
		t.Error("a bad value under the other name is taken")
	}
}
