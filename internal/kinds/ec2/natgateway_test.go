// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

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

type natSpec = v1alpha1.NATGatewaySpec

// natOf is a public gateway in subnet a with the address exit.
func natOf(edits ...func(s *natSpec)) *v1alpha1.NATGateway {
	o := &v1alpha1.NATGateway{}
	o.Name = "nat"
	o.Spec.SubnetRef, o.Spec.AllocationRef = &v1alpha1.ObjectReference{Name: "a"}, &v1alpha1.ObjectReference{Name: "exit"}
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func private(s *natSpec) { s.AllocationRef, s.ConnectivityType = nil, "private" }

func namedPublic(s *natSpec) { s.ConnectivityType = "public" }

// privateWithAddress is refused.
func privateWithAddress(s *natSpec) { s.ConnectivityType = "private" }

func natTag(k, v string) func(s *natSpec) {
	return func(s *natSpec) { withTag(&s.CommonSpec, k, v) }
}

// inOutlet makes a VPC with an internet gateway, two subnets and two addresses.
func inOutlet(t *testing.T, s *kindtest.Subject) {
	t.Helper()
	inNetwork(t, s)
	r, vpc := s.Rig, s.Targets["VPC/network"].ID
	for name, block := range map[string]string{"a": "10.20.1.0/24", "b": "10.20.2.0/24"} {
		s.Targets["Subnet/"+name] = kind.Target{ID: makeSubnet(t, r, block, map[string]string{"name": name})}
	}
	for _, name := range []string{"exit", "other"} {
		s.Targets["ElasticIP/"+name] = kind.Target{ID: makeAddress(t, r, map[string]string{"name": name})}
	}
	_, err := api(r).AttachInternetGateway(t.Context(),
		&ec2.AttachInternetGatewayInput{InternetGatewayId: makeGateway(t, r, nil), VpcId: &vpc})
	kindtest.Must(t, err)
}

func natSubject(t *testing.T, o v1alpha1.Resource) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewNATGateway), o)
	inOutlet(t, s)
	return s, r
}

// nats are the gateways that are not deleted.
func nats(t *testing.T, r *kindtest.Rig) []types.NatGateway {
	t.Helper()
	out, err := api(r).DescribeNatGateways(t.Context(), &ec2.DescribeNatGatewaysInput{})
	kindtest.Must(t, err)
	return slices.DeleteFunc(out.NatGateways, func(d types.NatGateway) bool { return d.State == types.NatGatewayStateDeleted })
}

func onNAT(f func(ctx context.Context, c *ec2.Client, d types.NatGateway) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), nats(t, r)[0]))
	}
}

func deleteNAT(ctx context.Context, c *ec2.Client, d types.NatGateway) error {
	_, err := c.DeleteNatGateway(ctx, &ec2.DeleteNatGatewayInput{NatGatewayId: d.NatGatewayId})
	return err
}

// makeNAT makes a public gateway in the subnet a with the address exit.
func makeNAT(t *testing.T, r *kindtest.Rig, tags map[string]string) string {
	t.Helper()
	subnets, err := api(r).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: tagFilters(map[string][]string{"name": {"a"}})})
	kindtest.Must(t, err)
	addresses, err := api(r).DescribeAddresses(t.Context(),
		&ec2.DescribeAddressesInput{Filters: tagFilters(map[string][]string{"name": {"exit"}})})
	kindtest.Must(t, err)
	made, err := api(r).CreateNatGateway(t.Context(), &ec2.CreateNatGatewayInput{SubnetId: subnets.Subnets[0].SubnetId,
		AllocationId: addresses.Addresses[0].AllocationId, ConnectivityType: types.ConnectivityTypePublic,
		TagSpecifications: tagSpecification(types.ResourceTypeNatgateway, tags)})
	kindtest.Must(t, err)
	return *made.NatGateway.NatGatewayId
}

func existingNAT(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeNAT(t, r, tags) }
}

const (
	createNAT = "ec2:CreateNatGateway"
	removeNAT = "ec2:DeleteNatGateway"
)

func TestNATGateway(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewNATGateway), inOutlet, slices.Concat(natLives(), natEdits(), natDeletions()))
}

func natLives() []kindtest.Case {
	byID := func(s *kindtest.Subject) {
		spec := &s.Object.(*v1alpha1.NATGateway).Spec
		spec.SubnetRef, spec.SubnetID = nil, s.Targets["Subnet/a"].ID
		spec.AllocationRef, spec.AllocationID = nil, s.Targets["ElasticIP/exit"].ID
	}
	closed := func(t *testing.T, r *kindtest.Rig) { onGateway(detachGateway)(t, r) }
	return []kindtest.Case{
		{Name: "absent is created", Object: natOf(), Cause: engine.New, Actions: []string{createNAT}},
		{Name: "public by name", Object: natOf(namedPublic), Cause: engine.New, Actions: []string{createNAT}},
		{Name: "private, without an address", Object: natOf(private), Cause: engine.New, Actions: []string{createNAT}},
		{Name: "by identifiers", Object: natOf(), Facts: byID, Cause: engine.New, Actions: []string{createNAT}},
		{Name: "a gateway that vanished is created again", Existing: natOf(), Object: natOf(), Drift: true, Before: onNAT(deleteNAT),
			Cause: engine.New, Actions: []string{createNAT}},
		{Name: "left by an earlier object of this name, it is taken over", Object: natOf(),
			Before: existingNAT(ownedTags("NATGateway", "nat", "an-earlier-one")),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "an address in use is waited for", Object: natOf(), Before: existingNAT(nil), Waiting: status.ReasonInUse},
		{Name: "an internet gateway is waited for", Object: natOf(), Before: closed, Waiting: status.ReasonWaiting},
		{Name: "private, without an internet gateway", Object: natOf(private), Before: closed, Cause: engine.New, Actions: []string{createNAT}},
		{Name: "private with an address is refused", Object: natOf(privateWithAddress), Stalled: status.ReasonInvalidSpec},
		{Name: "public without an address is refused", Object: natOf(func(s *natSpec) { s.AllocationRef = nil }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "without a subnet it is refused", Object: natOf(func(s *natSpec) { s.SubnetRef = nil }), Stalled: status.ReasonInvalidSpec},
	}
}

func natEdits() []kindtest.Case {
	retagged := onNAT(func(ctx context.Context, c *ec2.Client, d types.NatGateway) error {
		_, err := c.CreateTags(ctx,
			&ec2.CreateTagsInput{Resources: []string{*d.NatGatewayId}, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("b")}}})
		return err
	})
	return []kindtest.Case{
		{Name: "tags are added and dropped", Existing: natOf(natTag("old", "1")), Object: natOf(natTag("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "tags that somebody changed are restored", Existing: natOf(natTag("team", "a")), Object: natOf(natTag("team", "a")), Drift: true,
			Before: retagged,
			Cause:  engine.Drifted, Diff: []string{"Tags[team]"}, Actions: []string{tag}},
		{Name: "another subnet", Existing: natOf(), Object: natOf(func(s *natSpec) { s.SubnetRef = &v1alpha1.ObjectReference{Name: "b"} }),
			Stalled: status.ReasonImmutable},
		{Name: "another address", Existing: natOf(),
			Object: natOf(func(s *natSpec) { s.AllocationRef = &v1alpha1.ObjectReference{Name: "other"} }), Stalled: status.ReasonImmutable},
		{Name: "another type", Existing: natOf(), Object: natOf(private), Stalled: status.ReasonImmutable},
	}
}

func natDeletions() []kindtest.Case {
	orphan := natOf(func(s *natSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	return []kindtest.Case{
		{Name: "deleting", Existing: natOf(), Object: natOf(), Deleting: true, Drift: true, Cause: engine.Deleting, Actions: []string{removeNAT}},
		{Name: "deleting a private one", Existing: natOf(private), Object: natOf(private), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{removeNAT}},
		{Name: "deleting what is gone", Existing: natOf(), Object: natOf(), Deleting: true, Drift: true, Before: onNAT(deleteNAT),
			Cause: engine.Gone},
		{Name: "Orphan removes the owner tags and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func natLife(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: natOf(natTag("team", "a")), Facts: func(s *kindtest.Subject) { inOutlet(t, s) },
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			n := len(nats(t, r))
			if n > 1 {
				t.Errorf("%d gateways were made\n%s", n, r.AWS.Calls())
			}
			return n > 0
		},
		Edited:  natOf(natTag("team", "b")),
		Invalid: []v1alpha1.Resource{natOf(privateWithAddress)},
	}
}

func TestNATGatewaySurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewNATGateway), natLife(t))
}

func TestNATGatewaySurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewNATGateway), natLife(t))
}

func TestNATGatewayCosts(t *testing.T) {
	s, _ := natSubject(t, natOf())
	// two searches by tags, the address, the subnet, the internet gateway, the create, a look; a look; a look, the deletion, two looks that
	// verify it
	costs(t, s, [2]int{7, 1}, [2]int{1, 0}, [2]int{4, 1})
	s, _ = natSubject(t, natOf(private))
	costs(t, s, [2]int{4, 1}, [2]int{1, 0}, [2]int{4, 1})
}

// A gateway takes minutes: each pass looks once and ends.
func TestANATGatewayThatTakesItsTimeIsWaitedFor(t *testing.T) {
	s, r := natSubject(t, natOf())
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.EC2.SetNATGatewayTakes(2 * time.Minute)
	t.Cleanup(func() { r.AWS.EC2.SetNATGatewayTakes(0); r.AWS.SetClock(nil) })
	busy := func(state string) {
		t.Helper()
		for range 2 {
			_, err := s.Pass(t.Context(), nil)
			if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || w.For != "AWS: the NAT gateway is "+state {
				t.Fatalf("%v", err)
			}
		}
	}
	busy("pending")
	if st := s.Object.(*v1alpha1.NATGateway).Status; st.NATGatewayID == "" {
		t.Errorf("%+v", st)
	}
	s.Clock = s.Clock.Add(2 * time.Minute)
	kindtest.Settled(t, s)
	s.Deleting = true
	_, err := s.Pass(t.Context(), nil)
	if !waits(err) {
		t.Fatalf("%v", err)
	}
	busy("deleting")
	if a := addresses(t, r); a[0].AssociationId == nil && a[1].AssociationId == nil {
		t.Error("the address is free before the gateway is deleted: the test proves nothing")
	}
	s.Clock = s.Clock.Add(2 * time.Minute)
	kindtest.Settled(t, s)
	if n := r.AWS.Calls().Match("ec2", "DeleteNatGateway", "").Count(); n != 1 || len(nats(t, r)) > 0 {
		t.Errorf("%d deletions", n)
	}
}

// AWS accepts the request for a gateway that it then fails to create, and deletes the failed gateway after about an hour.
func TestAFailedNATGatewayIsExplained(t *testing.T) {
	s, r := natSubject(t, natOf())
	onGateway(detachGateway)(t, r)
	id := makeNAT(t, r, ownedTags("NATGateway", "nat", "uid-of-nat"))
	mark := r.AWS.Mark()
	_, err := s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonRefusedByAWS)
	vpc := s.Targets["VPC/network"].ID
	for _, words := range []string{id + ": Gateway.NotAttached: Network " + vpc + " has no Internet gateway attached;",
		"aws ec2 delete-nat-gateway --nat-gateway-id " + id} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if w := r.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Errorf("writes to a failed gateway:\n%s", w)
	}
	kindtest.Must(t, deleteNAT(t.Context(), api(r), nats(t, r)[0]))
	_, err = api(r).AttachInternetGateway(t.Context(),
		&ec2.AttachInternetGatewayInput{InternetGatewayId: gateways(t, r)[0].InternetGatewayId, VpcId: &vpc})
	kindtest.Must(t, err)
	kindtest.Settled(t, s)
	if d := nats(t, r); len(d) != 1 || *d[0].NatGatewayId == id || d[0].State != types.NatGatewayStateAvailable {
		t.Errorf("%+v", d)
	}
}

func TestAFailedNATGatewayIsDeletedWithItsObject(t *testing.T) {
	s, r := natSubject(t, natOf())
	onGateway(detachGateway)(t, r)
	makeNAT(t, r, ownedTags("NATGateway", "nat", "uid-of-nat"))
	_, err := s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonRefusedByAWS)
	s.Deleting = true
	kindtest.Settled(t, s)
	if left := nats(t, r); len(left) > 0 {
		t.Errorf("%+v", left)
	}
}

// The operator waits for an address, a subnet or an internet gateway that is missing, and names it.
func TestWhatANATGatewayNeedsIsWaitedFor(t *testing.T) {
	for words, remove := range map[string]func(t *testing.T, s *kindtest.Subject){
		"the address eipalloc-": func(t *testing.T, s *kindtest.Subject) {
			_, err := api(s.Rig).ReleaseAddress(t.Context(), &ec2.ReleaseAddressInput{AllocationId: aws.String(s.Targets["ElasticIP/exit"].ID)})
			kindtest.Must(t, err)
		},
		"the subnet subnet-": func(t *testing.T, s *kindtest.Subject) {
			_, err := api(s.Rig).DeleteSubnet(t.Context(), &ec2.DeleteSubnetInput{SubnetId: aws.String(s.Targets["Subnet/a"].ID)})
			kindtest.Must(t, err)
		},
		"an internet gateway to be attached to VPC vpc-": func(t *testing.T, s *kindtest.Subject) { onGateway(detachGateway)(t, s.Rig) },
	} {
		s, r := natSubject(t, natOf())
		remove(t, s)
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonWaiting || !strings.HasPrefix(w.For, words) {
			t.Errorf("%s: %v", words, err)
		}
		if n := r.AWS.Calls().Match("ec2", "CreateNatGateway", "").Count(); n > 0 {
			t.Errorf("%s: the gateway was created", words)
		}
	}
}

// A create that AWS refuses because another resource took the address is no proof that the gateway exists.
func TestAnAddressThatIsTakenMeanwhileIsWaitedFor(t *testing.T) {
	s, r := natSubject(t, natOf())
	r.AWS.Fault(emulator.Match{Service: "ec2", Op: "CreateNatGateway", Times: 1},
		emulator.Fail(400, "Resource.AlreadyAssociated", "The address is already associated"))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonInUse || !strings.Contains(w.For, s.Targets["ElasticIP/exit"].ID) {
		t.Fatalf("%v", err)
	}
	kindtest.Settled(t, s)
}

func TestANATGatewayIsAdoptedByItsIdentifier(t *testing.T) {
	s, r := natSubject(t, natOf())
	id := makeNAT(t, r, map[string]string{"theirs": "1"})
	s.AllowAdoption = true
	s.Edit(natOf(func(s *natSpec) { s.ImportID = id; adopting(&s.CommonSpec) }))
	kindtest.Settled(t, s)
	if d := nats(t, r); len(d) != 1 || kind.TagMap(d[0].Tags)["nexus.ai/owner-uid"] != "uid-of-nat" ||
		kind.TagMap(d[0].Tags)["theirs"] != "1" {
		t.Errorf("%+v", d)
	}
}

func TestImportID_NeverCreatesAnotherNATGateway(t *testing.T) {
	s, r := natSubject(t, natOf(func(s *natSpec) { s.ImportID = "nat-0123456789abcdef0"; adopting(&s.CommonSpec) }))
	s.AllowAdoption = true
	onGateway(detachGateway)(t, r)
	_, err := s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonMissing)
}

func TestPublishedFieldsOfANATGateway(t *testing.T) {
	s, r := natSubject(t, natOf())
	kindtest.Settled(t, s)
	st, d := s.Object.(*v1alpha1.NATGateway).Status, nats(t, r)[0]
	a := d.NatGatewayAddresses[0]
	if st.NATGatewayID != *d.NatGatewayId || st.ID != st.NATGatewayID || st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+
		":natgateway/"+st.ID ||
		st.State != "available" || st.VPCID != *vpcID(t, r) || st.SubnetID != *d.SubnetId || st.PublicIP != *a.PublicIp ||
		st.PrivateIP != *a.PrivateIp || st.NetworkInterfaceID != *a.NetworkInterfaceId {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["natGatewayID"] != st.ID || a["vpcID"] != st.VPCID ||
		a["subnetID"] != st.SubnetID || a["publicIP"] != st.PublicIP {
		t.Error(a)
	}
}

func TestTheAddressOfAGatewayIsItsPrimaryOne(t *testing.T) {
	first, second := types.NatGatewayAddress{PublicIp: aws.String("192.0.2.1")},
		types.NatGatewayAddress{PublicIp: aws.String("192.0.2.2"), IsPrimary: aws.Bool(true)}
	if got := primaryAddress(&types.NatGateway{NatGatewayAddresses: []types.NatGatewayAddress{first, second}}); got == nil ||
		*got.PublicIp != "192.0.2.2" {
		t.Errorf("%+v", got)
	}
}
