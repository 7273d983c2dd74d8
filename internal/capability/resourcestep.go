// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// StepOfResource returns the name of the step that an object of status.resources belongs to, StepPolicies for a
// binding of policies, and "" for an object that is in no step.
func StepOfResource(c *nexusv1.NexusAICapability, r nexusv1.ResourceStatus) string {
	n := NamesOf(c)
	switch r.Kind {
	case kindRole:
		if r.Name == n.GlueRole() {
			return StepGlue
		}
		if isServiceRole(r.Name) {
			return StepResources
		}
	case kindConfigMap:
		for _, a := range accessSets(&c.Spec) {
			if a.configMap(n) == r.Name {
				return settingsOwner(&c.Spec, a).step
			}
		}
	case kindDeployment, kindJob, kindCronJob, kindService, kindDisruptionBudget, kindAutoscaler:
		return stepOfWorkload(c, r.Name)
	}
	if isResourceKind(r.Kind) {
		return StepResources
	}
	return factsOf(r.Kind).step
}

// stepOfWorkload returns the step of an object of a component, by its name.
func stepOfWorkload(c *nexusv1.NexusAICapability, name string) string {
	n := NamesOf(c)
	for _, of := range componentsOf(&c.Spec) {
		if slices.Contains([]string{n.Of(of.name), n.Service(of.name), n.InternalService(of.name)}, name) {
			return of.step
		}
	}
	switch { // of a component that is not declared any more
	case strings.HasPrefix(name, n.Of(frontend)):
		return StepFrontend
	case strings.HasPrefix(name, n.Of(backend)):
		return StepBackend
	default:
		return StepComponents
	}
}
