// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// scripted is an engine that answers for the given rules, and remembers its calls.
type scripted struct {
	silent []string
	asked  [][]string
	facts  []intent.Facts
}

func (e *scripted) Name() string { return "Scripted" }
func (e *scripted) Requires() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{policyKind()}
}
func (e *scripted) Makes() []schema.GroupVersionKind { return []schema.GroupVersionKind{policyKind()} }

// Translate answers in the opposite order.
func (e *scripted) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	e.asked, e.facts = append(e.asked, ids(p.Rules)), append(e.facts, f)
	t := intent.Translation{Claims: []intent.Claim{{Intent: "nobody asked", Level: v1alpha1.LevelEnforced}}}
	for _, r := range slices.Backward(p.Rules) {
		if !slices.Contains(e.silent, r.ID) {
			t.Objects = append(t.Objects, intent.NewObject(e.Name(), policyKind(), p, r, ""))
			t.Claims = append(t.Claims, intent.Enforces(r))
		}
	}
	return t
}

// versioned is an engine that knows of versions it cannot speak to.
type versioned struct{ scripted }

func (e *versioned) Unsupported() []schema.GroupKind {
	return []schema.GroupKind{{Group: "new.example.com", Kind: "NewPolicy"}}
}

func everyKind(schema.GroupVersionKind) bool { return true }

func noKind(schema.GroupVersionKind) bool { return false }

func policyOf(rules ...intent.Rule) intent.Policy {
	return intent.Policy{Name: "web", Namespace: "shop", Rules: rules}
}

func rule(id string) intent.Rule {
	return intent.Rule{ID: id, Canonical: id, Intent: "si-" + id, Action: v1alpha1.Block}
}

// claimed are claims as id/level/reason.
func claimed(t intent.Translation) []string {
	var out []string
	for _, c := range t.Claims {
		out = append(out, strings.TrimSuffix(c.Intent+"/"+string(c.Level)+"/"+c.Reason, "/"))
	}
	return out
}

func TestClaims_OnePerRuleInTheirOrder(t *testing.T) {
	e := &scripted{silent: []string{"escapeToHost"}}
	audit := rule("cocoWorkload")
	audit.Action = v1alpha1.Audit
	got := intent.Translate(e, policyOf(rule("pkgMgrs"), rule("escapeToHost"), audit), intent.Facts{TrustDomain: "td"}, true, everyKind)
	equal(t, "claims", claimed(got), []string{"pkgMgrs/Enforced", "escapeToHost/None/NotCovered", "cocoWorkload/Audited"})
	var objects []string
	for _, o := range got.Objects {
		objects = append(objects, o.GetName())
	}
	equal(t, "objects", objects, []string{"web-cocoworkload", "web-pkgmgrs"})
	equal(t, "facts", e.facts, []intent.Facts{{TrustDomain: "td"}})
}

func TestWhatNoEngineCouldDoIsRefusedBeforeItIsAsked(t *testing.T) {
	e := &scripted{}
	bad := rule("dnsManipulation")
	bad.Params = map[string][]string{"otherEgress": {"maybe"}}
	p := policyOf(rule("pkgMgrs"), rule("unheardOf"), bad)
	got := intent.Translate(e, p, intent.Facts{}, true, everyKind)
	equal(t, "claims", claimed(got), []string{
		"pkgMgrs/Enforced", "unheardOf/None/UnknownIntent", "dnsManipulation/None/InvalidParams",
	})
	equal(t, "what the engine was asked", e.asked, [][]string{{"pkgMgrs"}})
	equal(t, "the policy's rules", ids(p.Rules), []string{"pkgMgrs", "unheardOf", "dnsManipulation"})
	if m := got.Claims[2].Message; !strings.Contains(m, "si-dnsManipulation") || !strings.Contains(m, "params.otherEgress") {
		t.Errorf("the message names neither intent nor parameter: %s", m)
	}
	if m := got.Claims[1].Message; !strings.Contains(m, "si-unheardOf") {
		t.Errorf("the message does not name the intent: %s", m)
	}
}

func TestAnEngineIsNotAskedWhenNothingIsLeft(t *testing.T) {
	e := &scripted{}
	for _, p := range []intent.Policy{policyOf(), policyOf(rule("unheardOf"), rule("unknown"))} {
		got := intent.Translate(e, p, intent.Facts{}, true, everyKind)
		if len(e.asked) > 0 || len(got.Objects) > 0 || len(got.Claims) != len(p.Rules) {
			t.Errorf("%v: asked %v, answered %+v", ids(p.Rules), e.asked, got)
		}
	}
}

// silentFor says that the engine is not asked and gives one reason for all rules.
func silentFor(t *testing.T, e *scripted, got intent.Translation, reason string, says ...string) {
	t.Helper()
	equal(t, "claims", claimed(got), []string{"pkgMgrs/None/" + reason, "unheardOf/None/" + reason})
	if len(e.asked) > 0 || len(got.Objects) > 0 {
		t.Errorf("the engine was asked: %v, %v", e.asked, got.Objects)
	}
	for _, s := range says {
		if !strings.Contains(got.Claims[0].Message, s) {
			t.Errorf("%q is not in %q", s, got.Claims[0].Message)
		}
	}
}

func TestAnEngineThatIsNotInstalledSaysWhatIsMissing(t *testing.T) {
	e := &scripted{}
	got := intent.Translate(e, policyOf(rule("pkgMgrs"), rule("unheardOf")), intent.Facts{}, true, noKind)
	silentFor(t, e, got, intent.ReasonEngineMissing, "Scripted", "Policy.security.example.com/v1")
}

func TestAnEngineThatIsLeftOutSaysSoWhetherItIsInstalledOrNot(t *testing.T) {
	for _, served := range []intent.Served{everyKind, noKind} {
		e := &scripted{}
		got := intent.Translate(e, policyOf(rule("pkgMgrs"), rule("unheardOf")), intent.Facts{}, false, served)
		silentFor(t, e, got, intent.ReasonEngineDisabled, "Scripted", "--adapters")
	}
}

func TestAnEngineInAnotherVersionSaysWhichIsNeeded(t *testing.T) {
	onlyNew := func(k schema.GroupVersionKind) bool { return k.Group == "new.example.com" }
	e := &versioned{}
	got := intent.Translate(e, policyOf(rule("pkgMgrs"), rule("unheardOf")), intent.Facts{}, true, onlyNew)
	silentFor(t, &e.scripted, got, intent.ReasonEngineVersionUnsupported, "NewPolicy.new.example.com", "security.example.com/v1")
	got = intent.Translate(e, policyOf(rule("pkgMgrs"), rule("unheardOf")), intent.Facts{}, true, noKind)
	silentFor(t, &e.scripted, got, intent.ReasonEngineMissing)
	got = intent.Translate(e, policyOf(rule("pkgMgrs")), intent.Facts{}, true, everyKind)
	equal(t, "with both versions", claimed(got), []string{"pkgMgrs/Enforced"})
}

func TestANodeSelectorIsHonouredByNoEngine(t *testing.T) {
	e := &scripted{}
	p := policyOf(rule("pkgMgrs"), rule("unheardOf"))
	p.NodeSelector = map[string]string{"disk": "ssd"}
	silentFor(t, e, intent.Translate(e, p, intent.Facts{}, true, everyKind), intent.ReasonNodeSelectorUnsupported, "nodeSelector")
}

func TestAnEmptyNodeSelectorIsNone(t *testing.T) {
	p := policyOf(rule("pkgMgrs"))
	p.NodeSelector = map[string]string{}
	got := intent.Translate(&scripted{}, p, intent.Facts{}, true, everyKind)
	equal(t, "claims", claimed(got), []string{"pkgMgrs/Enforced"})
	equal(t, "objects", len(got.Objects), 1)
}

func TestAliasesAreServedUnderTheNameTheyWereWrittenWith(t *testing.T) {
	r := rule("exploitPFA")
	r.Canonical = "preventExecutionFromTempOrLogsFolders"
	got := intent.Translate(&scripted{}, policyOf(r), intent.Facts{}, true, everyKind)
	equal(t, "claims", claimed(got), []string{"exploitPFA/Enforced"})
	equal(t, "objects", []*unstructured.Unstructured{intent.NewObject("Scripted", policyKind(), policyOf(r), r, "")}, got.Objects)
}
