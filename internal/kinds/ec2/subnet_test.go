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

const block = "10.20.1.0/24"

type subnetSpec = v1alpha1.SubnetSpec

func subnetOf(edits ...func(s *subnetSpec)) *v1alpha1.Subnet {
	o := &v1alpha1.Subnet{}
	o.Name, o.Spec.CIDRBlock, o.Spec.VPCReference = "public", block, network
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func public(yes bool) func(s *subnetSpec) {
	return func(s *subnetSpec) { s.MapPublicIPOnLaunch = &yes }
}

func inZone(name string) func(s *subnetSpec) {
	return func(s *subnetSpec) { s.AvailabilityZone = name }
}

func subnetTag(k, v string) func(s *subnetSpec) {
	return func(s *subnetSpec) { withTag(&s.CommonSpec, k, v) }
}

// subnets are the subnets in AWS, without those of the account's default VPC.
func subnets(t *testing.T, r *kindtest.Rig) []types.Subnet {
	t.Helper()
	out, err := api(r).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	kindtest.Must(t, err)
	return slices.DeleteFunc(out.Subnets, func(s types.Subnet) bool { return aws.ToBool(s.DefaultForAz) })
}

func onSubnet(f func(ctx context.Context, c *ec2.Client, id *string) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		kindtest.Must(t, f(t.Context(), api(r), subnets(t, r)[0].SubnetId))
	}
}

func deleteSubnet(ctx context.Context, c *ec2.Client, id *string) error {
	_, err := c.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: id})
	return err
}

func existingSubnet(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeSubnet(t, r, block, tags) }
}

const createSub, modifySub, deleteSub = "ec2:CreateSubnet", "ec2:ModifySubnetAttribute", "ec2:DeleteSubnet"

func TestSubnet(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewSubnet), inNetwork, slices.Concat(subnetLives(), subnetEdits(), subnetDeletions()))
}

func subnetLives() []kindtest.Case {
	earlier := ownedTags("Subnet", "public", "an-earlier-one")
	return []kindtest.Case{
		{Name: "absent is created", Object: subnetOf(), Cause: engine.New, Actions: []string{createSub}},
		{Name: "in a zone, with public addresses", Object: subnetOf(inZone("ap-southeast-1b"), public(true)), Cause: engine.New,
			Actions: []string{createSub}},
		{Name: "private, as AWS makes it", Object: subnetOf(public(false)), Cause: engine.New, Actions: []string{createSub}},
		{Name: "a subnet that vanished is created again", Existing: subnetOf(), Object: subnetOf(), Drift: true, Before: onSubnet(deleteSubnet),
			Cause: engine.New, Actions: []string{createSub}},
		{Name: "a range with host bits is refused", Object: subnetOf(func(s *subnetSpec) { s.CIDRBlock = "10.20.1.1/24" }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a VPC by identifier and by reference is refused", Object: subnetOf(func(s *subnetSpec) { s.VPCID = "vpc-0123456789abcdef0" }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a subnet without a VPC is refused", Object: subnetOf(func(s *subnetSpec) { s.VPCRef = nil }), Stalled: status.ReasonInvalidSpec},
		{Name: "a range outside the VPC's is refused by AWS", Object: subnetOf(func(s *subnetSpec) { s.CIDRBlock = "10.99.1.0/24" }),
			Stalled: status.ReasonRefusedByAWS, OnRun: true},
		{Name: "a range that overlaps is refused by AWS", Object: subnetOf(), Before: existingSubnet(nil), Stalled: status.ReasonRefusedByAWS,
			OnRun: true},
		{Name: "left by an earlier object of this name, it is taken over", Object: subnetOf(), Before: existingSubnet(earlier),
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: subnetOf(func(s *subnetSpec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: existingSubnet(earlier), Stalled: status.ReasonConflict},
	}
}

func subnetEdits() []kindtest.Case {
	off := onSubnet(func(ctx context.Context, c *ec2.Client, id *string) error {
		_, err := c.ModifySubnetAttribute(ctx,
			&ec2.ModifySubnetAttributeInput{SubnetId: id, MapPublicIpOnLaunch: &types.AttributeBooleanValue{Value: aws.Bool(false)}})
		return err
	})
	changed := []string{"MapPublicIPOnLaunch"}
	return []kindtest.Case{
		{Name: "public addresses on", Existing: subnetOf(), Object: subnetOf(public(true)), Cause: engine.Edited, Diff: changed,
			Actions: []string{modifySub}},
		{Name: "public addresses off", Existing: subnetOf(public(true)), Object: subnetOf(public(false)), Cause: engine.Edited, Diff: changed,
			Actions: []string{modifySub}},
		{Name: "public addresses are restored", Existing: subnetOf(public(true)), Object: subnetOf(public(true)), Drift: true, Before: off,
			Cause: engine.Drifted, Diff: changed, Actions: []string{modifySub}},
		{Name: "what is no longer declared stays", Existing: subnetOf(public(true)), Object: subnetOf(), Cause: engine.InSync},
		{Name: "tags are added and dropped", Existing: subnetOf(subnetTag("old", "1")), Object: subnetOf(subnetTag("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "another range", Existing: subnetOf(), Object: subnetOf(func(s *subnetSpec) { s.CIDRBlock = "10.20.2.0/24" }),
			Stalled: status.ReasonImmutable},
		{Name: "another zone", Existing: subnetOf(inZone("ap-southeast-1a")), Object: subnetOf(inZone("ap-southeast-1b")),
			Stalled: status.ReasonImmutable},
		{Name: "another VPC", Existing: subnetOf(),
			Object:  subnetOf(func(s *subnetSpec) { s.VPCReference = v1alpha1.VPCReference{VPCID: "vpc-0123456789abcdef0"} }),
			Stalled: status.ReasonImmutable},
	}
}

func subnetDeletions() []kindtest.Case {
	refusedOnce := func(_ *testing.T, r *kindtest.Rig) {
		r.AWS.Fault(emulator.Match{Service: "ec2", Op: "DeleteSubnet", Times: 1},
			emulator.Fail(400, "DependencyViolation", "The subnet has dependencies and cannot be deleted."))
	}
	orphan := subnetOf(func(s *subnetSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	return []kindtest.Case{
		{Name: "deleting", Existing: subnetOf(), Object: subnetOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{deleteSub}},
		{Name: "a refused deletion is sent again once nothing is left in the subnet", Existing: subnetOf(), Object: subnetOf(), Deleting: true,
			Drift: true, Before: refusedOnce,
			Cause: engine.Deleting, Actions: []string{deleteSub}},
		{Name: "deleting what is gone", Existing: subnetOf(), Object: subnetOf(), Deleting: true, Drift: true, Before: onSubnet(deleteSubnet),
			Cause: engine.Gone},
		{Name: "Orphan removes the owner tags and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func subnetLife(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: subnetOf(public(true), subnetTag("team", "a")), Facts: func(s *kindtest.Subject) { inNetwork(t, s) },
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			n := len(subnets(t, r))
			if n > 1 {
				t.Errorf("%d subnets were made\n%s", n, r.AWS.Calls())
			}
			return n > 0
		},
		Edited: subnetOf(public(false), subnetTag("team", "b")),
		Invalid: []v1alpha1.Resource{subnetOf(func(s *subnetSpec) { s.CIDRBlock = "10.20.1.1/24" }),
			subnetOf(func(s *subnetSpec) { s.VPCRef = nil })},
	}
}

func TestSubnetSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewSubnet), subnetLife(t))
}

func TestSubnetSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewSubnet), subnetLife(t)) }

func TestSubnetCosts(t *testing.T) {
	s, _ := subjectIn(t, engine.For(NewSubnet), subnetOf(public(true)))
	// two searches by tags, the create, a look, the attribute, a look; a look; a look, the delete, two looks that verify it
	costs(t, s, [2]int{6, 2}, [2]int{1, 0}, [2]int{4, 1})
}

func TestNetworkInterfacesHoldADeletionOfTheirSubnet(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSubnet), subnetOf())
	kindtest.Settled(t, s)
	id := subnets(t, r)[0].SubnetId
	removeOne, removeOther := makeInterface(t, r, id), makeInterface(t, r, id)
	s.Deleting = true
	mark := r.AWS.Mark()
	held(t, s, "1 network interface of eni-")
	if n := r.AWS.Since(mark).Writes().Count(); n != 1 {
		t.Errorf("%d attempts to delete a subnet in use:\n%s", n, r.AWS.Since(mark))
	}
	removeOne()
	removeOther()
	kindtest.Settled(t, s)
	if len(subnets(t, r)) > 0 {
		t.Error("the subnet was left behind")
	}
}

func TestASubnetWaitsUntilItsVPCIsKnown(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSubnet), subnetOf())
	targets := s.Targets
	s.Targets = nil
	if _, err := s.Decide(t.Context()); !waits(err) {
		t.Fatal(err)
	}
	s.Targets = targets
	r.AWS.Fault(emulator.Match{Service: "ec2", Op: "CreateSubnet", Times: 1},
		emulator.Fail(400, "InvalidVpcID.NotFound", "The vpc ID does not exist"))
	kindtest.Settled(t, s)
	s.Deleting, s.Targets = true, nil
	kindtest.Settled(t, s)
}

// The object that vpcRef names can have another VPC later, for example after it was deleted and created again.
func TestAVPCReferenceThatMovesAbandonsNoSubnet(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSubnet), subnetOf())
	kindtest.Settled(t, s)
	targets := s.Targets
	s.Targets = map[string]kind.Target{"VPC/" + network.VPCRef.Name: {ID: makeVPC(t, r, nil)}}
	mark := r.AWS.Mark()
	_, err := s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonImmutable)
	if w := r.AWS.Since(mark).Writes(); len(w) > 0 || len(subnets(t, r)) != 1 {
		t.Errorf("%d subnets, wrote:\n%s", len(subnets(t, r)), w)
	}
	s.Targets = targets
	kindtest.Settled(t, s)
	s.Deleting, s.Targets = true, nil
	kindtest.Settled(t, s)
	if len(subnets(t, r)) > 0 {
		t.Error("the subnet was left behind")
	}
}

func TestASubnetIsAdoptedByItsIdentifier(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSubnet), subnetOf())
	id := makeSubnet(t, r, block, map[string]string{"theirs": "1"})
	s.Object.(*v1alpha1.Subnet).Spec.ImportID = id
	s.AllowAdoption = true
	_, err := s.Settle(t.Context(), nil)
	stalls(t, err, status.ReasonConflict)
	s.Edit(subnetOf(func(s *subnetSpec) { s.ImportID = id; adopting(&s.CommonSpec) }))
	kindtest.Settled(t, s)
	if tags := kind.TagMap(subnets(t, r)[0].Tags); tags["theirs"] != "1" || tags["nexus.ai/owner-uid"] != "uid-of-public" {
		t.Error(tags)
	}
}

func TestPublishedFieldsOfASubnet(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSubnet), subnetOf(inZone("ap-southeast-1a")))
	kindtest.Settled(t, s)
	st := s.Object.(*v1alpha1.Subnet).Status
	if st.SubnetID == "" || st.ID != st.SubnetID || st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+":subnet/"+st.ID ||
		st.State != "available" || st.CIDRBlock != block || st.VPCID != *vpcID(t, r) || st.AvailabilityZone != "ap-southeast-1a" {
		t.Errorf("%+v", st)
	}
	attributes := any(s.Object).(kind.Referable).ReferableAttributes()
	if attributes["subnetID"] != st.ID || attributes["vpcID"] != st.VPCID || attributes["cidrBlock"] != block ||
		attributes["availabilityZone"] != st.AvailabilityZone {
		t.Error(attributes)
	}
}
