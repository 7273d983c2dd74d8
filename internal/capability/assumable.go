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

// assumableRoles adds the objects that observe these roles.
func (k *compiler) assumableRoles() {
	for _, r := range selectedRoles(k.spec) {
		e := existingRole(r)
		k.observe(e, StepIAM, "iam", &awsv1.IAMRole{Spec: awsv1.IAMRoleSpec{RoleName: e.nameIn()}})
	}
}

// roleARNs are the ARNs of these roles by a key for their purposes.
func (k *compiler) roleARNs(key func(purpose string) string) map[string]string {
	out := map[string]string{}
	for _, r := range selectedRoles(k.spec) {
		out[key(r.Name)] = existingRole(r).arnIn(k.home)
	}
	return out
}

// roleStatements allow assuming them. Their trust policies decide as well.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
func (k *compiler) roleStatements() []iampolicy.Statement {
	var arns []string
	for _, r := range selectedRoles(k.spec) {
		arns = appendARN(arns, k.external(existingRole(r)))
	}
	return withResources(iampolicy.Statement{Sid: "Roles", Action: []string{"sts:AssumeRole"}, Resource: arns})
}

func (v *verdict) roles(at string, list []nexusv1.RoleSpec) {
	v.distinct(at, namesIn(list, func(r nexusv1.RoleSpec) string { return r.Name }), maxTopicPurpose)
}
