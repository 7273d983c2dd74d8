// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// SubnetGroupState is a DB subnet group as both the spec and RDS can express it.
type SubnetGroupState struct {
	Name   string `drift:"identity"`
	ARN    string `drift:"id"`
	Status string `drift:"observed"`
	VPCID  string `drift:"observed"`

	Description *string
	Subnets     []string          `drift:"set"`
	Tags        map[string]string `drift:"tags"`
}

type subnetGroup struct{ api *rds.Client }

// NewSubnetGroup binds the DBSubnetGroup kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonrds.html
func NewSubnetGroup(cfg aws.Config) kind.Kind[*v1alpha1.DBSubnetGroup, SubnetGroupState] {
	g := &subnetGroup{api: rds.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.DBSubnetGroup, SubnetGroupState]{
		Meta: kind.Meta{Facts: subnetGroupFacts(), Identity: kind.ByName, NoCreationTime: true, CreatesFirst: true, References: []string{"Subnet"}},
		Identify: func(_ kind.Scope, cr *v1alpha1.DBSubnetGroup) (SubnetGroupState, error) {
			return SubnetGroupState{Name: strings.ToLower(cr.Spec.DBSubnetGroupName)}, nil
		},
		Declare: declareSubnetGroup, Publish: publishSubnetGroup, Explain: explainTags,
		Export:   kind.Export[*v1alpha1.DBSubnetGroup, SubnetGroupState]{Identity: []string{"dbSubnetGroupName"}, Spec: exportedSubnetGroup},
		Describe: kind.Read[SubnetGroupState]{Actions: []string{"rds:DescribeDBSubnetGroups", "rds:DescribeDBInstances"}, Do: g.describe},
		Create: kind.Call[SubnetGroupState]{Action: "rds:CreateDBSubnetGroup", Do: kind.Send(g.api.CreateDBSubnetGroup, func(want, _ SubnetGroupState) *rds.CreateDBSubnetGroupInput {
			in := &rds.CreateDBSubnetGroupInput{DBSubnetGroupName: &want.Name, DBSubnetGroupDescription: want.Description, SubnetIds: want.Subnets, Tags: kind.SDKTags[types.Tag](want.Tags)}
			if in.DBSubnetGroupDescription == nil { // RDS requires a description
				in.DBSubnetGroupDescription = &want.Name
			}
			return in
		})},
		Tagging: taggingOf(g.api, func(s SubnetGroupState) *string { return &s.ARN }, g.tags),
		Parts: []kind.Part[SubnetGroupState]{{Fields: []string{"Description", "Subnets"}, InCreate: true,
			Write: kind.Call[SubnetGroupState]{Action: "rds:ModifyDBSubnetGroup", Do: kind.Send(g.api.ModifyDBSubnetGroup, func(want, _ SubnetGroupState) *rds.ModifyDBSubnetGroupInput {
				return &rds.ModifyDBSubnetGroupInput{DBSubnetGroupName: &want.Name, DBSubnetGroupDescription: want.Description, SubnetIds: want.Subnets}
			})}}},
		Delete: []kind.Ending[SubnetGroupState]{{Call: kind.Call[SubnetGroupState]{Action: "rds:DeleteDBSubnetGroup", Effect: kind.Deletes, Do: func(ctx context.Context, want, _ SubnetGroupState) error {
			_, err := g.api.DeleteDBSubnetGroup(ctx, &rds.DeleteDBSubnetGroupInput{DBSubnetGroupName: &want.Name})
			return awsclient.MarkNotEmpty(err)
		}}}},
	})
}

func declareSubnetGroup(sc kind.Scope, cr *v1alpha1.DBSubnetGroup, want *SubnetGroupState) error {
	in := cr.Spec
	want.Description = in.Description
	subnets, err := kind.ReferredIDs(sc.Lookups, "Subnet", in.SubnetIDs, in.SubnetRefs)
	want.Subnets = subnets
	return err
}

func publishSubnetGroup(cr *v1alpha1.DBSubnetGroup, s SubnetGroupState) {
	st := &cr.Status
	st.ARN, st.ID, st.DBSubnetGroupARN = s.ARN, s.Name, s.ARN
	st.VPCID, st.SubnetGroupStatus = s.VPCID, s.Status
}

func (g *subnetGroup) describe(ctx context.Context, want SubnetGroupState, look kind.Look) (kind.Seen[SubnetGroupState], error) {
	absent := kind.Seen[SubnetGroupState]{}
	out, err := awsclient.Lookup(ctx, g.api.DescribeDBSubnetGroups, &rds.DescribeDBSubnetGroupsInput{DBSubnetGroupName: &want.Name})
	if out == nil || len(out.DBSubnetGroups) == 0 {
		return absent, err
	}
	d := out.DBSubnetGroups[0]
	seen := kind.Seen[SubnetGroupState]{Exists: true, State: SubnetGroupState{
		Name: want.Name, ARN: aws.ToString(d.DBSubnetGroupArn), Status: aws.ToString(d.SubnetGroupStatus), VPCID: aws.ToString(d.VpcId), Description: d.DBSubnetGroupDescription,
	}}
	for _, s := range d.Subnets {
		seen.State.Subnets = append(seen.State.Subnets, aws.ToString(s.SubnetIdentifier))
	}
	if look.Contents {
		seen.Holds, err = g.users(ctx, want.Name)
	}
	return seen, err
}

// namedUsers sets how many of the instances that use a group are named.
const namedUsers = 5

// users holds the deletion of a group if DB instances use it, after RDS refused the deletion.
func (g *subnetGroup) users(ctx context.Context, name string) ([]kind.Hold, error) {
	in := &rds.DescribeDBInstancesInput{}
	all, err := kind.Pages(ctx, g.api.DescribeDBInstances, in, &in.Marker, func(out *rds.DescribeDBInstancesOutput) ([]types.DBInstance, *string) {
		return out.DBInstances, out.Marker
	})
	var names []string
	for _, d := range all {
		if d.DBSubnetGroup != nil && strings.EqualFold(aws.ToString(d.DBSubnetGroup.DBSubnetGroupName), name) {
			names = append(names, aws.ToString(d.DBInstanceIdentifier))
		}
	}
	if err != nil || len(names) == 0 {
		return nil, err
	}
	shown := names[:min(len(names), namedUsers)]
	return []kind.Hold{{Reason: status.ReasonInUse, Message: fmt.Sprintf(
		"the DB instances that use the subnet group to be deleted: %d (%s); delete them, or set deletionPolicy: Retain to keep the group", len(names), strings.Join(shown, ", "))}}, nil
}

func (g *subnetGroup) tags(ctx context.Context, have SubnetGroupState) (map[string]string, error) {
	out, err := g.api.ListTagsForResource(ctx, &rds.ListTagsForResourceInput{ResourceName: &have.ARN})
	if err != nil {
		return nil, err
	}
	return kind.TagMap(out.TagList), nil
}

// explainTags turns "not found" for the tags of a group that was just described into waiting: it was deleted between
// the two reads, or a replica of RDS lags.
func explainTags(err error, _ kind.Seen[SubnetGroupState]) error {
	if !awsclient.IsNotFound(err) {
		return err
	}
	return &status.Waiting{For: "a second look: RDS described the DB subnet group and answered that its tags do not exist", After: time.Second, Usable: true}
}
