// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var moment = intent.Moment{Generation: 3, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

func blocking(ids ...string) []intent.Rule {
	var out []intent.Rule
	for _, id := range ids {
		out = append(out, intent.Rule{ID: id, Canonical: id, Action: v1alpha1.Block})
	}
	return out
}

// reportOf builds the report of one engine on the rules, in order.
func reportOf(engine string, claims ...intent.Claim) intent.EngineReport {
	return intent.EngineReport{Engine: engine, Claims: claims}
}

func claims(level v1alpha1.Level, reason string, rules ...intent.Rule) []intent.Claim {
	var out []intent.Claim
	for _, r := range rules {
		out = append(out, intent.Claim{Intent: r.ID, Level: level, Reason: reason, Message: "because"})
	}
	return out
}

func conditioned(t *testing.T, conds []metav1.Condition, kind string, want metav1.ConditionStatus, reason string) string {
	t.Helper()
	c := meta.FindStatusCondition(conds, kind)
	if c == nil || c.Status != want || c.Reason != reason || c.ObservedGeneration != moment.Generation {
		t.Errorf("%s is %+v, expected %s/%s", kind, c, want, reason)
		return ""
	}
	return c.Message
}

func TestReport_AFailureThatLastsIsStalled(t *testing.T) {
	failing := errors.New("the API server refuses it")
	for since, want := range map[time.Duration]bool{0: false, 9 * time.Minute: false, 11 * time.Minute: true} {
		at := moment
		at.FailingSince = at.Now.Add(-since)
		policy, binding := v1alpha1.NimbusPolicyStatus{}, v1alpha1.CommonStatus{}
		intent.PolicyReport{Err: failing}.Report(&policy, at)
		intent.BindingReport{Err: failing}.Report(&binding, at)
		for what, conds := range map[string][]metav1.Condition{"policy": policy.Conditions, "binding": binding.Conditions} {
			if meta.IsStatusConditionTrue(conds, status.Stall) != want {
				t.Errorf("%s after %v: %+v, want Stalled %v", what, since, conds, want)
			}
		}
	}
}

func TestAPolicySaysOfEachEngineHowFarItGoes(t *testing.T) {
	rules := blocking("a", "b")
	r := intent.PolicyReport{Policy: intent.Policy{Name: "p", Namespace: "n", Rules: rules}, Engines: []intent.EngineReport{
		reportOf("One", claims(v1alpha1.LevelEnforced, "", rules...)...),
		reportOf("Two", claims(v1alpha1.LevelAudited, "", rules[0])[0], claims(v1alpha1.LevelPartial, intent.ReasonAlreadyIsolated, rules[1])[0]),
		reportOf("Three", claims(v1alpha1.LevelNone, intent.ReasonEngineMissing, rules...)...),
	}}
	r.Engines[0].Objects = []string{"NetworkPolicy/p-a", "NetworkPolicy/p-b"}
	st := v1alpha1.NimbusPolicyStatus{}
	r.Report(&st, moment)
	conditioned(t, st.Conditions, "One", metav1.ConditionTrue, "Enforced")
	if m := conditioned(t, st.Conditions, "Two", metav1.ConditionFalse,
		"AlreadyIsolated"); m != "a: Audited; b: Partial (AlreadyIsolated) (NX-SEC-016)" {
		t.Errorf("message %q", m)
	}
	conditioned(t, st.Conditions, "Three", metav1.ConditionFalse, "EngineMissing")
	conditioned(t, st.Conditions, "Ready", metav1.ConditionTrue, "Ready")
	conditioned(t, st.Conditions, "Enforced", metav1.ConditionTrue, "Enforced")
	if len(st.Coverage) != 6 || st.Coverage[0].Engine != "One" || st.Coverage[2].Engine != "Three" || st.Coverage[3].Intent != "b" {
		t.Errorf("coverage %+v", st.Coverage)
	}
	if st.NumberOfAdapterPolicies != 2 || st.Policies != 2 || st.PoliciesName[1] != "p-b" || st.AdapterPolicies[1] != "NetworkPolicy/p-b" ||
		st.Status != "Created" {
		t.Errorf("status %+v", st)
	}
}

func TestAnIntentThatNobodyEnforcesIsNamedWithWhoComesClosest(t *testing.T) {
	rules := blocking("a", "b")
	r := intent.PolicyReport{Policy: intent.Policy{Rules: rules}, Engines: []intent.EngineReport{
		reportOf("One", claims(v1alpha1.LevelEnforced, "", rules[0])[0], claims(v1alpha1.LevelNone, intent.ReasonNotCovered, rules[1])[0]),
		reportOf("Two", claims(v1alpha1.LevelNone, intent.ReasonEngineMissing, rules...)...),
	}}
	st := v1alpha1.NimbusPolicyStatus{}
	r.Report(&st, moment)
	m := conditioned(t, st.Conditions, "Enforced", metav1.ConditionFalse, "NotEnforced")
	if !strings.Contains(m, "b (Two: None, EngineMissing)") || strings.Contains(m, "a (") {
		t.Errorf("message %q", m)
	}
}

func TestAConflictIsReportedWhileItLasts(t *testing.T) {
	st := v1alpha1.NimbusPolicyStatus{}
	r := intent.PolicyReport{Err: &status.Stalled{Reason: status.ReasonConflict, Message: "it is theirs"}}
	r.Report(&st, moment)
	conditioned(t, st.Conditions, "Conflict", metav1.ConditionTrue, "Conflict")
	conditioned(t, st.Conditions, "Ready", metav1.ConditionFalse, "Conflict")
	r.Err = nil
	r.Report(&st, moment)
	if meta.FindStatusCondition(st.Conditions, "Conflict") != nil {
		t.Errorf("%+v", st.Conditions)
	}
}

// TestABindingSaysTheLeastOfWhatItsPoliciesSay has two namespaces and the cluster, in every order.
func TestABindingSaysTheLeastOfWhatItsPoliciesSay(t *testing.T) {
	rules := blocking("a")
	in := func(ns string, engines ...intent.EngineReport) intent.PolicyReport {
		return intent.PolicyReport{Policy: intent.Policy{Name: "p", Namespace: ns, Rules: rules}, Engines: engines}
	}
	say := func(engine string, level v1alpha1.Level, reason string) intent.EngineReport {
		return reportOf(engine, claims(level, reason, rules...)...)
	}
	policies := []intent.PolicyReport{
		in("x", say("Net", v1alpha1.LevelEnforced, ""), say("Kyverno", v1alpha1.LevelNone, intent.ReasonElsewhere)),
		in("y", say("Net", v1alpha1.LevelPartial, intent.ReasonAlreadyIsolated), say("Kyverno", v1alpha1.LevelNone, intent.ReasonElsewhere)),
		in("", say("Net", v1alpha1.LevelNone, intent.ReasonElsewhere), say("Kyverno", v1alpha1.LevelEnforced, "")),
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}} {
		r := intent.BindingReport{Resolution: intent.Resolution{Bound: []string{"a"}}}
		for _, i := range order {
			r.Policies = append(r.Policies, policies[i])
		}
		st := v1alpha1.CommonStatus{}
		r.Report(&st, moment)
		got := map[string]v1alpha1.Coverage{}
		for _, c := range st.Coverage {
			got[c.Engine] = c
		}
		if c := got["Net"]; len(got) != 2 || c.Level != v1alpha1.LevelPartial || !strings.HasPrefix(c.Message, "in namespace y: ") {
			t.Errorf("%v: %+v", order, st.Coverage)
		}
		if got["Kyverno"].Level != v1alpha1.LevelEnforced {
			t.Errorf("%v: %+v", order, st.Coverage)
		}
		conditioned(t, st.Conditions, "Enforced", metav1.ConditionTrue, "Enforced")
	}
}

func TestWhatNobodyDoesElsewhereIsNotTakenForDone(t *testing.T) {
	rules := blocking("a")
	none := reportOf("Kyverno", claims(v1alpha1.LevelNone, intent.ReasonEngineMissing, rules...)...)
	r := intent.BindingReport{Policies: []intent.PolicyReport{
		{Policy: intent.Policy{Namespace: "x", Rules: rules}, Engines: []intent.EngineReport{none}},
		{Policy: intent.Policy{Rules: rules}, Engines: []intent.EngineReport{none}},
	}}
	st := v1alpha1.CommonStatus{}
	r.Report(&st, moment)
	conditioned(t, st.Conditions, "Enforced", metav1.ConditionFalse, "NotEnforced")
	conditioned(t, st.Conditions, "Ready", metav1.ConditionTrue, "Ready")
}

func TestABindingTellsFirstWhatItsUserMustMend(t *testing.T) {
	fatal := intent.Problem{Condition: v1alpha1.ConditionSelectorUnsupported, Reason: intent.ReasonSelectorUnsupported, Field: "spec.cel[0]",
		Message: "no", Fatal: true}
	conflict := &status.Stalled{Reason: status.ReasonConflict, Message: "theirs"}
	lost := errors.New("the line is dead")
	for name, tc := range map[string]struct {
		report intent.BindingReport
		reason string
	}{
		"a selector": {intent.BindingReport{Resolution: intent.Resolution{Problems: []intent.Problem{fatal}, Missing: []string{"m"}}, Err: lost},
			intent.ReasonSelectorUnsupported},
		"a conflict": {intent.BindingReport{Policies: []intent.PolicyReport{{Err: lost}, {Err: conflict}}, Err: lost}, status.ReasonConflict},
		"a failure": {intent.BindingReport{Resolution: intent.Resolution{Missing: []string{"m"}},
			Policies: []intent.PolicyReport{{Err: &status.Waiting{For: "x"}}, {Err: lost}}}, status.ReasonRetrying},
		"a wait": {intent.BindingReport{Resolution: intent.Resolution{Missing: []string{"m"}}}, status.ReasonIntentMissing},
	} {
		st := v1alpha1.CommonStatus{}
		tc.report.Report(&st, moment)
		conditioned(t, st.Conditions, "Ready", metav1.ConditionFalse, tc.reason)
		t.Log(name, st.Conditions[0].Message)
	}
}

func TestProblemsThatAreFixedAreNoLongerReported(t *testing.T) {
	st := v1alpha1.CommonStatus{}
	r := intent.BindingReport{Resolution: intent.Resolution{Problems: []intent.Problem{
		{Condition: v1alpha1.ConditionDuplicateIntent, Reason: status.ReasonDuplicateIntent, Field: "spec.intents", Message: "a and b"}}}}
	r.Report(&st, moment)
	if m := conditioned(t, st.Conditions, "DuplicateIntent", metav1.ConditionTrue,
		"DuplicateIntent"); m != "spec.intents: a and b (NX-SEC-003)" {
		t.Errorf("message %q", m)
	}
	conditioned(t, st.Conditions, "Ready", metav1.ConditionTrue, "Ready")
	r.Resolution.Problems = nil
	r.Report(&st, moment)
	if meta.FindStatusCondition(st.Conditions, "DuplicateIntent") != nil {
		t.Errorf("%+v", st.Conditions)
	}
}

func TestABindingThatSelectsNothingEnforcesNothing(t *testing.T) {
	st := v1alpha1.CommonStatus{}
	r := intent.BindingReport{Resolution: intent.Resolution{Missing: []string{"m"}}}
	r.Report(&st, moment)
	if m := conditioned(t, st.Conditions, "Enforced", metav1.ConditionFalse, "NotEnforced"); !strings.Contains(m, "SecurityIntent m") {
		t.Errorf("message %q", m)
	}
	r.Policies = []intent.PolicyReport{{Policy: intent.Policy{Rules: blocking("a")},
		Engines: []intent.EngineReport{reportOf("One", claims(v1alpha1.LevelEnforced, "", blocking("a")...)...)}}}
	r.Report(&st, moment)
	conditioned(t, st.Conditions, "Enforced", metav1.ConditionFalse, "IntentMissing")
}
