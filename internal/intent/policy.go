// SPDX-License-Identifier: Apache-2.0

package intent

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// Policy is the combined result of a binding's intents, in one namespace or, without one, over the cluster.
type Policy struct {
	// Name is that of the NimbusPolicy or ClusterNimbusPolicy.
	Name string
	// Namespace is empty for a policy over the cluster. Engines make only cluster-scoped objects for it.
	Namespace string
	// FromCluster is true if the policy comes from a cluster binding, so that engines enforce in the policy over the cluster if they can:
	// an engine with a cluster-scoped kind for a rule makes no namespaced object.
	FromCluster bool
	// Labels are the binding's.
	Labels map[string]string
	// Selector of pods.
	Selector Selector
	// Namespaces lists the namespaces a policy over the cluster applies to.
	Namespaces Namespaces
	// NodeSelector is honored by no engine yet.
	NodeSelector map[string]string
	// Rules are in the binding's order; no two have the same canonical id.
	Rules []Rule
}

// Selector selects the pods that carry every label and meet every expression; empty selects every pod.
type Selector struct {
	Labels      map[string]string
	Expressions []metav1.LabelSelectorRequirement
}

// Namespaces selects namespaces for a policy over the cluster.
type Namespaces struct {
	// All selects every namespace but those excluded; otherwise Names are selected.
	All bool
	// Names are sorted.
	Names []string
	// Exclude is sorted, and always holds kube-system and the operator's namespace when All is set.
	Exclude []string
	// Given is the selector as its user wrote it, for showing it again.
	Given v1alpha1.NamespaceSelector
}

// Rule is one bound intent.
type Rule struct {
	// ID as its user wrote it; Canonical is that of the catalog, equal to ID where it has no such entry.
	ID, Canonical string
	// Intent is the name of the SecurityIntent.
	Intent      string
	Description string
	Severity    string
	Tags        []string
	// Said is the action in the user's word, which users see again.
	Said v1alpha1.Action
	// Action is Block or Audit; Enforce was read as Block.
	Action v1alpha1.Action
	Params map[string][]string
}

// Audit reports whether the rule must never block.
func (r Rule) Audit() bool { return r.Action == v1alpha1.Audit }

// Param returns the first value of a parameter, or a default if it is not given.
func (r Rule) Param(name, otherwise string) string {
	if v := r.Params[name]; len(v) > 0 && v[0] != "" {
		return v[0]
	}
	return otherwise
}
