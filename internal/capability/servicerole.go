// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// serviceRole is the role as which a resource acts in AWS.
type serviceRole struct {
	// service is the principal that assumes the role, and sources the form of the ARNs of the resources for which it does.
	service string
	sources func(home) string
	// uses are the IDs of the nodes that the role has rights on.
	uses func(*compiler) []string
	// rights returns the statements of what is proven, and the ID of the first object whose resource is not; "" when all are.
	rights func(*compiler) (statements []iampolicy.Statement, lacks string)
}

const (
	// serviceEnding ends the names of objects of service roles. Names of parts have no dot, so that no other object has such a name.
	serviceEnding = ".service"
	maxRoleName   = 64
)

// ServiceRole names the object of the role as which a resource acts.
func (n Names) ServiceRole(resource string) string { return n.Of(resource) + serviceEnding }

func isServiceRole(name string) bool { return strings.HasSuffix(name, serviceEnding) }

// ActingResource returns the ID of the node of the resource that acts as a service role; "" for every other object.
func ActingResource(kind, name string) string {
	if resource, is := strings.CutSuffix(name, serviceEnding); is && kind == kindRole {
		return kindAnyType + "/" + resource
	}
	return ""
}

// addServiceRole adds the role as which a resource acts. It returns the ID of its node, and that of the first object whose resource is not
// proven, so that the role lacks a right.
func addServiceRole(k *compiler, r resourcePart) (id, lacks string) {
	if r.role == nil {
		return "", ""
	}
	statements, lacks := r.role.rights(k)
	if k.facts.Account == "" { // which every right is in
		lacks = kindProvider + "/" + ProviderName(k.c)
	}
	name := k.names.ServiceRole(r.Name)
	o := &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{
		RoleName:                 fitted(name, maxRoleName, "-"),
		AssumeRolePolicyDocument: k.document(serviceTrust(k, r.role)),
		Description:              new("Service role of " + k.names.Of(r.Name)),
		PermissionsBoundary:      boundaryOf(k),
		MaxSessionDuration:       new(sessionSeconds),
		ExclusivePolicies:        true,
	}}
	if len(statements) > 0 {
		o.Spec.InlinePolicies = []awsv1.IAMInlinePolicy{{PolicyName: "service", PolicyDocument: k.document(statements...)}}
	}
	return k.resource(child{kindRole, name, StepResources, r.component}, o, graph.NeedReady(r.role.uses(k)...)...), lacks
}

// serviceTrust lets the service act as the role, for such resources of this account only.
// https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html
func serviceTrust(k *compiler, r *serviceRole) iampolicy.Statement {
	return iampolicy.Statement{
		Action: []string{"sts:AssumeRole"}, Principal: iampolicy.Principals{"Service": {r.service}},
		Condition: iampolicy.Conditions{"StringEquals": {"aws:SourceAccount": {k.home.account}}, "ArnLike": {"aws:SourceArn": {r.sources(k.home)}}},
	}
}

// checkServiceRoles refuses resources whose service roles would have more rights than AWS allows in a role.
func checkServiceRoles(v *verdict, k *compiler) {
	for _, r := range k.parts.allResources(k.spec) {
		if r.role == nil {
			continue
		}
		statements, _ := r.role.rights(k)
		size := len(k.document(statements...))
		v.require(size <= maxPolicies, r.field, "the policy of its role has %d characters, AWS allows %d: use fewer parts, or parts with fewer actions", size, maxPolicies)
	}
}

// awaitRights keeps the resource that was added last from being applied until the role as which it acts has all of its rights: services
// check them when the resource is created.
func awaitRights(k *compiler, lacks string) {
	if last := len(k.nodes) - 1; lacks != "" && last >= 0 && k.nodes[last].Unresolved == "" {
		k.nodes[last].Unresolved = lacks
	}
}

// roleOf refers to the ARN of the service role of a resource.
func roleOf(k *compiler, resource string) map[string]any {
	return map[string]any{"$ref": kindRole + "/" + k.names.ServiceRole(resource), "field": "status.arn"}
}
