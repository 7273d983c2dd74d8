// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/errgroup"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxCounted sets how many dependents of one kind are counted; more are reported as "or more".
const maxCounted = 100

// dependent is a kind of resource that keeps AWS from deleting another one.
type dependent struct {
	action string
	// filter is the name of the filter that selects the dependents of a resource.
	filter string
	find   func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error)
}

// found holds the part of the message of a hold for one kind of dependent; zero for no dependents.
type found struct {
	text string
	// endsAlone is true when AWS removes all of it on its own schedule, without a request.
	endsAlone bool
}

// counted names the first dependents and counts all of them: "subnets: 2 (subnet-1, subnet-2)".
func counted(name string, ids []string, more bool) found {
	const most = 5
	if len(ids) == 0 {
		return found{}
	}
	slices.Sort(ids)
	shown := strings.Join(ids[:min(most, len(ids))], ", ")
	return found{text: fmt.Sprintf("%s: %d%s (%s%s)", name, len(ids), kind.Either(more, " or more", ""), shown, kind.Either(len(ids) > most, ", …", ""))}
}

// idsOf returns the identifiers of resources.
func idsOf[T any](all []T, id func(T) *string) []string {
	out := make([]string, 0, len(all))
	for _, r := range all {
		out = append(out, aws.ToString(id(r)))
	}
	return out
}

// networkInterfaces is the dependent that instances, load balancers, NAT gateways, endpoints and databases have in common.
func networkInterfaces(filter string) dependent {
	return dependent{"ec2:DescribeNetworkInterfaces", filter, func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		out, err := api.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return found{}, err
		}
		return interfacesInWords("", out.NetworkInterfaces, out.NextToken != nil), nil
	}}
}

// securityGroups counts the groups that the filter selects, without the resource itself and, of a VPC, its default group.
func securityGroups(name, filter string) dependent {
	return dependent{"ec2:DescribeSecurityGroups", filter, func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		out, err := api.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return found{}, err
		}
		var ids []string
		for _, g := range out.SecurityGroups {
			isDefault := filter == "vpc-id" && aws.ToString(g.GroupName) == "default"
			if !isDefault && aws.ToString(g.GroupId) != filters[0].Values[0] {
				ids = append(ids, aws.ToString(g.GroupId))
			}
		}
		return counted(name, ids, out.NextToken != nil), nil
	}}
}

// egressOnlyGateways counts those of a VPC, because EC2 has no filter for them.
func egressOnlyGateways(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
	in := &ec2.DescribeEgressOnlyInternetGatewaysInput{}
	all, err := kind.Pages(ctx, api.DescribeEgressOnlyInternetGateways, in, &in.NextToken, func(out *ec2.DescribeEgressOnlyInternetGatewaysOutput) ([]types.EgressOnlyInternetGateway, *string) {
		return out.EgressOnlyInternetGateways, out.NextToken
	})
	attached := slices.DeleteFunc(all, func(g types.EgressOnlyInternetGateway) bool {
		return !slices.ContainsFunc(g.Attachments, func(a types.InternetGatewayAttachment) bool { return aws.ToString(a.VpcId) == filters[0].Values[0] })
	})
	return counted("egress-only internet gateways", idsOf(attached, func(g types.EgressOnlyInternetGateway) *string { return g.EgressOnlyInternetGatewayId }), false), err
}

// carrierGateways counts those of a VPC, which reaches its subnets in Wavelength Zones by them.
func carrierGateways(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
	out, err := api.DescribeCarrierGateways(ctx, &ec2.DescribeCarrierGatewaysInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
	if err != nil {
		return found{}, err
	}
	left := slices.DeleteFunc(out.CarrierGateways, func(g types.CarrierGateway) bool { return g.State == types.CarrierGatewayStateDeleted })
	return counted("carrier gateways", idsOf(left, func(g types.CarrierGateway) *string { return g.CarrierGatewayId }), out.NextToken != nil), nil
}

// endedPeerings are the states of peering connections that keep no VPC. Read only.
// https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-basics.html
var endedPeerings = []types.VpcPeeringConnectionStateReasonCode{types.VpcPeeringConnectionStateReasonCodeDeleted, types.VpcPeeringConnectionStateReasonCodeDeleting,
	types.VpcPeeringConnectionStateReasonCodeExpired, types.VpcPeeringConnectionStateReasonCodeFailed, types.VpcPeeringConnectionStateReasonCodeRejected}

// peerings counts those of a VPC on either side, because EC2 has no common filter for them. A request from another account, for one, keeps
// the VPC until it is rejected. https://docs.aws.amazon.com/vpc/latest/peering/delete-vpc-peering-connection.html
func peerings(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
	in := &ec2.DescribeVpcPeeringConnectionsInput{}
	all, err := kind.Pages(ctx, api.DescribeVpcPeeringConnections, in, &in.NextToken, func(out *ec2.DescribeVpcPeeringConnectionsOutput) ([]types.VpcPeeringConnection, *string) {
		return out.VpcPeeringConnections, out.NextToken
	})
	id := filters[0].Values[0]
	left := slices.DeleteFunc(all, func(c types.VpcPeeringConnection) bool {
		ofVPC := aws.ToString(kind.NonNil(c.RequesterVpcInfo).VpcId) == id || aws.ToString(kind.NonNil(c.AccepterVpcInfo).VpcId) == id
		return !ofVPC || slices.Contains(endedPeerings, kind.NonNil(c.Status).Code)
	})
	return counted("VPC peering connections", idsOf(left, func(c types.VpcPeeringConnection) *string { return c.VpcPeeringConnectionId }), false), err
}

// ifAllowed counts nothing where EC2 refuses the read: a region may have no such resources, and a policy that an earlier version printed
// does not allow the action. EC2 itself keeps a resource in use, and its own words are reported then.
func ifAllowed(d dependent) dependent {
	return dependent{d.action, d.filter, func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		f, err := d.find(ctx, api, filters)
		if awsclient.Is(err, awsclient.Denied) || awsclient.Is(err, awsclient.Invalid) {
			return found{}, nil
		}
		return f, err
	}}
}

// dependentsOfVPC is read only. EC2 deletes the default security group and the main route table with the VPC.
// https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html
var dependentsOfVPC = []dependent{
	{"ec2:DescribeSubnets", "vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		out, err := api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return found{}, err
		}
		return counted("subnets", idsOf(out.Subnets, func(s types.Subnet) *string { return s.SubnetId }), out.NextToken != nil), nil
	}},
	networkInterfaces("vpc-id"),
	{"ec2:DescribeInternetGateways", "attachment.vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		out, err := api.DescribeInternetGateways(ctx, &ec2.DescribeInternetGatewaysInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return found{}, err
		}
		return counted("internet gateways", idsOf(out.InternetGateways, func(g types.InternetGateway) *string { return g.InternetGatewayId }), out.NextToken != nil), nil
	}},
	securityGroups("security groups", "vpc-id"),
	{"ec2:DescribeVpcEndpoints", "vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		out, err := api.DescribeVpcEndpoints(ctx, &ec2.DescribeVpcEndpointsInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return found{}, err
		}
		left := slices.DeleteFunc(out.VpcEndpoints, func(e types.VpcEndpoint) bool { return strings.EqualFold(string(e.State), "deleted") })
		return counted("VPC endpoints", idsOf(left, func(e types.VpcEndpoint) *string { return e.VpcEndpointId }), out.NextToken != nil), nil
	}},
	{"ec2:DescribeEgressOnlyInternetGateways", "vpc-id", egressOnlyGateways},
	{"ec2:DescribeVpnGateways", "attachment.vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		attached := append(slices.Clone(filters), types.Filter{Name: aws.String("attachment.state"), Values: []string{"attaching", "attached", "detaching"}})
		out, err := api.DescribeVpnGateways(ctx, &ec2.DescribeVpnGatewaysInput{Filters: attached})
		if err != nil {
			return found{}, err
		}
		return counted("VPN gateways", idsOf(out.VpnGateways, func(g types.VpnGateway) *string { return g.VpnGatewayId }), false), nil
	}},
	ifAllowed(dependent{"ec2:DescribeCarrierGateways", "vpc-id", carrierGateways}),
	ifAllowed(dependent{"ec2:DescribeVpcPeeringConnections", "vpc-id", peerings}),
	{"ec2:DescribeNetworkAcls", "vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		others := append(slices.Clone(filters), types.Filter{Name: aws.String("default"), Values: []string{"false"}})
		out, err := api.DescribeNetworkAcls(ctx, &ec2.DescribeNetworkAclsInput{Filters: others, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return found{}, err
		}
		return counted("network ACLs", idsOf(out.NetworkAcls, func(l types.NetworkAcl) *string { return l.NetworkAclId }), out.NextToken != nil), nil
	}},
	{"ec2:DescribeRouteTables", "vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		out, err := api.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return found{}, err
		}
		others := slices.DeleteFunc(out.RouteTables, func(t types.RouteTable) bool {
			return slices.ContainsFunc(t.Associations, func(a types.RouteTableAssociation) bool { return aws.ToBool(a.Main) })
		})
		return counted("route tables", idsOf(others, func(t types.RouteTable) *string { return t.RouteTableId }), out.NextToken != nil), nil
	}},
}

// dependentsOfSubnet is read only. EC2 removes a subnet's association with a route table with the subnet.
// https://docs.aws.amazon.com/vpc/latest/userguide/subnet-deleting.html
var dependentsOfSubnet = []dependent{networkInterfaces("subnet-id")}

// dependentsOfGroup is read only: the users of a security group, and the groups with rules that refer to it.
// https://docs.aws.amazon.com/vpc/latest/userguide/deleting-security-groups.html
var dependentsOfGroup = []dependent{
	networkInterfaces("group-id"),
	securityGroups("security groups with ingress rules for it", "ip-permission.group-id"),
	securityGroups("security groups with egress rules for it", "egress.ip-permission.group-id"),
}

// dependentsOfAttachment is read only: EC2 detaches no internet gateway from a VPC with public addresses in use.
// https://docs.aws.amazon.com/vpc/latest/userguide/delete-igw.html
var dependentsOfAttachment = []dependent{
	{"ec2:DescribeNetworkInterfaces", "vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (found, error) {
		in := &ec2.DescribeNetworkInterfacesInput{Filters: filters}
		all, err := kind.Pages(ctx, api.DescribeNetworkInterfaces, in, &in.NextToken, func(out *ec2.DescribeNetworkInterfacesOutput) ([]types.NetworkInterface, *string) {
			return out.NetworkInterfaces, out.NextToken
		})
		public := slices.DeleteFunc(all, func(n types.NetworkInterface) bool { return n.Association == nil || n.Association.PublicIp == nil })
		return interfacesInWords(" with a public address", public, false), err
	}},
}

// readsOf returns the IAM actions that count the dependents.
func readsOf(dependents []dependent) []string {
	out := make([]string, 0, len(dependents))
	for _, d := range dependents {
		out = append(out, d.action)
	}
	return out
}

// dependentsInWords names the dependents of a resource: "subnets: 1 (subnet-1), internet gateways: 1 (igw-1)"; zero for none.
func dependentsInWords(ctx context.Context, api *ec2.Client, dependents []dependent, id string) (found, error) {
	all := make([]found, len(dependents))
	var group errgroup.Group
	for i, d := range dependents {
		group.Go(func() (err error) {
			all[i], err = d.find(ctx, api, []types.Filter{{Name: &d.filter, Values: []string{id}}})
			return err
		})
	}
	err := group.Wait()
	sum := found{endsAlone: true}
	var parts []string
	for _, f := range all {
		if f.text != "" {
			parts, sum.endsAlone = append(parts, f.text), sum.endsAlone && f.endsAlone
		}
	}
	sum.text = strings.Join(parts, ", ")
	return sum, err
}

// holds names the resources that kept EC2 from deleting another one, which noun names: "the VPC".
func holds(ctx context.Context, api *ec2.Client, dependents []dependent, noun, id string) ([]kind.Hold, error) {
	f, err := dependentsInWords(ctx, api, dependents, id)
	if err != nil || f.text == "" {
		return nil, err
	}
	return []kind.Hold{{Reason: status.ReasonInUse, Message: fmt.Sprintf("the resources that use %s %s to be deleted: %s; %sset deletionPolicy: Retain to keep the %s",
		noun, id, f.text, kind.Either(f.endsAlone, "no action is needed, or ", "delete them, or "), noun)}}, nil
}
