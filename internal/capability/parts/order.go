// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

// Steps are the reported steps in their order.
var Steps = All.StepsWhere(func(s part.Step) bool { return s.Number > 0 })

// UncountedSteps belong to parts that the numbered steps do not count, and have the number 0. The condition of the data services speaks of
// all but Cognito.
var UncountedSteps = All.StepsWhere(func(s part.Step) bool { return s.Number == 0 })

// DeletionOrder lists the stages of a deletion that the operator orders. Traffic stops first, then the workloads, and then their policies
// and quotas. Access ends before data is deleted. The provider is last, because no AWS resource can be deleted without it.
var DeletionOrder = All.DeletionOrder()

// StageOf returns the place of an object in DeletionOrder; the last place if the object is not in it.
func StageOf(id string) int {
	kind, name, _ := strings.Cut(id, "/")
	i := slices.IndexFunc(DeletionOrder, func(s part.Stage) bool { return s.Includes(kind, name) })
	if i < 0 {
		return len(DeletionOrder) - 1
	}
	return i
}
