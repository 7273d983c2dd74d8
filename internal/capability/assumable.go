// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// selectedRoles returns the existing roles that the workloads may assume, by name.
func selectedRoles(s *nexusv1.NexusAICapabilitySpec) []nexusv1.RoleSpec {
	return byName(slices.Clone(dataOf(s).Roles), func(r nexusv1.RoleSpec) string { return r.Name })
}

// addAssumableRoles adds the objects that observe these roles.
func addAssumableRoles(k *compiler) {
	for _, r := range selectedRoles(k.spec) {
		e := existingRole(r)
		k.observe(e, StepIAM, "iam", &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{RoleName: e.nameIn()}})
	}
}

// roleStatements allow assuming them. Their trust policies decide as well.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
func roleStatements(k *compiler) []iampolicy.Statement {
	var arns []string
	for _, r := range selectedRoles(k.spec) {
		arns = appendARN(arns, k.external(existingRole(r)))
	}
	return withResources(iampolicy.Statement{Sid: "Roles", Action: []string{"sts:AssumeRole"}, Resource: arns})
}

func checkRoles(v *verdict, at string, list []nexusv1.RoleSpec) {
	v.distinct(at, namesIn(list, func(r nexusv1.RoleSpec) string { return r.Name }), maxRolePurpose)
}

// roleValues tell the application the ARNs of these roles, and of the role for everything.
func roleValues(k *compiler) (out []value) {
	if sets := k.parts.accessSets(k.spec); len(sets) > 0 && !sets[0].limited {
		out = append(out, value{parameter: "iam/app-role-arn", text: k.home.roleARN(k.names.AppRole())})
	}
	for _, r := range selectedRoles(k.spec) {
		out = append(out, value{"roles/" + r.Name + "-role-arn", "NEXUS_ROLE_ARN_" + environmentVariable(r.Name), existingRole(r).arnIn(k.home)})
	}
	return out
}

func existingRole(r nexusv1.RoleSpec) existing {
	return existing{kind: kindRole, of: &existingRoles, purpose: r.Name, store: &r.Existing}
}
