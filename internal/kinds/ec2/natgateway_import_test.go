// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-working-with.html#nat-gateway-edit-secondary
func TestNATGateway_ImportNamesSecondaryAddresses(t *testing.T) {
	second := types.NatGatewayAddress{IsPrimary: aws.Bool(false), PrivateIp: aws.String("10.20.1.99"),
		Status: types.NatGatewayAddressStatusSucceeded}
	public := second
	public.AllocationId, public.PublicIp, public.AssociationId = aws.String("eipalloc-0000000000000000f"), aws.String("198.51.100.7"),
		aws.String("eipassoc-0000000000000000f")
	public.NetworkInterfaceId = aws.String("eni-0000000000000000f")
	for name, tc := range map[string]struct {
		edits []func(*natSpec)
		added []types.NatGatewayAddress
		want  []string
	}{
		"public":                {nil, []types.NatGatewayAddress{public}, []string{"natGatewayAddresses[eipalloc-0000000000000000f]"}},
		"private":               {[]func(*natSpec){private}, []types.NatGatewayAddress{second}, []string{"natGatewayAddresses[1].privateIp"}},
		"without them":          {nil, nil, nil},
		"private, without them": {[]func(*natSpec){private}, nil, nil},
	} {
		settings, _, exported := kindtest.NotDeclared(t, engine.For(NewNATGateway), natOf(tc.edits...),
			func(s *kindtest.Subject) { inOutlet(t, s) }, func(output any) {
				if out, ok := output.(*ec2.DescribeNatGatewaysOutput); ok {
					for i := range out.NatGateways {
						if out.NatGateways[i].ConnectivityType == types.ConnectivityTypePublic {
							out.NatGateways[i].ConnectivityType = "" // of gateways that are older than the setting
						}
						out.NatGateways[i].NatGatewayAddresses[0].IsPrimary = aws.Bool(true) // the emulator leaves it out
						out.NatGateways[i].NatGatewayAddresses = append(out.NatGateways[i].NatGatewayAddresses, tc.added...)
					}
				}
			})
		if got := exported.(*v1alpha1.NATGateway).Spec.ConnectivityType; got == "" {
			t.Errorf("%s: no connectivity type: %+v", name, exported.(*v1alpha1.NATGateway).Spec)
		}
		if !slices.Equal(settings, tc.want) {
			t.Errorf("%s: not declared: %q, want %q", name, settings, tc.want)
		}
	}
}
