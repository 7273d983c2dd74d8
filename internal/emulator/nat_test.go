// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// outlet holds the resources that a NAT gateway needs.
type outlet struct {
	*testing.T
	*ec2.Client
	vpc, subnet, address *string
}

func newOutlet(t *testing.T, c *ec2.Client) *outlet {
	t.Helper()
	o := &outlet{T: t, Client: c, vpc: newVPC(t, c)}
	subnet, err := c.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: o.vpc, CidrBlock: aws.String("10.0.1.0/24")})
	must.Succeed(t, err)
	address, err := c.AllocateAddress(t.Context(), &ec2.AllocateAddressInput{Domain: types.DomainTypeVpc})
	must.Succeed(t, err)
	o.subnet, o.address = subnet.Subnet.SubnetId, address.AllocationId
	return o
}

func (o *outlet) attachGateway() {
	o.Helper()
	made, err := o.CreateInternetGateway(o.Context(), &ec2.CreateInternetGatewayInput{})
	must.Succeed(o.T, err)
	_, err = o.AttachInternetGateway(o.Context(),
		&ec2.AttachInternetGatewayInput{InternetGatewayId: made.InternetGateway.InternetGatewayId, VpcId: o.vpc})
	must.Succeed(o.T, err)
}

// makeNAT creates a gateway that is tagged with its token.
func (o *outlet) makeNAT(token string) string {
	o.Helper()
	tags := []types.TagSpecification{{ResourceType: types.ResourceTypeNatgateway,
		Tags: []types.Tag{{Key: aws.String("token"), Value: &token}}}}
	made, err := o.CreateNatGateway(o.Context(),
		&ec2.CreateNatGatewayInput{SubnetId: o.subnet, AllocationId: o.address, ClientToken: &token, TagSpecifications: tags})
	must.Succeed(o.T, err)
	if made.NatGateway.State != types.NatGatewayStatePending {
		o.Errorf("a new gateway is %s", made.NatGateway.State)
	}
	return *made.NatGateway.NatGatewayId
}

func (o *outlet) nat(id string) types.NatGateway {
	o.Helper()
	out, err := o.DescribeNatGateways(o.Context(), &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{id}})
	must.Succeed(o.T, err)
	return out.NatGateways[0]
}

// A request with the token of an earlier one is answered with its result.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Run_Instance_Idempotency.html
func TestARepeatedRequestMakesNoSecondNATGateway(t *testing.T) {
	o := newOutlet(t, ec2.NewFromConfig(config(proxy(t).URL())))
	o.attachGateway()
	first := o.makeNAT("one")
	if again := o.makeNAT("one"); again != first {
		t.Errorf("the same token made %s and %s", first, again)
	}
	for token, want := range map[string]int{"one": 1, "other": 0} {
		out, err := o.DescribeNatGateways(t.Context(),
			&ec2.DescribeNatGatewaysInput{Filter: []types.Filter{{Name: aws.String("tag:token"), Values: []string{token}}}})
		must.Succeed(t, err)
		if len(out.NatGateways) != want {
			t.Errorf("%d gateways with the tag %s, want %d", len(out.NatGateways), token, want)
		}
	}
	_, err := o.DescribeNatGateways(t.Context(), &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{"nat-0123456789abcdef0"}})
	if code(err) != "NatGatewayNotFound" {
		t.Errorf("an unknown gateway: %v", err)
	}
	_, err = o.DeleteNatGateway(t.Context(), &ec2.DeleteNatGatewayInput{NatGatewayId: aws.String("nat-0123456789abcdef0")})
	if code(err) != "NatGatewayNotFound" {
		t.Errorf("deleting an unknown gateway: %v", err)
	}
}

// A gateway is pending, available, deleting and deleted, and keeps its address and its subnet until the last of these.
// https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html
func TestANATGatewayKeepsWhatItUsesUntilItIsDeleted(t *testing.T) {
	p := proxy(t)
	o := newOutlet(t, ec2.NewFromConfig(config(p.URL())))
	o.attachGateway()
	clock := time.Now()
	p.SetClock(func() time.Time { return clock })
	p.EC2.SetNATGatewayTakes(time.Minute)
	t.Cleanup(func() { p.EC2.SetNATGatewayTakes(0); p.SetClock(nil) })
	shows := func(id string, want types.NatGatewayState) {
		t.Helper()
		if got := o.nat(id).State; got != want {
			t.Fatalf("the gateway is %s, want %s", got, want)
		}
	}
	id := o.makeNAT("one")
	shows(id, types.NatGatewayStatePending)
	clock = clock.Add(time.Minute)
	shows(id, types.NatGatewayStateAvailable)
	_, err := o.DeleteNatGateway(t.Context(), &ec2.DeleteNatGatewayInput{NatGatewayId: &id})
	must.Succeed(t, err)
	shows(id, types.NatGatewayStateDeleting)
	if _, err := o.ReleaseAddress(t.Context(), &ec2.ReleaseAddressInput{AllocationId: o.address}); code(err) != "InvalidIPAddress.InUse" {
		t.Errorf("its address: %v", err)
	}
	if _, err := o.DeleteSubnet(t.Context(), &ec2.DeleteSubnetInput{SubnetId: o.subnet}); code(err) != "DependencyViolation" {
		t.Errorf("its subnet: %v", err)
	}
	clock = clock.Add(time.Minute)
	_, err = o.ReleaseAddress(t.Context(), &ec2.ReleaseAddressInput{AllocationId: o.address})
	must.Succeed(t, err)
	_, err = o.DeleteSubnet(t.Context(), &ec2.DeleteSubnetInput{SubnetId: o.subnet})
	must.Succeed(t, err)
	shows(id, types.NatGatewayStateDeleted)
	if _, err = o.DeleteNatGateway(t.Context(), &ec2.DeleteNatGatewayInput{NatGatewayId: &id}); code(err) != "NatGatewayNotFound" {
		t.Errorf("deleted again: %v", err)
	}
}

// "Gateway.NotAttached: Network vpc-… has no Internet gateway attached": AWS accepts the request, and the gateway fails.
// https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html
func TestANATGatewayFailsWithoutAnInternetGateway(t *testing.T) {
	o := newOutlet(t, ec2.NewFromConfig(config(proxy(t).URL())))
	id := o.makeNAT("one")
	if d := o.nat(id); d.State != types.NatGatewayStateFailed || aws.ToString(d.FailureCode) != "Gateway.NotAttached" ||
		aws.ToString(d.FailureMessage) != "Network "+*o.vpc+" has no Internet gateway attached" {
		t.Fatalf("%s %s %s", d.State, aws.ToString(d.FailureCode), aws.ToString(d.FailureMessage))
	}
	_, err := o.ReleaseAddress(t.Context(), &ec2.ReleaseAddressInput{AllocationId: o.address})
	must.Succeed(t, err)
	_, err = o.DeleteNatGateway(t.Context(), &ec2.DeleteNatGatewayInput{NatGatewayId: &id})
	must.Succeed(t, err)
}
