// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// The policies of the AWS Load Balancer Controller, and every statement in them.
func balancerStatements(t *testing.T, region string) ([]iampolicy.Document, []iampolicy.Statement) {
	t.Helper()
	documents, err := LoadBalancerController(Scope{Partition: "aws", Region: region, Account: "123456789012"},
		Balancer{Cluster: "demo", VPC: "vpc-1"})
	if err != nil {
		t.Fatal(err)
	}
	var all []iampolicy.Statement
	for _, d := range documents {
		all = append(all, d.Statement...)
	}
	return documents, all
}

// The groups of actions are those that the documentation of the controller has in its policy:
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/deploy/installation/
func TestLoadBalancerController_HasTheDocumentedActions(t *testing.T) {
	_, statements := balancerStatements(t, "eu-west-1")
	for group, actions := range map[string]string{
		"service-linked role": "iam:CreateServiceLinkedRole",
		"network":             "ec2:DescribeAccountAttributes ec2:DescribeAddresses ec2:DescribeAvailabilityZones ec2:DescribeInternetGateways ec2:DescribeRouteTables ec2:DescribeSubnets ec2:DescribeVpcs ec2:DescribeVpcPeeringConnections ec2:GetCoipPoolUsage ec2:DescribeCoipPools ec2:DescribeIpamPools",
		"targets":             "ec2:DescribeInstances ec2:DescribeNetworkInterfaces ec2:DescribeTags elasticloadbalancing:DescribeTargetHealth elasticloadbalancing:RegisterTargets elasticloadbalancing:DeregisterTargets",
		"security groups":     "ec2:DescribeSecurityGroups ec2:GetSecurityGroupsForVpc ec2:CreateSecurityGroup ec2:DeleteSecurityGroup ec2:AuthorizeSecurityGroupIngress ec2:RevokeSecurityGroupIngress ec2:CreateTags ec2:DeleteTags",
		"load balancers":      "elasticloadbalancing:DescribeLoadBalancers elasticloadbalancing:DescribeLoadBalancerAttributes elasticloadbalancing:DescribeCapacityReservation elasticloadbalancing:CreateLoadBalancer elasticloadbalancing:DeleteLoadBalancer elasticloadbalancing:ModifyLoadBalancerAttributes elasticloadbalancing:ModifyCapacityReservation elasticloadbalancing:ModifyIpPools elasticloadbalancing:SetIpAddressType elasticloadbalancing:SetSecurityGroups elasticloadbalancing:SetSubnets",
		"target groups":       "elasticloadbalancing:DescribeTargetGroups elasticloadbalancing:DescribeTargetGroupAttributes elasticloadbalancing:CreateTargetGroup elasticloadbalancing:DeleteTargetGroup elasticloadbalancing:ModifyTargetGroup elasticloadbalancing:ModifyTargetGroupAttributes",
		"listeners":           "elasticloadbalancing:DescribeListeners elasticloadbalancing:DescribeListenerAttributes elasticloadbalancing:DescribeListenerCertificates elasticloadbalancing:DescribeSSLPolicies elasticloadbalancing:DescribeTrustStores elasticloadbalancing:CreateListener elasticloadbalancing:DeleteListener elasticloadbalancing:ModifyListener elasticloadbalancing:ModifyListenerAttributes elasticloadbalancing:AddListenerCertificates elasticloadbalancing:RemoveListenerCertificates",
		"rules":               "elasticloadbalancing:DescribeRules elasticloadbalancing:CreateRule elasticloadbalancing:DeleteRule elasticloadbalancing:ModifyRule elasticloadbalancing:SetRulePriorities",
		"tags":                "elasticloadbalancing:DescribeTags elasticloadbalancing:AddTags elasticloadbalancing:RemoveTags",
		"certificates":        "acm:ListCertificates acm:DescribeCertificate iam:ListServerCertificates iam:GetServerCertificate",
		"sign-in":             "cognito-idp:DescribeUserPoolClient",
		"firewalls":           "wafv2:GetWebACL wafv2:GetWebACLForResource wafv2:AssociateWebACL wafv2:DisassociateWebACL waf-regional:GetWebACL waf-regional:GetWebACLForResource waf-regional:AssociateWebACL waf-regional:DisassociateWebACL elasticloadbalancing:SetWebAcl",
		"Shield":              "shield:GetSubscriptionState shield:DescribeProtection shield:CreateProtection shield:DeleteProtection",
	} {
		for action := range strings.FieldsSeq(actions) {
			if !slices.ContainsFunc(statements, func(s iampolicy.Statement) bool { return slices.Contains(s.Action, action) }) {
				t.Errorf("%s: nothing allows %s", group, action)
			}
		}
	}
}

// withoutTag are the writes that the documented policy allows without the tag of the cluster: listeners and rules, which may be
// older than their tags, and targets of target groups that users created.
var withoutTag = map[string]string{
	"AddListenerCertificates": "listener", "CreateListener": "loadbalancer", "CreateRule": "listener", "DeleteListener": "listener",
	"DeleteRule":     "listener-rule",
	"ModifyListener": "listener", "ModifyRule": "listener-rule", "RemoveListenerCertificates": "listener",
	"SetRulePriorities": "listener-rule", "SetWebAcl": "loadbalancer",
	"AddTags": "listener", "RemoveTags": "listener", "RegisterTargets": "targetgroup", "DeregisterTargets": "targetgroup",
}

func TestLoadBalancerController_LimitsWritesByTagOrNetwork(t *testing.T) {
	_, statements := balancerStatements(t, "eu-west-1")
	writes := 0
	for _, s := range statements {
		for _, action := range s.Action {
			service, name, _ := strings.Cut(action, ":")
			read := strings.HasPrefix(name, "Describe") || strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List")
			if read || service != "ec2" && service != "elasticloadbalancing" {
				continue
			}
			writes++
			if problem := unlimited(s, name); problem != "" {
				t.Errorf("%s on %v under %v: %s", action, s.Resource, s.Condition, problem)
			}
		}
	}
	if writes < 30 {
		t.Errorf("only %d writes were found", writes)
	}
}

// unlimited names the condition that is missing in a statement that allows a write.
func unlimited(s iampolicy.Statement, action string) string {
	equals := s.Condition["StringEquals"]
	tagged := slices.Equal(equals["aws:RequestTag/elbv2.k8s.aws/cluster"], []string{"demo"}) ||
		slices.Equal(equals["aws:ResourceTag/elbv2.k8s.aws/cluster"], []string{"demo"})
	inNetwork := slices.Equal(s.Condition["ArnEquals"]["ec2:Vpc"], []string{"arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1"}) ||
		slices.Equal(s.Resource, []string{"arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1"})
	switch kind, documented := withoutTag[action]; {
	case slices.ContainsFunc(s.Resource, func(r string) bool { return !strings.Contains(r, ":eu-west-1:123456789012:") }):
		return "it reaches other regions or accounts"
	case !tagged && !inNetwork &&
		!(documented && slices.ContainsFunc(s.Resource, func(r string) bool { return strings.Contains(r, ":"+kind+"/") })):
		return "neither a tag nor a network limits it"
	case strings.HasSuffix(action, "Tags") && tagged && equals["ec2:CreateAction"] == nil &&
		equals["elasticloadbalancing:CreateAction"] == nil &&
		!slices.Equal(s.Condition["Null"]["aws:RequestTag/elbv2.k8s.aws/cluster"], []string{"true"}):
		return "it may change the tag that limits it"
	default:
		return ""
	}
}

func TestLoadBalancerController_FitsManagedPolicies(t *testing.T) {
	documents, _ := balancerStatements(t, "ap-southeast-1")
	for i, d := range documents {
		text, err := d.Encode()
		if err != nil || len(text) > 6144 || strings.ContainsAny(text, " \n\t") {
			t.Errorf("document %d has %d characters: %v", i+1, len(text), err)
		}
	}
	if len(documents) > 2 {
		t.Errorf("%d policies", len(documents))
	}
}
