// SPDX-License-Identifier: Apache-2.0

// Package ec2 is the EC2 kinds.
package ec2

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// VPCState is a VPC as both the spec and EC2 can express it.
type VPCState struct {
	Resource      `drift:"id"`
	State         string `drift:"observed"`
	OwnerID       string `drift:"observed"`
	IsDefault     bool   `drift:"observed"`
	DHCPOptionsID string `drift:"observed"`

	CIDRBlock       *string `drift:"immutable"`
	InstanceTenancy *string `drift:"immutable"`
	DNSSupport      *bool
	DNSHostnames    *bool
	Tags            map[string]string `drift:"tags"`
}

type vpc struct {
	api   *ec2.Client
	batch kind.Batch[types.Vpc]
}

// NewVPC binds the VPC kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewVPC(cfg aws.Config) kind.Kind[*v1alpha1.VPC, VPCState] {
	v := &vpc{api: ec2.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.VPC, VPCState]{
		Meta:     kind.Meta{Facts: vpcFacts(), Identity: kind.ByTag},
		Identify: identifyVPC, Declare: declareVPC, Publish: publishVPC, Export: kind.Export[*v1alpha1.VPC, VPCState]{Identity: []string{"importID"}, Spec: exportedVPC},
		Describe: kind.Read[VPCState]{Actions: append(readsOf(dependentsOfVPC), "ec2:DescribeVpcs"), Do: v.describe},
		Create:   kind.Call[VPCState]{Action: "ec2:CreateVpc", DoForID: v.create},
		Tagging:  tagging(v.api, func(s VPCState) string { return s.ID }),
		Parts: []kind.Part[VPCState]{
			v.dns("DNSSupport", types.VpcAttributeNameEnableDnsSupport, true, func(s *VPCState) **bool { return &s.DNSSupport }),
			v.dns("DNSHostnames", types.VpcAttributeNameEnableDnsHostnames, false, func(s *VPCState) **bool { return &s.DNSHostnames }),
		},
		// EC2 completes the deletion before it answers. The verifying look is kept because it searches by
		// tags: it finds, and the next step deletes, a duplicate that a lost answer left behind.
		Delete: []kind.Ending[VPCState]{{Call: kind.Call[VPCState]{Action: "ec2:DeleteVpc", Effect: kind.Deletes, Do: func(ctx context.Context, _, have VPCState) error {
			_, err := v.api.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &have.ID})
			return awsclient.MarkNotEmpty(err)
		}}}},
	})
}

func identifyVPC(sc kind.Scope, _ *v1alpha1.VPC) (VPCState, error) {
	return VPCState{Resource: identify(sc, "vpc")}, nil
}

func declareVPC(_ kind.Scope, cr *v1alpha1.VPC, want *VPCState) error {
	in := cr.Spec
	if err := checkNetwork("spec.cidrBlock", in.CIDRBlock); err != nil {
		return err
	}
	want.CIDRBlock, want.DNSSupport, want.DNSHostnames = &in.CIDRBlock, in.EnableDNSSupport, in.EnableDNSHostnames
	want.InstanceTenancy = kind.NonEmpty(&in.InstanceTenancy)
	return nil
}

func publishVPC(cr *v1alpha1.VPC, s VPCState) {
	st := &cr.Status
	st.ID, st.ARN, st.VPCID = s.ID, s.arn(), s.ID
	st.State, st.OwnerID, st.IsDefault, st.DHCPOptionsID = s.State, s.OwnerID, s.IsDefault, s.DHCPOptionsID
	st.CIDRBlock = aws.ToString(s.CIDRBlock)
}

func (v *vpc) create(ctx context.Context, want VPCState, _ string) (string, error) {
	out, err := v.api.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: want.CIDRBlock, InstanceTenancy: types.Tenancy(aws.ToString(want.InstanceTenancy)),
		TagSpecifications: tagSpecification(types.ResourceTypeVpc, want.Tags)})
	if err != nil || out.Vpc == nil {
		return "", err
	}
	return aws.ToString(out.Vpc.VpcId), nil
}

func (v *vpc) describe(ctx context.Context, want VPCState, look kind.Look) (kind.Seen[VPCState], error) {
	vpcs := description[types.Vpc]{filter: "vpc-id", batch: &v.batch, list: v.list, of: func(d types.Vpc) (id, account *string, tags []types.Tag) { return d.VpcId, d.OwnerId, d.Tags }}
	d, duplicates, err := vpcs.find(ctx, want.Resource, look.Check)
	if err != nil || d == nil {
		return kind.Seen[VPCState]{}, err
	}
	seen := kind.Seen[VPCState]{Exists: true, Tags: kind.TagMap(d.Tags), Duplicates: duplicates, State: VPCState{
		Resource: Resource{ARNPrefix: want.ARNPrefix, ID: aws.ToString(d.VpcId)}, State: string(d.State), OwnerID: aws.ToString(d.OwnerId),
		IsDefault: aws.ToBool(d.IsDefault), DHCPOptionsID: aws.ToString(d.DhcpOptionsId),
		CIDRBlock: d.CidrBlock, InstanceTenancy: kind.Ptr(string(d.InstanceTenancy)),
	}}
	if d.State == types.VpcStatePending || !look.Deleting {
		seen.Busy = kind.BusyUnless("the VPC", d.State, types.VpcStateAvailable)
	}
	if look.Contents {
		seen.Holds, err = holds(ctx, v.api, dependentsOfVPC, "VPC", seen.State.ID)
	}
	return seen, err
}

func (v *vpc) list(ctx context.Context, ids []string, filters []types.Filter) ([]types.Vpc, error) {
	in := &ec2.DescribeVpcsInput{VpcIds: ids, Filters: filters}
	return kind.Pages(ctx, v.api.DescribeVpcs, in, &in.NextToken, func(out *ec2.DescribeVpcsOutput) ([]types.Vpc, *string) { return out.Vpcs, out.NextToken })
}

// dns is the part of one DNS attribute; ModifyVpcAttribute sets one at a time. DNS hostnames need DNS
// support, so the change that preserves this is sent first.
// https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html
func (v *vpc) dns(field string, name types.VpcAttributeName, support bool, of func(*VPCState) **bool) kind.Part[VPCState] {
	return kind.Part[VPCState]{
		Fields: []string{field}, Reads: "ec2:DescribeVpcAttribute",
		// A new VPC has DNS resolution and no DNS host names:
		// https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html
		Default: func(want VPCState) bool { return aws.ToBool(*of(&want)) == support },
		Read: func(ctx context.Context, _ VPCState, have *VPCState) error {
			out, err := v.api.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: &have.ID, Attribute: name})
			if err != nil {
				return err
			}
			found := kind.NonNil(kind.Either(support, out.EnableDnsSupport, out.EnableDnsHostnames))
			*of(have) = kind.NonNil(found.Value)
			return nil
		},
		Write: kind.Call[VPCState]{Action: "ec2:ModifyVpcAttribute", Do: func(ctx context.Context, want, have VPCState) error {
			in, value := &ec2.ModifyVpcAttributeInput{VpcId: &have.ID}, &types.AttributeBooleanValue{Value: *of(&want)}
			if support {
				in.EnableDnsSupport = value
			} else {
				in.EnableDnsHostnames = value
			}
			_, err := v.api.ModifyVpcAttribute(ctx, in)
			return err
		}},
		Stage: func(want, _ VPCState) int { return kind.Either(aws.ToBool(*of(&want)) == support, 0, 1) },
	}
}
