// SPDX-License-Identifier: Apache-2.0

package part

import (
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Resource is a resource of a capability: an entry of dataServices.resources, or one of those that an entry of spec.ai becomes. All
// of them are compiled, granted, exported, guarded and deleted by the same code.
type Resource struct {
	nexusv1.ResourcePart
	// Field of the capability that declares the resource, such as spec.ai.memory[0].
	Field string
	// Component is a label of the object.
	Component string
	// Parameters are the names of the SSM parameters by their variables; a variable that is not among them has resources/{variable}.
	Parameters map[string]string
	// Compose returns the properties of a resource that the operator composes; nil if the capability declares the properties.
	Compose func(*Compiler) map[string]any
	// Tags are set on the resource.
	Tags map[string]awsv1.TagValue
	// Behind returns the statements on other resources that the workloads need to use the resource with an ARN.
	Behind func(k *Compiler, arn string) []iampolicy.Statement
	// Role is the service role of the resource; nil for a resource without one.
	Role *ServiceRole
}

// Labels of the objects of resources.
const (
	ComponentResources = "resources"
	ComponentAI        = "ai"
	// ComponentVersions is the label of versions of guardrails, which pods apply until they are replaced.
	ComponentVersions = "ai-versions"
)

// Allows sets the actions that the workloads may use on the resource.
func (r Resource) Allows(actions ...nexusv1.PartAction) Resource {
	r.Access = &nexusv1.PartAccess{Actions: actions}
	return r
}

// Tells exports a value of the resource, as a variable and as a parameter.
func (r Resource) Tells(variable, parameter string, value nexusv1.ExportedValue) Resource {
	if r.Exports == nil {
		r.Exports, r.Parameters = map[string]nexusv1.ExportedValue{}, map[string]string{}
	}
	r.Exports[variable], r.Parameters[variable] = value, parameter
	return r
}

// After makes the resource use others.
func (r Resource) After(names ...string) Resource {
	for _, name := range names {
		r.Uses = append(r.Uses, nexusv1.PartName(name))
	}
	return r
}

// Resources returns the resources in the order of the lists that declare them.
func (ps Parts) Resources(s *nexusv1.NexusAICapabilitySpec) (out []Resource) {
	for _, p := range ps {
		if p.Resources != nil {
			out = append(out, p.Resources(ps, s)...)
		}
	}
	return out
}

// ResourcesByName returns the resources by name.
func (ps Parts) ResourcesByName(s *nexusv1.NexusAICapabilitySpec) []Resource {
	return ByName(ps.Resources(s), func(r Resource) string { return r.Name })
}

// IsOfAI reports whether the labels are those of an object that spec.ai declares, or declared.
func IsOfAI(labels map[string]string) bool {
	return slices.Contains([]string{ComponentAI, ComponentVersions}, labels[LabelComponent])
}

// ServiceRole is the role that an AWS service assumes for a resource.
type ServiceRole struct {
	// Service is the principal that assumes the role. Sources returns the pattern of aws:SourceArn: the ARNs of the resources that the
	// service acts for.
	Service string
	Sources func(Home) string
	// Uses are the IDs of the nodes that the role has rights on.
	Uses func(*Compiler) []string
	// Rights returns the statements for the proven resources, and the ID of the first object without a proven resource; "" when all are
	// proven.
	Rights func(*Compiler) (statements []iampolicy.Statement, lacks string)
}

// ServiceEnding ends the names of objects of service roles. Names of parts have no dot, so that no other object has such a name.
const ServiceEnding = ".service"

// IsServiceRole reports whether an object of that name is the service role of a resource.
func IsServiceRole(name string) bool { return strings.HasSuffix(name, ServiceEnding) }
