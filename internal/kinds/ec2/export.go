// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exportedVPC declares a VPC as it is.
func exportedVPC(cr *v1alpha1.VPC, have VPCState) {
	out := &cr.Spec
	out.CIDRBlock, out.InstanceTenancy = aws.ToString(have.CIDRBlock), aws.ToString(have.InstanceTenancy)
	out.EnableDNSSupport, out.EnableDNSHostnames = have.DNSSupport, have.DNSHostnames
}

// exportedSubnet declares a subnet as it is.
func exportedSubnet(cr *v1alpha1.Subnet, have SubnetState) {
	out := &cr.Spec
	out.VPCID, out.CIDRBlock, out.AvailabilityZone = aws.ToString(have.VPCID), aws.ToString(have.CIDRBlock), aws.ToString(have.AvailabilityZone)
	out.MapPublicIPOnLaunch = have.MapPublicIPOnLaunch
}

// exportedInternetGateway declares an internet gateway as it is.
func exportedInternetGateway(cr *v1alpha1.InternetGateway, have InternetGatewayState) {
	cr.Spec.VPCID = kind.NonEmpty(&have.AttachedTo)
}

// exportedRouteTable declares a route table as it is.
func exportedRouteTable(cr *v1alpha1.RouteTable, have RouteTableState) {
	routes, subnets := make([]v1alpha1.Route, 0, len(have.Routes)), make([]v1alpha1.SubnetID, 0, len(have.Subnets))
	for _, destination := range kind.SortedKeys(have.Routes) {
		routes = append(routes, exportedRoute(destination, have.Routes[destination].Target))
	}
	for _, id := range kind.SortedKeys(have.Subnets) {
		subnets = append(subnets, v1alpha1.SubnetID(id))
	}
	cr.Spec.VPCID, cr.Spec.Routes, cr.Spec.SubnetAssociations = aws.ToString(have.VPCID), kind.NonEmptyList(&routes), kind.NonEmptyList(&subnets)
}

// exportedRoute names the target by the field of its kind. A target of a kind that has no field is refused as a gateway, so
// that it shows in the result of the import.
func exportedRoute(destination, target string) v1alpha1.Route {
	r := v1alpha1.Route{DestinationCIDRBlock: destination}
	prefix, _, _ := strings.Cut(target, "-")
	switch prefix {
	case "nat":
		r.NATGatewayID = target
	case "i":
		r.InstanceID = target
	case "eni":
		r.NetworkInterfaceID = target
	case "pcx":
		r.VPCPeeringConnectionID = target
	case "tgw":
		r.TransitGatewayID = target
	default:
		r.GatewayID = target
	}
	return r
}

// exportedElasticIP declares an address as it is: nothing but its tags can be declared.
func exportedElasticIP(*v1alpha1.ElasticIP, ElasticIPState) {}

// exportedKeyPair declares a key pair as it is.
func exportedKeyPair(cr *v1alpha1.EC2KeyPair, have KeyPairState) {
	cr.Spec.KeyName, cr.Spec.PublicKeyMaterial = have.Name, aws.ToString(have.PublicKey)
}

// exportedInstance declares an instance as it is, without its user data and without the settings of its volumes, which are not
// read.
func exportedInstance(cr *v1alpha1.EC2Instance, have InstanceState) {
	out := &cr.Spec
	out.InstanceType, out.ImageID, out.State, out.KeyName = aws.ToString(have.InstanceType), aws.ToString(have.ImageID), have.Power, aws.ToString(have.KeyName)
	out.SubnetID, out.AvailabilityZone, out.IAMInstanceProfile = aws.ToString(have.SubnetID), aws.ToString(have.Zone), have.Profile
	out.MetadataOptions, out.Monitoring, out.DisableAPITermination, out.EBSOptimized = &have.Metadata, have.Monitoring, have.DisableAPITermination, have.EBSOptimized
	for _, id := range have.SecurityGroups {
		out.SecurityGroupIDs = append(out.SecurityGroupIDs, v1alpha1.SecurityGroupID(id))
	}
}

// exportedNATGateway declares a NAT gateway as it is.
func exportedNATGateway(cr *v1alpha1.NATGateway, have NATGatewayState) {
	out := &cr.Spec
	out.SubnetID, out.AllocationID, out.ConnectivityType = aws.ToString(have.SubnetID), aws.ToString(have.AllocationID), aws.ToString(have.ConnectivityType)
}

// separateSettings are the settings of an instance that no field says, with one read for each.
func (i *instance) separateSettings() []kind.SeparateSetting[InstanceState] {
	return []kind.SeparateSetting[InstanceState]{
		{ImportRead: kind.ImportRead{Setting: "creditSpecification", Action: "ec2:DescribeInstanceCreditSpecifications"}, Read: i.hasCreditOption},
		kind.ReadSeparately(kind.ImportRead{Setting: "disableApiStop", Action: "ec2:DescribeInstanceAttribute"}, i.api.DescribeInstanceAttribute,
			func(have InstanceState) *ec2.DescribeInstanceAttributeInput {
				return &ec2.DescribeInstanceAttributeInput{InstanceId: &have.ID, Attribute: types.InstanceAttributeNameDisableApiStop}
			},
			func(out *ec2.DescribeInstanceAttributeOutput) bool {
				return aws.ToBool(kind.NonNil(out.DisableApiStop).Value)
			}),
		kind.ReadSeparately(kind.ImportRead{Setting: "instanceInitiatedShutdownBehavior", Action: "ec2:DescribeInstanceAttribute"}, i.api.DescribeInstanceAttribute,
			func(have InstanceState) *ec2.DescribeInstanceAttributeInput {
				return &ec2.DescribeInstanceAttributeInput{InstanceId: &have.ID, Attribute: types.InstanceAttributeNameInstanceInitiatedShutdownBehavior}
			},
			func(out *ec2.DescribeInstanceAttributeOutput) bool {
				return aws.ToString(kind.NonNil(out.InstanceInitiatedShutdownBehavior).Value) == "terminate"
			}),
	}
}

// hasCreditOption reports whether a burstable instance has another credit option than AWS chooses.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-unlimited-mode-concepts.html
func (i *instance) hasCreditOption(ctx context.Context, have InstanceState) (bool, error) {
	instanceType := *kind.NonNil(have.InstanceType)
	if !isBurstable.MatchString(instanceType) {
		return false, nil
	}
	out, err := i.api.DescribeInstanceCreditSpecifications(ctx, &ec2.DescribeInstanceCreditSpecificationsInput{InstanceIds: []string{have.ID}})
	if err != nil {
		return false, err
	}
	byDefault := kind.Either(strings.HasPrefix(instanceType, "t2."), "standard", "unlimited")
	return slices.ContainsFunc(out.InstanceCreditSpecifications, func(c types.InstanceCreditSpecification) bool {
		return aws.ToString(c.CpuCredits) != byDefault
	}), nil
}

// isBurstable matches the types that earn credits. EC2 refuses to describe the credits of others.
var isBurstable = regexp.MustCompile(`^t\d`)
