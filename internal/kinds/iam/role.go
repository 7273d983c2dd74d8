// Package iam is the IAM kinds.
package iam

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// RoleState is a role as both the spec and IAM can say it.
type RoleState struct {
	Name, ARN, ID       string `drift:"id"`
	Deleting, Exclusive bool   `drift:"id"`

	Path        *string `drift:"immutable"`
	Trust       *string `drift:"json"`
	Description *string
	MaxSession  *int32
	// Boundary is the ARN of the permissions boundary; "" is none.
	Boundary *string
	// Inline are documents by policy name; nil for what we wrote and the user dropped.
	Inline map[string]*string `drift:"json"`
	// Attached has the ARNs of managed policies; nil for what we attached and the user dropped.
	Attached map[string]*bool
	// Undeclared are the names and ARNs of policies that nobody declared; wanted to be none where
	// exclusivePolicies says so.
	Undeclared *[]string         `drift:"set"`
	Tags       map[string]string `drift:"tags"`
}

type role struct{ api *iam.Client }

// NewRole binds the IAMRole kind to an identity.
func NewRole(cfg aws.Config) kind.Kind[*v1alpha1.IAMRole, RoleState] {
	return &role{api: iam.NewFromConfig(cfg)}
}

// Meta lists the IAM actions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
func (r *role) Meta() kind.Meta {
	return kind.Meta{
		Reads: []string{"iam:GetRole", "iam:GetRolePolicy", "iam:ListRolePolicies", "iam:ListAttachedRolePolicies", "iam:ListInstanceProfilesForRole"},
		Writes: []string{"iam:CreateRole", "iam:UpdateRole", "iam:UpdateAssumeRolePolicy", "iam:PutRolePermissionsBoundary",
			"iam:DeleteRolePermissionsBoundary", "iam:PutRolePolicy", "iam:DeleteRolePolicy", "iam:AttachRolePolicy", "iam:DetachRolePolicy",
			"iam:TagRole", "iam:UntagRole", "iam:DeleteRole"},
		Implied:  []string{"iam:TagRole"},
		Identity: kind.ByName,
	}
}

func (r *role) Desired(sc kind.Scope, cr *v1alpha1.IAMRole) (RoleState, error) {
	in := cr.Spec
	s := RoleState{
		Name: in.RoleName, Deleting: sc.Deleting, Exclusive: in.ExclusivePolicies, Tags: sc.Tags,
		Inline:   inlineOf(in, cr.Status.ManagedPolicyNames),
		Attached: attachedOf(in, cr.Status.AttachedPolicyArns),
	}
	if sc.Deleting {
		return s, nil
	}
	s.Description, s.MaxSession = in.Description, in.MaxSessionDuration
	if in.ExclusivePolicies {
		s.Undeclared = &[]string{}
	}
	var err error
	if s.Path, s.Boundary, err = guarded(sc, in); err != nil {
		return s, err
	}
	if s.Trust, err = wantedTrust(sc, in); err != nil {
		return s, err
	}
	return s, checkInline(sc, in, s.Inline)
}

// inlineOf are the declared documents, and a nil for each policy that we wrote and nobody declares now.
func inlineOf(in v1alpha1.IAMRoleSpec, managed []string) map[string]*string {
	var out map[string]*string
	set := func(name string, doc *string) {
		if out == nil {
			out = map[string]*string{}
		}
		out[name] = doc
	}
	for _, name := range managed {
		set(name, nil)
	}
	for _, p := range declared(in) {
		set(p.PolicyName, &p.PolicyDocument)
	}
	return out
}

// declared are all inline policies of the spec.
func declared(in v1alpha1.IAMRoleSpec) []v1alpha1.IAMInlinePolicy {
	if in.InlinePolicy == nil {
		return in.InlinePolicies
	}
	return append(slices.Clone(in.InlinePolicies), *in.InlinePolicy)
}

func attachedOf(in v1alpha1.IAMRoleSpec, managed []string) map[string]*bool {
	if len(in.ManagedPolicyArns)+len(managed) == 0 {
		return nil
	}
	out := map[string]*bool{}
	for _, arn := range managed {
		out[arn] = nil
	}
	for _, arn := range in.ManagedPolicyArns {
		out[string(arn)] = aws.Bool(true)
	}
	return out
}

// Converge orders the calls so that a role is never wider than declared, before or after, and never
// without what it keeps: the boundary first, then what is granted, then what is withdrawn. IAM refuses
// concurrent changes of one role, so they go one after the other.
func (r *role) Converge(want RoleState, seen kind.Seen[RoleState], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return []kind.Step{{Action: "iam:CreateRole", Do: r.create(want)}}
	}
	withdrawals := r.withdraw(want.Name, diff)
	early := r.removeUndeclared(seen.State, diff)
	if crowded(want, seen.State) {
		early, withdrawals = append(early, withdrawals...), nil
	}
	steps := slices.Concat(r.bound(want, diff), early, r.settings(want, seen.State, diff), r.grant(want, diff), withdrawals, r.unbound(want, diff))
	for i := range steps {
		steps[i].Stage = i
	}
	return steps
}

// call makes a step of an API call that has no answer worth keeping.
func call(action string, do func(ctx context.Context) error, fixes ...string) kind.Step {
	return kind.Step{Action: action, Fixes: fixes, Do: func(ctx context.Context, _ string) (string, error) { return "", do(ctx) }}
}

func (r *role) create(want RoleState) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		in := &iam.CreateRoleInput{
			RoleName: &want.Name, Path: want.Path, AssumeRolePolicyDocument: want.Trust, Description: want.Description,
			MaxSessionDuration: want.MaxSession, Tags: tagSet(want.Tags),
		}
		if aws.ToString(want.Boundary) != "" {
			in.PermissionsBoundary = want.Boundary
		}
		_, err := r.api.CreateRole(ctx, in)
		return "", err
	}
}

// settings are the parts that the role has once. UpdateRole gets both of its parts each time, for one
// that is left out may be reset: https://docs.aws.amazon.com/IAM/latest/APIReference/API_UpdateRole.html
func (r *role) settings(want, have RoleState, diff kind.Diff) []kind.Step {
	var steps []kind.Step
	if diff.Under("Trust") {
		steps = append(steps, call("iam:UpdateAssumeRolePolicy", func(ctx context.Context) error {
			_, err := r.api.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &want.Name, PolicyDocument: want.Trust})
			return err
		}, "Trust"))
	}
	if fields := []string{"Description", "MaxSession"}; diff.Under(fields...) {
		description, session := or(want.Description, have.Description), or(want.MaxSession, have.MaxSession)
		steps = append(steps, call("iam:UpdateRole", func(ctx context.Context) error {
			_, err := r.api.UpdateRole(ctx, &iam.UpdateRoleInput{RoleName: &want.Name, Description: description, MaxSessionDuration: session})
			return err
		}, fields...))
	}
	set, remove := diff.Keys("Tags")
	if len(set) > 0 {
		steps = append(steps, call("iam:TagRole", func(ctx context.Context) error {
			_, err := r.api.TagRole(ctx, &iam.TagRoleInput{RoleName: &want.Name, Tags: tagSet(kind.Only(want.Tags, set))})
			return err
		}, paths("Tags", set)...))
	}
	if len(remove) > 0 {
		steps = append(steps, call("iam:UntagRole", func(ctx context.Context) error {
			_, err := r.api.UntagRole(ctx, &iam.UntagRoleInput{RoleName: &want.Name, TagKeys: remove})
			return err
		}, paths("Tags", remove)...))
	}
	return steps
}

func (r *role) bound(want RoleState, diff kind.Diff) []kind.Step {
	if !diff.Under("Boundary") || *want.Boundary == "" {
		return nil
	}
	return []kind.Step{call("iam:PutRolePermissionsBoundary", func(ctx context.Context) error {
		_, err := r.api.PutRolePermissionsBoundary(ctx, &iam.PutRolePermissionsBoundaryInput{RoleName: &want.Name, PermissionsBoundary: want.Boundary})
		return err
	}, "Boundary")}
}

func (r *role) unbound(want RoleState, diff kind.Diff) []kind.Step {
	if !diff.Under("Boundary") || *want.Boundary != "" {
		return nil
	}
	return []kind.Step{call("iam:DeleteRolePermissionsBoundary", func(ctx context.Context) error {
		_, err := r.api.DeleteRolePermissionsBoundary(ctx, &iam.DeleteRolePermissionsBoundaryInput{RoleName: &want.Name})
		return err
	}, "Boundary")}
}

// Publish also records what we wrote and attached, declared or not yet removed, so that it is removed
// when it is dropped.
func (r *role) Publish(cr *v1alpha1.IAMRole, s RoleState) {
	st := &cr.Status
	st.ARN, st.RoleArn = s.ARN, s.ARN
	st.ID, st.RoleId = s.Name, s.ID
	var names, arns []string
	for _, p := range declared(cr.Spec) {
		names = append(names, p.PolicyName)
	}
	for _, arn := range cr.Spec.ManagedPolicyArns {
		arns = append(arns, string(arn))
	}
	st.ManagedPolicyNames = recorded(names, st.ManagedPolicyNames, s.Inline)
	st.AttachedPolicyArns = recorded(arns, st.AttachedPolicyArns, s.Attached)
}

// recorded are the declared names and those recorded before that are still there, in order.
func recorded[V any](declared, before []string, there map[string]V) []string {
	for _, name := range before {
		if _, ok := there[name]; ok {
			declared = append(declared, name)
		}
	}
	slices.Sort(declared)
	return slices.Compact(declared)
}

func or[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

func paths(field string, keys []string) []string {
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, field+"["+k+"]")
	}
	return out
}

func isARN(s string) bool { return strings.HasPrefix(s, "arn:") }

func tagSet(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range kind.SortedKeys(tags) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	return out
}
