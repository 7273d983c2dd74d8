// SPDX-License-Identifier: Apache-2.0

package istio_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/istio"
)

func rule(id string, action v1alpha1.Action, params map[string][]string) intent.Rule {
	e, _ := intent.Lookup(id)
	return intent.Rule{ID: id, Canonical: e.ID, Intent: "wish", Description: "as wished", Action: action, Params: params}
}

func policy(rules ...intent.Rule) intent.Policy {
	return intent.Policy{Name: "guard", Namespace: "shop", Selector: intent.Selector{Labels: map[string]string{"app": "web"}}, Rules: rules}
}

func facts(labels map[string]string) intent.Facts {
	return intent.Facts{OperatorNamespace: "nexus-system", NamespaceLabels: labels, MeshRootNamespace: "istio-system",
		TrustDomain: "corp.example"}
}

var (
	sidecars = map[string]string{"istio-injection": "enabled"}
	ambient  = map[string]string{"istio.io/dataplane-mode": "ambient"}
)

// sampleRules are parameters that Istio has an answer to.
func sampleRules() []intent.Rule {
	return []intent.Rule{
		rule("ensureTLS", v1alpha1.Block, map[string][]string{"exceptPorts": {"9090"}, "requireIdentity": {"true"}}),
		rule("networkSegmentation", v1alpha1.Block,
			map[string][]string{"fromNamespaces": {"web"}, "fromServiceAccounts": {"jobs/nightly"}, "ports": {"8080"}}),
		rule("apiSegmentation", v1alpha1.Block, map[string][]string{"allowMethods": {"GET"}, "denyPaths": {"/admin/*"}}),
	}
}

func one(t *testing.T, p intent.Policy, f intent.Facts) ([]*unstructured.Unstructured, intent.Claim) {
	t.Helper()
	got := istio.New().Translate(p, f)
	if len(got.Claims) != 1 {
		t.Fatalf("%d claims for one rule: %+v", len(got.Claims), got.Claims)
	}
	return got.Objects, got.Claims[0]
}

func wantNone(t *testing.T, p intent.Policy, f intent.Facts, reason string) {
	t.Helper()
	objects, claim := one(t, p, f)
	if len(objects) != 0 || claim.Level != v1alpha1.LevelNone || claim.Reason != reason || claim.Message == "" {
		t.Errorf("%s: %d objects and claim %+v, want none and None/%s with a message", p.Rules[0].ID, len(objects), claim, reason)
	}
}

func TestEveryRuleOfTheCatalogHasExactlyOneClaimInItsOrder(t *testing.T) {
	var p intent.Policy
	for _, e := range intent.Catalog() {
		p.Rules = append(p.Rules, rule(e.ID, v1alpha1.Block, nil))
	}
	p.Name, p.Namespace = "all", "shop"
	got := istio.New().Translate(p, facts(sidecars))
	if len(got.Claims) != len(p.Rules) {
		t.Fatalf("%d claims for %d rules", len(got.Claims), len(p.Rules))
	}
	for i, c := range got.Claims {
		if c.Intent != p.Rules[i].ID {
			t.Errorf("claim %d is for %s, want %s", i, c.Intent, p.Rules[i].ID)
		}
	}
}

func TestIstioIsSilentOnEverythingElse(t *testing.T) {
	mine := map[string]bool{"ensureTLS": true, "networkSegmentation": true, "apiSegmentation": true}
	others := 0
	for _, e := range intent.Catalog() {
		for _, id := range append([]string{e.ID}, e.Aliases...) {
			if !mine[e.ID] {
				wantNone(t, policy(rule(id, v1alpha1.Block, nil)), facts(sidecars), intent.ReasonNotCovered)
				others++
			}
		}
	}
	if others < 10 {
		t.Errorf("only %d ids were asked", others)
	}
}

func TestOverTheClusterIstioMakesNothing(t *testing.T) {
	for _, r := range sampleRules() {
		p := policy(r)
		p.Namespace, p.FromCluster = "", true
		wantNone(t, p, facts(nil), intent.ReasonElsewhere)
	}
	p := policy(rule("escapeToHost", v1alpha1.Block, nil))
	p.Namespace = ""
	wantNone(t, p, facts(nil), intent.ReasonNotCovered)
}

func TestInTheMeshRootNamespaceNothingIsMade(t *testing.T) {
	for _, r := range sampleRules() {
		p := policy(r)
		p.Namespace = "istio-system"
		wantNone(t, p, facts(sidecars), intent.ReasonMeshRoot)
		wantNone(t, p, intent.Facts{NamespaceLabels: sidecars}, intent.ReasonMeshRoot)
		p.Namespace = "mesh"
		f := facts(sidecars)
		f.MeshRootNamespace = "mesh"
		wantNone(t, p, f, intent.ReasonMeshRoot)
	}
}

func TestExpressionsMakeNoObjectRatherThanAWiderOne(t *testing.T) {
	for _, r := range sampleRules() {
		p := policy(r)
		p.Selector.Expressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}
		wantNone(t, p, facts(sidecars), intent.ReasonSelectorUnsupported)
	}
}

func TestAnAuditInAmbientModeMakesNoObject(t *testing.T) {
	for _, r := range sampleRules() {
		r.Action = v1alpha1.Audit
		wantNone(t, policy(r), facts(ambient), intent.ReasonAuditUnsupported)
	}
}

func TestARuleThatSaysNotWhatIsAllowedClosesNothing(t *testing.T) {
	for _, r := range []intent.Rule{
		rule("networkSegmentation", v1alpha1.Block, nil),
		rule("networkSegmentation", v1alpha1.Block, map[string][]string{"ports": {"8080"}}),
		rule("apiSegmentation", v1alpha1.Block, nil),
	} {
		for _, labels := range []map[string]string{sidecars, ambient, nil} {
			wantNone(t, policy(r), facts(labels), intent.ReasonInvalidParams)
		}
	}
}

func TestAmbient_HTTPRulesAreNotLeftToZtunnel(t *testing.T) {
	wantNone(t, policy(sampleRules()[2]), facts(ambient), intent.ReasonNotCovered)
}

func TestOutsideTheMeshObjectsAreMadeAndNotCalledEnforced(t *testing.T) {
	outside := []map[string]string{
		nil,
		{"istio-injection": "disabled"},
		{"istio-injection": "disabled", "istio.io/rev": "stable"},
		{"istio.io/dataplane-mode": "none"},
		{"istio.io/rev": ""},
	}
	for _, labels := range outside {
		for _, action := range []v1alpha1.Action{v1alpha1.Block, v1alpha1.Audit} {
			for _, r := range sampleRules() {
				r.Action = action
				objects, claim := one(t, policy(r), facts(labels))
				if len(objects) == 0 || claim.Level != v1alpha1.LevelPartial || claim.Reason != intent.ReasonNotInMesh {
					t.Errorf("%s %s in %v: %d objects, %+v", action, r.ID, labels, len(objects), claim)
				}
			}
		}
	}
}

func TestTheWayANamespaceIsInTheMeshIsReadAsIstioReadsIt(t *testing.T) {
	// An audit shows all three: sidecars try it, ztunnel cannot, and outside nothing happens.
	for _, c := range []struct {
		labels map[string]string
		want   string
	}{
		{map[string]string{"istio-injection": "enabled"}, "Audited/"},
		{map[string]string{"istio.io/rev": "stable"}, "Audited/"},
		{map[string]string{"istio-injection": "enabled", "istio.io/dataplane-mode": "ambient"}, "Audited/"},
		{map[string]string{"istio.io/rev": "stable", "istio.io/dataplane-mode": "none"}, "Audited/"},
		{map[string]string{"istio.io/dataplane-mode": "ambient"}, "None/AuditUnsupported"},
		{map[string]string{"istio.io/rev": "stable", "istio.io/dataplane-mode": "ambient"}, "None/AuditUnsupported"},
		{map[string]string{"istio-injection": "disabled", "istio.io/dataplane-mode": "ambient"}, "None/AuditUnsupported"},
		{map[string]string{"istio-injection": "disabled", "istio.io/rev": "stable"}, "Partial/NotInMesh"},
	} {
		r := sampleRules()[1]
		r.Action = v1alpha1.Audit
		_, claim := one(t, policy(r), facts(c.labels))
		if got := fmt.Sprintf("%s/%s", claim.Level, claim.Reason); got != c.want {
			t.Errorf("%v: %s, want %s", c.labels, got, c.want)
		}
	}
}

func TestExceptedPortsWithoutASelectorAreNotExceptedAndThatIsSaid(t *testing.T) {
	p := policy(rule("ensureTLS", v1alpha1.Block, map[string][]string{"exceptPorts": {"9090"}}))
	p.Selector.Labels = nil
	objects, claim := one(t, p, facts(sidecars))
	if claim.Level != v1alpha1.LevelPartial || claim.Reason != intent.ReasonSelectorUnsupported || !strings.Contains(claim.Message, "9090") {
		t.Errorf("claim %+v", claim)
	}
	spec := objects[0].Object["spec"].(map[string]any)
	if spec["selector"] != nil || spec["portLevelMtls"] != nil {
		t.Errorf("Istio refuses portLevelMtls without a selector: %v", spec)
	}
}

func TestAWaypointBeforeThePodsLimitsWhatIsClaimed(t *testing.T) {
	for waypoint, want := range map[string]v1alpha1.Level{"gate": v1alpha1.LevelPartial, "none": v1alpha1.LevelEnforced} {
		labels := map[string]string{"istio.io/dataplane-mode": "ambient", "istio.io/use-waypoint": waypoint}
		if _, claim := one(t, policy(sampleRules()[1]), facts(labels)); claim.Level != want {
			t.Errorf("waypoint %s: %+v", waypoint, claim)
		}
	}
}

func TestNothingIsEverAllowed(t *testing.T) {
	for _, labels := range []map[string]string{sidecars, ambient, nil} {
		for _, action := range []v1alpha1.Action{v1alpha1.Block, v1alpha1.Audit} {
			rules := sampleRules()
			for i := range rules {
				rules[i].Action = action
			}
			for _, u := range istio.New().Translate(policy(rules...), facts(labels)).Objects {
				spec := u.Object["spec"].(map[string]any)
				if u.GetKind() == "AuthorizationPolicy" && (spec["action"] != "DENY" || len(spec["rules"].([]any)) == 0) {
					t.Errorf("%s is not a DENY with rules: %v", u.GetName(), spec)
				}
				if action == v1alpha1.Audit && (u.GetKind() != "AuthorizationPolicy" || u.GetAnnotations()["istio.io/dry-run"] != "true") {
					t.Errorf("an audit makes %s %s, which enforces", u.GetKind(), u.GetName())
				}
			}
		}
	}
}

func TestAnAccountIsAllowedInTheTrustDomainOfTheMesh(t *testing.T) {
	p := policy(rule("networkSegmentation", v1alpha1.Block, map[string][]string{"fromServiceAccounts": {"jobs/nightly"}}))
	for domain, want := range map[string]string{"corp.example": "corp.example/ns/jobs/sa/nightly", "": "cluster.local/ns/jobs/sa/nightly"} {
		f := facts(sidecars)
		f.TrustDomain = domain
		objects, _ := one(t, p, f)
		if got := fmt.Sprint(objects[0].Object["spec"]); !strings.Contains(got, want) || strings.Contains(got, "notNamespaces") {
			t.Errorf("trust domain %q: %s", domain, got)
		}
	}
}

func TestTranslatingLeavesThePolicyAloneAndRepeatsItself(t *testing.T) {
	p, f := policy(sampleRules()...), facts(sidecars)
	before := fmt.Sprint(p, f)
	first := istio.New().Translate(p, f)
	for _, u := range first.Objects {
		u.Object["spec"] = "spoilt"
	}
	second, third := istio.New().Translate(p, f), istio.New().Translate(p, f)
	if fmt.Sprint(p, f) != before {
		t.Error("the policy or the facts were changed")
	}
	if a, b := render(t, second), render(t, third); a != b {
		t.Errorf("two answers to one question:\n%s\n%s", a, b)
	}
}

func TestOnlyItsOwnKindsAreMade(t *testing.T) {
	makes := map[string]bool{}
	for _, k := range istio.New().Makes() {
		makes[k.String()] = true
	}
	for _, u := range istio.New().Translate(policy(sampleRules()...), facts(sidecars)).Objects {
		if !makes[u.GroupVersionKind().String()] {
			t.Errorf("%s is not among those that Makes names", u.GroupVersionKind())
		}
		u.DeepCopy() // panics on values that JSON has not
	}
}
