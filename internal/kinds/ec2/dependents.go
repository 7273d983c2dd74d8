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

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxCounted is how many dependents of one kind are counted; more are reported as "or more".
const maxCounted = 100

// dependent is a kind of resource that keeps AWS from deleting another one.
type dependent struct {
	name, action string
	// filter is the name of the filter that selects the dependents of a resource.
	filter string
	count  func(ctx context.Context, api *ec2.Client, filters []types.Filter) (n int, more bool, err error)
}

// networkInterfaces is the dependent that instances, load balancers, NAT gateways, endpoints and databases have in common.
func networkInterfaces(filter string) dependent {
	return dependent{"network interfaces", "ec2:DescribeNetworkInterfaces", filter, func(ctx context.Context, api *ec2.Client, filters []types.Filter) (int, bool, error) {
		out, err := api.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return 0, false, err
		}
		return len(out.NetworkInterfaces), out.NextToken != nil, nil
	}}
}

// securityGroups counts the groups that the filter selects, without the resource itself and, of a VPC, its default group.
func securityGroups(name, filter string) dependent {
	return dependent{name, "ec2:DescribeSecurityGroups", filter, func(ctx context.Context, api *ec2.Client, filters []types.Filter) (int, bool, error) {
		out, err := api.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return 0, false, err
		}
		n := 0
		for _, g := range out.SecurityGroups {
			isDefault := filter == "vpc-id" && aws.ToString(g.GroupName) == "default"
			if !isDefault && aws.ToString(g.GroupId) != filters[0].Values[0] {
				n++
			}
		}
		return n, out.NextToken != nil, nil
	}}
}

// dependentsOfVPC is read only. EC2 deletes the default security group and the main route table with the VPC.
// https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html
var dependentsOfVPC = []dependent{
	{"subnets", "ec2:DescribeSubnets", "vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (int, bool, error) {
		out, err := api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return 0, false, err
		}
		return len(out.Subnets), out.NextToken != nil, nil
	}},
	networkInterfaces("vpc-id"),
	{"internet gateways", "ec2:DescribeInternetGateways", "attachment.vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (int, bool, error) {
		out, err := api.DescribeInternetGateways(ctx, &ec2.DescribeInternetGatewaysInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return 0, false, err
		}
		return len(out.InternetGateways), out.NextToken != nil, nil
	}},
	securityGroups("security groups", "vpc-id"),
	{"route tables", "ec2:DescribeRouteTables", "vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (int, bool, error) {
		out, err := api.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{Filters: filters, MaxResults: aws.Int32(maxCounted)})
		if err != nil {
			return 0, false, err
		}
		others := slices.DeleteFunc(out.RouteTables, func(t types.RouteTable) bool {
			return slices.ContainsFunc(t.Associations, func(a types.RouteTableAssociation) bool { return aws.ToBool(a.Main) })
		})
		return len(others), out.NextToken != nil, nil
	}},
}

// dependentsOfSubnet is read only. EC2 removes a subnet's association with a route table with the subnet.
// https://docs.aws.amazon.com/vpc/latest/userguide/subnet-deleting.html
var dependentsOfSubnet = []dependent{networkInterfaces("subnet-id")}

// dependentsOfGroup is read only: what uses a security group, and the groups whose rules refer to it.
// https://docs.aws.amazon.com/vpc/latest/userguide/deleting-security-groups.html
var dependentsOfGroup = []dependent{
	networkInterfaces("group-id"),
	securityGroups("security groups with ingress rules for it", "ip-permission.group-id"),
	securityGroups("security groups with egress rules for it", "egress.ip-permission.group-id"),
}

// dependentsOfAttachment is read only: EC2 detaches no internet gateway from a VPC with public addresses in use.
// https://docs.aws.amazon.com/vpc/latest/userguide/delete-igw.html
var dependentsOfAttachment = []dependent{
	{"network interfaces with public addresses", "ec2:DescribeNetworkInterfaces", "vpc-id", func(ctx context.Context, api *ec2.Client, filters []types.Filter) (int, bool, error) {
		in := &ec2.DescribeNetworkInterfacesInput{Filters: filters}
		all, err := kind.Pages(ctx, api.DescribeNetworkInterfaces, in, &in.NextToken, func(out *ec2.DescribeNetworkInterfacesOutput) ([]types.NetworkInterface, *string) {
			return out.NetworkInterfaces, out.NextToken
		})
		public := slices.DeleteFunc(all, func(n types.NetworkInterface) bool { return n.Association == nil || n.Association.PublicIp == nil })
		return len(public), false, err
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

// count describes the dependents of a resource: "subnets: 2, internet gateways: 1"; empty for none.
func count(ctx context.Context, api *ec2.Client, dependents []dependent, id string) (string, error) {
	found := make([]string, len(dependents))
	var group errgroup.Group
	for i, d := range dependents {
		group.Go(func() error {
			n, more, err := d.count(ctx, api, []types.Filter{{Name: &d.filter, Values: []string{id}}})
			if more {
				found[i] = fmt.Sprintf("%s: %d or more", d.name, n)
			} else if n > 0 {
				found[i] = fmt.Sprintf("%s: %d", d.name, n)
			}
			return err
		})
	}
	err := group.Wait()
	var parts []string
	for _, f := range found {
		if f != "" {
			parts = append(parts, f)
		}
	}
	return strings.Join(parts, ", "), err
}

// holds counts the resources for which EC2 refused to delete another one, which noun names: "the VPC".
func holds(ctx context.Context, api *ec2.Client, dependents []dependent, noun, id string) ([]kind.Hold, error) {
	found, err := count(ctx, api, dependents, id)
	if err != nil || found == "" {
		return nil, err
	}
	return []kind.Hold{{Reason: status.ReasonInUse, Message: fmt.Sprintf(
		"the resources that use %s %s to be deleted: %s; delete them, or set deletionPolicy: Retain to keep the %s", noun, id, found, noun)}}, nil
}
