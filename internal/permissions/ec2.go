// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"slices"
	"strings"
)

// ec2Types are the types of the resources that the actions of EC2 are about, by a part of the action's name that no other one
// contains. The first that fits counts.
var ec2Types = []struct{ in, resource string }{
	{"Subnet", "subnet"},
	{"SecurityGroup", "security-group"},
	{"InternetGateway", "internet-gateway"},
	{"Route", "route-table"},
	{"Vpc", "vpc"},
	{"Address", "elastic-ip"},
	{"NatGateway", "natgateway"},
	{"KeyPair", "key-pair"},
	{"Instance", "instance"},
}

// ec2Uses are the types of further resources that AWS evaluates for an action. They need not be the operator's own: an
// object can name the identifier of any VPC.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
var ec2Uses = map[string][]string{
	"ec2:AssociateRouteTable":     {"subnet"},
	"ec2:CreateRouteTable":        {"vpc"},
	"ec2:DisassociateRouteTable":  {"subnet"},
	"ec2:AttachInternetGateway":   {"vpc"},
	"ec2:CreateSubnet":            {"vpc"},
	"ec2:DetachInternetGateway":   {"vpc"},
	"ec2:CreateSecurityGroup":     {"vpc"},
	"ec2:CreateNatGateway":        {"subnet", "elastic-ip"},
	"ec2:RunInstances":            {"image", "key-pair", "network-interface", "security-group", "subnet", "volume"},
	"ec2:ModifyInstanceAttribute": {"security-group"},
}

// ec2 limits by tags: AWS chooses the identifiers.
func (s Scope) ec2(operation string) target {
	of := s.ec2Resources(operation)
	switch {
	case strings.HasPrefix(operation, "Describe"):
		return target{resources: everywhere}
	case slices.Contains(ec2Creates, operation):
		return target{of, given}
	default:
		return target{of, ours}
	}
}

// ec2Creates are the actions that make a resource with its tags.
var ec2Creates = []string{"CreateVpc", "CreateSubnet", "CreateSecurityGroup", "CreateInternetGateway", "CreateRouteTable",
	"AllocateAddress", "CreateNatGateway", "ImportKeyPair", "RunInstances"}

// ec2Resources returns the ARNs of the resources that the operation is about: of all types for the tags.
func (s Scope) ec2Resources(operation string) []string {
	var all []string
	for _, t := range ec2Types {
		arn := s.arns("ec2", t.resource+"/*")
		if strings.Contains(operation, t.in) {
			return arn
		}
		all = append(all, arn...)
	}
	slices.Sort(all)
	return all
}

// ec2Parents returns the ARNs of the further resources of an action; nil where AWS evaluates none.
func (s Scope) ec2Parents(action string) []string {
	var out []string
	for _, resource := range ec2Uses[action] {
		of := s
		if resource == "image" { // the ARN of an AMI names no account
			of.Account = ""
		}
		out = append(out, of.arns("ec2", resource+"/*")...)
	}
	return out
}
