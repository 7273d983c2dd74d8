// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// identifyProfiles adds the declared instance profile, and as nil those that the operator made before.
func identifyProfiles(sc kind.Scope, cr *v1alpha1.IAMRole, want *RoleState) {
	recorded := slices.Concat(cr.Status.ManagedInstanceProfiles, sc.Keys["Profiles"])
	wanted := func(name string) (string, *bool) { return name, aws.Bool(true) }
	want.Profiles = kind.WantedMembers(recorded, declaredProfiles(cr.Spec), wanted)
	want.ProfileRoles = kind.WantedMembers(recorded, declaredProfiles(cr.Spec), wanted)
	want.OwnerTags, want.RecordedProfiles = sc.OwnerTags, recorded
	if cr.Spec.InstanceProfile != nil {
		want.ProfileTags = sc.Tags
	}
}

// declaredProfiles returns the name of the declared instance profile; none without one.
func declaredProfiles(in v1alpha1.IAMRoleSpec) []string {
	if in.InstanceProfile == nil {
		return nil
	}
	return []string{cmp.Or(in.InstanceProfile.Name, in.RoleName)}
}

// readProfiles reads the instance profiles that are declared or recorded, and for an export those that contain the role.
func (r *role) readProfiles(ctx context.Context, want RoleState, look kind.Look, have *RoleState) error {
	if look.TagsKnown { // the create of the role was followed by that of the profile
		want.RecordedProfiles = kind.SortedKeys(want.Profiles)
	}
	have.Profiles, have.ProfileRoles, have.ProfileTags = map[string]*bool{}, map[string]*bool{}, want.ProfileTags
	for _, name := range kind.SortedKeys(want.Profiles) {
		out, err := awsclient.Lookup(ctx, r.api.GetInstanceProfile, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
		if err != nil {
			return err
		}
		if out != nil && out.InstanceProfile != nil {
			have.addProfile(want, name, out.InstanceProfile)
		}
	}
	if !want.FindProfiles {
		return nil
	}
	var err error
	have.FoundProfiles, err = r.listProfiles(ctx, want.Name)
	return err
}

// addProfile adds an instance profile of the object. The names of profiles that the operator made are recorded where the author of
// the object can write, so each of them must show its owner.
func (s *RoleState) addProfile(want RoleState, name string, p *types.InstanceProfile) {
	contains := slices.ContainsFunc(p.Roles, func(r types.Role) bool { return aws.ToString(r.RoleName) == want.Name })
	tags, wanted := kind.TagMap(p.Tags), want.Profiles[name] != nil
	if !ownsProfile(want, tags, contains) {
		if wanted {
			s.ForeignProfile = name
		}
		return
	}
	s.Profiles[name] = aws.Bool(true)
	if contains {
		s.ProfileRoles[name] = aws.Bool(true)
	}
	if !wanted {
		return
	}
	s.ProfileARN = aws.ToString(p.Arn)
	if tags[wellknown.TagOwner] != "" || !slices.Contains(want.RecordedProfiles, name) { // a new one may not show its tags yet
		s.ProfileTags = tags
	}
}

// ownsProfile reports whether a profile has the tags of this object or of an earlier one of its name, or has no owner and contains
// the role, which is the object's.
func ownsProfile(want RoleState, tags map[string]string, contains bool) bool {
	if tags[wellknown.TagOwner] == "" {
		return contains
	}
	return tags[wellknown.TagOwner] == want.OwnerTags[wellknown.TagOwner] && tags[wellknown.TagCluster] == want.OwnerTags[wellknown.TagCluster]
}

// refuseForeignProfile refuses an instance profile that exists and is not the object's.
func refuseForeignProfile(have RoleState) error {
	if have.ForeignProfile == "" {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonConflict, Field: "spec.instanceProfile", Message: fmt.Sprintf(
		"the instance profile %s exists and belongs to another owner: choose another name, or add the role to it in AWS and remove its nexus.ai tags to have it adopted", have.ForeignProfile)}
}

func (r *role) listProfiles(ctx context.Context, role string) ([]string, error) {
	in := &iam.ListInstanceProfilesForRoleInput{RoleName: &role}
	profiles, err := kind.Pages(ctx, r.api.ListInstanceProfilesForRole, in, &in.Marker, func(out *iam.ListInstanceProfilesForRoleOutput) ([]types.InstanceProfile, *string) {
		return out.InstanceProfiles, out.Marker
	})
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = aws.ToString(p.InstanceProfileName)
	}
	return names, explainHidden(err)
}

// profileParts create the instance profile and then add the role; a profile that is dropped loses the role and is then deleted.
func (r *role) profileParts() []kind.Part[RoleState] {
	at := func(stage int) func(want, have RoleState) int {
		return func(_, _ RoleState) int { return stage }
	}
	return []kind.Part[RoleState]{
		{Fields: []string{"Profiles"}, Stage: at(stageProfile), Each: &kind.Each[RoleState]{Set: kind.KeyCall[RoleState]{Action: "iam:CreateInstanceProfile", Do: r.createProfile}}},
		{Fields: []string{"ProfileRoles"}, Stage: at(stageProfileRole), Each: &kind.Each[RoleState]{Set: kind.KeyCall[RoleState]{Action: "iam:AddRoleToInstanceProfile", Do: r.addToProfile}}},
		{Fields: []string{"ProfileRoles"}, Stage: at(stageProfile), Each: &kind.Each[RoleState]{Unset: kind.KeyCall[RoleState]{Action: "iam:RemoveRoleFromInstanceProfile", Do: r.removeFromProfile}}},
		{Fields: []string{"Profiles"}, Stage: at(stageProfileRole), Each: &kind.Each[RoleState]{Unset: kind.KeyCall[RoleState]{Action: "iam:DeleteInstanceProfile", Do: r.deleteProfile}}},
		{Fields: []string{"ProfileTags"}, InCreate: true, Keys: &kind.Keys[RoleState]{
			Set:   kind.KeysCall[RoleState]{Action: "iam:TagInstanceProfile", Do: r.tagProfile},
			Unset: kind.KeysCall[RoleState]{Action: "iam:UntagInstanceProfile", Do: r.untagProfile}}},
	}
}

func (r *role) createProfile(ctx context.Context, want, _ RoleState, name string) error {
	_, err := r.api.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: &name, Path: want.Path, Tags: kind.SDKTags[types.Tag](want.ProfileTags)})
	return err
}

// addToProfile waits where IAM does not show the new role or profile to every call yet.
func (r *role) addToProfile(ctx context.Context, want, _ RoleState, name string) error {
	_, err := r.api.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &name, RoleName: &want.Name})
	return explainHidden(err)
}

func (r *role) removeFromProfile(ctx context.Context, want, _ RoleState, name string) error {
	_, err := r.api.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &name, RoleName: &want.Name})
	return ifFound(err)
}

func (r *role) deleteProfile(ctx context.Context, _, _ RoleState, name string) error {
	_, err := r.api.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: &name})
	return ifFound(err)
}

func (r *role) tagProfile(ctx context.Context, want, _ RoleState, keys []string) error {
	_, err := r.api.TagInstanceProfile(ctx, &iam.TagInstanceProfileInput{InstanceProfileName: wantedProfile(want), Tags: kind.SDKTags[types.Tag](kind.Only(want.ProfileTags, keys))})
	return explainHidden(err)
}

func (r *role) untagProfile(ctx context.Context, want, _ RoleState, keys []string) error {
	_, err := r.api.UntagInstanceProfile(ctx, &iam.UntagInstanceProfileInput{InstanceProfileName: wantedProfile(want), TagKeys: keys})
	return explainHidden(err)
}

// wantedProfile returns the name of the declared instance profile; nil without one.
func wantedProfile(want RoleState) *string {
	for name, declared := range want.Profiles {
		if declared != nil {
			return &name
		}
	}
	return nil
}
