// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// Step is one line of the story that a capability's status tells. The story has an order; the work is
// done along the graph's edges.
type Step struct {
	Number int
	// Name is that of graph.Node.Step, which is otherwise StepPolicies, or empty for the provider.
	Name string
	// Phase of a capability that is being made and has come as far as this step.
	Phase nexusv1.Phase
	// Condition that speaks of the step.
	Condition string
}

// Steps are the reported steps in their order.
var Steps = allParts().stepsWhere(func(s Step) bool { return s.Number > 0 })

// StepOf returns the step of that name; ok is false for the provider's, which is in none.
func StepOf(name string) (Step, bool) {
	i := slices.IndexFunc(Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Step{}, false
	}
	return Steps[i], true
}

// UncountedSteps belong to parts that the numbered steps do not count, and have the number 0. The condition of the data services speaks of
// all but Cognito.
var UncountedSteps = allParts().stepsWhere(func(s Step) bool { return s.Number == 0 })

// partStep returns the step of that name, also of a part that the numbered steps do not count.
func partStep(name string) (Step, bool) {
	if i := slices.IndexFunc(UncountedSteps, func(s Step) bool { return s.Name == name }); i >= 0 {
		return UncountedSteps[i], true
	}
	return StepOf(name)
}

// Stage is a set of kinds whose objects are removed together, and the steps that are undone by it.
type Stage struct {
	Kinds []schema.GroupVersionKind
	Steps []string
	// ServiceRoles is true for the stage that removes the roles as which resources act; the stage of the other roles leaves them out.
	ServiceRoles bool
}

// Includes reports whether an object of a kind and name is removed in the stage.
func (s Stage) Includes(kind, name string) bool {
	isOfKind := slices.ContainsFunc(s.Kinds, func(k schema.GroupVersionKind) bool { return k.Kind == kind })
	return isOfKind && (kind != kindRole || s.ServiceRoles == isServiceRole(name))
}

// DeletionOrder are the stages of a deletion that is ours to order: traffic stops first, then the
// workloads, and only then what they were held to; access ends before data goes; the provider is last,
// for nothing in AWS goes without it.
var DeletionOrder = allParts().deletionOrder()

// stageOf returns the place of an object in DeletionOrder; the last one for what is not in it.
func stageOf(id string) int {
	kind, name, _ := strings.Cut(id, "/")
	i := slices.IndexFunc(DeletionOrder, func(s Stage) bool { return s.Includes(kind, name) })
	if i < 0 {
		return len(DeletionOrder) - 1
	}
	return i
}
