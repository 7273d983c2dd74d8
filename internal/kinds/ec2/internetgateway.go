// SPDX-License-Identifier: Apache-2.0

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

// InternetGatewayState is an internet gateway as both the spec and EC2 can express it.
type InternetGatewayState struct {
	Resource `drift:"id"`
	// AttachedTo is the VPC of the gateway, and AttachmentState its state.
	AttachedTo      string `drift:"observed"`
	AttachmentState string `drift:"observed"`

	// VPCID is the wanted VPC while the gateway is attached to it, and OtherVPCID another one: one call attaches, one detaches.
	VPCID, OtherVPCID *string
	Tags              map[string]string `drift:"tags"`
}

type internetGateway struct {
	api   *ec2.Client
	batch kind.Batch[types.InternetGateway]
}

// NewInternetGateway binds the InternetGateway kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewInternetGateway(cfg aws.Config) kind.Kind[*v1alpha1.InternetGateway, InternetGatewayState] {
	g := &internetGateway{api: ec2.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.InternetGateway, InternetGatewayState]{
		Meta: kind.Meta{Facts: internetGatewayFacts(), Identity: kind.ByTag, References: []string{"VPC"}},
		Identify: func(sc kind.Scope, _ *v1alpha1.InternetGateway) (InternetGatewayState, error) {
			return InternetGatewayState{Resource: identify(sc, "internet-gateway")}, nil
		},
		Declare: declareInternetGateway,
		Export:  kind.Export[*v1alpha1.InternetGateway, InternetGatewayState]{Identity: []string{"importID"}, Spec: exportedInternetGateway},
		Publish: func(cr *v1alpha1.InternetGateway, s InternetGatewayState) {
			st := &cr.Status
			st.ID, st.ARN, st.InternetGatewayID, st.VPCID, st.State = s.ID, s.arn(), s.ID, s.AttachedTo, s.AttachmentState
		},
		Describe: kind.Read[InternetGatewayState]{Actions: append(readsOf(dependentsOfAttachment), "ec2:DescribeInternetGateways"), Do: g.describe},
		Create:   kind.Call[InternetGatewayState]{Action: "ec2:CreateInternetGateway", DoForID: g.create},
		Tagging:  tagging(g.api, func(s InternetGatewayState) string { return s.ID }),
		Parts: []kind.Part[InternetGatewayState]{
			{Fields: []string{"OtherVPCID"}, Write: kind.Call[InternetGatewayState]{Action: "ec2:DetachInternetGateway", Do: g.detach}},
			{Fields: []string{"VPCID"}, Stage: func(_, _ InternetGatewayState) int { return 1 },
				Write: kind.Call[InternetGatewayState]{Action: "ec2:AttachInternetGateway", Do: kind.Send(g.api.AttachInternetGateway, func(want, have InternetGatewayState) *ec2.AttachInternetGatewayInput {
					return &ec2.AttachInternetGatewayInput{InternetGatewayId: &have.ID, VpcId: want.VPCID}
				})}},
		},
		// The verifying look after the deletion is kept for the reason that NewVPC gives.
		Delete: []kind.Ending[InternetGatewayState]{
			{When: func(_, have InternetGatewayState) bool { return have.AttachedTo != "" },
				Call: kind.Call[InternetGatewayState]{Action: "ec2:DetachInternetGateway", Effect: kind.Empties, Do: func(ctx context.Context, want, have InternetGatewayState) error {
					return awsclient.MarkNotEmpty(g.detach(ctx, want, have))
				}}},
			{Then: true, Call: kind.Call[InternetGatewayState]{Action: "ec2:DeleteInternetGateway", Effect: kind.Deletes, Do: kind.Send(g.api.DeleteInternetGateway, func(_, have InternetGatewayState) *ec2.DeleteInternetGatewayInput {
				return &ec2.DeleteInternetGatewayInput{InternetGatewayId: &have.ID}
			})}},
		},
	})
}

func declareInternetGateway(sc kind.Scope, cr *v1alpha1.InternetGateway, want *InternetGatewayState) error {
	in := cr.Spec
	if in.VPCID == nil && in.VPCRef == nil {
		return nil
	}
	vpc, err := referredID(sc, "VPC", aws.ToString(in.VPCID), in.VPCRef)
	want.VPCID, want.OtherVPCID = &vpc, aws.String("")
	return err
}

func (g *internetGateway) detach(ctx context.Context, _, have InternetGatewayState) error {
	_, err := g.api.DetachInternetGateway(ctx, &ec2.DetachInternetGatewayInput{InternetGatewayId: &have.ID, VpcId: &have.AttachedTo})
	return err
}

func (g *internetGateway) create(ctx context.Context, want InternetGatewayState, _ string) (string, error) {
	out, err := g.api.CreateInternetGateway(ctx, &ec2.CreateInternetGatewayInput{TagSpecifications: tagSpecification(types.ResourceTypeInternetGateway, want.Tags)})
	if err != nil || out.InternetGateway == nil {
		return "", err
	}
	return aws.ToString(out.InternetGateway.InternetGatewayId), nil
}

func (g *internetGateway) describe(ctx context.Context, want InternetGatewayState, look kind.Look) (kind.Seen[InternetGatewayState], error) {
	gateways := description[types.InternetGateway]{filter: "internet-gateway-id", batch: &g.batch, list: g.list, of: func(d types.InternetGateway) (id, account *string, tags []types.Tag) {
		return d.InternetGatewayId, d.OwnerId, d.Tags
	}}
	d, duplicates, err := gateways.find(ctx, want.Resource, look.Check)
	if err != nil || d == nil {
		return kind.Seen[InternetGatewayState]{}, err
	}
	seen := kind.Seen[InternetGatewayState]{Exists: true, Tags: kind.TagMap(d.Tags), Duplicates: duplicates, State: InternetGatewayState{
		Resource: Resource{ARNPrefix: want.ARNPrefix, ID: aws.ToString(d.InternetGatewayId)}, VPCID: aws.String(""), OtherVPCID: aws.String("")}}
	s := &seen.State
	for _, a := range d.Attachments {
		s.AttachedTo, s.AttachmentState = aws.ToString(a.VpcId), string(a.State)
		*kind.Either(s.AttachedTo == aws.ToString(want.VPCID), s.VPCID, s.OtherVPCID) = s.AttachedTo
		// EC2 calls an attached one available
		if a.State == types.AttachmentStatusAttaching || a.State == types.AttachmentStatusDetaching || !look.Deleting {
			seen.Busy = kind.BusyUnless("the internet gateway", a.State, "available", types.AttachmentStatusAttached, types.AttachmentStatusDetached)
		}
	}
	if look.Contents && s.AttachedTo != "" {
		seen.Holds, err = holds(ctx, g.api, dependentsOfAttachment, "VPC", s.AttachedTo)
	}
	return seen, err
}

func (g *internetGateway) list(ctx context.Context, ids []string, filters []types.Filter) ([]types.InternetGateway, error) {
	in := &ec2.DescribeInternetGatewaysInput{InternetGatewayIds: ids, Filters: filters}
	return kind.Pages(ctx, g.api.DescribeInternetGateways, in, &in.NextToken, func(out *ec2.DescribeInternetGatewaysOutput) ([]types.InternetGateway, *string) {
		return out.InternetGateways, out.NextToken
	})
}
