// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"cmp"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Installer returns the policies of the person or pipeline that installs and removes the operator: the image repository, the
// operator's role with its policies, and the OIDC provider of the cluster. It grants nothing of what the operator does.
func Installer(scope Scope) ([]iampolicy.Document, error) {
	role := []string{scope.inIAM("role/" + scope.Role)}
	policies := []string{scope.inIAM("policy/" + scope.Role + "*")}
	providers := []string{scope.inIAM("oidc-provider/oidc.eks.*")}
	g := grants{}
	allow := func(where target, actions ...string) {
		for _, action := range actions {
			g.add(action, where)
		}
	}
	allow(target{resources: role}, "iam:CreateRole", "iam:DeleteRole", "iam:GetRole", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies", "iam:TagRole", "iam:UpdateAssumeRolePolicy")
	allow(target{role, iampolicy.Conditions{"ArnLike": {"iam:PolicyARN": policies}}}, "iam:AttachRolePolicy", "iam:DetachRolePolicy")
	allow(target{resources: policies}, "iam:CreatePolicy", "iam:CreatePolicyVersion", "iam:DeletePolicy", "iam:DeletePolicyVersion", "iam:GetPolicy",
		"iam:GetPolicyVersion", "iam:ListPolicyVersions", "iam:TagPolicy")
	allow(target{resources: providers}, "iam:AddClientIDToOpenIDConnectProvider", "iam:CreateOpenIDConnectProvider", "iam:DeleteOpenIDConnectProvider", "iam:GetOpenIDConnectProvider", "iam:TagOpenIDConnectProvider")
	allow(target{resources: scope.arns("eks", "cluster/"+cmp.Or(scope.EKSCluster, "*"))}, "eks:DescribeCluster")
	allow(target{resources: everywhere}, "ecr:GetAuthorizationToken", "iam:ListRoles") // the roles that need the provider
	allow(target{resources: []string{scope.inIAM("role/*")}}, "iam:ListRoleTags")
	allow(target{resources: scope.arns("ecr", "repository/"+scope.Repository)}, "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:CompleteLayerUpload",
		"ecr:CreateRepository", "ecr:DeleteRepository", "ecr:DescribeImages", "ecr:DescribeRepositories", "ecr:InitiateLayerUpload",
		"ecr:ListTagsForResource", "ecr:PutImage", "ecr:TagResource", "ecr:UploadLayerPart")
	return g.documents()
}
