// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func newVPC(t *testing.T, c *ec2.Client) *string {
	t.Helper()
	out, err := c.CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")})
	must.Succeed(t, err)
	return out.Vpc.VpcId
}

// "DependencyViolation: The subnet … has dependencies": instances and other network interfaces keep their subnet.
func TestASubnetIsKeptWhileItHasNetworkInterfaces(t *testing.T) {
	c, ctx := ec2.NewFromConfig(config(proxy(t).URL())), t.Context()
	subnet, err := c.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: newVPC(t, c), CidrBlock: aws.String("10.0.1.0/24")})
	must.Succeed(t, err)
	id := subnet.Subnet.SubnetId
	eni, err := c.CreateNetworkInterface(ctx, &ec2.CreateNetworkInterfaceInput{SubnetId: id})
	must.Succeed(t, err)
	if _, err = c.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: id}); code(err) != "DependencyViolation" {
		t.Fatalf("with a network interface: %v", err)
	}
	_, err = c.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: eni.NetworkInterface.NetworkInterfaceId})
	must.Succeed(t, err)
	_, err = c.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: id})
	must.Succeed(t, err)
}

// A VPC is kept while it has security groups other than its default one, and while an internet gateway is attached.
func TestAVPCIsKeptWhileItHasGroupsOrGateways(t *testing.T) {
	c, ctx := ec2.NewFromConfig(config(proxy(t).URL())), t.Context()
	vpc := newVPC(t, c)
	refused := func(what string) {
		t.Helper()
		if _, err := c.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: vpc}); code(err) != "DependencyViolation" {
			t.Fatalf("with %s: %v", what, err)
		}
	}
	group, err := c.CreateSecurityGroup(ctx,
		&ec2.CreateSecurityGroupInput{VpcId: vpc, GroupName: aws.String("web"), Description: aws.String("web")})
	must.Succeed(t, err)
	refused("a security group")
	_, err = c.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: group.GroupId})
	must.Succeed(t, err)
	gateway, err := c.CreateInternetGateway(ctx, &ec2.CreateInternetGatewayInput{})
	must.Succeed(t, err)
	_, err = c.AttachInternetGateway(ctx,
		&ec2.AttachInternetGatewayInput{VpcId: vpc, InternetGatewayId: gateway.InternetGateway.InternetGatewayId})
	must.Succeed(t, err)
	refused("a gateway")
	_, err = c.DetachInternetGateway(ctx,
		&ec2.DetachInternetGatewayInput{VpcId: vpc, InternetGatewayId: gateway.InternetGateway.InternetGatewayId})
	must.Succeed(t, err)
	_, err = c.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: vpc})
	must.Succeed(t, err)
}

// A group is kept while network interfaces use it, and while rules of other groups refer to it.
func TestASecurityGroupIsKeptWhileItIsUsed(t *testing.T) {
	c, ctx := ec2.NewFromConfig(config(proxy(t).URL())), t.Context()
	vpc := newVPC(t, c)
	used, other := newGroup(t, c, vpc, "used"), newGroup(t, c, vpc, "other")
	remove := func(id *string) error {
		_, err := c.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: id})
		return err
	}
	for _, permissions := range [][]types.IpPermission{permissionFor(used, nil), permissionFor(other, nil)} {
		_, err := c.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: other, IpPermissions: permissions})
		must.Succeed(t, err)
	}
	if err := remove(used); code(err) != "DependencyViolation" {
		t.Fatalf("a rule refers to it: %v", err)
	}
	subnet, err := c.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc, CidrBlock: aws.String("10.0.1.0/24")})
	must.Succeed(t, err)
	_, err = c.CreateNetworkInterface(ctx, &ec2.CreateNetworkInterfaceInput{SubnetId: subnet.Subnet.SubnetId, Groups: []string{*used}})
	must.Succeed(t, err)
	must.Succeed(t, remove(other)) // only its own rules refer to it
	if err := remove(used); code(err) != "DependencyViolation" {
		t.Fatalf("an interface uses it: %v", err)
	}
}

// "You can remove a description for a security group rule by omitting the description parameter in the request."
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_UpdateSecurityGroupRuleDescriptionsIngress.html
func TestDescriptionsOfRulesAreReplacedAndRemoved(t *testing.T) {
	c, ctx := ec2.NewFromConfig(config(proxy(t).URL())), t.Context()
	group := newGroup(t, c, newVPC(t, c), "web")
	_, err := c.AuthorizeSecurityGroupIngress(ctx,
		&ec2.AuthorizeSecurityGroupIngressInput{GroupId: group, IpPermissions: permissionFor(group, aws.String("one"))})
	must.Succeed(t, err)
	for _, want := range []*string{aws.String("two"), nil} {
		_, err := c.UpdateSecurityGroupRuleDescriptionsIngress(ctx,
			&ec2.UpdateSecurityGroupRuleDescriptionsIngressInput{GroupId: group, IpPermissions: permissionFor(group, want)})
		must.Succeed(t, err)
		out, err := c.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{*group}})
		must.Succeed(t, err)
		if rules := out.SecurityGroups[0].IpPermissions; len(rules) != 1 ||
			aws.ToString(rules[0].UserIdGroupPairs[0].Description) != aws.ToString(want) {
			t.Errorf("%+v, want the description %q", rules, aws.ToString(want))
		}
	}
	missing := permissionFor(group, nil)
	missing[0].FromPort = aws.Int32(1)
	_, err = c.UpdateSecurityGroupRuleDescriptionsIngress(ctx,
		&ec2.UpdateSecurityGroupRuleDescriptionsIngressInput{GroupId: group, IpPermissions: missing})
	if code(err) != "InvalidPermission.NotFound" {
		t.Errorf("a rule that does not exist: %v", err)
	}
}

func newGroup(t *testing.T, c *ec2.Client, vpc *string, name string) *string {
	t.Helper()
	out, err := c.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{VpcId: vpc, GroupName: &name, Description: &name})
	must.Succeed(t, err)
	return out.GroupId
}

func permissionFor(group, description *string) []types.IpPermission {
	return []types.IpPermission{{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(80), ToPort: aws.Int32(80),
		UserIdGroupPairs: []types.UserIdGroupPair{{GroupId: group, Description: description}}}}
}

// "Network vpc-… already has an internet gateway attached", and "Network vpc-… has some mapped public address(es)".
func TestGatewaysOfANetworkAreOneAndKeptWhileUsed(t *testing.T) {
	c, ctx := ec2.NewFromConfig(config(proxy(t).URL())), t.Context()
	vpc := newVPC(t, c)
	gateway := func() *string {
		out, err := c.CreateInternetGateway(ctx, &ec2.CreateInternetGatewayInput{})
		must.Succeed(t, err)
		return out.InternetGateway.InternetGatewayId
	}
	attach := func(id *string) error {
		_, err := c.AttachInternetGateway(ctx, &ec2.AttachInternetGatewayInput{VpcId: vpc, InternetGatewayId: id})
		return err
	}
	detach := func(id *string) error {
		_, err := c.DetachInternetGateway(ctx, &ec2.DetachInternetGatewayInput{VpcId: vpc, InternetGatewayId: id})
		return err
	}
	first, second := gateway(), gateway()
	must.Succeed(t, attach(first))
	if err := attach(first); code(err) != "Resource.AlreadyAssociated" {
		t.Errorf("attached again: %v", err)
	}
	if err := attach(second); code(err) != "InvalidParameterValue" {
		t.Errorf("a second gateway: %v", err)
	}
	subnet, err := c.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc, CidrBlock: aws.String("10.0.1.0/24")})
	must.Succeed(t, err)
	eni, err := c.CreateNetworkInterface(ctx, &ec2.CreateNetworkInterfaceInput{SubnetId: subnet.Subnet.SubnetId})
	must.Succeed(t, err)
	address, err := c.AllocateAddress(ctx, &ec2.AllocateAddressInput{Domain: types.DomainTypeVpc})
	must.Succeed(t, err)
	associated, err := c.AssociateAddress(ctx,
		&ec2.AssociateAddressInput{AllocationId: address.AllocationId, NetworkInterfaceId: eni.NetworkInterface.NetworkInterfaceId})
	must.Succeed(t, err)
	if err := detach(first); code(err) != "DependencyViolation" {
		t.Errorf("a public address is in use: %v", err)
	}
	_, err = c.DisassociateAddress(ctx, &ec2.DisassociateAddressInput{AssociationId: associated.AssociationId})
	must.Succeed(t, err)
	must.Succeed(t, detach(first))
}

// A subnet has at most one association, which ends with the subnet:
// https://docs.aws.amazon.com/vpc/latest/userguide/WorkWithRouteTables.html
func TestASubnetHasOneRouteTableUntilItIsDeleted(t *testing.T) {
	c, ctx := ec2.NewFromConfig(config(proxy(t).URL())), t.Context()
	vpc := newVPC(t, c)
	subnet, err := c.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: vpc, CidrBlock: aws.String("10.0.1.0/24")})
	must.Succeed(t, err)
	var tables []*string
	for range 2 {
		out, err := c.CreateRouteTable(ctx, &ec2.CreateRouteTableInput{VpcId: vpc})
		must.Succeed(t, err)
		tables = append(tables, out.RouteTable.RouteTableId)
	}
	_, err = c.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: tables[0], SubnetId: subnet.Subnet.SubnetId})
	must.Succeed(t, err)
	_, err = c.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: tables[1], SubnetId: subnet.Subnet.SubnetId})
	if code(err) != "Resource.AlreadyAssociated" {
		t.Errorf("a second table: %v", err)
	}
	_, err = c.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: subnet.Subnet.SubnetId})
	must.Succeed(t, err)
	out, err := c.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{*tables[0]}})
	must.Succeed(t, err)
	if left := out.RouteTables[0].Associations; len(left) > 0 {
		t.Errorf("%+v", left)
	}
	_, err = c.DeleteRouteTable(ctx, &ec2.DeleteRouteTableInput{RouteTableId: tables[0]})
	must.Succeed(t, err)
}

// An address must be disassociated before it is released: "Otherwise, Amazon EC2 returns an error (InvalidIPAddress.InUse)."
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ReleaseAddress.html
func TestAnAddressInUseIsNotReleased(t *testing.T) {
	c, ctx := ec2.NewFromConfig(config(proxy(t).URL())), t.Context()
	subnet, err := c.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: newVPC(t, c), CidrBlock: aws.String("10.0.1.0/24")})
	must.Succeed(t, err)
	eni, err := c.CreateNetworkInterface(ctx, &ec2.CreateNetworkInterfaceInput{SubnetId: subnet.Subnet.SubnetId})
	must.Succeed(t, err)
	address, err := c.AllocateAddress(ctx, &ec2.AllocateAddressInput{Domain: types.DomainTypeVpc})
	must.Succeed(t, err)
	associated, err := c.AssociateAddress(ctx,
		&ec2.AssociateAddressInput{AllocationId: address.AllocationId, NetworkInterfaceId: eni.NetworkInterface.NetworkInterfaceId})
	must.Succeed(t, err)
	release := func() error {
		_, err := c.ReleaseAddress(ctx, &ec2.ReleaseAddressInput{AllocationId: address.AllocationId})
		return err
	}
	if err := release(); code(err) != "InvalidIPAddress.InUse" {
		t.Fatalf("in use: %v", err)
	}
	_, err = c.DisassociateAddress(ctx, &ec2.DisassociateAddressInput{AssociationId: associated.AssociationId})
	must.Succeed(t, err)
	must.Succeed(t, release())
}
