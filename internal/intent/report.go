// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Bounds of lists and messages in statuses, as in their schemas.
const (
	maxListed  = 512
	maxMessage = 512
)

// EngineReport is the result of one engine's translation of a policy.
type EngineReport struct {
	Engine string
	// Claims are one per rule, in order; rules with objects that could not be written are no longer claimed.
	Claims []Claim
	// Objects lists the objects that exist as wanted, as Kind/name.
	Objects []string
}

// PolicyReport is the result of a pass for a policy.
type PolicyReport struct {
	Policy  Policy
	Engines []EngineReport
	// Assessments are the last results of intent assessTLS.
	Assessments []v1alpha1.Assessment
	// Unconfirmed is true if a claim waits for a write to the object of another policy.
	Unconfirmed bool
	// Err is nil, or the error that kept the policy or its objects from the wanted state.
	Err error
}

// Deny takes back the claim for a rule, because one of its objects does not exist as written.
func (e *EngineReport) Deny(rule, reason string, err error) {
	for n := range e.Claims {
		if c := &e.Claims[n]; c.Intent == rule {
			c.Level, c.Reason, c.Message = v1alpha1.LevelNone, reason, err.Error()
		}
	}
}

// Moment holds the time and the generation of a report.
type Moment struct {
	Generation int64
	Now        time.Time
	// FailingSince is the time when an unbroken series of transient failures began; zero without one.
	FailingSince time.Time
}

// Report writes the result of a pass into the status of a policy. The caller sets LastUpdated.
func (r PolicyReport) Report(st *v1alpha1.NimbusPolicyStatus, at Moment) {
	st.Status, st.ObservedGeneration = v1alpha1.StatusCreated, at.Generation
	st.Coverage = r.coverage()
	st.Assessments = r.Assessments
	st.AdapterPolicies, st.PoliciesName = nil, nil
	n := 0
	for _, e := range r.Engines {
		n += len(e.Objects)
		for _, o := range e.Objects {
			if len(st.AdapterPolicies) < maxListed {
				st.AdapterPolicies = append(st.AdapterPolicies, o)
				st.PoliciesName = append(st.PoliciesName, o[strings.Index(o, "/")+1:])
			}
		}
		set(&st.Conditions, at, e.condition())
	}
	st.NumberOfAdapterPolicies, st.Policies = int32(n), int32(n)
	status.Summarize(&st.Conditions, status.Result{Err: r.Err, Generation: at.Generation, Now: at.Now, FailingSince: at.FailingSince})
	set(&st.Conditions, at, enforced(st.Coverage, r.Policy.Rules))
	setConflict(&st.Conditions, at, r.Err)
}

func set(conds *[]metav1.Condition, at Moment, c metav1.Condition) {
	status.Set(conds, at.Generation, at.Now, c)
}

// condition is True while the engine does all that the policy asks.
func (e EngineReport) condition() metav1.Condition {
	c := metav1.Condition{Type: e.Engine, Status: metav1.ConditionTrue, Reason: status.ReasonEnforced}
	var said []string
	for _, claim := range e.Claims {
		if isEnforced(claim.Level) {
			said = append(said, fmt.Sprintf("%s: %s", claim.Intent, claim.Level))
			continue
		}
		if c.Status == metav1.ConditionTrue {
			c.Status, c.Reason = metav1.ConditionFalse, claim.Reason
		}
		said = append(said, fmt.Sprintf("%s: %s (%s)", claim.Intent, claim.Level, claim.Reason))
	}
	c.Message = strings.Join(said, "; ")
	return c
}

func isEnforced(l v1alpha1.Level) bool {
	return l == v1alpha1.LevelEnforced || l == v1alpha1.LevelAudited
}

func (r PolicyReport) coverage() []v1alpha1.Coverage {
	var out []v1alpha1.Coverage
	for i, rule := range r.Policy.Rules {
		for _, e := range r.Engines {
			if i < len(e.Claims) {
				out = append(out, covered(rule.ID, e.Engine, e.Claims[i]))
			}
		}
	}
	return out[:min(len(out), maxListed)]
}

func covered(id, engine string, c Claim) v1alpha1.Coverage {
	return v1alpha1.Coverage{Intent: id, Engine: engine, Level: c.Level, Reason: c.Reason, Message: status.Truncate(c.Message, maxMessage)}
}

// enforced reports whether each rule is fulfilled by some engine.
func enforced(coverage []v1alpha1.Coverage, rules []Rule) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionEnforced, Status: metav1.ConditionTrue, Reason: status.ReasonEnforced}
	var short []string
	for _, r := range rules {
		if !slices.ContainsFunc(coverage, func(c v1alpha1.Coverage) bool {
			return c.Intent == r.ID && (isEnforced(c.Level) || c.Reason == ReasonElsewhere)
		}) {
			short = append(short, r.ID+closest(coverage, r.ID))
		}
	}
	if len(short) > 0 {
		c.Status, c.Reason = metav1.ConditionFalse, status.ReasonNotEnforced
		c.Message = "no engine does all that is asked by " + strings.Join(short, "; ") + "; see status.coverage"
	}
	return c
}

// closest tells of the engine that comes closest, and why it falls short.
func closest(coverage []v1alpha1.Coverage, id string) string {
	best := -1
	for i, c := range coverage {
		if c.Intent == id && (best < 0 || progressOf(c) > progressOf(coverage[best])) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	c := coverage[best]
	return fmt.Sprintf(" (%s: %s, %s)", c.Engine, c.Level, c.Reason)
}

func progressOf(c v1alpha1.Coverage) int {
	switch {
	case c.Level == v1alpha1.LevelPartial:
		return 2
	case c.Reason == ReasonNotCovered:
		return 0
	default:
		return 1
	}
}

// setConflict reports a foreign object with one of our names for as long as there is one.
func setConflict(conds *[]metav1.Condition, at Moment, err error) {
	if s, ok := status.AsStalled(err); ok && s.Reason == status.ReasonConflict {
		set(conds, at, metav1.Condition{Type: v1alpha1.ConditionConflict, Status: metav1.ConditionTrue, Reason: s.Reason, Message: s.Error()})
		return
	}
	meta.RemoveStatusCondition(conds, v1alpha1.ConditionConflict)
}

// BindingReport is the result of a pass for a binding.
type BindingReport struct {
	Resolution Resolution
	// Policies are in the order of the resolution, the one over the cluster last.
	Policies []PolicyReport
	// Err holds failures other than those of the policies.
	Err error
}

// Failure returns the most severe failure of the binding: one that its user must fix before one that is retried, and that before one that
// only waits.
func (r BindingReport) Failure() error {
	for _, p := range r.Resolution.Problems {
		if p.Fatal {
			return &status.Stalled{Reason: p.Reason, Field: p.Field, Message: p.Message}
		}
	}
	errs := []error{r.Err}
	for _, p := range r.Policies {
		errs = append(errs, p.Err)
	}
	if err := Worst(errs...); err != nil {
		return err
	}
	if m := r.Resolution.Missing; len(m) > 0 {
		return &status.Waiting{Reason: status.ReasonIntentMissing, For: "SecurityIntent " + strings.Join(m, ", ") + " to be created"}
	}
	return nil
}

// Worst picks the failure to report of several: a Stalled one, then one to retry, then a Waiting one.
func Worst(errs ...error) error {
	var worst error
	rank := 0
	for _, err := range errs {
		if n := severityOf(err); n > rank {
			worst, rank = err, n
		}
	}
	return worst
}

func severityOf(err error) int {
	if err == nil {
		return 0
	}
	if _, ok := status.AsStalled(err); ok {
		return 3
	}
	if _, ok := status.AsWaiting(err); ok {
		return 1
	}
	return 2
}

// Report writes the part that both kinds of bindings have in common into a status.
func (r BindingReport) Report(st *v1alpha1.CommonStatus, at Moment) {
	st.Status, st.ObservedGeneration = v1alpha1.StatusCreated, at.Generation
	st.Coverage = r.coverage()
	err := r.Failure()
	status.Summarize(&st.Conditions, status.Result{Err: err, Generation: at.Generation, Now: at.Now, FailingSince: at.FailingSince})
	set(&st.Conditions, at, r.enforced(st.Coverage))
	for _, t := range []string{v1alpha1.ConditionSelectorUnsupported, v1alpha1.ConditionDuplicateIntent} {
		r.problem(&st.Conditions, at, t)
	}
	setConflict(&st.Conditions, at, err)
}

func (r BindingReport) problem(conds *[]metav1.Condition, at Moment, condition string) {
	for _, p := range r.Resolution.Problems {
		if p.Condition == condition {
			message := p.Message
			if p.Field != "" {
				message = p.Field + ": " + message
			}
			set(conds, at, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: p.Reason, Message: message})
			return
		}
	}
	meta.RemoveStatusCondition(conds, condition)
}

func (r BindingReport) enforced(coverage []v1alpha1.Coverage) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionEnforced, Status: metav1.ConditionFalse, Reason: status.ReasonNotEnforced}
	switch rules := r.rules(); {
	case len(rules) == 0:
		c.Message = "nothing is selected"
		if err := r.Failure(); err != nil {
			c.Message += ": " + err.Error()
		}
	case len(r.Resolution.Absent) > 0:
		c.Reason, c.Message = ReasonNamespaceMissing,
			"namespace "+strings.Join(r.Resolution.Absent, ", ")+" does not exist or is being deleted: nothing is enforced there until it exists"
	case r.Resolution.Cluster != nil && len(r.Resolution.Policies) == 0:
		c.Reason, c.Message = ReasonNamespaceMissing, "no namespace exists that the binding selects"
	case len(r.Resolution.Missing) > 0:
		c.Reason, c.Message = status.ReasonIntentMissing, "SecurityIntent "+strings.Join(r.Resolution.Missing, ", ")+" does not exist"
	default:
		return enforced(coverage, rules)
	}
	return c
}

// rules returns the rules of any of the policies: all have the same.
func (r BindingReport) rules() []Rule {
	for _, p := range r.Policies {
		return p.Policy.Rules
	}
	return nil
}

// coverage returns the weakest coverage over all policies, separately for each engine and rule. A claim with reason Elsewhere is looked up
// in the other policy.
func (r BindingReport) coverage() []v1alpha1.Coverage {
	var out []v1alpha1.Coverage
	index := map[[2]string]int{}
	for _, p := range r.Policies {
		for _, c := range p.coverage() {
			key := [2]string{c.Intent, c.Engine}
			i, known := index[key]
			switch {
			case !known:
				index[key] = len(out)
				out = append(out, r.placed(p, c))
			case isWeaker(c, out[i]):
				out[i] = r.placed(p, c)
			}
		}
	}
	return out
}

// placed says where something falls short when there are several places.
func (r BindingReport) placed(p PolicyReport, c v1alpha1.Coverage) v1alpha1.Coverage {
	if len(r.Policies) > 1 && p.Policy.Namespace != "" && c.Level == v1alpha1.LevelPartial {
		c.Message = status.Truncate("in namespace "+p.Policy.Namespace+": "+c.Message, maxMessage)
	}
	return c
}

// isWeaker reports whether a claims less than b; a claim with reason Elsewhere does not count.
func isWeaker(a, b v1alpha1.Coverage) bool {
	if b.Reason == ReasonElsewhere {
		return a.Reason != ReasonElsewhere
	}
	return a.Reason != ReasonElsewhere && rankOf(a.Level) < rankOf(b.Level)
}

func rankOf(l v1alpha1.Level) int {
	switch l {
	case v1alpha1.LevelEnforced:
		return 3
	case v1alpha1.LevelAudited:
		return 2
	case v1alpha1.LevelPartial:
		return 1
	default:
		return 0
	}
}
