// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// SecurityGroupState is a security group as both the spec and EC2 can express it.
type SecurityGroupState struct {
	Resource `drift:"id"`
	// Idle is true while the group is deleted and only rules of other groups keep it.
	Idle bool `drift:"observed"`
	// Exclusive is true for a group that loses the rules of controllers, too.
	Exclusive bool `drift:"id"`
	// OfControllers describes the rules of controllers that stay.
	OfControllers []string `drift:"observed"`

	GroupName, Description, VPCID *string           `drift:"immutable"`
	Ingress, Egress               map[string]Rule   `drift:"exact"`
	Tags                          map[string]string `drift:"tags"`
}

type securityGroup struct {
	api   *ec2.Client
	batch kind.Batch[types.SecurityGroup]
}

// NewSecurityGroup binds the SecurityGroup kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewSecurityGroup(cfg aws.Config) kind.Kind[*v1alpha1.SecurityGroup, SecurityGroupState] {
	g := &securityGroup{api: ec2.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.SecurityGroup, SecurityGroupState]{
		Meta: kind.Meta{Facts: securityGroupFacts(), Identity: kind.ByTag, References: []string{"VPC", "SecurityGroup"}},
		Identify: func(sc kind.Scope, _ *v1alpha1.SecurityGroup) (SecurityGroupState, error) {
			return SecurityGroupState{Resource: identify(sc, "security-group")}, nil
		},
		Declare: declareSecurityGroup,
		Export:  kind.Export[*v1alpha1.SecurityGroup, SecurityGroupState]{Identity: []string{"importID"}, Spec: exportedSecurityGroup},
		Publish: func(cr *v1alpha1.SecurityGroup, s SecurityGroupState) {
			st := &cr.Status
			st.ID, st.ARN, st.GroupID, st.GroupName, st.VPCID = s.ID, s.arn(), s.ID, aws.ToString(s.GroupName), aws.ToString(s.VPCID)
			st.ControllerRules = s.OfControllers[:min(len(s.OfControllers), mostControllerRules)]
		},
		Describe: kind.Read[SecurityGroupState]{Actions: append(readsOf(dependentsOfGroup), "ec2:DescribeSecurityGroups"), Do: g.describe},
		Create:   kind.Call[SecurityGroupState]{Action: "ec2:CreateSecurityGroup", DoForID: g.create},
		Tagging:  tagging(g.api, func(s SecurityGroupState) string { return s.ID }),
		Parts: []kind.Part[SecurityGroupState]{
			{Fields: []string{"Ingress"}, Keys: g.ingress()},
			{Fields: []string{"Egress"}, Keys: g.egress(), Default: func(want SecurityGroupState) bool {
				_, all := want.Egress[allTraffic]
				return all && len(want.Egress) == 1
			}},
		},
		// Groups with rules that refer to each other can only be deleted once one of them has lost these rules.
		// https://docs.aws.amazon.com/vpc/latest/userguide/deleting-security-groups.html
		Delete: []kind.Ending[SecurityGroupState]{
			{When: func(_, have SecurityGroupState) bool { return have.Idle && len(groupRules(have.Ingress)) > 0 },
				Call: kind.Call[SecurityGroupState]{Action: "ec2:RevokeSecurityGroupIngress", Effect: kind.Empties, Do: func(ctx context.Context, want, have SecurityGroupState) error {
					return g.ingress().Unset.Do(ctx, want, have, groupRules(have.Ingress))
				}}},
			{When: func(_, have SecurityGroupState) bool { return have.Idle && len(groupRules(have.Egress)) > 0 },
				Call: kind.Call[SecurityGroupState]{Action: "ec2:RevokeSecurityGroupEgress", Effect: kind.Empties, Do: func(ctx context.Context, want, have SecurityGroupState) error {
					return g.egress().Unset.Do(ctx, want, have, groupRules(have.Egress))
				}}},
			// The verifying look after the deletion is kept for the reason that NewVPC gives.
			{Call: kind.Call[SecurityGroupState]{Action: "ec2:DeleteSecurityGroup", Effect: kind.Deletes, Do: func(ctx context.Context, _, have SecurityGroupState) error {
				_, err := g.api.DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: &have.ID})
				return awsclient.MarkNotEmpty(err)
			}}},
		},
	})
}

// ingress makes the calls for the rules of incoming traffic.
func (g *securityGroup) ingress() *kind.Keys[SecurityGroupState] {
	return &kind.Keys[SecurityGroupState]{
		UnsetFirst: func(want, have SecurityGroupState) bool { return needsRoom(want.Ingress, have.Ingress) },
		Set: kind.KeysCall[SecurityGroupState]{Action: "ec2:AuthorizeSecurityGroupIngress", Do: func(ctx context.Context, want, have SecurityGroupState, keys []string) error {
			_, err := g.api.AuthorizeSecurityGroupIngress(ctx, &ec2.AuthorizeSecurityGroupIngressInput{GroupId: &have.ID, IpPermissions: permissions(have.ID, want.Ingress, keys)})
			return err
		}},
		Change: kind.KeysCall[SecurityGroupState]{Action: "ec2:UpdateSecurityGroupRuleDescriptionsIngress", Do: func(ctx context.Context, want, have SecurityGroupState, keys []string) error {
			_, err := g.api.UpdateSecurityGroupRuleDescriptionsIngress(ctx, &ec2.UpdateSecurityGroupRuleDescriptionsIngressInput{GroupId: &have.ID, IpPermissions: permissions(have.ID, want.Ingress, keys)})
			return err
		}},
		Unset: kind.KeysCall[SecurityGroupState]{Action: "ec2:RevokeSecurityGroupIngress", Do: func(ctx context.Context, _, have SecurityGroupState, keys []string) error {
			_, err := g.api.RevokeSecurityGroupIngress(ctx, &ec2.RevokeSecurityGroupIngressInput{GroupId: &have.ID, IpPermissions: permissions(have.ID, have.Ingress, keys)})
			return err
		}},
	}
}

// egress makes the calls for the rules of outgoing traffic.
func (g *securityGroup) egress() *kind.Keys[SecurityGroupState] {
	return &kind.Keys[SecurityGroupState]{
		New:        []string{allTraffic},
		UnsetFirst: func(want, have SecurityGroupState) bool { return needsRoom(want.Egress, have.Egress) },
		Set: kind.KeysCall[SecurityGroupState]{Action: "ec2:AuthorizeSecurityGroupEgress", Do: func(ctx context.Context, want, have SecurityGroupState, keys []string) error {
			_, err := g.api.AuthorizeSecurityGroupEgress(ctx, &ec2.AuthorizeSecurityGroupEgressInput{GroupId: &have.ID, IpPermissions: permissions(have.ID, want.Egress, keys)})
			return err
		}},
		Change: kind.KeysCall[SecurityGroupState]{Action: "ec2:UpdateSecurityGroupRuleDescriptionsEgress", Do: func(ctx context.Context, want, have SecurityGroupState, keys []string) error {
			_, err := g.api.UpdateSecurityGroupRuleDescriptionsEgress(ctx, &ec2.UpdateSecurityGroupRuleDescriptionsEgressInput{GroupId: &have.ID, IpPermissions: permissions(have.ID, want.Egress, keys)})
			return err
		}},
		Unset: kind.KeysCall[SecurityGroupState]{Action: "ec2:RevokeSecurityGroupEgress", Do: func(ctx context.Context, _, have SecurityGroupState, keys []string) error {
			_, err := g.api.RevokeSecurityGroupEgress(ctx, &ec2.RevokeSecurityGroupEgressInput{GroupId: &have.ID, IpPermissions: permissions(have.ID, have.Egress, keys)})
			return err
		}},
	}
}

// defaultQuota limits how many rules of a direction and an address family a security group has at most, unless AWS raised it.
// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-security-groups
const defaultQuota = 60

// needsRoom reports whether old and new rules do not fit beside each other, so that the old ones go first. Otherwise new rules come
// first, and traffic that both allow does not stop.
func needsRoom(want, have map[string]Rule) bool {
	both := len(have)
	for key := range want {
		if _, exists := have[key]; !exists {
			both++
		}
	}
	return both > defaultQuota
}

// groupRules returns the keys of the rules that refer to other groups.
func groupRules(rules map[string]Rule) []string {
	return slices.DeleteFunc(kind.SortedKeys(rules), func(key string) bool {
		pairs := rules[key].Permission.UserIdGroupPairs
		return len(pairs) == 0 || aws.ToString(pairs[0].GroupId) == self
	})
}

func declareSecurityGroup(sc kind.Scope, cr *v1alpha1.SecurityGroup, want *SecurityGroupState) (err error) {
	in := cr.Spec
	want.GroupName, want.Description, want.Exclusive = &in.GroupName, &in.Description, in.ExclusiveRules
	vpc, err := referredID(sc, "VPC", in.VPCID, in.VPCRef)
	if err != nil {
		return err
	}
	want.VPCID = &vpc
	if want.Ingress, err = wantedRules(sc, cr, "spec.ingressRules", in.IngressRules); err != nil {
		return err
	}
	want.Egress, err = wantedRules(sc, cr, "spec.egressRules", in.EgressRules)
	return err
}

func (g *securityGroup) create(ctx context.Context, want SecurityGroupState, _ string) (string, error) {
	out, err := g.api.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{GroupName: want.GroupName, Description: want.Description, VpcId: want.VPCID,
		TagSpecifications: tagSpecification(types.ResourceTypeSecurityGroup, want.Tags)})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.GroupId), nil
}

func (g *securityGroup) describe(ctx context.Context, want SecurityGroupState, look kind.Look) (kind.Seen[SecurityGroupState], error) {
	d, duplicates, err := g.find(ctx, want, look.Check)
	if err != nil || d == nil {
		return kind.Seen[SecurityGroupState]{}, err
	}
	id := aws.ToString(d.GroupId)
	seen := kind.Seen[SecurityGroupState]{Exists: true, Tags: kind.TagMap(d.Tags), Duplicates: duplicates, State: SecurityGroupState{
		Resource: Resource{ARNPrefix: want.ARNPrefix, ID: id}, GroupName: d.GroupName, Description: d.Description, VPCID: d.VpcId,
		Ingress: seenRules(id, d.IpPermissions), Egress: seenRules(id, d.IpPermissionsEgress), Exclusive: want.Exclusive,
	}}
	seen.State.leaveControllers(want)
	if others := seen.State.OfControllers; len(others) > 0 {
		seen.Omitted = []string{"the rules of controllers (" + strings.Join(others, ", ") + ")"}
	}
	if look.Contents {
		err = g.holds(ctx, &seen)
	}
	return seen, err
}

// find returns the object's group. While none carries its tags, the group that has its name in the VPC is looked at: EC2
// would refuse another one.
func (g *securityGroup) find(ctx context.Context, want SecurityGroupState, check *kind.Check) (*types.SecurityGroup, []string, error) {
	groups := description[types.SecurityGroup]{filter: "group-id", batch: &g.batch, list: g.list, of: func(d types.SecurityGroup) (id, account *string, tags []types.Tag) {
		return d.GroupId, d.OwnerId, d.Tags
	}}
	d, duplicates, err := groups.find(ctx, want.Resource, check)
	if err != nil || d != nil || want.GroupName == nil || want.Search.Imported {
		return d, duplicates, err
	}
	named, err := g.list(ctx, nil, []types.Filter{
		{Name: aws.String("vpc-id"), Values: []string{*want.VPCID}}, {Name: aws.String("group-name"), Values: []string{wildcards.Replace(*want.GroupName)}}})
	if err != nil || len(named) == 0 {
		return nil, nil, err
	}
	return &named[0], nil, nil
}

// holds counts the resources and rules that keep EC2 from deleting the group. Where it is only rules of other groups, the group's own rules
// for other groups are to be removed first, because these groups may be waiting for the same.
func (g *securityGroup) holds(ctx context.Context, seen *kind.Seen[SecurityGroupState]) error {
	s := &seen.State
	users, err := dependentsInWords(ctx, g.api, dependentsOfGroup[:1], s.ID)
	if err != nil {
		return err
	}
	if s.Idle = users.text == ""; s.Idle && len(groupRules(s.Ingress))+len(groupRules(s.Egress)) > 0 {
		return nil
	}
	seen.Holds, err = holds(ctx, g.api, dependentsOfGroup, "security group", s.ID)
	return err
}

func (g *securityGroup) list(ctx context.Context, ids []string, filters []types.Filter) ([]types.SecurityGroup, error) {
	in := &ec2.DescribeSecurityGroupsInput{GroupIds: ids, Filters: filters}
	return kind.Pages(ctx, g.api.DescribeSecurityGroups, in, &in.NextToken, func(out *ec2.DescribeSecurityGroupsOutput) ([]types.SecurityGroup, *string) {
		return out.SecurityGroups, out.NextToken
	})
}
