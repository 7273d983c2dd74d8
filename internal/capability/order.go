// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// Steps are the reported steps in their order.
var Steps = allParts().StepsWhere(func(s part.Step) bool { return s.Number > 0 })

// StepOf returns the step of that name; ok is false for the provider's, which is in none.
func StepOf(name string) (part.Step, bool) {
	i := slices.IndexFunc(Steps, func(s part.Step) bool { return s.Name == name })
	if i < 0 {
		return part.Step{}, false
	}
	return Steps[i], true
}

// UncountedSteps belong to parts that the numbered steps do not count, and have the number 0. The condition of the data services speaks of
// all but Cognito.
var UncountedSteps = allParts().StepsWhere(func(s part.Step) bool { return s.Number == 0 })

// partStep returns the step of that name, also of a part that the numbered steps do not count.
func partStep(name string) (part.Step, bool) {
	if i := slices.IndexFunc(UncountedSteps, func(s part.Step) bool { return s.Name == name }); i >= 0 {
		return UncountedSteps[i], true
	}
	return StepOf(name)
}

// DeletionOrder are the stages of a deletion that is ours to order: traffic stops first, then the
// workloads, and only then what they were held to; access ends before data goes; the provider is last,
// for nothing in AWS goes without it.
var DeletionOrder = allParts().DeletionOrder()

// stageOf returns the place of an object in DeletionOrder; the last one for what is not in it.
func stageOf(id string) int {
	kind, name, _ := strings.Cut(id, "/")
	i := slices.IndexFunc(DeletionOrder, func(s part.Stage) bool { return s.Includes(kind, name) })
	if i < 0 {
		return len(DeletionOrder) - 1
	}
	return i
}
