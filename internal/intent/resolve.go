package intent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Options are the administrator's part.
type Options struct {
	// OperatorNamespace is never selected by a cluster binding.
	OperatorNamespace string
}

// Resolution is what a binding comes to.
type Resolution struct {
	// Policies are those in namespaces, ordered by namespace; none when nothing is selected, or no intent
	// exists.
	Policies []Policy
	// Cluster is the policy over the cluster, of a cluster binding that selects validly and has an intent
	// that exists.
	Cluster *Policy
	// Bound and Missing are the names of the intents that exist, and of those that do not, in the binding's
	// order, each once.
	Bound, Missing []string
	// Problems are what the binding's user must mend, in the order of the spec.
	Problems []Problem
}

// Problem is something that the binding's user must mend.
type Problem struct {
	// Condition is v1alpha1.ConditionSelectorUnsupported or ConditionDuplicateIntent, or empty for an
	// invalid spec.
	Condition string
	// Reason is one of the documented reasons.
	Reason string
	// Field is at fault, such as spec.cel[0].
	Field string
	// Message says what is wrong, and what to do.
	Message string
	// Fatal says that nothing is selected because of it.
	Fatal bool
}

func invalid(field, format string, args ...any) Problem {
	return Problem{Reason: status.ReasonInvalidSpec, Field: field, Message: fmt.Sprintf(format, args...), Fatal: true}
}

// clusterPrefix starts the names of NimbusPolicies that come from cluster bindings.
const clusterPrefix = "nimbus-ctlr-gen-"

// Resolve says what a binding comes to. A SecurityIntentBinding yields a policy in its own namespace at
// most and does not look at namespaces; what a cluster binding yields there follows from the names that
// exist. A selector that is wrong in any way selects nothing: an edit never selects more than it says. The
// result is the same for the same input and shares nothing with it.
func Resolve(b Binding, intents map[string]*v1alpha1.SecurityIntent, namespaces []Namespace, o Options) Resolution {
	var r Resolution
	bound := b.bound(intents, &r)
	rules, duplicates := rulesOf(bound)
	selector, problems := b.selector()
	over, more := b.over(o)
	r.Problems = slices.Concat(duplicates, problems, more)
	if len(rules) == 0 || slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Fatal }) {
		return r
	}
	p := Policy{Name: b.Name, Namespace: b.Namespace, Labels: copied(b.Labels), Selector: selector, Rules: rules}
	if b.Kind != KindClusterBinding {
		r.Policies = []Policy{p}
		return r
	}
	p.Namespace, p.FromCluster, p.NodeSelector = "", true, maps.Clone(b.NodeSelector)
	for _, name := range over.selected(namespaces) {
		in := p.clone()
		in.Name, in.Namespace = bounded(clusterPrefix+b.Name, maxName), name
		r.Policies = append(r.Policies, in)
	}
	p.Namespaces = over
	r.Cluster = &p
	return r
}

// bound returns the intents that exist, and notes the names of all.
func (b Binding) bound(intents map[string]*v1alpha1.SecurityIntent, r *Resolution) []*v1alpha1.SecurityIntent {
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

// rulesOf makes one rule of each canonical id, where it is first bound. Of several intents the strictest
// action counts, and of equals the first.
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
		case rules[at].Audit() && !r.Audit():
			rules[at] = r
		}
	}
	var problems []Problem
	for _, r := range rules {
		if s := same[r.Canonical]; len(s) > 1 {
			problems = append(problems, Problem{
				Condition: v1alpha1.ConditionDuplicateIntent, Reason: status.ReasonDuplicateIntent, Field: "spec.intents",
				Message: fmt.Sprintf("SecurityIntents %s are all %s: only %s counts, with action %s; unbind the others", strings.Join(s, ", "), r.Canonical, r.Intent, r.Action),
			})
		}
	}
	return rules, problems
}

func ruleOf(i *v1alpha1.SecurityIntent) Rule {
	s := i.Spec.Intent
	r := Rule{
		ID: s.ID, Canonical: s.ID, Intent: i.Name, Description: s.Description, Severity: s.Severity,
		Tags: slices.Clone(s.Tags), Action: v1alpha1.Block, Params: cloneParams[[]string](s.Params),
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

// copied are a binding's labels without those that programs know objects of ours, or of others, by: with
// them a policy would be taken for something it is not, and pruned.
func copied(labels map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range labels {
		prefix, _, _ := strings.Cut(k, "/")
		if prefix != "nexus.ai" && prefix != v1alpha1.GroupName && k != AnnotationManagedBy {
			out[k] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
