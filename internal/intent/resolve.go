// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Options are the administrator's part.
type Options struct {
	// OperatorNamespace is never selected by a cluster binding.
	OperatorNamespace string
}

// Resolution is the result of the resolution of a binding.
type Resolution struct {
	// Policies lists the policies in namespaces, ordered by namespace; none when nothing is selected, or no intent
	// exists.
	Policies []Policy
	// Cluster is the policy over the cluster, of a cluster binding that selects validly and has an intent
	// that exists.
	Cluster *Policy
	// Bound and Missing are the names of the intents that exist, and of those that do not, in the binding's
	// order, each once.
	Bound, Missing []string
	// Absent are the namespaces that a cluster binding names and that do not exist, or are being deleted.
	Absent []string
	// Problems holds the problems that the binding's user must fix, in the order of the spec.
	Problems []Problem
}

// Problem is a mistake that the binding's user must fix.
type Problem struct {
	// Condition is v1alpha1.ConditionSelectorUnsupported or ConditionDuplicateIntent, or empty for an
	// invalid spec.
	Condition string
	// Reason is one of the documented reasons.
	Reason string
	// Field is at fault, such as spec.cel[0].
	Field string
	// Message describes the mistake and the remedy.
	Message string
	// Fatal is true if nothing is selected because of it.
	Fatal bool
}

func invalid(field, format string, args ...any) Problem {
	return Problem{Reason: status.ReasonInvalidSpec, Field: field, Message: fmt.Sprintf(format, args...), Fatal: true}
}

// clusterPrefix starts the names of NimbusPolicies that come from cluster bindings.
const clusterPrefix = "nimbus-ctlr-gen-"

// Resolve resolves a binding to policies. A SecurityIntentBinding yields at most one policy in its own namespace and does not look at
// namespaces; the policies of a cluster binding in namespaces follow from the names that exist. A selector with any mistake selects
// nothing: an edit never selects more than it says. The result is the same for the same input and shares nothing with it.
func Resolve(b Binding, intents map[string]*v1alpha1.SecurityIntent, namespaces []Namespace, o Options) Resolution {
	var r Resolution
	bound := b.boundIntents(intents, &r)
	rules, duplicates := rulesOf(bound)
	selector, problems := b.selector()
	over, more := b.namespaces(o)
	r.Problems = slices.Concat(b.refusedFields(), duplicates, problems, more)
	if len(rules) == 0 || slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Fatal }) {
		return r
	}
	p := Policy{Name: b.Name, Namespace: b.Namespace, Labels: copyLabels(b.Labels), Selector: selector, Rules: rules}
	if b.Kind != KindClusterBinding {
		r.Policies = []Policy{p}
		return r
	}
	p.Namespace, p.FromCluster, p.NodeSelector = "", true, maps.Clone(b.NodeSelector)
	for _, name := range over.selected(namespaces) {
		in := p.clone()
		in.Name, in.Namespace = ShortenName(clusterPrefix+b.Name, maxName), name
		r.Policies = append(r.Policies, in)
	}
	for _, name := range over.Names {
		if !slices.ContainsFunc(r.Policies, func(p Policy) bool { return p.Namespace == name }) {
			r.Absent = append(r.Absent, name)
		}
	}
	p.Namespaces = over
	r.Cluster = &p
	return r
}

// refusedFields repeats the checks of admission: the definition in the cluster may be an older one.
func (b Binding) refusedFields() []Problem {
	var out []Problem
	for _, field := range b.Unsupported {
		out = append(out, invalid(field, "the field is not supported, and without it more would be selected than is meant: use matchLabels"))
	}
	if b.Kind != KindClusterBinding && strings.HasPrefix(b.Name, clusterPrefix) {
		out = append(out, invalid("metadata.name",
			"names that start with %s are reserved for the policies of ClusterSecurityIntentBindings: choose another name", clusterPrefix))
	}
	return out
}

// boundIntents returns the intents that exist, and notes the names of all.
func (b Binding) boundIntents(intents map[string]*v1alpha1.SecurityIntent, r *Resolution) []*v1alpha1.SecurityIntent {
	var out []*v1alpha1.SecurityIntent
	seen := map[string]bool{}
	for _, name := range b.Intents {
		if seen[name] {
			continue
		}
		seen[name] = true
		i := intents[name]
		if i == nil {
			r.Missing = append(r.Missing, name)
			continue
		}
		r.Bound = append(r.Bound, name)
		out = append(out, i)
	}
	return out
}

// rulesOf makes one rule of each canonical id, where it is first bound. Of several intents the valid ones count,
// of those the ones with the strictest action, and of those the strictest parameters.
func rulesOf(intents []*v1alpha1.SecurityIntent) ([]Rule, []Problem) {
	var rules []Rule
	same := map[string][]string{}
	for _, i := range intents {
		r := ruleOf(i)
		same[r.Canonical] = append(same[r.Canonical], r.Intent)
		at := slices.IndexFunc(rules, func(o Rule) bool { return o.Canonical == r.Canonical })
		switch {
		case at < 0:
			rules = append(rules, r)
		case rules[at].valid() != r.valid():
			if r.valid() {
				rules[at] = r
			}
		case rules[at].Audit() != r.Audit():
			if rules[at].Audit() {
				rules[at] = r
			}
		case r.valid():
			if e, ok := Lookup(r.ID); ok {
				rules[at].Params = e.strictest(rules[at].Params, r.Params)
			}
		}
	}
	var problems []Problem
	for _, r := range rules {
		if s := same[r.Canonical]; len(s) > 1 {
			problems = append(problems, Problem{
				Condition: v1alpha1.ConditionDuplicateIntent, Reason: status.ReasonDuplicateIntent, Field: "spec.intents",
				Message: fmt.Sprintf("SecurityIntents %s are all %s: one rule, that of %s with action %s and the strictest parameters of the valid ones, counts; bind one of them only", strings.Join(s, ", "), r.Canonical, r.Intent, r.Action),
			})
		}
	}
	return rules, problems
}

// valid reports whether the catalog knows the rule and its parameters are right.
func (r Rule) valid() bool {
	e, ok := Lookup(r.ID)
	return ok && e.Check(r.Params) == ""
}

func ruleOf(i *v1alpha1.SecurityIntent) Rule {
	s := i.Spec.Intent
	r := Rule{
		ID: s.ID, Canonical: s.ID, Intent: i.Name, Description: s.Description, Severity: s.Severity,
		Tags: slices.Clone(s.Tags), Said: s.Action, Action: v1alpha1.Block, Params: cloneParams[[]string](s.Params),
	}
	if s.Action == v1alpha1.Audit {
		r.Action = v1alpha1.Audit
	}
	if e, ok := Lookup(s.ID); ok {
		r.Canonical, r.Params = e.ID, e.canonical(r.Params)
	}
	return r
}

// cloneParams copies parameters from one type of the same shape to another; none is nil.
func cloneParams[To, From ~[]string](params map[string]From) map[string]To {
	if len(params) == 0 {
		return nil
	}
	out := make(map[string]To, len(params))
	for k, v := range params {
		out[k] = To(slices.Clone(v))
	}
	return out
}

// copyLabels are a binding's labels without those that programs know objects of ours, or of others, by: with
// them a policy would be taken for something it is not, and pruned.
func copyLabels(labels map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range labels {
		prefix, _, _ := strings.Cut(k, "/")
		if prefix != "nexus.ai" && prefix != v1alpha1.GroupName && k != wellknown.LabelManagedBy {
			out[k] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
