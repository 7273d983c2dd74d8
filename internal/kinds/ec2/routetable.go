// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// RouteTableState is a route table as both the spec and EC2 can express it.
type RouteTableState struct {
	Resource `drift:"id"`

	VPCID   *string                `drift:"immutable"`
	Routes  map[string]Route       `drift:"exact"` // by destination
	Subnets map[string]Association `drift:"exact"` // by subnet
	Tags    map[string]string      `drift:"tags"`
}

// Route says where the traffic for a destination is led.
type Route struct{ Target string }

// Association is the association of a subnet; its identifier is not known before it exists.
type Association struct {
	ID string `drift:"id"`
}

type routeTable struct {
	api   *ec2.Client
	batch kind.Batch[types.RouteTable]
}

// NewRouteTable binds the RouteTable kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewRouteTable(cfg aws.Config) kind.Kind[*v1alpha1.RouteTable, RouteTableState] {
	t := &routeTable{api: ec2.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.RouteTable, RouteTableState]{
		Meta: kind.Meta{Facts: routeTableFacts(), Identity: kind.ByTag, References: []string{"VPC", "Subnet", "InternetGateway", "NATGateway"}},
		Identify: func(sc kind.Scope, _ *v1alpha1.RouteTable) (RouteTableState, error) {
			return RouteTableState{Resource: identify(sc, "route-table")}, nil
		},
		Declare: declareRouteTable,
		Export:  kind.Export[*v1alpha1.RouteTable, RouteTableState]{Identity: []string{"importID"}, Spec: exportedRouteTable},
		Publish: func(cr *v1alpha1.RouteTable, s RouteTableState) {
			st := &cr.Status
			st.ID, st.ARN, st.RouteTableID, st.VPCID = s.ID, s.arn(), s.ID, aws.ToString(s.VPCID)
			st.AssociatedSubnets = kind.SortedKeys(s.Subnets)
		},
		Describe: kind.Read[RouteTableState]{Actions: []string{"ec2:DescribeRouteTables"}, Do: t.describe},
		Create:   kind.Call[RouteTableState]{Action: "ec2:CreateRouteTable", DoForID: t.create},
		Tagging:  tagging(t.api, func(s RouteTableState) string { return s.ID }),
		Parts: []kind.Part[RouteTableState]{
			{Fields: []string{"Routes"}, Keys: &kind.Keys[RouteTableState]{OneByOne: true,
				Set:    kind.KeysCall[RouteTableState]{Action: "ec2:CreateRoute", Do: t.createRoute},
				Change: kind.KeysCall[RouteTableState]{Action: "ec2:ReplaceRoute", Do: t.replaceRoute},
				Unset:  kind.KeysCall[RouteTableState]{Action: "ec2:DeleteRoute", Do: t.deleteRoute}}},
			{Fields: []string{"Subnets"}, Keys: &kind.Keys[RouteTableState]{OneByOne: true,
				Set:   kind.KeysCall[RouteTableState]{Action: "ec2:AssociateRouteTable", Do: t.associate},
				Unset: kind.KeysCall[RouteTableState]{Action: "ec2:DisassociateRouteTable", Do: t.disassociate}}},
		},
		// The verifying look after the deletion is kept for the reason that NewVPC gives.
		Delete: []kind.Ending[RouteTableState]{
			{Each: func(_, have RouteTableState) []string { return kind.SortedKeys(have.Subnets) },
				When: func(_, have RouteTableState) bool { return len(have.Subnets) > 0 },
				DoKey: func(ctx context.Context, want, have RouteTableState, subnet string) error {
					return t.disassociate(ctx, want, have, []string{subnet})
				},
				Call: kind.Call[RouteTableState]{Action: "ec2:DisassociateRouteTable", Effect: kind.Empties}},
			{Then: true, Call: kind.Call[RouteTableState]{Action: "ec2:DeleteRouteTable", Effect: kind.Deletes, Do: func(ctx context.Context, _, have RouteTableState) error {
				_, err := t.api.DeleteRouteTable(ctx, &ec2.DeleteRouteTableInput{RouteTableId: &have.ID})
				return awsclient.MarkNotEmpty(err)
			}}},
		},
	})
}

func declareRouteTable(sc kind.Scope, cr *v1alpha1.RouteTable, want *RouteTableState) error {
	in := cr.Spec
	vpc, err := referredID(sc, "VPC", in.VPCID, in.VPCRef)
	if err != nil {
		return err
	}
	want.VPCID = &vpc
	if want.Subnets, err = wantedSubnets(sc, in); err != nil || in.Routes == nil {
		return err
	}
	want.Routes = map[string]Route{}
	for _, r := range *in.Routes {
		if err := checkNetwork("spec.routes.destinationCidrBlock", r.DestinationCIDRBlock); err != nil {
			return err
		}
		gateway, err := referredID(sc, "InternetGateway", r.GatewayID, r.GatewayRef)
		if err != nil {
			return err
		}
		nat, err := referredID(sc, "NATGateway", r.NATGatewayID, r.NATGatewayRef)
		if err != nil {
			return err
		}
		want.Routes[r.DestinationCIDRBlock] = Route{cmp.Or(gateway, nat, r.InstanceID, r.NetworkInterfaceID, r.VPCPeeringConnectionID, r.TransitGatewayID)}
	}
	return nil
}

// wantedSubnets returns the declared subnets; nil when none are declared.
func wantedSubnets(sc kind.Scope, in v1alpha1.RouteTableSpec) (map[string]Association, error) {
	if in.SubnetAssociations == nil && in.SubnetRefs == nil {
		return nil, nil
	}
	out := map[string]Association{}
	for _, id := range *kind.NonNil(in.SubnetAssociations) {
		out[string(id)] = Association{}
	}
	for _, ref := range *kind.NonNil(in.SubnetRefs) {
		id, err := referredID(sc, "Subnet", "", &ref)
		if err != nil {
			return nil, err
		}
		out[id] = Association{}
	}
	return out, nil
}

func (t *routeTable) create(ctx context.Context, want RouteTableState, _ string) (string, error) {
	out, err := t.api.CreateRouteTable(ctx, &ec2.CreateRouteTableInput{VpcId: want.VPCID, TagSpecifications: tagSpecification(types.ResourceTypeRouteTable, want.Tags)})
	if err != nil || out.RouteTable == nil {
		return "", err
	}
	return aws.ToString(out.RouteTable.RouteTableId), nil
}

// route is a request for one route; its target is the member of the kind that the identifier begins with.
func route(want, have RouteTableState, destination string) *ec2.CreateRouteInput {
	in := &ec2.CreateRouteInput{RouteTableId: &have.ID, DestinationCidrBlock: &destination}
	target := want.Routes[destination].Target
	prefix, _, _ := strings.Cut(target, "-")
	switch prefix {
	case "nat":
		in.NatGatewayId = &target
	case "i":
		in.InstanceId = &target
	case "eni":
		in.NetworkInterfaceId = &target
	case "pcx":
		in.VpcPeeringConnectionId = &target
	case "tgw":
		in.TransitGatewayId = &target
	default:
		in.GatewayId = &target
	}
	return in
}

func (t *routeTable) createRoute(ctx context.Context, want, have RouteTableState, keys []string) error {
	_, err := t.api.CreateRoute(ctx, route(want, have, keys[0]))
	return waitForNATGateway(err, want.Routes[keys[0]].Target)
}

func (t *routeTable) replaceRoute(ctx context.Context, want, have RouteTableState, keys []string) error {
	in := kind.Convert[ec2.ReplaceRouteInput](route(want, have, keys[0]))
	_, err := t.api.ReplaceRoute(ctx, &in)
	return waitForNATGateway(err, want.Routes[keys[0]].Target)
}

// waitForNATGateway waits where EC2 does not know the NAT gateway of a route yet, because it is still pending.
func waitForNATGateway(err error, target string) error {
	if strings.HasPrefix(target, "nat-") && awsclient.IsNotFound(err) {
		return &status.Waiting{Reason: status.ReasonWaiting, For: "the NAT gateway " + target + " to be available", After: gatewayInterval}
	}
	return err
}

func (t *routeTable) deleteRoute(ctx context.Context, _, have RouteTableState, keys []string) error {
	_, err := t.api.DeleteRoute(ctx, &ec2.DeleteRouteInput{RouteTableId: &have.ID, DestinationCidrBlock: &keys[0]})
	return err
}

// associate refuses to take a subnet away from another route table, as EC2 does.
func (t *routeTable) associate(ctx context.Context, _, have RouteTableState, keys []string) error {
	_, err := t.api.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: &have.ID, SubnetId: &keys[0]})
	if awsclient.FoundExisting(err) {
		return &status.Waiting{Reason: status.ReasonInUse, For: "subnet " + keys[0] + " to be free: it uses another route table; disassociate it there"}
	}
	return err
}

func (t *routeTable) disassociate(ctx context.Context, _, have RouteTableState, keys []string) error {
	id := have.Subnets[keys[0]].ID
	_, err := t.api.DisassociateRouteTable(ctx, &ec2.DisassociateRouteTableInput{AssociationId: &id})
	return err
}

func (t *routeTable) describe(ctx context.Context, want RouteTableState, look kind.Look) (kind.Seen[RouteTableState], error) {
	tables := description[types.RouteTable]{filter: "route-table-id", batch: &t.batch, list: t.list, of: func(d types.RouteTable) (id, account *string, tags []types.Tag) {
		return d.RouteTableId, d.OwnerId, d.Tags
	}}
	d, duplicates, err := tables.find(ctx, want.Resource, look.Check)
	if err != nil || d == nil {
		return kind.Seen[RouteTableState]{}, err
	}
	s := RouteTableState{Resource: Resource{ARNPrefix: want.ARNPrefix, ID: aws.ToString(d.RouteTableId)}, VPCID: d.VpcId,
		Routes: map[string]Route{}, Subnets: map[string]Association{}}
	for _, r := range d.Routes {
		if destination := aws.ToString(r.DestinationCidrBlock); destination != "" && isRoute(r) {
			s.Routes[destination] = Route{targetOf(r, want.Routes[destination].Target)}
		}
	}
	for _, a := range d.Associations {
		if a.SubnetId != nil && kind.NonNil(a.AssociationState).State != types.RouteTableAssociationStateCodeDisassociated {
			s.Subnets[*a.SubnetId] = Association{aws.ToString(a.RouteTableAssociationId)}
		}
	}
	return kind.Seen[RouteTableState]{Exists: true, Tags: kind.TagMap(d.Tags), Duplicates: duplicates, State: s}, nil
}

// isRoute reports whether the route was created by a request: not one within the VPC, nor a propagated one.
func isRoute(r types.Route) bool {
	return r.Origin == types.RouteOriginCreateRoute && aws.ToString(r.GatewayId) != "local"
}

// targetOf returns the target of a route. EC2 reports the network interface of an instance, too, and the instance of a
// network interface: the one that is wanted counts.
func targetOf(r types.Route, wanted string) string {
	if id := aws.ToString(r.NetworkInterfaceId); id != "" && id == wanted {
		return id
	}
	targets := []*string{r.GatewayId, r.NatGatewayId, r.InstanceId, r.NetworkInterfaceId, r.VpcPeeringConnectionId, r.TransitGatewayId,
		r.EgressOnlyInternetGatewayId, r.CarrierGatewayId, r.LocalGatewayId, r.CoreNetworkArn}
	for _, id := range targets {
		if id != nil {
			return *id
		}
	}
	return ""
}

func (t *routeTable) list(ctx context.Context, ids []string, filters []types.Filter) ([]types.RouteTable, error) {
	in := &ec2.DescribeRouteTablesInput{RouteTableIds: ids, Filters: filters}
	return kind.Pages(ctx, t.api.DescribeRouteTables, in, &in.NextToken, func(out *ec2.DescribeRouteTablesOutput) ([]types.RouteTable, *string) {
		return out.RouteTables, out.NextToken
	})
}
