// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	makeProfile  = "iam:CreateInstanceProfile"
	addRole      = "iam:AddRoleToInstanceProfile"
	removeRole   = "iam:RemoveRoleFromInstanceProfile"
	dropProfile  = "iam:DeleteInstanceProfile"
	tagProfile   = "iam:TagInstanceProfile"
	untagProfile = "iam:UntagInstanceProfile"
)

// inProfile declares an instance profile; "" is named after the role.
func inProfile(name string) func(s *spec) {
	return func(s *spec) { s.InstanceProfile = &v1alpha1.IAMRoleInstanceProfile{Name: name} }
}

// foreignProfile makes an instance profile as others do, with a role unless it is "".
func foreignProfile(profile, role string, tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateInstanceProfile(t.Context(),
			&iam.CreateInstanceProfileInput{InstanceProfileName: &profile, Tags: kind.SDKTags[types.Tag](tags)})
		kindtest.Must(t, err)
		if role != "" {
			_, err = api(r).AddRoleToInstanceProfile(t.Context(), &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &profile, RoleName: &role})
			kindtest.Must(t, err)
		}
	}
}

func takeRoleOut(profile string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).RemoveRoleFromInstanceProfile(t.Context(),
			&iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &profile, RoleName: aws.String(name)})
		kindtest.Must(t, err)
	}
}

func destroyProfile(profile string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		takeRoleOut(profile)(t, r)
		_, err := api(r).DeleteInstanceProfile(t.Context(), &iam.DeleteInstanceProfileInput{InstanceProfileName: &profile})
		kindtest.Must(t, err)
	}
}

func profileRows() []kindtest.Case {
	bare, named, other := roleOf(), roleOf(inProfile("")), roleOf(inProfile("other"))
	paths := func(profile string) []string {
		return []string{"Profiles[" + profile + "]", "ProfileRoles[" + profile + "]"}
	}
	return []kindtest.Case{
		{Name: "with an instance profile", Object: roleOf(inline("one", readOne), inProfile(""), func(s *spec) { s.Path = "/team/" }),
			Cause: engine.New, Actions: []string{create, put, makeProfile, addRole}},
		{Name: "an instance profile", Existing: bare, Object: named, Cause: engine.Edited, Diff: paths(name),
			Actions: []string{makeProfile, addRole}},
		{Name: "an instance profile is dropped", Existing: named, Object: bare, Cause: engine.Edited, Diff: paths(name),
			Actions: []string{removeRole, dropProfile}},
		{Name: "an instance profile of another name", Existing: named, Object: other, Cause: engine.Edited,
			Diff:    slices.Concat(paths(name)[:1], paths("other")[:1], paths(name)[1:], paths("other")[1:]),
			Actions: []string{makeProfile, removeRole, addRole, dropProfile}},
		{Name: "tags of the instance profile", Existing: roleOf(inProfile(""), tagged("old", "1")),
			Object: roleOf(inProfile(""), tagged("team", "a")), Cause: engine.Edited,
			Diff:    []string{"ProfileTags[team]", "ProfileTags[old]", "Tags[team]", "Tags[old]"},
			Actions: []string{tag, untag, tagProfile, untagProfile}},
		{Name: "a profile that lost the role gets it again", Existing: named, Object: named, Drift: true, Before: takeRoleOut(name),
			Cause: engine.Drifted, Diff: paths(name)[1:], Actions: []string{addRole}},
		{Name: "a deleted profile is created again", Existing: named, Object: named, Drift: true, Before: destroyProfile(name),
			Cause: engine.Drifted, Diff: paths(name), Actions: []string{makeProfile, addRole}},
		{Name: "a profile of another role is left alone", Existing: bare, Object: named, Before: foreignProfile(name, "", nil),
			Stalled: status.ReasonConflict},
		{Name: "and one of another owner", Existing: bare, Object: named,
			Before: foreignProfile(name, name,
				engine.Identity{Kind: "IAMRole", Namespace: "team-b", Name: name, UID: "u", Cluster: kindtest.Cluster}.OwnerTags()),
			Stalled: status.ReasonConflict},
		{Name: "and one of another cluster", Existing: bare, Object: named, Before: foreignProfile(name, name, ownerTags("u", "another")),
			Stalled: status.ReasonConflict},
		{Name: "a profile that contains the role is adopted with it", Existing: bare, Object: named, Before: foreignProfile(name, name, nil),
			Cause: engine.Edited,
			Diff: []string{"ProfileTags[nexus.ai/cluster]", "ProfileTags[nexus.ai/managed-by]", "ProfileTags[nexus.ai/owner]",
				"ProfileTags[nexus.ai/owner-uid]"},
			Actions: []string{tagProfile}},
		{Name: "what an earlier object of the name left is taken over", Existing: bare, Object: named,
			Before: foreignProfile(name, "", ownerTags("an-earlier-one", kindtest.Cluster)), Cause: engine.Edited,
			Diff: []string{"ProfileRoles[" + name + "]", "ProfileTags[nexus.ai/owner-uid]"}, Actions: []string{tagProfile, addRole}},
		{Name: "deleting removes the role from its profile first", Existing: roleOf(inProfile(""), inline("one", readOne)),
			Object: roleOf(inProfile(""), inline("one", readOne)), Deleting: true, Drift: true,
			Cause: engine.Deleting, Actions: []string{removeRole, dropProfile, drop, remove}},
		{Name: "deleting waits for a profile of others beside it", Existing: named, Object: named, Deleting: true, Drift: true,
			Before: foreignProfile("theirs", name, nil), Waiting: status.ReasonInUse},
	}
}

func TestRoleInProfileSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewRole), life(t, inProfile("")))
}

func TestRoleInProfileSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewRole), life(t, inProfile("")))
}

// A record that its author forged must not reach the profile of another role.
func TestARecordedNameProvesNothingOfAProfile(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRole), roleOf())
	s.Trusted = true
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	createOther := iam.CreateRoleInput{RoleName: aws.String("victim"), AssumeRolePolicyDocument: aws.String(trust)}
	_, err = api(r).CreateRole(t.Context(), &createOther)
	kindtest.Must(t, err)
	foreignProfile("victim", "victim", nil)(t, r)
	s.Object.(*v1alpha1.IAMRole).Status.ManagedInstanceProfiles = []string{"victim"}
	s.Edit(roleOf(described("d")))
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	s.Deleting = true
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	out, err := api(r).GetInstanceProfile(t.Context(), &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("victim")})
	if err != nil || len(out.InstanceProfile.Roles) != 1 {
		t.Fatalf("the profile of another role was touched: %v\n%s", err, r.AWS.Calls())
	}
}

func TestProfileCosts(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRole), roleOf(inProfile("p")))
	s.Trusted = true
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	want := map[string]int{"CreateRole": 1, "CreateInstanceProfile": 1, "AddRoleToInstanceProfile": 1, "GetRole": 1, "GetInstanceProfile": 1}
	if got := kindtest.Operations(r.AWS.Calls()); !maps.Equal(got, want) {
		t.Errorf("create took %v, want %v", got, want)
	}
	st := s.Object.(*v1alpha1.IAMRole).Status
	if st.InstanceProfileArn != account+":instance-profile/p" || !slices.Equal(st.ManagedInstanceProfiles, []string{"p"}) {
		t.Errorf("%+v", st)
	}
	if got := any(s.Object).(kind.Referable).ReferableAttributes(); got["instanceProfileArn"] != st.InstanceProfileArn ||
		got["instanceProfileName"] != "p" {
		t.Errorf("%v", got)
	}
	mark := r.AWS.Mark()
	_, err = s.Pass(t.Context(), nil)
	kindtest.Must(t, err)
	if got := r.AWS.Since(mark); got.Count() != 2 {
		t.Errorf("a check took %d calls, want 2:\n%s", got.Count(), got)
	}
}
