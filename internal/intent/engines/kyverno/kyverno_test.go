// SPDX-License-Identifier: Apache-2.0

package kyverno_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/kyverno"
)

// ids are the catalog's, and the aliases.
func ids() []string {
	var out []string
	for _, e := range intent.Catalog() {
		out = append(append(out, e.ID), e.Aliases...)
	}
	return out
}

// covered lists the intents that Kyverno has something for.
func covered() []string { return []string{"escapeToHost", "cocoWorkload"} }

func rule(id string, action v1alpha1.Action) intent.Rule {
	e, _ := intent.Lookup(id)
	return intent.Rule{ID: id, Canonical: e.ID, Intent: "wish", Description: "As the house rules say", Action: action}
}

func with(r intent.Rule, param, value string) intent.Rule {
	r.Params = map[string][]string{param: {value}}
	return r
}

func policy(rules ...intent.Rule) intent.Policy {
	return intent.Policy{Name: "guard", Namespace: "shop", Selector: intent.Selector{Labels: map[string]string{"app": "web", "env": "prod"}},
		Rules: rules}
}

// over is a policy over the cluster.
func over(n intent.Namespaces, rules ...intent.Rule) intent.Policy {
	p := policy(rules...)
	p.Namespace, p.FromCluster, p.Namespaces = "", true, n
	return p
}

type scope struct {
	name   string
	policy func(...intent.Rule) intent.Policy
}

func scopes() []scope {
	return []scope{
		{"in a namespace", policy},
		{"in a namespace, all of its pods", func(rules ...intent.Rule) intent.Policy {
			p := policy(rules...)
			p.Selector = intent.Selector{}
			return p
		}},
		{"in a namespace, from a cluster binding", func(rules ...intent.Rule) intent.Policy {
			p := policy(rules...)
			p.Name, p.FromCluster = "nimbus-ctlr-gen-guard", true
			return p
		}},
		{"over some namespaces", func(rules ...intent.Rule) intent.Policy {
			p := over(intent.Namespaces{Names: []string{"shop", "ware"}}, rules...)
			p.Selector.Expressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpNotIn,
				Values: []string{"test", "ci"}}, {Key: "owner", Operator: metav1.LabelSelectorOpExists}}
			return p
		}},
		{"over all namespaces but one", func(rules ...intent.Rule) intent.Policy {
			return over(intent.Namespaces{All: true, Exclude: []string{"attic", "kube-system", "nexus-system"}}, rules...)
		}},
	}
}

func translate(p intent.Policy) intent.Translation {
	return kyverno.New().Translate(p, intent.Facts{OperatorNamespace: "nexus-system"})
}

func one(t *testing.T, p intent.Policy) *unstructured.Unstructured {
	t.Helper()
	got := translate(p)
	if len(got.Objects) != 1 {
		t.Fatalf("%d objects, want 1; claims %+v", len(got.Objects), got.Claims)
	}
	return got.Objects[0]
}

// theRule is the policy's only one.
func theRule(t *testing.T, u *unstructured.Unstructured) map[string]any {
	t.Helper()
	rules, _, err := unstructured.NestedSlice(u.Object, "spec", "rules")
	if err != nil || len(rules) != 1 {
		t.Fatalf("rules are %v (%v), want one", rules, err)
	}
	return rules[0].(map[string]any)
}

// resources is the only filter of match, or of exclude.
func resources(t *testing.T, u *unstructured.Unstructured, of string) map[string]any {
	t.Helper()
	filters := theRule(t, u)[of].(map[string]any)["any"].([]any)
	if len(filters) != 1 {
		t.Fatalf("%s has %d filters, want one", of, len(filters))
	}
	return filters[0].(map[string]any)["resources"].(map[string]any)
}

func wantNone(t *testing.T, p intent.Policy, reason string) {
	t.Helper()
	got := translate(p)
	if c := got.Claims[0]; len(got.Objects) != 0 || c.Level != v1alpha1.LevelNone || c.Reason != reason || c.Message == "" {
		t.Errorf("%d objects and claim %+v, want none and None/%s with a message", len(got.Objects), c, reason)
	}
}

// The public implementation crashed on a cluster binding with excludeNames, and left its policies as they were.
func TestAClusterBindingWithExcludeNamesIsTranslated(t *testing.T) {
	n := intent.Namespaces{All: true, Exclude: []string{"attic", "kube-system", "nexus-system"}}
	for _, id := range covered() {
		u := one(t, over(n, rule(id, v1alpha1.Block)))
		if u.GetKind() != "ClusterPolicy" || u.GetNamespace() != "" {
			t.Errorf("%s: %s in %q, want a ClusterPolicy", id, u.GetKind(), u.GetNamespace())
		}
		if got := resources(t, u, "exclude")["namespaces"]; !reflect.DeepEqual(got, []any{"attic", "kube-system", "nexus-system"}) {
			t.Errorf("%s: excluded are %v", id, got)
		}
		if got, there := resources(t, u, "match")["namespaces"]; there {
			t.Errorf("%s: matched are only %v, want every namespace", id, got)
		}
	}
}

func TestAClusterBindingWithMatchNamesMatchesThoseOnly(t *testing.T) {
	for _, id := range covered() {
		u := one(t, over(intent.Namespaces{Names: []string{"shop", "ware"}}, rule(id, v1alpha1.Block)))
		if got := resources(t, u, "match")["namespaces"]; !reflect.DeepEqual(got, []any{"shop", "ware"}) {
			t.Errorf("%s: matched are %v", id, got)
		}
	}
}

func TestTheClustersAndTheOperatorsNamespaceAreAlwaysExcluded(t *testing.T) {
	for _, n := range []intent.Namespaces{{All: true}, {Names: []string{"kube-system", "nexus-system", "shop"}}} {
		u := one(t, over(n, rule("escapeToHost", v1alpha1.Block)))
		if got := resources(t, u, "exclude")["namespaces"]; !reflect.DeepEqual(got, []any{"kube-system", "nexus-system"}) {
			t.Errorf("%+v: excluded are %v", n, got)
		}
	}
}

// Without namespaces in its match a ClusterPolicy applies to all of them.
func TestNoNamespacesAreNotEveryNamespace(t *testing.T) {
	wantNone(t, over(intent.Namespaces{}, rule("escapeToHost", v1alpha1.Block)), intent.ReasonSelectorUnsupported)
}

func TestAClusterBindingSaysNothingTwice(t *testing.T) {
	for _, id := range covered() {
		p := policy(rule(id, v1alpha1.Block))
		p.FromCluster = true
		wantNone(t, p, intent.ReasonElsewhere)
	}
}

func TestOnlyItsOwnIntentsAreCovered(t *testing.T) {
	for _, id := range ids() {
		if slices.Contains(covered(), id) {
			one(t, policy(rule(id, v1alpha1.Block)))
			continue
		}
		for _, s := range scopes() {
			wantNone(t, s.policy(rule(id, v1alpha1.Block)), intent.ReasonNotCovered)
		}
	}
}

func TestABindingInANamespaceMakesAPolicyThere(t *testing.T) {
	u := one(t, policy(rule("escapeToHost", v1alpha1.Block)))
	if u.GetKind() != "Policy" || u.GetNamespace() != "shop" || u.GetName() != "guard-escapetohost" {
		t.Errorf("%s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName())
	}
	if got := u.GetAnnotations()["policies.kyverno.io/description"]; got != "As the house rules say" {
		t.Errorf("description is %q", got)
	}
	// Kyverno refuses a Policy that speaks of namespaces.
	if got := theRule(t, u)["exclude"]; !reflect.DeepEqual(got, map[string]any{"resources": map[string]any{}}) {
		t.Errorf("exclude is %v, want it empty", got)
	}
}

// Kyverno refuses a policy with a variable that it does not know, even in a description.
func TestADescriptionHasNoVariables(t *testing.T) {
	for given, want := range map[string]string{"as {{ request.userInfo }} says": "as { { request.userInfo }} says", "{{{x}}}": "{ { {x}}}",
		"": ""} {
		r := rule("escapeToHost", v1alpha1.Block)
		r.Description = given
		if got := one(t, policy(r)).GetAnnotations()["policies.kyverno.io/description"]; got != want {
			t.Errorf("%q became %q, want %q", given, got, want)
		}
	}
}

func TestTheActionDecidesWhetherKyvernoRefusesPods(t *testing.T) {
	for action, want := range map[v1alpha1.Action]string{v1alpha1.Block: "Enforce", v1alpha1.Enforce: "Enforce", v1alpha1.Audit: "Audit"} {
		u := one(t, policy(rule("escapeToHost", action)))
		if got, _, _ := unstructured.NestedString(u.Object, "spec", "validationFailureAction"); got != want {
			t.Errorf("%s became %s, want %s", action, got, want)
		}
	}
}

func TestAuditSaysEnforceNowhere(t *testing.T) {
	for _, s := range scopes() {
		if text := render(t, translate(s.policy(rule("escapeToHost", v1alpha1.Audit)))); strings.Contains(text, "Enforce") {
			t.Errorf("%s:\n%s", s.name, text)
		}
	}
}

func TestTheLevelOfPodSecurityFollowsTheParameter(t *testing.T) {
	for want, r := range map[string]intent.Rule{
		"baseline": rule("escapeToHost", v1alpha1.Block), "restricted": with(rule("escapeToHost", v1alpha1.Block), "psaLevel", "restricted"),
	} {
		got := theRule(t, one(t, policy(r)))["validate"]
		if want := map[string]any{"podSecurity": map[string]any{"level": want, "version": "latest"}}; !reflect.DeepEqual(got, want) {
			t.Errorf("validate is %v, want %v", got, want)
		}
	}
}

func TestARuntimeClassIsGivenToNewPodsOnly(t *testing.T) {
	for want, r := range map[string]intent.Rule{
		"kata-clh": rule("cocoWorkload", v1alpha1.Block), "kata-qemu": with(rule("cocoWorkload", v1alpha1.Block), "runtimeClass", "kata-qemu"),
	} {
		got := translate(policy(r))
		if c := got.Claims[0]; c.Level != v1alpha1.LevelPartial || c.Reason != intent.ReasonOnCreateOnly || !strings.Contains(c.Message, want) {
			t.Errorf("claim %+v, want Partial/OnCreateOnly that names %s", c, want)
		}
		u := got.Objects[0]
		// A running pod cannot change its class: a rule for updates would have them all refused.
		if ops := resources(t, u, "match")["operations"]; !reflect.DeepEqual(ops, []any{"CREATE"}) {
			t.Errorf("operations are %v, want CREATE only", ops)
		}
		if class, _, _ := unstructured.NestedString(theRule(t, u), "mutate", "patchStrategicMerge", "spec", "runtimeClassName"); class != want {
			t.Errorf("runtimeClassName is %q, want %q", class, want)
		}
	}
}

func TestARuntimeClassCannotBeAudited(t *testing.T) {
	for _, s := range scopes() {
		wantNone(t, s.policy(rule("cocoWorkload", v1alpha1.Audit)), intent.ReasonAuditUnsupported)
	}
}

func TestLabelsAndExpressionsAreBothSelectedBy(t *testing.T) {
	p := policy(rule("escapeToHost", v1alpha1.Block))
	p.Selector.Expressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}},
		{Key: "owner", Operator: metav1.LabelSelectorOpExists}}
	want := map[string]any{
		"matchLabels": map[string]any{"app": "web", "env": "prod"},
		"matchExpressions": []any{
			map[string]any{"key": "tier", "operator": "In", "values": []any{"a", "b"}}, map[string]any{"key": "owner", "operator": "Exists"},
		},
	}
	if got := resources(t, one(t, p), "match")["selector"]; !reflect.DeepEqual(got, want) {
		t.Errorf("selector is %v, want %v", got, want)
	}
}

// Kyverno refuses a selector that requires nothing.
func TestAnEmptySelectorIsLeftOut(t *testing.T) {
	p := policy(rule("escapeToHost", v1alpha1.Block))
	p.Selector = intent.Selector{}
	if got := resources(t, one(t, p), "match"); !reflect.DeepEqual(got, map[string]any{"kinds": []any{"v1/Pod"}}) {
		t.Errorf("match is %v, want every pod", got)
	}
}

// In Kyverno app=* is every pod that has the label; in Kubernetes it is none.
func TestALabelThatIsNoPatternIsNotReadAsOne(t *testing.T) {
	p := policy(rule("escapeToHost", v1alpha1.Block))
	for _, s := range []intent.Selector{
		{Labels: map[string]string{"app": "*"}},
		{Labels: map[string]string{"ap?": "web"}},
		{Expressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"web", "w*"}}}},
	} {
		p.Selector = s
		wantNone(t, p, intent.ReasonSelectorUnsupported)
	}
}

// Kyverno refuses names longer than 63.
func TestANameIsNeverLongerThanKyvernoTakes(t *testing.T) {
	seen := map[string]bool{}
	for _, tail := range []string{"a", "b"} {
		p := policy(rule("escapeToHost", v1alpha1.Block))
		p.Name = strings.Repeat("long-name.", 8) + tail
		got := one(t, p).GetName()
		if problems := validation.IsDNS1123Subdomain(got); len(got) > 63 || len(problems) > 0 || seen[got] {
			t.Errorf("%q is too long, taken or no name: %v", got, problems)
		}
		seen[got] = true
	}
}

func TestItNeedsTheKindsItMakesAndKnowsThoseItCannotSpeakTo(t *testing.T) {
	e := kyverno.New()
	if e.Name() != "Kyverno" || len(e.Requires()) != 2 || !slices.Equal(e.Requires(), e.Makes()[:2]) || len(e.Makes()) != 14 {
		t.Errorf("%s requires %v and makes %v", e.Name(), e.Requires(), e.Makes())
	}
	later := func(k schema.GroupVersionKind) bool {
		return k.Group == "policies.kyverno.io" && !strings.HasPrefix(k.Kind, "Namespaced")
	}
	got := intent.Translate(e, policy(rule("escapeToHost", v1alpha1.Block)), intent.Facts{}, true, later)
	if c := got.Claims[0]; c.Reason != intent.ReasonEngineVersionUnsupported {
		t.Errorf("claim %+v where only policies of the cluster are served in CEL, want EngineVersionUnsupported", c)
	}
}
