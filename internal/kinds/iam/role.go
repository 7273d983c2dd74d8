// SPDX-License-Identifier: Apache-2.0

// Package iam is the IAM kinds.
package iam

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// RoleState is a role as both the spec and IAM can express it.
type RoleState struct {
	Name      string `drift:"identity"`
	ARN, ID   string `drift:"id"`
	Exclusive bool   `drift:"id"`
	// OIDC reports whether pods can use the role, where it is for a ServiceAccount; nil leaves the condition as
	// it is.
	OIDC *kind.Note `drift:"id"`

	Path        *string `drift:"immutable"`
	Trust       *string `drift:"json"`
	Description *string
	MaxSession  *int32
	// Boundary is the ARN of the permissions boundary; "" is none. Required is true when the provider requires it.
	Boundary *string
	Required bool `drift:"id"`
	// Inline are documents by policy name; nil for a policy that the operator wrote and the spec dropped.
	Inline map[string]*string `drift:"json,keys"`
	// Attached has the ARNs of managed policies; nil for one that the operator attached and the spec dropped.
	Attached map[string]*bool `drift:"keys"`
	// Undeclared has the names and ARNs of policies that were neither declared nor written by the operator.
	// It is wanted to be empty for exclusive roles, and read for those and while deleting.
	Undeclared map[string]string `drift:"exact"`
	// Profiles are instance profiles by name, and ProfileRoles those that contain the role; nil for one that the operator
	// made and the spec dropped.
	Profiles     map[string]*bool `drift:"keys"`
	ProfileRoles map[string]*bool
	// ProfileTags are the tags of the declared instance profile. A new one gets them with its create.
	ProfileTags map[string]string `drift:"tags"`
	ProfileARN  string            `drift:"observed"`
	// ForeignProfile is the declared instance profile where it belongs to another owner.
	ForeignProfile string `drift:"observed"`
	// FindProfiles asks for FoundProfiles, all instance profiles that contain the role.
	FindProfiles  bool              `drift:"id"`
	FoundProfiles []string          `drift:"observed"`
	OwnerTags     map[string]string `drift:"id"`
	// RecordedProfiles are the instance profiles that the operator made, by its records.
	RecordedProfiles []string          `drift:"id"`
	Tags             map[string]string `drift:"tags"`
}

type role struct{ api *iam.Client }

// NewRole binds the IAMRole kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
func NewRole(cfg aws.Config) kind.Kind[*v1alpha1.IAMRole, RoleState] {
	r := &role{api: iam.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.IAMRole, RoleState]{
		// Federation.OIDCProvider uses the OIDC provider read.
		Meta:     kind.Meta{Facts: roleFacts(), Reads: []string{"iam:GetOpenIDConnectProvider"}, Identity: kind.ByName, CreatesFirst: true, Users: kind.UsersOfNamespace},
		Identify: identify, Declare: declare, Publish: publish, Export: kind.Export[*v1alpha1.IAMRole, RoleState]{Identity: []string{"roleName"}, Ask: askForPolicies, Spec: exported},
		Describe: kind.Read[RoleState]{Actions: []string{"iam:GetRole", "iam:GetRolePolicy", "iam:ListRolePolicies", "iam:ListAttachedRolePolicies", "iam:GetInstanceProfile"}, Do: r.describe},
		// without policies
		Create: kind.Call[RoleState]{Action: "iam:CreateRole", Do: kind.Send(r.api.CreateRole, func(want, _ RoleState) *iam.CreateRoleInput {
			return &iam.CreateRoleInput{RoleName: &want.Name, Path: want.Path, AssumeRolePolicyDocument: want.Trust, PermissionsBoundary: kind.NonEmpty(want.Boundary),
				Description: want.Description, MaxSessionDuration: want.MaxSession, Tags: kind.SDKTags[types.Tag](want.Tags)}
		})},
		Tagging: kind.Tagging[RoleState]{
			Sets: "iam:TagRole", Set: kind.Send(r.api.TagRole, func(have RoleState, tags map[string]string) *iam.TagRoleInput {
				return &iam.TagRoleInput{RoleName: &have.Name, Tags: kind.SDKTags[types.Tag](tags)}
			}),
			Removes: "iam:UntagRole", Remove: kind.Send(r.api.UntagRole, func(have RoleState, keys []string) *iam.UntagRoleInput {
				return &iam.UntagRoleInput{RoleName: &have.Name, TagKeys: keys}
			}),
		},
		// IAM may not show a new role to the calls that follow its create: they wait, see explainRoleHidden.
		SettleWithCreate: func(RoleState) bool { return true },
		// IAM refuses concurrent changes of one role. Their order keeps the role from having more rights than
		// declared before or after, and from lacking a right that it keeps; see the stages.
		OneByOne:      true,
		Parts:         slices.Concat(r.settings(), r.policyParts(), r.profileParts()),
		WhyNotAdopted: whyNotAdopted,
		Refuse: func(want, have RoleState, diff kind.Diff) error {
			return cmp.Or(refuseForeignProfile(have), keepBoundary(want, have, diff))
		},
		Holds: r.holds, HoldsReads: []string{"iam:ListInstanceProfilesForRole"},
		// IAM refuses to delete a role that has policies or is in an instance profile. Policies of others hold the deletion,
		// unless the role is exclusive, and so do profiles of others.
		Delete: []kind.Ending[RoleState]{
			{Each: func(_, have RoleState) []string { return kind.SortedKeys(have.ProfileRoles) }, DoKey: r.removeFromProfile,
				Call: kind.Call[RoleState]{Action: "iam:RemoveRoleFromInstanceProfile", Effect: kind.Empties}},
			{Each: func(_, have RoleState) []string { return kind.SortedKeys(have.Profiles) }, DoKey: r.deleteProfile,
				Call: kind.Call[RoleState]{Action: "iam:DeleteInstanceProfile", Effect: kind.Empties}, Then: true},
			{Each: inlineNames, DoKey: r.dropInline, Call: kind.Call[RoleState]{Action: "iam:DeleteRolePolicy", Effect: kind.Empties}, Then: true},
			{Each: attachedARNs, DoKey: r.detach, Call: kind.Call[RoleState]{Action: "iam:DetachRolePolicy", Effect: kind.Empties}, Then: true},
			{Then: true, Call: kind.Call[RoleState]{Action: "iam:DeleteRole", Effect: kind.Ends, Do: kind.Send(r.api.DeleteRole, func(want, _ RoleState) *iam.DeleteRoleInput {
				return &iam.DeleteRoleInput{RoleName: &want.Name}
			})}},
		},
	})
}

// The stages of a change, around that of the tags and other settings, which is 0.
const (
	stageBound = iota - 3
	stageMakeRoom
	_
	_
	stageGrant
	stageWithdraw
	stageProfile
	stageProfileRole
)

// settings are the parts that a role has once.
func (r *role) settings() []kind.Part[RoleState] {
	return []kind.Part[RoleState]{
		// No call removes a boundary: keepBoundary refuses it.
		{Fields: []string{"Boundary"}, InCreate: true,
			Stage: func(_, _ RoleState) int { return stageBound },
			Write: kind.Call[RoleState]{Action: "iam:PutRolePermissionsBoundary", Do: kind.Send(r.api.PutRolePermissionsBoundary, func(want, _ RoleState) *iam.PutRolePermissionsBoundaryInput {
				return &iam.PutRolePermissionsBoundaryInput{RoleName: &want.Name, PermissionsBoundary: want.Boundary}
			})}},
		{Fields: []string{"Trust"}, InCreate: true, Write: kind.Call[RoleState]{Action: "iam:UpdateAssumeRolePolicy", Do: kind.Send(r.api.UpdateAssumeRolePolicy, func(want, _ RoleState) *iam.UpdateAssumeRolePolicyInput {
			return &iam.UpdateAssumeRolePolicyInput{RoleName: &want.Name, PolicyDocument: want.Trust}
		})}},
		// UpdateRole gets both of its settings each time, because one that is left out may be reset:
		// https://docs.aws.amazon.com/IAM/latest/APIReference/API_UpdateRole.html
		{Fields: []string{"Description", "MaxSession"}, InCreate: true, Write: kind.Call[RoleState]{Action: "iam:UpdateRole", Do: kind.Send(r.api.UpdateRole, func(want, have RoleState) *iam.UpdateRoleInput {
			return &iam.UpdateRoleInput{RoleName: &want.Name, Description: cmp.Or(want.Description, have.Description), MaxSessionDuration: cmp.Or(want.MaxSession, have.MaxSession)}
		})}},
	}
}

// identify includes the policies and the instance profile: those that the operator made are removed with the role.
func identify(sc kind.Scope, cr *v1alpha1.IAMRole) (RoleState, error) {
	in, st := cr.Spec, cr.Status
	want := RoleState{Name: in.RoleName, Exclusive: in.ExclusivePolicies}
	written := slices.Concat(st.ManagedPolicyNames, sc.Keys["Inline"])
	attached := slices.Concat(st.AttachedPolicyArns, sc.Keys["Attached"])
	want.Inline = make(map[string]*string, len(written))
	want.Attached = make(map[string]*bool, len(attached))
	for _, name := range written {
		want.Inline[name] = nil
	}
	for _, arn := range attached {
		want.Attached[arn] = nil
	}
	for _, p := range declaredPolicies(in) {
		want.Inline[p.PolicyName] = &p.PolicyDocument
	}
	for _, arn := range in.ManagedPolicyArns {
		want.Attached[string(arn)] = aws.Bool(true)
	}
	identifyProfiles(sc, cr, &want)
	return want, nil
}

func declare(sc kind.Scope, cr *v1alpha1.IAMRole, want *RoleState) (err error) {
	in := cr.Spec
	if sc.Observing && in.AssumeRolePolicyDocument == "" && in.IRSA == nil && in.PodIdentity == nil {
		return nil // nothing but its name
	}
	want.Description, want.MaxSession = in.Description, in.MaxSessionDuration
	if in.ExclusivePolicies {
		want.Undeclared = map[string]string{}
	}
	if want.Path, want.Boundary, err = guardedSettings(sc, in); err != nil {
		return err
	}
	want.Required = sc.Guards.Boundary != ""
	if want.Trust, err = wantedTrust(sc, in); err != nil {
		return err
	}
	want.OIDC, want.Tags = oidcNote(sc, cr), distinctTags(want.Tags, in.Tags)
	return checkInline(sc, in, want.Inline)
}

// distinctTags leaves out default tags with keys that differ from those of the spec in case only: IAM takes them for the same and refuses
// both together.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
func distinctTags(all map[string]string, ofSpec map[string]v1alpha1.TagValue) map[string]string {
	out := maps.Clone(all)
	for key := range ofSpec {
		maps.DeleteFunc(out, func(k, _ string) bool { return k != key && strings.EqualFold(k, key) })
	}
	return out
}

// declaredPolicies are all inline policies of the spec.
func declaredPolicies(in v1alpha1.IAMRoleSpec) []v1alpha1.IAMInlinePolicy {
	if in.InlinePolicy == nil {
		return in.InlinePolicies
	}
	return append(slices.Clone(in.InlinePolicies), *in.InlinePolicy)
}

// publish also records the policies that the operator wrote and attached, so that they are removed when
// the spec drops them.
func publish(cr *v1alpha1.IAMRole, s RoleState) {
	st := &cr.Status
	st.ARN, st.RoleArn = s.ARN, s.ARN
	st.ID, st.RoleId = s.Name, s.ID
	names, arns := kind.SortedKeys(s.Inline), kind.SortedKeys(s.Attached)
	for _, p := range declaredPolicies(cr.Spec) {
		names = append(names, p.PolicyName)
	}
	for _, arn := range cr.Spec.ManagedPolicyArns {
		arns = append(arns, string(arn))
	}
	st.ManagedPolicyNames, st.AttachedPolicyArns = distinctNames(names), distinctNames(arns)
	st.InstanceProfileArn = s.ProfileARN
	st.ManagedInstanceProfiles = kind.ManagedMembers(s.Profiles, declaredProfiles(cr.Spec), func(name string) string { return name })
}

// distinctNames returns the names in order, each once; nil for none.
func distinctNames(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func isARN(s string) bool { return strings.HasPrefix(s, "arn:") }
