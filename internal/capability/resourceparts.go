// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
)

// parameterOf names the SSM parameter of an exported variable.
func parameterOf(r part.Resource, variable string) string {
	if name, own := r.Parameters[variable]; own {
		return name
	}
	return "resources/" + variable
}

// resourceOf returns the resource that becomes the object of a kind and name.
func resourceOf(ps part.Parts, c *nexusv1.NexusAICapability, kind, name string) (part.Resource, bool) {
	if !isResourceKind(kind) {
		return part.Resource{}, false
	}
	all := ps.Resources(&c.Spec)
	i := slices.IndexFunc(all, func(r part.Resource) bool {
		return kindOfResource(r.ResourcePart) == kind && part.NamesOf(c).Of(r.Name) == name
	})
	if i < 0 {
		return part.Resource{}, false
	}
	return all[i], true
}

// AppliesStill reports whether an object with these labels is a version of a guardrail that pods may apply until they are replaced, or a budget
// whose successor is not ready.
func (o Observed) AppliesStill(labels map[string]string) bool {
	return o.awaitsBudget(labels) || labels[part.LabelComponent] == part.ComponentVersions && slices.ContainsFunc(o.views(), func(v view) bool { return v.Object.GetKind() == workloads.KindDeployment && !v.isDone() })
}
