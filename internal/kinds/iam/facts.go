// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// roleFacts returns the facts about an IAMRole that other packages use.
func roleFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			"it is the role that is adopted, which needs the boundary of the provider": {
				"iam:GetInstanceProfile InstanceProfile.Roles.RoleName",
				"iam:GetRole Role.RoleName",
				"iam:GetRolePolicy RoleName",
				"iam:ListInstanceProfilesForRole InstanceProfiles.Roles.RoleName",
			},
		},
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "iam:GetOpenIDConnectProvider", On: []string{"arn:${Partition}:iam::${Account}:oidc-provider/*"}},
				{Actions: "iam:*InstanceProfile", On: []string{"arn:${Partition}:iam::${Account}:instance-profile/${RoleName}"}},
				{Actions: "iam:*", On: []string{"arn:${Partition}:iam::${Account}:role/${RoleName}"}, If: kind.HasBoundary},
			},
			Passes: []kind.Pass{{For: "iam:AddRoleToInstanceProfile", To: "ec2.amazonaws.com"}},
			Decided: map[string]string{
				"iam:AddRoleToInstanceProfile iam:PassRole": "granted for ec2.amazonaws.com, which gets the role",
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"iam.ListInstanceProfilesForRole", "PolicyName", "RoleName", "AttachedPolicies.PolicyName",
			"Role.PermissionsBoundary.PermissionsBoundaryType", "Role.RoleId", "Role.RoleLastUsed",
		},
		Reach: kind.WithinAccount,
		OneValue: map[string]string{
			"PodIdentity": kind.InItsOwnTest,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::IAM::Role", "AWS::IAM::InstanceProfile", "AWS::IAM::RolePolicy"},
			Properties: map[string]map[string]string{
				"AWS::IAM::Role": {
					"Policies": "as inlinePolicies",
				},
				"AWS::IAM::InstanceProfile": {
					"InstanceProfileName": "as instanceProfile",
					"Roles":               kind.IsParent,
				},
			},
			Unneeded: map[string]string{
				"iam:DeleteRolePermissionsBoundary": "a boundary is replaced and never removed",
				"iam:UpdateRoleDescription":         "UpdateRole sets it as well",
			},
		},
		ARN: kind.ARNForm{
			Service:  "iam",
			Prefix:   "role/",
			Untagged: true,
			Name:     nameWithoutPath,
		},
		Terraform: kind.Terraform{
			Type:     "aws_iam_role",
			Identity: []string{"name"},
			Parts: []string{
				"aws_iam_instance_profile",
				"aws_iam_policy_attachment",
				"aws_iam_role_polic",
			},
		},
	}
}

// nameWithoutPath returns the name of a role: its ARN has the path before it.
func nameWithoutPath(rest, _ string) string { return rest[strings.LastIndex(rest, "/")+1:] }
