// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// SubnetState is a subnet as both the spec and EC2 can express it.
type SubnetState struct {
	Resource `drift:"id"`
	State    string `drift:"observed"`

	VPCID               *string `drift:"immutable"`
	CIDRBlock           *string `drift:"immutable"`
	AvailabilityZone    *string `drift:"immutable"`
	MapPublicIPOnLaunch *bool
	Tags                map[string]string `drift:"tags"`
}

type subnet struct {
	api   *ec2.Client
	batch kind.Batch[types.Subnet]
}

// NewSubnet binds the Subnet kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewSubnet(cfg aws.Config) kind.Kind[*v1alpha1.Subnet, SubnetState] {
	s := &subnet{api: ec2.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.Subnet, SubnetState]{
		Meta: kind.Meta{Facts: subnetFacts(), Identity: kind.ByTag, References: []string{"VPC"}},
		Identify: func(sc kind.Scope, _ *v1alpha1.Subnet) (SubnetState, error) {
			return SubnetState{Resource: identify(sc, "subnet")}, nil
		},
		Declare: declareSubnet,
		Export:  kind.Export[*v1alpha1.Subnet, SubnetState]{Identity: []string{"importID"}, Spec: exportedSubnet},
		Publish: func(cr *v1alpha1.Subnet, s SubnetState) {
			st := &cr.Status
			st.ID, st.ARN, st.SubnetID, st.State = s.ID, s.arn(), s.ID, s.State
			st.VPCID, st.CIDRBlock, st.AvailabilityZone = aws.ToString(s.VPCID), aws.ToString(s.CIDRBlock), aws.ToString(s.AvailabilityZone)
		},
		Describe: kind.Read[SubnetState]{Actions: append(readsOf(dependentsOfSubnet), "ec2:DescribeSubnets"), Do: s.describe},
		Create:   kind.Call[SubnetState]{Action: "ec2:CreateSubnet", DoForID: s.create},
		Tagging:  tagging(s.api, func(s SubnetState) string { return s.ID }),
		Parts: []kind.Part[SubnetState]{{Fields: []string{"MapPublicIPOnLaunch"},
			// https://docs.aws.amazon.com/vpc/latest/userguide/subnet-public-ip.html: false for a subnet that is not a default one
			Default: func(want SubnetState) bool { return !aws.ToBool(want.MapPublicIPOnLaunch) },
			Write: kind.Call[SubnetState]{Action: "ec2:ModifySubnetAttribute", Do: kind.Send(s.api.ModifySubnetAttribute, func(want, have SubnetState) *ec2.ModifySubnetAttributeInput {
				return &ec2.ModifySubnetAttributeInput{SubnetId: &have.ID, MapPublicIpOnLaunch: &types.AttributeBooleanValue{Value: want.MapPublicIPOnLaunch}}
			})}}},
		// The verifying look after the deletion is kept for the reason that NewVPC gives.
		Delete: []kind.Ending[SubnetState]{{Call: kind.Call[SubnetState]{Action: "ec2:DeleteSubnet", Effect: kind.Deletes, Do: func(ctx context.Context, _, have SubnetState) error {
			_, err := s.api.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &have.ID})
			return awsclient.MarkNotEmpty(err)
		}}}},
	})
}

func declareSubnet(sc kind.Scope, cr *v1alpha1.Subnet, want *SubnetState) error {
	in := cr.Spec
	if err := checkNetwork("spec.cidrBlock", in.CIDRBlock); err != nil {
		return err
	}
	vpc, err := referredID(sc, "VPC", in.VPCID, in.VPCRef)
	want.VPCID, want.CIDRBlock, want.AvailabilityZone = &vpc, &in.CIDRBlock, kind.NonEmpty(&in.AvailabilityZone)
	want.MapPublicIPOnLaunch = in.MapPublicIPOnLaunch
	return err
}

func (s *subnet) create(ctx context.Context, want SubnetState, _ string) (string, error) {
	out, err := s.api.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: want.VPCID, CidrBlock: want.CIDRBlock, AvailabilityZone: want.AvailabilityZone,
		TagSpecifications: tagSpecification(types.ResourceTypeSubnet, want.Tags)})
	if err != nil || out.Subnet == nil {
		return "", err
	}
	return aws.ToString(out.Subnet.SubnetId), nil
}

func (s *subnet) describe(ctx context.Context, want SubnetState, look kind.Look) (kind.Seen[SubnetState], error) {
	subnets := description[types.Subnet]{filter: "subnet-id", batch: &s.batch, list: s.list, of: func(d types.Subnet) (id, account *string, tags []types.Tag) { return d.SubnetId, d.OwnerId, d.Tags }}
	d, duplicates, err := subnets.find(ctx, want.Resource, look.Check)
	if err != nil || d == nil {
		return kind.Seen[SubnetState]{}, err
	}
	seen := kind.Seen[SubnetState]{Exists: true, Tags: kind.TagMap(d.Tags), Duplicates: duplicates, State: SubnetState{
		Resource: Resource{ARNPrefix: want.ARNPrefix, ID: aws.ToString(d.SubnetId)}, State: string(d.State),
		VPCID: d.VpcId, CIDRBlock: d.CidrBlock, AvailabilityZone: d.AvailabilityZone, MapPublicIPOnLaunch: d.MapPublicIpOnLaunch,
	}}
	kind.FalseIfAbsent(&seen.State.MapPublicIPOnLaunch)
	switch failed := strings.HasPrefix(string(d.State), string(types.SubnetStateFailed)); {
	case failed && !look.Deleting:
		return kind.Seen[SubnetState]{}, explainFailedSubnet(d)
	case d.State == types.SubnetStatePending || !look.Deleting:
		seen.Busy = kind.BusyUnless("the subnet", d.State, types.SubnetStateAvailable)
	}
	if look.Contents {
		seen.Holds, err = holds(ctx, s.api, dependentsOfSubnet, "subnet", seen.State.ID)
	}
	return seen, err
}

// explainFailedSubnet reports a subnet that EC2 could not provision.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Subnet.html
func explainFailedSubnet(d *types.Subnet) error {
	id := aws.ToString(d.SubnetId)
	return &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: fmt.Sprintf("subnet %s is %s: EC2 could not provision what it needs%s; run aws ec2 delete-subnet --subnet-id %s: the operator then creates another one",
		id, d.State, kind.Either(d.State == types.SubnetStateFailedInsufficientCapacity, ": it has no capacity in the availability zone", ""), id)}
}

func (s *subnet) list(ctx context.Context, ids []string, filters []types.Filter) ([]types.Subnet, error) {
	in := &ec2.DescribeSubnetsInput{SubnetIds: ids, Filters: filters}
	return kind.Pages(ctx, s.api.DescribeSubnets, in, &in.NextToken, func(out *ec2.DescribeSubnetsOutput) ([]types.Subnet, *string) { return out.Subnets, out.NextToken })
}
