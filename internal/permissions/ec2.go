// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
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

// ec2 returns where an action of EC2 is needed, which is limited by tags: AWS chooses the identifiers. All are the actions of the policy.
func (s Scope) ec2(action string, all []string) []target {
	operation := strings.TrimPrefix(action, "ec2:")
	of := s.ec2Resources(operation)
	creates := slices.DeleteFunc(slices.Clone(ec2Creates), func(c string) bool { return !slices.Contains(all, "ec2:"+c) })
	var out []target
	switch {
	case action == "ec2:CreateTags":
		return s.ec2Tags(creates)
	case action == "ec2:DeleteTags":
		return []target{{s.ec2Made(creates), ours}}
	case slices.Contains(ec2Creates, operation):
		out = append(out, target{of, given})
	default:
		out = append(out, target{of, ours})
	}
	if parents := s.ec2Parents(action); parents != nil {
		out = append(out, target{resources: parents})
	}
	return out
}

// ec2Tags returns where the right to give tags is needed: with a create, for which EC2 alone has a condition, and otherwise on resources
// that carry the operator's tag. With Adopt, all resources get tags.
func (s Scope) ec2Tags(creates []string) []target {
	made := s.ec2Made(creates)
	withParts := made
	if slices.Contains(creates, "RunInstances") {
		withParts = append(slices.Clone(made), s.arns("ec2", "volume/*")...)
	}
	with := target{withParts, iampolicy.Conditions{"StringEquals": {"ec2:CreateAction": creates}}}
	switch {
	case s.Adopt && slices.Equal(withParts, made):
		return []target{{resources: made}}
	case s.Adopt:
		return []target{{resources: made}, with}
	default:
		return []target{with, {made, ours}}
	}
}

// ec2Made returns the ARNs of the resources that EC2's create actions make. The volumes of an instance, which get tags with it, are not
// changed later.
func (s Scope) ec2Made(creates []string) []string {
	var out []string
	for _, c := range creates {
		out = append(out, s.ec2Resources(c)...)
	}
	slices.Sort(out)
	return out
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
