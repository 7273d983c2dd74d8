// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"maps"
	"slices"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// The kinds of bindings.
const (
	KindBinding        = "SecurityIntentBinding"
	KindClusterBinding = "ClusterSecurityIntentBinding"
)

// Binding is either kind of binding in one form. It shares nothing with the object it was made of.
type Binding struct {
	// Kind is KindBinding or KindClusterBinding.
	Kind string
	// Namespace is empty for a ClusterSecurityIntentBinding.
	Namespace, Name string
	Labels          map[string]string
	// Intents are names of SecurityIntents, in binding order.
	Intents []string
	// WorkloadLabels are selector.workloadSelector.matchLabels.
	WorkloadLabels map[string]string
	// MatchLabels are selector.matchLabels.
	MatchLabels map[string]string
	// SelectorCEL is selector.cel, CEL is spec.cel. All must hold, in addition to the labels.
	SelectorCEL, CEL []string
	// NodeSelector is selector.nodeSelector.matchLabels of a cluster binding.
	NodeSelector map[string]string
	// Namespaces is selector.nsSelector of a cluster binding.
	Namespaces v1alpha1.NamespaceSelector
	// Unsupported are the fields of other versions of the API that are given, and that admission refuses.
	Unsupported []string
}

// OfBinding reads a SecurityIntentBinding.
func OfBinding(b *v1alpha1.SecurityIntentBinding) Binding {
	out := Binding{
		Kind: KindBinding, Namespace: b.Namespace, Name: b.Name, Labels: maps.Clone(b.Labels),
		Intents:     names(b.Spec.Intents),
		MatchLabels: maps.Clone(b.Spec.Selector.MatchLabels),
		SelectorCEL: slices.Clone(b.Spec.Selector.CEL),
		CEL:         slices.Clone(b.Spec.CEL),
	}
	s := b.Spec.Selector
	out.Unsupported = givenFields("spec.selector", map[string]bool{
		"any": s.Any != nil, "all": s.All != nil, "match": s.Match != nil, "matchExpressions": s.MatchExpressions != nil,
		"workloadSelector.matchExpressions": s.WorkloadSelector != nil && s.WorkloadSelector.MatchExpressions != nil,
	})
	if w := s.WorkloadSelector; w != nil {
		out.WorkloadLabels = maps.Clone(w.MatchLabels)
	}
	return out
}

// givenFields lists the fields that are set, in order.
func givenFields(under string, fields map[string]bool) []string {
	var out []string
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		if fields[f] {
			out = append(out, under+"."+f)
		}
	}
	return out
}

// OfClusterBinding reads a ClusterSecurityIntentBinding.
func OfClusterBinding(b *v1alpha1.ClusterSecurityIntentBinding) Binding {
	s := b.Spec.Selector
	return Binding{
		Kind: KindClusterBinding, Name: b.Name, Labels: maps.Clone(b.Labels),
		Intents:        names(b.Spec.Intents),
		WorkloadLabels: maps.Clone(s.WorkloadSelector.MatchLabels),
		NodeSelector:   maps.Clone(s.NodeSelector.MatchLabels),
		Namespaces:     *s.NsSelector.DeepCopy(),
		Unsupported: givenFields("spec", map[string]bool{
			"cel": b.Spec.CEL != nil, "selector.cel": s.CEL != nil, "selector.any": s.Any != nil, "selector.all": s.All != nil,
			"selector.match":       s.Match != nil,
			"selector.matchLabels": s.MatchLabels != nil, "selector.matchExpressions": s.MatchExpressions != nil,
			"selector.workloadSelector.matchExpressions": s.WorkloadSelector.MatchExpressions != nil,
			"selector.nodeSelector.matchExpressions":     s.NodeSelector.MatchExpressions != nil,
			"selector.nsSelector.matchLabels":            s.NsSelector.MatchLabels != nil,
			"selector.nsSelector.matchExpressions":       s.NsSelector.MatchExpressions != nil,
		}),
	}
}

func names(intents []v1alpha1.MatchIntent) []string {
	out := make([]string, len(intents))
	for i, m := range intents {
		out[i] = m.Name
	}
	return out
}

// Restricts returns the directions that an intent of the binding could restrict, so that its neighbors must be translated again. It ignores
// actions and selectors: if one of those changes, the neighbors must be translated again too. Policy.Restricts returns the directions that
// are really restricted.
func (b Binding) Restricts(intents map[string]*v1alpha1.SecurityIntent) Direction {
	var d Direction
	for _, name := range b.Intents {
		if i := intents[name]; i != nil {
			e, _ := Lookup(i.Spec.Intent.ID)
			d |= e.Restricts
		}
	}
	return d
}
