// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// roleFacts returns the facts about an IAMRole that other packages use.
func roleFacts() kind.Facts {
	return kind.Facts{
		Errors: awsErrors,
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
