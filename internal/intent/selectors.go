// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The limits of a NimbusPolicy.
const (
	maxLabels      = 64
	maxExpressions = 64
)

// selector returns the conjunction of all parts of the binding's selectors.
func (b Binding) selector() (Selector, []Problem) {
	c := conjunction{needs: map[string]*need{}}
	c.labels("spec.selector.workloadSelector.matchLabels", b.WorkloadLabels)
	c.labels("spec.selector.matchLabels", b.MatchLabels)
	c.cel("spec.selector.cel", b.SelectorCEL)
	c.cel("spec.cel", b.CEL)
	s := c.selector()
	if l, e := len(s.Labels), len(s.Expressions); l > maxLabels || e > maxExpressions {
		c.problems = append(c.problems,
			invalid("spec.selector", "it comes to %d labels and %d expressions: %d of each are possible", l, e, maxLabels))
	}
	c.nodes(b.NodeSelector)
	return s, c.problems
}

// conjunction gathers the requirements on each label, so that each has one form, independent of its notation in the spec, and
// contradictions are found.
type conjunction struct {
	needs    map[string]*need
	problems []Problem
}

// need holds the requirements on one label.
type need struct {
	// field asked first.
	field string
	// limited is true if the value must be among these.
	limited bool
	among   []string
	not     []string
	present bool
	absent  bool
	// reported is true if it cannot be met and that was reported to the user.
	reported bool
}

func (c *conjunction) labels(field string, labels map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		c.add(field, metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpIn, Values: []string{labels[k]}})
	}
}

func (c *conjunction) cel(field string, expressions []string) {
	for i, e := range expressions {
		at := fmt.Sprintf("%s[%d]", field, i)
		requirements, problem := translateCEL(at, e)
		if problem != nil {
			c.problems = append(c.problems, *problem)
			continue
		}
		for _, r := range requirements {
			c.add(at, r)
		}
	}
}

// nodes checks the node selector, which stands apart from the pods'.
func (c *conjunction) nodes(labels map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if problem := labelSyntaxProblem(k, []string{labels[k]}); problem != "" {
			c.problems = append(c.problems, invalid("spec.selector.nodeSelector.matchLabels", "%s", problem))
		}
	}
}

func (c *conjunction) add(field string, r metav1.LabelSelectorRequirement) {
	if problem := labelSyntaxProblem(r.Key, r.Values); problem != "" {
		c.problems = append(c.problems, invalid(field, "%s", problem))
		return
	}
	n := c.needs[r.Key]
	if n == nil {
		n = &need{field: field}
		c.needs[r.Key] = n
	}
	n.add(r)
	if n.contradictory() && !n.reported {
		n.reported = true
		message := fmt.Sprintf("no pod can meet all that is asked of label %q: nothing is selected", r.Key)
		if n.field != field {
			message += "; " + n.field + " asks for something else"
		}
		c.problems = append(c.problems, invalid(field, "%s", message))
	}
}

// labelSyntaxProblem returns the syntax problem of a label and its values, or "".
func labelSyntaxProblem(key string, values []string) string {
	if e := content.IsLabelKey(key); len(e) > 0 {
		return fmt.Sprintf("%q is not the key of a label: %s", status.Truncate(key, maxQuoted), e[0])
	}
	for _, v := range values {
		if e := content.IsLabelValue(v); len(e) > 0 {
			return fmt.Sprintf("%q is not the value of a label: %s", status.Truncate(v, maxQuoted), e[0])
		}
	}
	return ""
}

func (n *need) add(r metav1.LabelSelectorRequirement) {
	switch r.Operator {
	case metav1.LabelSelectorOpExists:
		n.present = true
	case metav1.LabelSelectorOpDoesNotExist:
		n.absent = true
	case metav1.LabelSelectorOpNotIn:
		n.not = append(n.not, r.Values...)
	case metav1.LabelSelectorOpIn:
		if !n.limited {
			n.limited, n.among = true, slices.Clone(r.Values)
			return
		}
		n.among = withoutMatching(n.among, func(v string) bool { return !slices.Contains(r.Values, v) })
	}
}

// values returns the values that remain possible.
func (n *need) values() []string {
	return sorted(withoutMatching(n.among, func(v string) bool { return slices.Contains(n.not, v) }))
}

func (n *need) contradictory() bool {
	return n.absent && (n.present || n.limited) || n.limited && len(n.values()) == 0
}

func withoutMatching(values []string, drop func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(values), drop)
}

// selector writes every need in its shortest form: a value as a label, which every engine understands, and
// nothing that follows from the rest.
func (c *conjunction) selector() Selector {
	var s Selector
	for _, k := range slices.Sorted(maps.Keys(c.needs)) {
		n := c.needs[k]
		if v := n.values(); len(v) == 1 {
			if s.Labels == nil {
				s.Labels = map[string]string{}
			}
			s.Labels[k] = v[0]
			continue
		}
		s.Expressions = append(s.Expressions, n.expressions(k)...)
	}
	return s
}

func (n *need) expressions(key string) []metav1.LabelSelectorRequirement {
	if n.limited {
		return []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpIn, Values: n.values()}}
	}
	if n.absent {
		return []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpDoesNotExist}}
	}
	var out []metav1.LabelSelectorRequirement
	if n.present {
		out = append(out, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpExists})
	}
	if len(n.not) > 0 {
		out = append(out, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: sorted(slices.Clone(n.not))})
	}
	return out
}
