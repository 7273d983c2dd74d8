// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

const (
	everyNamespace  = "*"
	systemNamespace = "kube-system"
	nsSelector      = "spec.selector.nsSelector"
)

// Namespace is a namespace that a cluster binding may select.
type Namespace struct {
	Name   string
	Labels map[string]string
	// Terminating namespaces take no new objects, and are left out.
	Terminating bool
}

// namespaces reads the namespace selector of a cluster binding. Admission has refused most invalid selectors already. They are refused
// again because the definition in the cluster may be an older one, and because a mistake must never select more than its author meant.
func (b Binding) namespaces(o Options) (Namespaces, []Problem) {
	if b.Kind != KindClusterBinding {
		return Namespaces{}, nil
	}
	s := b.Namespaces
	match, exclude := namesOf(s.MatchNames), namesOf(s.ExcludeNames)
	problems := append(misspelled(nsSelector+".matchNames", match), misspelled(nsSelector+".excludeNames", exclude)...)
	if (len(match) > 0) == (len(exclude) > 0) {
		problems = append(problems, invalid(nsSelector, "exactly one of matchNames and excludeNames must be given"))
	}
	if slices.Contains(match, everyNamespace) && len(match) > 1 {
		problems = append(problems, invalid(nsSelector+".matchNames", "* stands alone"))
	}
	if slices.Contains(exclude, everyNamespace) {
		problems = append(problems, invalid(nsSelector+".excludeNames", "excluding every namespace selects none"))
	}
	if slices.Contains(match, systemNamespace) {
		problems = append(problems,
			invalid(nsSelector+".matchNames", "kube-system cannot be selected: a policy there could take the cluster down"))
	}
	if o.OperatorNamespace != "" && slices.Contains(match, o.OperatorNamespace) {
		problems = append(problems, invalid(nsSelector+".matchNames", "%s cannot be selected: the operator runs there", o.OperatorNamespace))
	}
	n := Namespaces{Given: *s.DeepCopy()}
	if len(exclude) == 0 && !slices.Contains(match, everyNamespace) {
		n.Names = sorted(match)
		return n, problems
	}
	n.All, n.Exclude = true, sorted(append(exclude, forbidden(o)...))
	return n, problems
}

// misspelled finds names that no namespace can have. A pattern such as team-* would silently exclude nothing.
func misspelled(field string, names []string) []Problem {
	var out []Problem
	for _, n := range names {
		if n != everyNamespace && len(validation.IsDNS1123Label(n)) > 0 {
			out = append(out, invalid(field, "%q is not the name of a namespace; patterns are not supported", n))
		}
	}
	return out
}

// forbidden are the namespaces that no cluster binding selects.
func forbidden(o Options) []string {
	if o.OperatorNamespace == "" {
		return []string{systemNamespace}
	}
	return []string{systemNamespace, o.OperatorNamespace}
}

func namesOf(names []v1alpha1.NamespaceName) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// selects reports whether a namespace is selected by name.
func (n Namespaces) selects(name string) bool {
	if n.All {
		return !slices.Contains(n.Exclude, name)
	}
	return slices.Contains(n.Names, name)
}

// selected returns the selected namespaces that can hold a policy, sorted.
func (n Namespaces) selected(namespaces []Namespace) []string {
	var out []string
	for _, ns := range namespaces {
		if !ns.Terminating && n.selects(ns.Name) {
			out = append(out, ns.Name)
		}
	}
	return sorted(out)
}
