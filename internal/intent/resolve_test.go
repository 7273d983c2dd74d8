// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestAPolicyHasTheNameAndNamespaceOfItsBinding(t *testing.T) {
	p := only(t, resolve(bind("dns"), intents("dns", "dnsManipulation"), "shop", "bank"))
	if p.Name != "web" || p.Namespace != "shop" || p.FromCluster {
		t.Errorf("the policy is %+v", p)
	}
	equal(t, "the selector of a binding that selects by nothing", p.Selector, intent.Selector{})
}

func TestClusterBinding_DerivesPoliciesPerNamespaceAndCluster(t *testing.T) {
	b := bindCluster([]string{"shop", "bank", "later"}, nil, "dns")
	b.WorkloadLabels, b.NodeSelector = map[string]string{"app": "web"}, map[string]string{"disk": "ssd"}
	r := resolve(b, intents("dns", "dnsManipulation"), "shop", "other", "bank")
	equal(t, "problems", r.Problems, []intent.Problem(nil))
	if len(r.Policies) != 2 || r.Cluster == nil {
		t.Fatalf("the binding comes to %+v", r)
	}
	for i, ns := range []string{"bank", "shop"} {
		p := r.Policies[i]
		if p.Namespace != ns || p.Name != "nimbus-ctlr-gen-all" || !p.FromCluster {
			t.Errorf("policy %d is %s/%s, from the cluster %v", i, p.Namespace, p.Name, p.FromCluster)
		}
		equal(t, "selector in "+ns, p.Selector.Labels, b.WorkloadLabels)
		equal(t, "node selector in "+ns, p.NodeSelector, b.NodeSelector)
		equal(t, "rules in "+ns, ids(p.Rules), []string{"dnsManipulation"})
	}
	c := *r.Cluster
	if c.Name != "all" || c.Namespace != "" || !c.FromCluster {
		t.Errorf("the policy over the cluster is %+v", c)
	}
	equal(t, "namespaces", c.Namespaces.Names, []string{"bank", "later", "shop"})
	equal(t, "selector", c.Selector.Labels, b.WorkloadLabels)
	equal(t, "node selector", c.NodeSelector, b.NodeSelector)
	equal(t, "rules", ids(c.Rules), []string{"dnsManipulation"})
}

func TestANameThatIsTooLongIsCutAndStaysUniqueAndValid(t *testing.T) {
	seen := map[string]bool{}
	for _, tail := range []string{"a", "b", ".c"} {
		for at := 200; at < 250; at++ {
			b := bindCluster([]string{"shop"}, nil, "dns")
			b.Name = strings.Repeat("x", at) + "." + strings.Repeat("y", 251-at-len(tail)) + tail
			p := only(t, resolve(b, intents("dns", "dnsManipulation"), "shop"))
			if problems := validation.IsDNS1123Subdomain(p.Name); len(problems) > 0 {
				t.Errorf("%s: %v", p.Name, problems)
			}
			if seen[p.Name] {
				t.Errorf("two bindings have the policy %s", p.Name)
			}
			seen[p.Name] = true
		}
	}
}

func TestRulesKeepTheBindingsOrder(t *testing.T) {
	k := intents("c", "escapeToHost", "a", "dnsManipulation", "b", "pkgMgrs")
	p := only(t, resolve(bind("b", "c", "a"), k))
	equal(t, "ids", ids(p.Rules), []string{"pkgMgrs", "escapeToHost", "dnsManipulation"})
}

func TestARuleCarriesEverythingOfItsIntent(t *testing.T) {
	k := known{"tls": securityIntent("tls", "ensureTLS", v1alpha1.Audit, v1alpha1.Params{"mode": {"strict"}, "exceptPorts": {"80", "81"}})}
	p := only(t, resolve(bind("tls"), k))
	equal(t, "rules", p.Rules, []intent.Rule{{
		ID: "ensureTLS", Canonical: "ensureTLS", Intent: "tls", Description: "of tls", Severity: "5", Tags: []string{"tls"},
		Said: v1alpha1.Audit, Action: v1alpha1.Audit, Params: map[string][]string{"mode": {"strict"}, "exceptPorts": {"80", "81"}},
	}})
}

func TestAnIntentThatDoesNotExistIsSkippedUntilItDoes(t *testing.T) {
	k := intents("b", "pkgMgrs")
	k["gone"] = nil
	b := bind("a", "b", "gone", "a")
	r := resolve(b, k)
	equal(t, "rules", ids(only(t, r).Rules), []string{"pkgMgrs"})
	equal(t, "bound", r.Bound, []string{"b"})
	equal(t, "missing", r.Missing, []string{"a", "gone"})
	k["a"] = securityIntent("a", "escapeToHost", v1alpha1.Block, nil)
	r = resolve(b, k)
	equal(t, "rules once it exists", ids(only(t, r).Rules), []string{"escapeToHost", "pkgMgrs"})
	equal(t, "missing once it exists", r.Missing, []string{"gone"})
}

func TestWithNoIntentLeftThereIsNoPolicyAtAll(t *testing.T) {
	for _, b := range []intent.Binding{bind("a"), bindCluster([]string{"*"}, nil, "a")} {
		r := resolve(b, nil, "shop", "bank")
		if len(r.Policies) > 0 || r.Cluster != nil || len(r.Problems) > 0 {
			t.Errorf("%s comes to %+v", b.Kind, r)
		}
		equal(t, "missing", r.Missing, []string{"a"})
		equal(t, "bound", r.Bound, []string(nil))
	}
}

func TestEnforceAndNoActionMeanBlock(t *testing.T) {
	for action, want := range map[v1alpha1.Action]v1alpha1.Action{"": v1alpha1.Block, v1alpha1.Enforce: v1alpha1.Block,
		v1alpha1.Block: v1alpha1.Block, v1alpha1.Audit: v1alpha1.Audit} {
		p := only(t, resolve(bind("i"), known{"i": securityIntent("i", "pkgMgrs", action, nil)}))
		if got := p.Rules[0].Action; got != want {
			t.Errorf("%q became %q, not %q", action, got, want)
		}
	}
}

func TestAnUnknownIDStaysARuleForTheEnginesToSpeakOf(t *testing.T) {
	p := only(t, resolve(bind("i"), intents("i", "noSuchThing")))
	equal(t, "the rule", []string{p.Rules[0].ID, p.Rules[0].Canonical}, []string{"noSuchThing", "noSuchThing"})
}

func TestAnAliasKeepsItsIDAndHasTheCanonicalOne(t *testing.T) {
	p := only(t, resolve(bind("i"), intents("i", "exploitPFA")))
	equal(t, "the rule", []string{p.Rules[0].ID, p.Rules[0].Canonical}, []string{"exploitPFA", "preventExecutionFromTempOrLogsFolders"})
}

func TestIntentsOfOneID_TheStrictestCounts(t *testing.T) {
	two := func(first, second v1alpha1.Action) known {
		return known{
			"first":  securityIntent("first", "swDeploymentTools", first, v1alpha1.Params{"p": {"1"}}),
			"second": securityIntent("second", "pkgManagerExecution", second, v1alpha1.Params{"p": {"2"}}),
			"other":  securityIntent("other", "pkgMgrs", v1alpha1.Block, nil),
		}
	}
	for _, tc := range []struct {
		first, second v1alpha1.Action
		wins          string
		action        v1alpha1.Action
	}{
		{v1alpha1.Audit, v1alpha1.Block, "second", v1alpha1.Block},
		{v1alpha1.Audit, v1alpha1.Enforce, "second", v1alpha1.Block},
		{v1alpha1.Audit, "", "second", v1alpha1.Block},
		{v1alpha1.Block, v1alpha1.Audit, "first", v1alpha1.Block},
		{v1alpha1.Enforce, v1alpha1.Block, "first", v1alpha1.Block},
		{v1alpha1.Block, v1alpha1.Block, "first", v1alpha1.Block},
		{v1alpha1.Audit, v1alpha1.Audit, "first", v1alpha1.Audit},
	} {
		k := two(tc.first, tc.second)
		r := resolve(bind("first", "other", "second"), k)
		if len(r.Policies) != 1 || len(r.Policies[0].Rules) != 2 {
			t.Fatalf("%s, %s: %+v", tc.first, tc.second, r)
		}
		winner := k[tc.wins].Spec.Intent
		got := r.Policies[0].Rules[0]
		equal(t, "the rule", got, intent.Rule{
			ID: winner.ID, Canonical: "swDeploymentTools", Intent: tc.wins, Description: winner.Description, Severity: "5",
			Tags: winner.Tags, Said: winner.Action, Action: tc.action, Params: map[string][]string{"p": winner.Params["p"]},
		})
		equal(t, "bound", r.Bound, []string{"first", "other", "second"})
		if len(r.Problems) != 1 {
			t.Fatalf("problems: %+v", r.Problems)
		}
		p := r.Problems[0]
		if p.Condition != v1alpha1.ConditionDuplicateIntent || p.Reason != status.ReasonDuplicateIntent || p.Fatal || p.Field != "spec.intents" {
			t.Errorf("the problem is %+v", p)
		}
		for _, part := range []string{"first", "second", "swDeploymentTools", "one rule, that of " + tc.wins} {
			if !strings.Contains(p.Message, part) {
				t.Errorf("%q is not in %q", part, p.Message)
			}
		}
	}
}

func TestOfDuplicateIntentsTheStricterParametersWin(t *testing.T) {
	type params = v1alpha1.Params
	for name, c := range map[string]struct {
		id            string
		first, second params
		want          map[string][]string
	}{
		"a value": {"dnsManipulation", params{"otherEgress": {"allow"}}, params{"otherEgress": {"deny"}},
			map[string][]string{"otherEgress": {"deny"}}},
		"a default": {"dnsManipulation", params{"otherEgress": {"allow"}}, nil, nil},
		"what both open": {"denyExternalNetworkAccess", params{"allowCIDRs": {"192.0.2.0/24", "203.0.113.0/24"}},
			params{"allowCIDRs": {"203.0.113.0/24"}}, map[string][]string{"allowCIDRs": {"203.0.113.0/24"}}},
		"what one opens": {"denyExternalNetworkAccess", params{"allowCIDRs": {"192.0.2.0/24"}}, nil, nil},
		"what both close": {"apiSegmentation", params{"denyPaths": {"/a"}}, params{"denyPaths": {"/b"}},
			map[string][]string{"denyPaths": {"/a", "/b"}}},
		"a list beside none": {"apiSegmentation", params{"denyPaths": {"/a"}}, params{"allowMethods": {"GET"}},
			map[string][]string{"denyPaths": {"/a"}, "allowMethods": {"GET"}}},
		"namespaces that both name": {"networkSegmentation", params{"fromNamespaces": {"web", "ops"}}, params{"fromNamespaces": {"ops", "qa"}},
			map[string][]string{"fromNamespaces": {"ops"}}},
		"an invalid second one": {"dnsManipulation", params{"otherEgress": {"allow"}}, params{"otherEgress": {"never"}},
			map[string][]string{"otherEgress": {"allow"}}},
		"an invalid first one": {"dnsManipulation", params{"nonsense": {"1"}}, params{"otherEgress": {"deny"}},
			map[string][]string{"otherEgress": {"deny"}}},
	} {
		t.Run(name, func(t *testing.T) {
			k := known{"first": securityIntent("first", c.id, v1alpha1.Block, c.first),
				"second": securityIntent("second", c.id, v1alpha1.Block, c.second)}
			for _, order := range [][]string{{"first", "second"}, {"second", "first"}} {
				p := resolve(bind(order...), k).Policies[0]
				if got := p.Rules[0].Params; len(p.Rules) != 1 || len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
					t.Errorf("%v: %v", order, got)
				}
			}
		})
	}
}

func TestAnInvalidBlockNeverDisablesAValidAudit(t *testing.T) {
	k := known{"bad": securityIntent("bad", "dnsManipulation", v1alpha1.Block, v1alpha1.Params{"x": {"1"}}),
		"good": securityIntent("good", "dnsManipulation", v1alpha1.Audit, nil)}
	equal(t, "the intent", resolve(bind("bad", "good"), k).Policies[0].Rules[0].Intent, "good")
}

func TestTheGeneratedPrefixIsReserved(t *testing.T) {
	b := bind("dns")
	b.Name = "nimbus-ctlr-gen-all"
	r := resolve(b, intents("dns", "dnsManipulation"))
	if len(r.Policies) != 0 || len(r.Problems) != 1 || r.Problems[0].Field != "metadata.name" || !r.Problems[0].Fatal {
		t.Errorf("%+v", r)
	}
}

func TestAnUnsupportedFieldSelectsNothing(t *testing.T) {
	b := &v1alpha1.SecurityIntentBinding{}
	b.Namespace, b.Name = "shop", "web"
	b.Spec.Intents = []v1alpha1.MatchIntent{{Name: "dns"}}
	b.Spec.Selector.Any = []v1alpha1.Unsupported{{}}
	over := &v1alpha1.ClusterSecurityIntentBinding{}
	over.Name, over.Spec.Intents = "all", b.Spec.Intents
	over.Spec.Selector.NsSelector.MatchNames = []v1alpha1.NamespaceName{"shop"}
	over.Spec.CEL = []string{`labels["app"] == "web"`}
	for field, b := range map[string]intent.Binding{"spec.selector.any": intent.OfBinding(b), "spec.cel": intent.OfClusterBinding(over)} {
		r := resolve(b, intents("dns", "dnsManipulation"), "shop")
		if len(r.Policies) != 0 || r.Cluster != nil || len(r.Problems) != 1 || r.Problems[0].Field != field {
			t.Errorf("%s: %+v", field, r)
		}
	}
}

func TestNamespacesThatDoNotExistAreReported(t *testing.T) {
	b := intent.Binding{Kind: intent.KindClusterBinding, Name: "all", Intents: []string{"dns"},
		Namespaces: v1alpha1.NamespaceSelector{MatchNames: []v1alpha1.NamespaceName{"shop", "typo"}}}
	r := resolve(b, intents("dns", "dnsManipulation"), "shop", "web")
	equal(t, "absent", r.Absent, []string{"typo"})
	report := intent.BindingReport{Resolution: r}
	for _, p := range append(slices.Clone(r.Policies), *r.Cluster) {
		report.Policies = append(report.Policies, intent.PolicyReport{Policy: p,
			Engines: []intent.EngineReport{{Engine: "E", Claims: []intent.Claim{{Intent: "dnsManipulation", Level: v1alpha1.LevelEnforced}}}}})
	}
	st := v1alpha1.CommonStatus{}
	report.Report(&st, intent.Moment{Generation: 1})
	c := meta.FindStatusCondition(st.Conditions, "Enforced")
	if c == nil || c.Status != "False" || c.Reason != "NamespaceMissing" || !strings.Contains(c.Message, "typo") {
		t.Errorf("%+v", c)
	}
}

func TestThreeIntentsWithOneIDAreOneProblem(t *testing.T) {
	r := resolve(bind("a", "b", "c", "x", "y"), intents("a", "pkgMgrs", "b", "pkgMgrs", "c", "pkgMgrs", "x", "unheardOf", "y", "unheardOf"))
	if len(r.Problems) != 2 || len(r.Policies) != 1 || len(r.Policies[0].Rules) != 2 {
		t.Fatalf("the binding comes to %+v", r)
	}
	if m := r.Problems[0].Message; !strings.Contains(m, "a, b, c") {
		t.Errorf("not all are named: %s", m)
	}
}

func TestAnIntentBoundTwiceIsBoundOnce(t *testing.T) {
	r := resolve(bind("a", "a"), intents("a", "pkgMgrs"))
	equal(t, "rules", ids(only(t, r).Rules), []string{"pkgMgrs"})
	equal(t, "bound", r.Bound, []string{"a"})
}

func TestLabelsAreCopiedExceptThoseThatProgramsGoBy(t *testing.T) {
	b := bind("a")
	b.Labels = map[string]string{
		"team": "web", "app.kubernetes.io/part-of": "shop", "not-nexus.ai/x": "1", "nexus.ai": "no prefix",
		"nexus.ai/capability": "x", "intent.security.nimbus.com/rule": "x", "app.kubernetes.io/managed-by": "Helm",
	}
	p := only(t, resolve(b, intents("a", "pkgMgrs")))
	equal(t, "labels", p.Labels, map[string]string{"team": "web", "app.kubernetes.io/part-of": "shop", "not-nexus.ai/x": "1"})
}

func TestAWrongSelectorIsReportedBeforeAnyIntentExists(t *testing.T) {
	b := bind("a")
	b.CEL = []string{"true || true"}
	r := resolve(b, nil)
	if p := nothing(t, r); p.Field != "spec.cel[0]" {
		t.Errorf("the problem is %+v", p)
	}
}
