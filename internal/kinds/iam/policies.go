// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// policyParts first add the declared policies and then remove the others. Withdrawals go first where the role has no room for both;
// policies that others added to an exclusive role always go first.
func (r *role) policyParts() []kind.Part[RoleState] {
	at := func(stage int) func(want, have RoleState) int {
		return func(_, _ RoleState) int { return stage }
	}
	withdraw := func(want, have RoleState) int {
		if exceedsQuota(want, have) {
			return stageMakeRoom
		}
		return stageWithdraw
	}
	dropInline := kind.KeyCall[RoleState]{Action: "iam:DeleteRolePolicy", Do: r.dropInline}
	detach := kind.KeyCall[RoleState]{Action: "iam:DetachRolePolicy", Do: r.detach}
	return []kind.Part[RoleState]{
		{Fields: []string{"Undeclared"}, Stage: at(stageMakeRoom), Each: &kind.Each[RoleState]{Unset: dropInline, Keys: func(key string) bool { return !isARN(key) }}},
		{Fields: []string{"Undeclared"}, Stage: at(stageMakeRoom), Each: &kind.Each[RoleState]{Unset: detach, Keys: isARN}},
		{Fields: []string{"Inline"}, Stage: at(stageGrant), Each: &kind.Each[RoleState]{Set: kind.KeyCall[RoleState]{Action: "iam:PutRolePolicy", Do: r.putInline}}},
		{Fields: []string{"Attached"}, Stage: at(stageGrant), Each: &kind.Each[RoleState]{Set: kind.KeyCall[RoleState]{Action: "iam:AttachRolePolicy", Do: r.attach}}},
		{Fields: []string{"Inline"}, Stage: withdraw, Each: &kind.Each[RoleState]{Unset: dropInline}},
		{Fields: []string{"Attached"}, Stage: withdraw, Each: &kind.Each[RoleState]{Unset: detach}},
	}
}

func (r *role) putInline(ctx context.Context, want, _ RoleState, name string) error {
	_, err := r.api.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &want.Name, PolicyName: &name, PolicyDocument: want.Inline[name]})
	return explainRoleHidden(err)
}

func (r *role) dropInline(ctx context.Context, want, _ RoleState, name string) error {
	_, err := r.api.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: &want.Name, PolicyName: &name})
	return ifFound(err)
}

func (r *role) attach(ctx context.Context, want, _ RoleState, arn string) error {
	_, err := r.api.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &want.Name, PolicyArn: &arn})
	return explainRoleHidden(err)
}

func (r *role) detach(ctx context.Context, want, _ RoleState, arn string) error {
	_, err := r.api.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &want.Name, PolicyArn: &arn})
	return ifFound(err)
}

// inlineNames are the names of all inline policies of the role.
func inlineNames(_, have RoleState) []string {
	names := slices.DeleteFunc(kind.SortedKeys(have.Undeclared), isARN)
	return distinctNames(append(names, kind.SortedKeys(have.Inline)...))
}

// attachedARNs are the ARNs of all managed policies of the role.
func attachedARNs(_, have RoleState) []string {
	arns := slices.DeleteFunc(kind.SortedKeys(have.Undeclared), func(key string) bool { return !isARN(key) })
	return distinctNames(append(arns, kind.SortedKeys(have.Attached)...))
}

// Quotas of a role: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const (
	// maxInline is over all inline policies, in characters without white space.
	maxInline = 10240
	// maxAttached is the default quota; AWS can raise it.
	maxAttached = 10
)

// exceedsQuota reports whether the role has no room for the wanted policies beside the dropped ones.
func exceedsQuota(want, have RoleState) bool {
	size := 0
	for name, doc := range want.Inline {
		size += len(aws.ToString(cmp.Or(doc, have.Inline[name])))
	}
	attached := 0
	for arn, on := range want.Attached {
		if cmp.Or(on, have.Attached[arn]) != nil {
			attached++
		}
	}
	return size > maxInline || attached > maxAttached
}
