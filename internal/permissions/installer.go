// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"cmp"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Installer returns the policies of the person or pipeline that installs and removes the operator and the AWS Load Balancer Controller: the
// image repository, the roles of both with their policies, and the OIDC provider of the cluster. It grants none of the rights of those
// roles.
func Installer(scope Scope) ([]iampolicy.Document, error) {
	providers := []string{scope.inIAM("oidc-provider/oidc.eks.*")}
	g := grants{}
	for _, name := range []string{scope.Role, cmp.Or(scope.ControllerRole, DefaultControllerRole)} {
		role, policies := []string{scope.inIAM("role/" + name)}, []string{scope.inIAM("policy/" + name + "*")}
		g.allow(target{resources: role}, "iam:CreateRole", "iam:DeleteRole", "iam:GetRole", "iam:ListAttachedRolePolicies",
			"iam:ListRolePolicies", "iam:TagRole", "iam:UpdateAssumeRolePolicy")
		g.allow(target{role, iampolicy.Conditions{"ArnLike": {"iam:PolicyARN": policies}}}, "iam:AttachRolePolicy", "iam:DetachRolePolicy")
		g.allow(target{resources: policies}, "iam:CreatePolicy", "iam:CreatePolicyVersion", "iam:DeletePolicy", "iam:DeletePolicyVersion",
			"iam:GetPolicy",
			"iam:GetPolicyVersion", "iam:ListPolicyVersions", "iam:TagPolicy")
	}
	g.allow(target{resources: providers}, "iam:AddClientIDToOpenIDConnectProvider", "iam:CreateOpenIDConnectProvider",
		"iam:DeleteOpenIDConnectProvider", "iam:GetOpenIDConnectProvider", "iam:TagOpenIDConnectProvider")
	g.allow(target{resources: scope.arns("eks", "cluster/"+cmp.Or(scope.EKSCluster, "*"))}, "eks:DescribeCluster")
	g.allow(target{resources: everywhere}, "ecr:GetAuthorizationToken", "iam:ListRoles") // the roles that need the provider
	g.allow(target{resources: []string{scope.inIAM("role/*")}}, "iam:ListRoleTags")
	g.allow(target{resources: scope.arns("ecr", "repository/"+scope.Repository)}, "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage",
		"ecr:CompleteLayerUpload",
		"ecr:CreateRepository", "ecr:DeleteRepository", "ecr:DescribeImages", "ecr:DescribeRepositories", "ecr:InitiateLayerUpload",
		"ecr:ListTagsForResource", "ecr:PutImage", "ecr:TagResource", "ecr:UploadLayerPart")
	g.allowDriftEvents(scope)
	return g.documents()
}
