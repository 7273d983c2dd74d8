package iam

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// grant puts and attaches what is declared.
func (r *role) grant(want RoleState, diff kind.Diff) []kind.Step {
	var steps []kind.Step
	inline, _ := diff.Keys("Inline")
	for _, name := range inline {
		steps = append(steps, call("iam:PutRolePolicy", func(ctx context.Context) error {
			_, err := r.api.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &want.Name, PolicyName: &name, PolicyDocument: want.Inline[name]})
			return err
		}, "Inline["+name+"]"))
	}
	attached, _ := diff.Keys("Attached")
	for _, arn := range attached {
		steps = append(steps, call("iam:AttachRolePolicy", func(ctx context.Context) error {
			_, err := r.api.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &want.Name, PolicyArn: &arn})
			return err
		}, "Attached["+arn+"]"))
	}
	return steps
}

// withdraw deletes and detaches what we wrote and the user dropped.
func (r *role) withdraw(name string, diff kind.Diff) []kind.Step {
	var steps []kind.Step
	for _, field := range []string{"Inline", "Attached"} {
		_, dropped := diff.Keys(field)
		for _, policy := range dropped {
			steps = append(steps, r.drop(name, policy, field+"["+policy+"]"))
		}
	}
	return steps
}

// removeUndeclared ends every policy that nobody declared; the first step stands for the difference,
// which is one.
func (r *role) removeUndeclared(have RoleState, diff kind.Diff) []kind.Step {
	if !diff.Under("Undeclared") || have.Undeclared == nil {
		return nil
	}
	var steps []kind.Step
	for i, policy := range *have.Undeclared {
		s := r.drop(have.Name, policy)
		if i == 0 {
			s.Fixes = []string{"Undeclared"}
		}
		steps = append(steps, s)
	}
	return steps
}

// drop ends one policy of the role, an inline one by its name or an attached one by its ARN.
func (r *role) drop(role, policy string, fixes ...string) kind.Step {
	s := call("iam:DeleteRolePolicy", func(ctx context.Context) error {
		_, err := r.api.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &role, PolicyName: &policy})
		return ifFound(err)
	}, fixes...)
	if isARN(policy) {
		s = call("iam:DetachRolePolicy", func(ctx context.Context) error {
			_, err := r.api.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: &policy})
			return ifFound(err)
		}, fixes...)
	}
	s.Risk = kind.Disrupts
	return s
}

// Remove takes every policy off the role, then ends it. Policies of others never come here: Observe
// holds the deletion for them.
func (r *role) Remove(seen kind.Seen[RoleState]) []kind.Step {
	s := seen.State
	var steps []kind.Step
	for _, policy := range append(kind.SortedKeys(s.Inline), kind.SortedKeys(s.Attached)...) {
		steps = append(steps, r.drop(s.Name, policy))
	}
	steps = append(steps, call("iam:DeleteRole", func(ctx context.Context) error {
		_, err := r.api.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &s.Name})
		return err
	}))
	for i := range steps {
		steps[i].Stage, steps[i].Risk = i, kind.Destroys
	}
	return steps
}

// Quotas of a role: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const (
	// maxInline is over all inline policies, in characters without white space.
	maxInline = 10240
	// maxAttached is the default quota; more can be asked for.
	maxAttached = 10
)

// crowded says that the role has no room for what is wanted beside what was dropped.
func crowded(want, have RoleState) bool {
	size := 0
	for name, doc := range want.Inline {
		size += len(aws.ToString(or(doc, have.Inline[name])))
	}
	attached := 0
	for arn, on := range want.Attached {
		if or(on, have.Attached[arn]) != nil {
			attached++
		}
	}
	return size > maxInline || attached > maxAttached
}
