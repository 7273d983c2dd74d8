// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// resourcePart is a resource of a capability: an entry of dataServices.resources, or one of those that an entry of spec.ai becomes. All
// of them are compiled, granted, exported, guarded and deleted by the same code.
type resourcePart struct {
	nexusv1.ResourcePart
	// field of the capability that declares the resource, such as spec.ai.memory[0].
	field string
	// component is a label of the object.
	component string
	// parameters are the names of the SSM parameters by their variables; a variable that is not among them has resources/{variable}.
	parameters map[string]string
	// compose returns the properties of a resource that the operator composes; nil for one whose properties the capability declares.
	compose func(*compiler) map[string]any
	// tags are set on the resource.
	tags map[string]awsv1.TagValue
	// behind returns what the workloads need to be allowed on other resources, to use the one with an ARN.
	behind func(k *compiler, arn string) []iampolicy.Statement
	// role is the service role as which the resource acts; nil for one that acts as none.
	role *serviceRole
}

// Labels of the objects of resources.
const (
	componentResources = "resources"
	componentAI        = "ai"
	// componentVersions is the label of versions of guardrails, which pods apply until they are replaced.
	componentVersions = "ai-versions"
)

// allResources returns the resources in the order of the lists that declare them.
func (ps parts) allResources(s *nexusv1.NexusAICapabilitySpec) (out []resourcePart) {
	for _, p := range ps {
		if p.resources != nil {
			out = append(out, p.resources(ps, s)...)
		}
	}
	return out
}

// selectedResources returns the resources by name.
func (ps parts) selectedResources(s *nexusv1.NexusAICapabilitySpec) []resourcePart {
	return byName(ps.allResources(s), func(r resourcePart) string { return r.Name })
}

// parameterOf names the SSM parameter of an exported variable.
func parameterOf(r resourcePart, variable string) string {
	if name, own := r.parameters[variable]; own {
		return name
	}
	return "resources/" + variable
}

// resourceOf returns the resource that becomes the object of a kind and name.
func resourceOf(ps parts, c *nexusv1.NexusAICapability, kind, name string) (resourcePart, bool) {
	if !isResourceKind(kind) {
		return resourcePart{}, false
	}
	all := ps.allResources(&c.Spec)
	i := slices.IndexFunc(all, func(r resourcePart) bool {
		return kindOfResource(r.ResourcePart) == kind && NamesOf(c).Of(r.Name) == name
	})
	if i < 0 {
		return resourcePart{}, false
	}
	return all[i], true
}

// IsOfAI reports whether the labels are those of an object that spec.ai declares, or declared.
func IsOfAI(labels map[string]string) bool {
	return slices.Contains([]string{componentAI, componentVersions}, labels[LabelComponent])
}

// AppliesStill reports whether an object with these labels is a version of a guardrail that pods may apply until they are replaced, or a budget
// whose successor is not ready.
func (o Observed) AppliesStill(labels map[string]string) bool {
	return o.awaitsBudget(labels) || labels[LabelComponent] == componentVersions && slices.ContainsFunc(o.views(), func(v view) bool { return v.Object.GetKind() == kindDeployment && !v.isDone() })
}
