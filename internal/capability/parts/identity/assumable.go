// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// selectedRoles returns the existing roles that the workloads may assume, by name.
func selectedRoles(s *nexusv1.NexusAICapabilitySpec) []nexusv1.RoleSpec {
	return part.ByName(slices.Clone(part.DataOf(s).Roles), func(r nexusv1.RoleSpec) string { return r.Name })
}

// addAssumableRoles adds the objects that observe these roles.
func addAssumableRoles(k *part.Compiler) {
	for _, r := range selectedRoles(k.Spec) {
		e := existingRole(r)
		k.Observe(e, StepIAM, "iam", &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{RoleName: e.NameIn()}})
	}
}

// roleStatements allow assuming them. Their trust policies decide as well.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
func roleStatements(k *part.Compiler) []iampolicy.Statement {
	var arns []string
	for _, r := range selectedRoles(k.Spec) {
		arns = part.AppendARN(arns, k.External(existingRole(r)))
	}
	return part.WithResources(iampolicy.Statement{Sid: "Roles", Action: []string{"sts:AssumeRole"}, Resource: arns})
}

// roleValues returns the settings with the ARNs of these roles, and of the role for everything.
func roleValues(k *part.Compiler) (out []part.Value) {
	if sets := k.Parts.AccessSets(k.Spec); len(sets) > 0 && !sets[0].Limited {
		out = append(out, part.Value{Parameter: "iam/app-role-arn", Text: k.Home.RoleARN(k.Names.AppRole())})
	}
	for _, r := range selectedRoles(k.Spec) {
		out = append(out, part.Value{Parameter: "roles/" + r.Name + "-role-arn", Variable: "NEXUS_ROLE_ARN_" + part.EnvironmentVariable(r.Name),
			Text: existingRole(r).ARNIn(k.Home)})
	}
	return out
}

func existingRole(r nexusv1.RoleSpec) part.Existing {
	return part.Existing{Kind: part.KindRole, Of: &existingRoles, Purpose: r.Name, Store: &r.Existing}
}
