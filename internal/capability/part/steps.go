// SPDX-License-Identifier: Apache-2.0

package part

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// Step is one line of the progress in the status of a capability. The lines have an order; the work itself follows the edges of the graph.
type Step struct {
	Number int
	// Name is that of graph.Node.Step, which is otherwise StepPolicies, or empty for the provider.
	Name string
	// Phase of a capability that is being made and has come as far as this step.
	Phase nexusv1.Phase
	// Condition that speaks of the step.
	Condition string
}

// Stage is a set of kinds that are removed together, and the steps that their removal undoes.
type Stage struct {
	Kinds []schema.GroupVersionKind
	Steps []string
	// ServiceRoles is true for the stage that removes the service roles of resources; the stage of the other roles leaves them out.
	ServiceRoles bool
}

// Includes reports whether an object of a kind and name is removed in the stage.
func (s Stage) Includes(kind, name string) bool {
	isOfKind := slices.ContainsFunc(s.Kinds, func(k schema.GroupVersionKind) bool { return k.Kind == kind })
	return isOfKind && (kind != KindRole || s.ServiceRoles == IsServiceRole(name))
}
