// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// NimbusPolicyOf is the object that a policy in a namespace is shown as.
func NimbusPolicyOf(p Policy) *v1alpha1.NimbusPolicy {
	p = p.clone()
	return &v1alpha1.NimbusPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "NimbusPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, Labels: p.Labels},
		Spec: v1alpha1.NimbusPolicySpec{
			Selector: v1alpha1.PolicySelector{MatchLabels: p.Selector.Labels, MatchExpressions: p.Selector.Expressions},
			Rules:    rulesForStatus(p.Rules),
		},
	}
}

// ClusterNimbusPolicyOf is the object that a policy over the cluster is shown as.
func ClusterNimbusPolicyOf(p Policy) *v1alpha1.ClusterNimbusPolicy {
	p = p.clone()
	return &v1alpha1.ClusterNimbusPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ClusterNimbusPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Labels: p.Labels},
		Spec: v1alpha1.ClusterNimbusPolicySpec{
			Selector: v1alpha1.ClusterSelector{
				NodeSelector:     v1alpha1.LabelSelector{MatchLabels: p.NodeSelector},
				NsSelector:       p.Namespaces.Given,
				WorkloadSelector: v1alpha1.LabelSelector{MatchLabels: p.Selector.Labels},
			},
			Rules: rulesForStatus(p.Rules),
		},
	}
}

// rulesForStatus writes rules in both public dialects: action and parameters stand in the rule and beside it.
func rulesForStatus(rules []Rule) []v1alpha1.Rule {
	out := make([]v1alpha1.Rule, len(rules))
	for i, r := range rules {
		out[i] = v1alpha1.Rule{
			ID: r.ID, Description: r.Description,
			Rule:   v1alpha1.RuleDetail{Action: cmp.Or(r.Said, r.Action), Params: cloneParams[v1alpha1.ParamValues](r.Params)},
			Action: cmp.Or(r.Said, r.Action), Params: cloneParams[v1alpha1.ParamValues](r.Params),
		}
	}
	return out
}

// clone is a copy that shares nothing.
func (p Policy) clone() Policy {
	p.Labels, p.NodeSelector = maps.Clone(p.Labels), maps.Clone(p.NodeSelector)
	p.Selector.Labels = maps.Clone(p.Selector.Labels)
	p.Selector.Expressions = slices.Clone(p.Selector.Expressions)
	for i := range p.Selector.Expressions {
		p.Selector.Expressions[i] = *p.Selector.Expressions[i].DeepCopy()
	}
	p.Namespaces.Names, p.Namespaces.Exclude = slices.Clone(p.Namespaces.Names), slices.Clone(p.Namespaces.Exclude)
	p.Namespaces.Given = *p.Namespaces.Given.DeepCopy()
	p.Rules = slices.Clone(p.Rules)
	for i, r := range p.Rules {
		p.Rules[i].Tags, p.Rules[i].Params = slices.Clone(r.Tags), cloneParams[[]string](r.Params)
	}
	return p
}
