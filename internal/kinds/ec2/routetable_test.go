// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type tableSpec = v1alpha1.RouteTableSpec

func tableOf(edits ...func(s *tableSpec)) *v1alpha1.RouteTable {
	o := &v1alpha1.RouteTable{}
	o.Name, o.Spec.VPCReference = "public", network
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

// by leads a destination to the gateway of a name.
func by(gateway, destination string) v1alpha1.Route {
	return v1alpha1.Route{DestinationCIDRBlock: destination, GatewayRef: &v1alpha1.ObjectReference{Name: gateway}}
}

// byNAT leads everything to the NAT gateway of inRouted.
var byNAT = v1alpha1.Route{DestinationCIDRBlock: "0.0.0.0/0", NATGatewayRef: &v1alpha1.ObjectReference{Name: "nat"}}

func routes(all ...v1alpha1.Route) func(s *tableSpec) {
	all = append([]v1alpha1.Route{}, all...) // not nil: none is [] in JSON
	return func(s *tableSpec) { s.Routes = &all }
}

func usedBy(subnets ...string) func(s *tableSpec) {
	refs := []v1alpha1.ObjectReference{}
	for _, name := range subnets {
		refs = append(refs, v1alpha1.ObjectReference{Name: name})
	}
	return func(s *tableSpec) { s.SubnetRefs = &refs }
}

func tableTag(k, v string) func(s *tableSpec) {
	return func(s *tableSpec) { withTag(&s.CommonSpec, k, v) }
}

// inRouted makes a VPC with two subnets and a NAT gateway, an internet gateway, and one that is attached to the VPC.
func inRouted(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	inNetwork(t, s)
	r, vpc := s.Rig, s.Targets["VPC/network"].ID
	for name, block := range map[string]string{"a": "10.20.1.0/24", "b": "10.20.2.0/24"} {
		s.Targets["Subnet/"+name] = kind.Target{ID: makeSubnet(t, r, block, nil)}
	}
	attached, other := makeGateway(t, r, nil), makeGateway(t, r, nil)
	_, err := api(r).AttachInternetGateway(t.Context(), &ec2.AttachInternetGatewayInput{InternetGatewayId: attached, VpcId: &vpc})
	kindtest.Must(t, err)
	nat, err := api(r).CreateNatGateway(t.Context(),
		&ec2.CreateNatGatewayInput{SubnetId: aws.String(s.Targets["Subnet/a"].ID), ConnectivityType: types.ConnectivityTypePrivate})
	kindtest.Must(t, err)
	s.Targets["NATGateway/nat"] = kind.Target{ID: *nat.NatGateway.NatGatewayId}
	s.Targets["InternetGateway/internet"], s.Targets["InternetGateway/other"] = kind.Target{ID: *attached}, kind.Target{ID: *other}
}

// tables are the route tables in AWS, without main ones.
func tables(t *testing.T, r *kindtest.Rig) []types.RouteTable {
	t.Helper()
	out, err := api(r).DescribeRouteTables(t.Context(), &ec2.DescribeRouteTablesInput{})
	kindtest.Must(t, err)
	return slices.DeleteFunc(out.RouteTables, func(d types.RouteTable) bool {
		return slices.ContainsFunc(d.Associations, func(a types.RouteTableAssociation) bool { return aws.ToBool(a.Main) })
	})
}

func onTable(f func(ctx context.Context, c *ec2.Client, d types.RouteTable) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), tables(t, r)[0]))
	}
}

func deleteTable(ctx context.Context, c *ec2.Client, d types.RouteTable) error {
	_, err := c.DeleteRouteTable(ctx, &ec2.DeleteRouteTableInput{RouteTableId: d.RouteTableId})
	return err
}

func makeTable(t *testing.T, r *kindtest.Rig, tags map[string]string) string {
	t.Helper()
	out, err := api(r).CreateRouteTable(t.Context(),
		&ec2.CreateRouteTableInput{VpcId: vpcID(t, r), TagSpecifications: tagSpecification(types.ResourceTypeRouteTable, tags)})
	kindtest.Must(t, err)
	return *out.RouteTable.RouteTableId
}

const (
	createRTB    = "ec2:CreateRouteTable"
	deleteRTB    = "ec2:DeleteRouteTable"
	addRoute     = "ec2:CreateRoute"
	changeRoute  = "ec2:ReplaceRoute"
	removeRoute  = "ec2:DeleteRoute"
	associate    = "ec2:AssociateRouteTable"
	disassociate = "ec2:DisassociateRouteTable"
)

func TestRouteTable(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewRouteTable), inRouted,
		slices.Concat(tableLives(), routeEdits(), associationEdits(), tableDrifts(), tableDeletions()))
}

func tableLives() []kindtest.Case {
	earlier := func(t *testing.T, r *kindtest.Rig) {
		makeTable(t, r, ownedTags("RouteTable", "public", "an-earlier-one"))
	}
	two := by("internet", "10.99.0.0/16")
	two.GatewayID = "igw-0123456789abcdef0"
	return []kindtest.Case{
		{Name: "absent is created", Object: tableOf(), Cause: engine.New, Actions: []string{createRTB}},
		{Name: "with routes and subnets", Object: tableOf(routes(by("internet", "0.0.0.0/0"), by("internet", "10.99.0.0/16")), usedBy("a", "b")),
			Cause: engine.New, Actions: []string{createRTB}},
		{Name: "with none of both", Object: tableOf(routes(), usedBy()), Cause: engine.New, Actions: []string{createRTB}},
		{Name: "a table that vanished is created again", Existing: tableOf(), Object: tableOf(), Drift: true, Before: onTable(deleteTable),
			Cause: engine.New, Actions: []string{createRTB}},
		{Name: "left by an earlier object of this name, it is taken over", Object: tableOf(), Before: earlier,
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "a route without target is refused", Object: tableOf(routes(v1alpha1.Route{DestinationCIDRBlock: "0.0.0.0/0"})),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a route with two targets is refused", Object: tableOf(routes(two)), Stalled: status.ReasonInvalidSpec},
		{Name: "a destination with host bits is refused", Object: tableOf(routes(by("internet", "10.99.0.1/16"))),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a destination that is declared twice is refused", Object: tableOf(routes(by("internet", "0.0.0.0/0"), by("other", "0.0.0.0/0"))),
			Stalled: status.ReasonInvalidSpec},
	}
}

func routeEdits() []kindtest.Case {
	all, some := by("internet", "0.0.0.0/0"), by("internet", "10.99.0.0/16")
	return []kindtest.Case{
		{Name: "a route is added", Existing: tableOf(routes(all)), Object: tableOf(routes(some, all)), Cause: engine.Edited,
			Diff: []string{"Routes[10.99.0.0/16]"}, Actions: []string{addRoute}},
		{Name: "a route is led elsewhere", Existing: tableOf(routes(all, some)), Object: tableOf(routes(by("other", "0.0.0.0/0"), some)),
			Cause: engine.Edited,
			Diff:  []string{"Routes[0.0.0.0/0].Target"}, Actions: []string{changeRoute}},
		{Name: "a route is removed", Existing: tableOf(routes(all, some)), Object: tableOf(routes(some)), Cause: engine.Edited,
			Diff: []string{"Routes[0.0.0.0/0]"}, Actions: []string{removeRoute}},
		{Name: "all routes are removed, and the local one stays", Existing: tableOf(routes(all, some)), Object: tableOf(routes()),
			Cause: engine.Edited,
			Diff:  []string{"Routes[0.0.0.0/0]", "Routes[10.99.0.0/16]"}, Actions: []string{removeRoute, removeRoute}},
		{Name: "routes that are no longer declared stay", Existing: tableOf(routes(all)), Object: tableOf(), Cause: engine.InSync},
		{Name: "tags are added and dropped", Existing: tableOf(tableTag("old", "1")), Object: tableOf(tableTag("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "another VPC", Existing: tableOf(),
			Object:  tableOf(func(s *tableSpec) { s.VPCReference = v1alpha1.VPCReference{VPCID: "vpc-0123456789abcdef0"} }),
			Stalled: status.ReasonImmutable},
	}
}

func associationEdits() []kindtest.Case {
	taken := func(t *testing.T, r *kindtest.Rig) {
		for _, s := range subnets(t, r) {
			_, err := api(r).AssociateRouteTable(t.Context(),
				&ec2.AssociateRouteTableInput{RouteTableId: aws.String(makeTable(t, r, nil)), SubnetId: s.SubnetId})
			kindtest.Must(t, err)
		}
	}
	byID := func(s *kindtest.Subject) {
		s.Object.(*v1alpha1.RouteTable).Spec.SubnetAssociations = &[]v1alpha1.SubnetID{v1alpha1.SubnetID(s.Targets["Subnet/a"].ID)}
	}
	return []kindtest.Case{
		{Name: "a subnet is added", Existing: tableOf(usedBy("a")), Object: tableOf(usedBy("a", "b")), Cause: engine.Edited,
			Diff: []string{"Subnets[Subnet/b]"}, Actions: []string{associate}},
		{Name: "a subnet is removed", Existing: tableOf(usedBy("a", "b")), Object: tableOf(usedBy("a")), Cause: engine.Edited,
			Diff: []string{"Subnets[Subnet/b]"}, Actions: []string{disassociate}},
		{Name: "all routes lead to a NAT gateway", Object: tableOf(routes(byNAT)), Cause: engine.New, Actions: []string{createRTB}},
		{Name: "a route moves to a NAT gateway", Existing: tableOf(routes(by("internet", "0.0.0.0/0"))), Object: tableOf(routes(byNAT)),
			Cause: engine.Edited,
			Diff:  []string{"Routes[0.0.0.0/0].Target"}, Actions: []string{changeRoute}},
		{Name: "all subnets are removed", Existing: tableOf(usedBy("a")), Object: tableOf(usedBy()), Cause: engine.Edited,
			Diff: []string{"Subnets[Subnet/a]"}, Actions: []string{disassociate}},
		{Name: "a subnet is exchanged", Existing: tableOf(usedBy("a")), Object: tableOf(usedBy("b")), Cause: engine.Edited,
			Diff: []string{"Subnets[Subnet/b]", "Subnets[Subnet/a]"}, Actions: []string{associate, disassociate}},
		{Name: "subnets that are no longer declared stay", Existing: tableOf(usedBy("a")), Object: tableOf(), Cause: engine.InSync},
		{Name: "a subnet by its identifier", Object: tableOf(), Facts: byID, Cause: engine.New, Actions: []string{createRTB}},
		{Name: "a subnet that uses another table is waited for", Object: tableOf(usedBy("a")), Before: taken, Waiting: status.ReasonInUse,
			OnRun: true},
	}
}

func tableDrifts() []kindtest.Case {
	declared := tableOf(routes(by("internet", "0.0.0.0/0")), usedBy("a"))
	rerouted := func(t *testing.T, r *kindtest.Rig) {
		d := tables(t, r)[0]
		for _, g := range gateways(t, r) {
			if len(g.Attachments) == 0 {
				_, err := api(r).ReplaceRoute(t.Context(),
					&ec2.ReplaceRouteInput{RouteTableId: d.RouteTableId, DestinationCidrBlock: aws.String("0.0.0.0/0"), GatewayId: g.InternetGatewayId})
				kindtest.Must(t, err)
			}
		}
	}
	freed := onTable(func(ctx context.Context, c *ec2.Client, d types.RouteTable) error {
		_, err := c.DisassociateRouteTable(ctx, &ec2.DisassociateRouteTableInput{AssociationId: d.Associations[0].RouteTableAssociationId})
		return err
	})
	return []kindtest.Case{
		{Name: "a route that somebody changed is restored", Existing: declared, Object: declared, Drift: true, Before: rerouted,
			Cause: engine.Drifted,
			Diff:  []string{"Routes[0.0.0.0/0].Target"}, Actions: []string{changeRoute}},
		{Name: "a subnet that somebody removed returns", Existing: declared, Object: declared, Drift: true, Before: freed, Cause: engine.Drifted,
			Diff: []string{"Subnets[Subnet/a]"}, Actions: []string{associate}},
		{Name: "routes and subnets that are not declared may change", Existing: tableOf(), Object: tableOf(), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				d := tables(t, r)[0]
				_, err := api(r).AssociateRouteTable(t.Context(),
					&ec2.AssociateRouteTableInput{RouteTableId: d.RouteTableId, SubnetId: subnets(t, r)[0].SubnetId})
				kindtest.Must(t, err)
			}, Cause: engine.InSync},
	}
}

func tableDeletions() []kindtest.Case {
	refusedOnce := func(_ *testing.T, r *kindtest.Rig) {
		r.AWS.Fault(emulator.Match{Service: "ec2", Op: "DeleteRouteTable", Times: 1},
			emulator.Fail(400, "DependencyViolation", "The routeTable has dependencies and cannot be deleted."))
	}
	used, orphan := tableOf(usedBy("a", "b")), tableOf(func(s *tableSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	return []kindtest.Case{
		{Name: "is deleted with its associations", Existing: used, Object: used, Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{disassociate, disassociate, deleteRTB}},
		{Name: "deleting one that no subnet uses", Existing: tableOf(), Object: tableOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{deleteRTB}},
		{Name: "a refused deletion is sent again", Existing: tableOf(), Object: tableOf(), Deleting: true, Drift: true, Before: refusedOnce,
			Cause: engine.Deleting, Actions: []string{deleteRTB}},
		{Name: "deleting what is gone", Existing: tableOf(), Object: tableOf(), Deleting: true, Drift: true, Before: onTable(deleteTable),
			Cause: engine.Gone},
		{Name: "Orphan removes the owner tags and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func tableLife(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: tableOf(routes(by("internet", "0.0.0.0/0")), usedBy("a")), Facts: func(s *kindtest.Subject) { inRouted(t, s) },
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			n := len(tables(t, r))
			if n > 1 {
				t.Errorf("%d tables were made\n%s", n, r.AWS.Calls())
			}
			return n > 0
		},
		Edited:  tableOf(routes(by("internet", "10.99.0.0/16")), usedBy("b")),
		Invalid: []v1alpha1.Resource{tableOf(routes(by("internet", "10.99.0.1/16")))},
	}
}

func TestRouteTableSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewRouteTable), tableLife(t))
}

func TestRouteTableSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewRouteTable), tableLife(t))
}

func TestRouteTableCosts(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRouteTable), tableOf(routes(by("internet", "0.0.0.0/0")), usedBy("a")))
	inRouted(t, s)
	// two searches by tags, the create, a look, a route and an association, a look; a look; a look, two writes, two looks that verify the
	// deletion
	costs(t, s, [2]int{7, 3}, [2]int{1, 0}, [2]int{5, 2})
}

// EC2 may not know a NAT gateway that is pending.
func TestARouteWaitsForItsNATGateway(t *testing.T) {
	for op, first := range map[string]*v1alpha1.RouteTable{"CreateRoute": tableOf(),
		"ReplaceRoute": tableOf(routes(by("internet", "0.0.0.0/0")))} {
		s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewRouteTable), first)
		inRouted(t, s)
		kindtest.Settled(t, s)
		s.Edit(tableOf(routes(byNAT)))
		nat := s.Targets["NATGateway/nat"].ID
		s.Rig.AWS.Fault(emulator.Match{Service: "ec2", Op: op, Times: 1},
			emulator.Fail(400, "InvalidNatGatewayID.NotFound", "The natGateway ID '"+nat+"' does not exist"))
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.For != "the NAT gateway "+nat+" to be available" {
			t.Errorf("%s: %v", op, err)
		}
		kindtest.Settled(t, s)
	}
}

func TestARouteTableIsAdoptedByItsIdentifier(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewRouteTable), tableOf())
	id := makeTable(t, r, map[string]string{"theirs": "1"})
	s.AllowAdoption = true
	s.Edit(tableOf(func(s *tableSpec) { s.ImportID = id; adopting(&s.CommonSpec) }))
	kindtest.Settled(t, s)
	if d := tables(t, r); len(d) != 1 || kind.TagMap(d[0].Tags)["nexus.ai/owner-uid"] != "uid-of-public" ||
		kind.TagMap(d[0].Tags)["theirs"] != "1" {
		t.Errorf("%+v", d)
	}
}

func TestPublishedFieldsOfARouteTable(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRouteTable), tableOf(usedBy("a")))
	inRouted(t, s)
	kindtest.Settled(t, s)
	st := s.Object.(*v1alpha1.RouteTable).Status
	if st.RouteTableID == "" || st.ID != st.RouteTableID || st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+":route-table/"+
		st.ID ||
		st.VPCID != *vpcID(t, r) || !slices.Equal(st.AssociatedSubnets, []string{s.Targets["Subnet/a"].ID}) {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["routeTableID"] != st.ID || a["vpcID"] != st.VPCID {
		t.Error(a)
	}
}

// EC2 reports the network interface of an instance beside it, and the instance of a network interface.
func TestTheTargetOfARouteIsTheOneThatIsWanted(t *testing.T) {
	seen := types.Route{InstanceId: aws.String("i-1"), NetworkInterfaceId: aws.String("eni-1")}
	for _, wanted := range []string{"i-1", "eni-1"} {
		if got := targetOf(seen, wanted); got != wanted {
			t.Errorf("got %s, want %s", got, wanted)
		}
	}
	for _, id := range []string{"igw-1", "nat-1", "i-1", "eni-1", "pcx-1", "tgw-1"} {
		in := route(RouteTableState{Routes: map[string]Route{"0.0.0.0/0": {id}}}, RouteTableState{}, "0.0.0.0/0")
		if got := targetOf(kind.Convert[types.Route](in), id); got != id {
			t.Errorf("the request for %s names %q", id, got)
		}
	}
}
