// SPDX-License-Identifier: Apache-2.0

// Package permissions derives the IAM policies that the operator and its installer need. The operator's actions are those
// that the kinds declare; each is limited to the resources and conditions that AWS evaluates for it:
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
package permissions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Scope limits a policy.
type Scope struct {
	// Partition, Region and Account are parts of ARNs. An empty Partition is aws; an empty Region or Account is any.
	Partition, Region, Account string
	// NamePrefix begins the names of all AWS resources that the operator may touch; empty is any name.
	NamePrefix string
	// RolePath is the path of all roles, such as /teams/; empty is /.
	RolePath string
	// Boundary is the ARN of the permissions boundary that roles must have before the operator may give them permissions.
	Boundary string
	// AssumeRoles are the ARNs of the roles that AWSProviders name.
	AssumeRoles []string
	// Adopt allows the operator to put its tags on resources that it did not make.
	Adopt bool
	// Types are names and patterns of the resource types that objects of the kind AWSResource may manage.
	Types []string
	// TypedTypes are the kinds that manage resources of one type, by the name of the type, which patterns do not allow.
	TypedTypes map[string]string
	// EKSCluster is the name of the cluster that is asked for its OIDC issuer.
	EKSCluster string
	// DriftQueue is the name of the queue with CloudTrail's events of changes that the operator reads; empty for none.
	DriftQueue string
	// Repository is the name of the image repository, Role that of the operator's own role, and ControllerRole that of the AWS Load
	// Balancer Controller's. Only the installer needs them.
	Repository, Role, ControllerRole string
}

// managedBy is the tag that every resource of the operator carries.
const managedBy, operatorName = wellknown.TagManagedBy, wellknown.OperatorName

// passRole is needed by the actions that hand a role to a service; no call has its name.
const passRole = "iam:PassRole"

// ec2Service runs instances.
const ec2Service = "ec2.amazonaws.com"

// passedTo returns the condition that a role is given to a service. In China, EC2 has a name of the partition; others have not.
// https://docs.amazonaws.cn/en_us/aws/latest/userguide/iam.html
func (s Scope) passedTo(service string) iampolicy.Conditions {
	if service == ec2Service && s.partition() == "aws-cn" {
		service += ".cn"
	}
	return stringEquals("iam:PassedToService", service)
}

// serviceLinkedRole is the right to create the role that a service has for itself, with the first of its resources in the account.
const serviceLinkedRole = "iam:CreateServiceLinkedRole"

// ownKeys are the keys of the operator in the hands of a service. The key policy of another key can allow its use.
func (s Scope) ownKeys(service string) target {
	return target{s.arns("kms", "key/*"), iampolicy.Conditions{
		"StringEquals": {"aws:ResourceTag/" + managedBy: {operatorName}},
		"StringLike":   {"kms:ViaService": {service + "." + cmp.Or(s.Region, "*") + "." + wellknown.DNSSuffix(s.partition())}},
	}}
}

// Operator returns the policies of the operator's role: the actions of all kinds, and those that the scope asks for. The notices name the
// rights to resources of the allowed types that are not limited, or left out.
func Operator(metas []kind.Meta, scope Scope) (documents []iampolicy.Document, notices []string, err error) {
	g, err := ofKinds(metas, scope)
	if err != nil {
		return nil, nil, err
	}
	if scope.DriftQueue != "" {
		g.allow(target{resources: scope.arns("sqs", scope.DriftQueue)}, queueReads...)
	}
	typed, notices, err := scope.ofTypes(metas)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range typed {
		g.allow(target{s.Resource, s.Condition}, s.Action...)
	}
	documents, err = g.documents()
	if len(documents) > maxPoliciesOfRole {
		notices = append(notices,
			fmt.Sprintf("these are %d policies, of which AWS attaches %d to a role unless its quota is raised: name fewer --types, or use several AWSProviders with a role each",
				len(documents), maxPoliciesOfRole))
	}
	return documents, notices, err
}

// ofKinds returns the actions of all kinds, and those that the scope asks for.
func ofKinds(metas []kind.Meta, scope Scope) (grants, error) {
	g, all := grants{}, actionsOf(metas)
	for _, action := range all {
		takers := takersOf(metas, action)
		targets, err := scope.targets(action, takers, all)
		if err != nil {
			return nil, err
		}
		for _, where := range targets {
			g.add(action, where)
		}
		for _, rights := range takers {
			scope.addNeeds(&g, action, rights)
		}
	}
	if len(scope.AssumeRoles) > 0 {
		g.add("sts:AssumeRole", target{resources: scope.AssumeRoles})
	}
	if scope.EKSCluster != "" {
		g.add("eks:DescribeCluster", target{resources: scope.arns("eks", "cluster/"+scope.EKSCluster)})
	}
	return g, nil
}

func actionsOfKind(m kind.Meta) []string {
	return slices.Concat(m.Reads, m.Writes, m.Optional, m.Judges)
}

// actionsOf returns the actions that the kinds declare, each once, in order.
func actionsOf(metas []kind.Meta) []string {
	all := map[string]bool{}
	for _, m := range metas {
		for _, action := range actionsOfKind(m) {
			all[action] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// everywhere is for actions that AWS evaluates for no resource.
var everywhere = []string{"*"}

func (s Scope) partition() string { return cmp.Or(s.Partition, "aws") }

// arns returns ARNs of a regional service.
func (s Scope) arns(service string, resources ...string) []string {
	var out []string
	for _, r := range resources {
		out = append(out, fmt.Sprintf("arn:%s:%s:%s:%s:%s", s.partition(), service, cmp.Or(s.Region, "*"), cmp.Or(s.Account, "*"), r))
	}
	return out
}

func (s Scope) roles() []string { return s.named("role") }

// named returns the resources of a type in IAM that are limited by path and name, as roles are.
func (s Scope) named(resource string) []string {
	path := strings.Trim(s.RolePath, "/")
	if path != "" {
		path += "/"
	}
	return []string{s.inIAM(resource + "/" + path + s.NamePrefix + "*")}
}

// inIAM returns the ARN of a resource of IAM, which has no regions.
func (s Scope) inIAM(resource string) string {
	return fmt.Sprintf("arn:%s:iam::%s:%s", s.partition(), cmp.Or(s.Account, "*"), resource)
}

// grantsPermissions are the actions that AWS evaluates with the boundary of the role.
var grantsPermissions = []string{"CreateRole", "PutRolePermissionsBoundary", "PutRolePolicy", "DeleteRolePolicy", "AttachRolePolicy",
	"DetachRolePolicy"}

// ownCluster is the name of the operator's cluster, or a pattern.
func (s Scope) ownCluster() string { return cmp.Or(s.EKSCluster, "*") }
