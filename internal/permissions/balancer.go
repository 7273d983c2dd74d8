// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// clusterTag is the tag with the name of the cluster that the AWS Load Balancer Controller puts on all that it creates:
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/deploy/configurations/
const clusterTag = "elbv2.k8s.aws/cluster"

// Balancer says where the AWS Load Balancer Controller works.
type Balancer struct {
	// Cluster is the name that the controller was given for the cluster, and VPC the ID of the cluster's network.
	Cluster, VPC string
}

// balancerReads are the actions of the controller that read the account. AWS evaluates no resource for most of them.
var balancerReads = []string{
	"acm:DescribeCertificate", "acm:ListCertificates", "cognito-idp:DescribeUserPoolClient",
	"ec2:DescribeAccountAttributes", "ec2:DescribeAddresses", "ec2:DescribeAvailabilityZones", "ec2:DescribeCoipPools",
	"ec2:DescribeInstances",
	"ec2:DescribeInternetGateways", "ec2:DescribeIpamPools", "ec2:DescribeNetworkInterfaces", "ec2:DescribeRouteTables",
	"ec2:DescribeSecurityGroups",
	"ec2:DescribeSubnets", "ec2:DescribeTags", "ec2:DescribeVpcPeeringConnections", "ec2:DescribeVpcs", "ec2:GetCoipPoolUsage",
	"ec2:GetSecurityGroupsForVpc",
	"elasticloadbalancing:DescribeCapacityReservation", "elasticloadbalancing:DescribeListenerAttributes",
	"elasticloadbalancing:DescribeListenerCertificates",
	"elasticloadbalancing:DescribeListeners", "elasticloadbalancing:DescribeLoadBalancerAttributes",
	"elasticloadbalancing:DescribeLoadBalancers",
	"elasticloadbalancing:DescribeRules", "elasticloadbalancing:DescribeSSLPolicies", "elasticloadbalancing:DescribeTags",
	"elasticloadbalancing:DescribeTargetGroupAttributes", "elasticloadbalancing:DescribeTargetGroups",
	"elasticloadbalancing:DescribeTargetHealth",
	"elasticloadbalancing:DescribeTrustStores", "iam:GetServerCertificate", "iam:ListServerCertificates",
	"shield:DescribeProtection", "shield:GetSubscriptionState", "waf-regional:GetWebACL", "waf-regional:GetWebACLForResource",
	"wafv2:GetWebACL", "wafv2:GetWebACLForResource",
}

// balancerProtects connect balancers with firewalls and with Shield. The resources that they name belong to other services, which do not
// have the controller's tag.
var balancerProtects = []string{
	"shield:CreateProtection", "shield:DeleteProtection", "waf-regional:AssociateWebACL", "waf-regional:DisassociateWebACL",
	"wafv2:AssociateWebACL", "wafv2:DisassociateWebACL",
}

// LoadBalancerController returns the policies of the role of the AWS Load Balancer Controller. Resources that it creates must carry the tag
// of its cluster, and resources that it changes or deletes must have it, so that the load balancers of other clusters are safe from it.
// Actions, resources and condition keys are those of
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awselasticloadbalancingv2.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func LoadBalancerController(scope Scope, b Balancer) ([]iampolicy.Document, error) {
	g := grants{}
	g.allow(target{resources: everywhere}, slices.Concat(balancerReads, balancerProtects)...)
	g.allow(target{[]string{scope.inIAM("role/aws-service-role/elasticloadbalancing.amazonaws.com/*")},
		stringEquals("iam:AWSServiceName", "elasticloadbalancing.amazonaws.com")}, "iam:CreateServiceLinkedRole")
	scope.allowSecurityGroups(&g, b)
	scope.allowBalancers(&g, b)
	return g.documents()
}

// allowSecurityGroups allows the groups of the controller in the cluster's network, and the rules of the nodes' groups that let the load
// balancers in: those groups are not the controller's.
func (s Scope) allowSecurityGroups(g *grants, b Balancer) {
	groups, network := s.arns("ec2", "security-group/*"), s.arns("ec2", "vpc/"+b.VPC)
	ours := stringEquals("aws:ResourceTag/"+clusterTag, b.Cluster)
	g.allow(target{resources: network}, "ec2:CreateSecurityGroup")
	g.allow(target{groups, stringEquals("aws:RequestTag/"+clusterTag, b.Cluster)}, "ec2:CreateSecurityGroup")
	g.allow(target{groups, iampolicy.Conditions{"StringEquals": {"aws:RequestTag/" + clusterTag: {b.Cluster},
		"ec2:CreateAction": {"CreateSecurityGroup"}}}}, "ec2:CreateTags")
	g.allow(target{groups, withoutRetagging(ours)}, "ec2:CreateTags", "ec2:DeleteTags")
	g.allow(target{groups, ours}, "ec2:DeleteSecurityGroup")
	g.allow(target{groups, iampolicy.Conditions{"ArnEquals": {"ec2:Vpc": network}}}, "ec2:AuthorizeSecurityGroupIngress",
		"ec2:RevokeSecurityGroupIngress")
}

// withoutRetagging adds to a condition that the request leaves the cluster's tag alone.
func withoutRetagging(ours iampolicy.Conditions) iampolicy.Conditions {
	return iampolicy.Conditions{"StringEquals": ours["StringEquals"], "Null": {"aws:RequestTag/" + clusterTag: {"true"}}}
}

// allowBalancers allows load balancers with their listeners, rules and target groups.
func (s Scope) allowBalancers(g *grants, b Balancer) {
	balancers := s.arns("elasticloadbalancing", "loadbalancer/app/*/*", "loadbalancer/net/*/*")
	targets := s.arns("elasticloadbalancing", "targetgroup/*/*")
	listeners := s.arns("elasticloadbalancing", "listener/app/*/*/*", "listener/net/*/*/*", "listener-rule/app/*/*/*",
		"listener-rule/net/*/*/*")
	ours := stringEquals("aws:ResourceTag/"+clusterTag, b.Cluster)
	g.allow(target{slices.Concat(balancers, targets), stringEquals("aws:RequestTag/"+clusterTag, b.Cluster)},
		"elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup")
	g.allow(target{slices.Concat(balancers, targets), iampolicy.Conditions{"StringEquals": {"aws:RequestTag/" + clusterTag: {b.Cluster},
		"elasticloadbalancing:CreateAction": {"CreateLoadBalancer", "CreateTargetGroup"}}}}, "elasticloadbalancing:AddTags")
	g.allow(target{slices.Concat(balancers, targets), withoutRetagging(ours)}, "elasticloadbalancing:AddTags",
		"elasticloadbalancing:RemoveTags")
	g.allow(target{slices.Concat(balancers, targets, listeners), ours}, "elasticloadbalancing:DeleteLoadBalancer",
		"elasticloadbalancing:DeleteTargetGroup", "elasticloadbalancing:ModifyCapacityReservation",
		"elasticloadbalancing:ModifyIpPools", "elasticloadbalancing:ModifyListenerAttributes",
		"elasticloadbalancing:ModifyLoadBalancerAttributes", "elasticloadbalancing:ModifyTargetGroup",
		"elasticloadbalancing:ModifyTargetGroupAttributes", "elasticloadbalancing:SetIpAddressType", "elasticloadbalancing:SetSecurityGroups",
		"elasticloadbalancing:SetSubnets")
	// A TargetGroupBinding may name a target group that its user created.
	g.allow(target{resources: targets}, "elasticloadbalancing:DeregisterTargets", "elasticloadbalancing:RegisterTargets")
	// Listeners and rules got tags only since version 2.2 of the controller, and their tags are set with the listener or the rule.
	g.allow(target{resources: slices.Concat(balancers, listeners)}, "elasticloadbalancing:AddListenerCertificates",
		"elasticloadbalancing:CreateListener", "elasticloadbalancing:CreateRule",
		"elasticloadbalancing:DeleteListener", "elasticloadbalancing:DeleteRule", "elasticloadbalancing:ModifyListener",
		"elasticloadbalancing:ModifyRule",
		"elasticloadbalancing:RemoveListenerCertificates", "elasticloadbalancing:SetRulePriorities", "elasticloadbalancing:SetWebAcl")
	g.allow(target{resources: listeners}, "elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags")
}
