// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const group = "databases"

type groupSpec = v1alpha1.DBSubnetGroupSpec

func groupOf(edits ...func(s *groupSpec)) *v1alpha1.DBSubnetGroup {
	o := &v1alpha1.DBSubnetGroup{}
	o.Name, o.Spec.DBSubnetGroupName = group, group
	inZones("a", "b")(&o.Spec)
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func inZones(zones ...string) func(s *groupSpec) {
	return func(s *groupSpec) {
		s.SubnetRefs = nil
		for _, zone := range zones {
			s.SubnetRefs = append(s.SubnetRefs, v1alpha1.ObjectReference{Name: zone})
		}
	}
}

func described(text string) func(s *groupSpec) { return func(s *groupSpec) { s.Description = &text } }

func groupTag(k, v string) func(s *groupSpec) {
	return func(s *groupSpec) { withTag(&s.CommonSpec, k, v) }
}

func makeGroup(t *testing.T, r *kindtest.Rig, tags map[string]string, zones ...string) {
	t.Helper()
	_, err := api(r).CreateDBSubnetGroup(t.Context(),
		&rds.CreateDBSubnetGroupInput{DBSubnetGroupName: aws.String(group), DBSubnetGroupDescription: aws.String("theirs"),
			SubnetIds: subnetIDs(t, r, zones...), Tags: kind.SDKTags[types.Tag](tags)})
	kindtest.Must(t, err)
}

func existingGroup(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeGroup(t, r, tags, "a", "b") }
}

// changeGroup sets the description and the subnets of the group outside the operator.
func changeGroup(description string, zones ...string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).ModifyDBSubnetGroup(t.Context(),
			&rds.ModifyDBSubnetGroupInput{DBSubnetGroupName: aws.String(group), DBSubnetGroupDescription: &description,
				SubnetIds: subnetIDs(t, r, zones...)})
		kindtest.Must(t, err)
	}
}

func deleteGroup(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteDBSubnetGroup(t.Context(), &rds.DeleteDBSubnetGroupInput{DBSubnetGroupName: aws.String(group)})
	kindtest.Must(t, err)
}

func groupExists(t *testing.T, r *kindtest.Rig) bool {
	t.Helper()
	_, err := api(r).DescribeDBSubnetGroups(t.Context(), &rds.DescribeDBSubnetGroupsInput{DBSubnetGroupName: aws.String(group)})
	if err != nil && !awsclient.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

// useGroup makes a DB instance that no one owns in the group, and returns how to delete it.
func useGroup(t *testing.T, r *kindtest.Rig, id string) func() {
	t.Helper()
	_, err := api(r).CreateDBInstance(t.Context(),
		&rds.CreateDBInstanceInput{DBInstanceIdentifier: &id, DBInstanceClass: aws.String("db.t4g.micro"), Engine: aws.String("postgres"),
			EngineVersion: aws.String("16.4"), AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("root0"),
			MasterUserPassword: aws.String("not-a-secret"), DBSubnetGroupName: aws.String(group)})
	kindtest.Must(t, err)
	return func() {
		_, err := api(r).DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{DBInstanceIdentifier: &id, SkipFinalSnapshot: aws.Bool(true)})
		kindtest.Must(t, err)
	}
}

const createGroup, modifyGroup, removeGroup = "rds:CreateDBSubnetGroup", "rds:ModifyDBSubnetGroup", "rds:DeleteDBSubnetGroup"

func TestSubnetGroup(t *testing.T) {
	kindtest.RunWith(t, engine.For(NewSubnetGroup), inNetwork, slices.Concat(groupLives(), groupEdits(), groupDeletions()))
}

func groupLives() []kindtest.Case {
	earlier := ownerTags("DBSubnetGroup", group, "an-earlier-one")
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: groupOf(), Cause: engine.New, Actions: []string{createGroup}},
		{Name: "with a description and tags", Object: groupOf(described("Databases of the shop"), groupTag("team", "a")), Cause: engine.New,
			Actions: []string{createGroup}},
		{Name: "three subnets", Object: groupOf(inZones("c", "a", "b")), Cause: engine.New, Actions: []string{createGroup}},
		{Name: "a name in upper case is stored in lower case", Object: groupOf(func(s *groupSpec) { s.DBSubnetGroupName = "Databases" }),
			Cause: engine.New, Actions: []string{createGroup}},
		{Name: "a group that vanished is created again", Existing: groupOf(), Object: groupOf(), Drift: true, Before: deleteGroup,
			Cause: engine.New, Actions: []string{createGroup}},
		{Name: "a group without subnets is refused", Object: groupOf(inZones()), Stalled: status.ReasonInvalidSpec},
		{Name: "the default group is refused", Object: groupOf(func(s *groupSpec) { s.DBSubnetGroupName = "Default" }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "one Availability Zone is refused by AWS", Object: groupOf(inZones("a")), Stalled: status.ReasonRefusedByAWS, OnRun: true},
		{Name: "a subnet that does not exist yet is waited for",
			Object:  groupOf(func(s *groupSpec) { s.SubnetIDs = []v1alpha1.SubnetID{"subnet-0123456789abcdef0"} }),
			Waiting: status.ReasonNotFoundInAWS, OnRun: true},
		{Name: "left by an earlier object of this name, it is taken over", Object: groupOf(described("theirs")), Before: existingGroup(earlier),
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: groupOf(func(s *groupSpec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: existingGroup(earlier), Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: groupOf(), Before: existingGroup(nil), Stalled: status.ReasonConflict},
	}
}

func groupEdits() []kindtest.Case {
	both := groupOf(described("Databases"))
	return []kindtest.Case{
		{Name: "a subnet is added", Existing: groupOf(), Object: groupOf(inZones("a", "b", "c")), Cause: engine.Edited, Diff: []string{"Subnets"},
			Actions: []string{modifyGroup}},
		{Name: "a subnet is removed", Existing: groupOf(inZones("a", "b", "c")), Object: groupOf(inZones("a", "c")), Cause: engine.Edited,
			Diff: []string{"Subnets"}, Actions: []string{modifyGroup}},
		{Name: "another order is the same", Existing: groupOf(), Object: groupOf(inZones("b", "a")), Cause: engine.InSync},
		{Name: "another description", Existing: both, Object: groupOf(described("Databases of the shop")), Cause: engine.Edited,
			Diff: []string{"Description"}, Actions: []string{modifyGroup}},
		{Name: "both take one call", Existing: both, Object: groupOf(described("Databases of the shop"), inZones("b", "c")), Cause: engine.Edited,
			Diff: []string{"Description", "Subnets"}, Actions: []string{modifyGroup}},
		{Name: "a description that is no longer declared stays", Existing: both, Object: groupOf(), Cause: engine.InSync},
		{Name: "the subnets are restored", Existing: both, Object: both, Drift: true, Before: changeGroup("Databases", "b", "c"),
			Cause: engine.Drifted, Diff: []string{"Subnets"}, Actions: []string{modifyGroup}},
		{Name: "the description is restored", Existing: both, Object: both, Drift: true, Before: changeGroup("theirs", "b", "a"),
			Cause: engine.Drifted, Diff: []string{"Description"}, Actions: []string{modifyGroup}},
		{Name: "tags are added and dropped", Existing: groupOf(groupTag("old", "1")), Object: groupOf(groupTag("team", "a")),
			Cause: engine.Edited,
			Diff:  []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "another name is another group", Existing: groupOf(), Object: groupOf(func(s *groupSpec) { s.DBSubnetGroupName = "others" }),
			Stalled: status.ReasonIdentityChanged},
	}
}

func groupDeletions() []kindtest.Case {
	orphan := groupOf(func(s *groupSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	refusedOnce := func(_ *testing.T, r *kindtest.Rig) {
		r.AWS.Fault(emulator.Match{Service: "rds", Op: "DeleteDBSubnetGroup", Times: 1}, emulator.Fail(400, "InvalidDBSubnetGroupStateFault",
			"Cannot delete the subnet group 'databases' because at least one database instance: orders is still using this subnet group."))
	}
	return []kindtest.Case{
		{Name: "deleting", Existing: groupOf(), Object: groupOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{removeGroup}},
		{Name: "a refused deletion is sent again once no instance is left", Existing: groupOf(), Object: groupOf(), Deleting: true, Drift: true,
			Before: refusedOnce,
			Cause:  engine.Deleting, Actions: []string{removeGroup}},
		{Name: "deleting what is gone", Existing: groupOf(), Object: groupOf(), Deleting: true, Drift: true, Before: deleteGroup,
			Cause: engine.Gone},
		{Name: "Orphan removes the owner tags and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func groupLife(t *testing.T) kindtest.Life {
	return kindtest.Life{
		Sample: groupOf(described("Databases"), groupTag("team", "a")), Facts: func(s *kindtest.Subject) { inNetwork(t, s) },
		Foreign: existingGroup(map[string]string{"theirs": "1"}), Exists: groupExists,
		Edited:  groupOf(described("Databases of the shop"), groupTag("team", "b"), inZones("b", "c")),
		Invalid: []v1alpha1.Resource{groupOf(inZones())},
	}
}

func TestSubnetGroupSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewSubnetGroup), groupLife(t))
}

func TestSubnetGroupSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewSubnetGroup), groupLife(t))
}

func TestSubnetGroupCosts(t *testing.T) {
	s, _ := subjectIn(t, engine.For(NewSubnetGroup), groupOf())
	// the create and a look; a look at group and tags; a look, the change and a look; a look, the delete and a look
	costs(t, s, groupOf(inZones("b", "c")), [2]int{2, 1}, [2]int{2, 0}, [2]int{5, 1}, [2]int{4, 1})
}

func TestInstancesHoldADeletionOfTheirSubnetGroup(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSubnetGroup), groupOf())
	settled(t, s)
	deleteOne, deleteOther := useGroup(t, r, "orders"), useGroup(t, r, "payments")
	s.Deleting = true
	mark := r.AWS.Mark()
	for range 2 {
		_, err := s.Pass(t.Context(), nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonInUse || !strings.Contains(w.For, "2 (orders, payments)") ||
			!strings.Contains(w.For, "deletionPolicy: Retain") {
			t.Fatalf("%v", err)
		}
	}
	if n := r.AWS.Since(mark).Writes().Count(); n != 1 {
		t.Errorf("%d attempts to delete a group in use:\n%s", n, r.AWS.Since(mark))
	}
	deleteOne()
	deleteOther()
	settled(t, s)
	if groupExists(t, r) {
		t.Error("the group was left behind")
	}
}

func TestSubnetGroupWaitsUntilItsSubnetsAreKnown(t *testing.T) {
	s, r := subjectIn(t, engine.For(NewSubnetGroup), groupOf())
	targets := s.Targets
	s.Targets = nil
	_, err := s.Decide(t.Context())
	if w, ok := status.AsWaiting(err); !ok || w.For != "Subnet/a" || r.AWS.Calls().Match("rds", "", "").Count() > 0 {
		t.Fatal(err)
	}
	s.Targets = targets
	settled(t, s)
	s.Deleting, s.Targets = true, nil
	settled(t, s)
}

func TestSubnetGroupPublishedFields(t *testing.T) {
	s, _ := subjectIn(t, engine.For(NewSubnetGroup), groupOf())
	settled(t, s)
	st := s.Object.(*v1alpha1.DBSubnetGroup).Status
	if st.ARN != "arn:aws:rds:"+kindtest.Region+":"+kindtest.Account+":subgrp:"+group || st.DBSubnetGroupARN != st.ARN || st.ID != group ||
		st.SubnetGroupStatus != "Complete" || !strings.HasPrefix(st.VPCID, "vpc-") {
		t.Errorf("%+v", st)
	}
}
