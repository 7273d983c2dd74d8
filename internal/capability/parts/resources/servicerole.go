// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

const maxRoleName = 64

// ActingResource returns the ID of the node of the resource that acts as a service role; "" for every other object.
func ActingResource(kind, name string) string {
	if resource, is := strings.CutSuffix(name, part.ServiceEnding); is && kind == part.KindRole {
		return part.KindAnyType + "/" + resource
	}
	return ""
}

// addServiceRole adds the service role of a resource. It returns the ID of the node of the role, and the ID of the first object without a
// proven resource, which leaves the role without a right.
func addServiceRole(k *part.Compiler, r part.Resource) (id, lacks string) {
	if r.Role == nil {
		return "", ""
	}
	statements, lacks := r.Role.Rights(k)
	if k.Facts.Provider.Account == "" { // which every right is in
		lacks = part.KindProvider + "/" + part.ProviderName(k.Capability)
	}
	name := k.Names.ServiceRole(r.Name)
	o := &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{
		RoleName:                 part.Fitted(name, maxRoleName, "-"),
		AssumeRolePolicyDocument: k.Document(serviceTrust(k, r.Role)),
		Description:              new("Service role of " + k.Names.Of(r.Name)),
		PermissionsBoundary:      part.BoundaryOf(k),
		MaxSessionDuration:       new(part.SessionSeconds),
		ExclusivePolicies:        true,
	}}
	if len(statements) > 0 {
		o.Spec.InlinePolicies = []awsv1.IAMInlinePolicy{{PolicyName: "service", PolicyDocument: k.Document(statements...)}}
	}
	return k.Resource(part.Child{Kind: part.KindRole, Name: name, Step: part.StepResources, Component: r.Component}, o,
		graph.NeedReady(r.Role.Uses(k)...)...), lacks
}

// serviceTrust lets the service act as the role, for such resources of this account only.
// https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html
func serviceTrust(k *part.Compiler, r *part.ServiceRole) iampolicy.Statement {
	return iampolicy.Statement{
		Action: []string{"sts:AssumeRole"}, Principal: iampolicy.Principals{"Service": {r.Service}},
		Condition: iampolicy.Conditions{"StringEquals": {"aws:SourceAccount": {k.Home.Account}},
			"ArnLike": {"aws:SourceArn": {r.Sources(k.Home)}}},
	}
}

// checkServiceRoles refuses a resource if its service role would have more rights than AWS allows in a role.
func checkServiceRoles(v *part.Verdict, k *part.Compiler) {
	for _, r := range k.Parts.Resources(k.Spec) {
		if r.Role == nil {
			continue
		}
		statements, _ := r.Role.Rights(k)
		size := len(k.Document(statements...))
		v.Require(size <= part.MaxPolicies, r.Field, "the policy of its role has %d characters, AWS allows %d: use fewer parts, or parts with fewer actions", size, part.MaxPolicies)
	}
}

// awaitRights holds back the resource that was added last until its service role has all rights: services check them when the resource is
// created.
func awaitRights(k *part.Compiler, lacks string) {
	if last := len(k.Nodes) - 1; lacks != "" && last >= 0 && k.Nodes[last].Unresolved == "" {
		k.Nodes[last].Unresolved = lacks
	}
}

// RoleOf refers to the ARN of the service role of a resource.
func RoleOf(k *part.Compiler, resource string) map[string]any {
	return map[string]any{"$ref": part.KindRole + "/" + k.Names.ServiceRole(resource), "field": "status.arn"}
}
