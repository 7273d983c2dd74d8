// SPDX-License-Identifier: Apache-2.0

package capability

import (
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
)

// StepOfResource returns the name of the step that an object of status.resources belongs to, StepPolicies for a
// binding of policies, and "" for an object that is in no step.
func StepOfResource(c *nexusv1.NexusAICapability, r nexusv1.ResourceStatus) string {
	ps := parts.All
	for _, p := range ps {
		for _, f := range p.Kinds {
			if f.Kind != r.Kind || f.StepOf == nil {
				continue
			}
			if step := f.StepOf(ps, c, r.Name); step != "" {
				return step
			}
		}
	}
	return ps.FactsOf(r.Kind).Step
}
