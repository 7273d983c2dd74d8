// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// askForPolicies has every policy of a role listed, and then read by name.
func askForPolicies(want, have *RoleState) bool {
	want.Undeclared, want.FindProfiles = map[string]string{}, true
	if have == nil {
		return false
	}
	for name, what := range have.Undeclared {
		if what == undeclaredInline {
			want.Inline[name] = new(string)
		} else {
			want.Attached[name] = aws.Bool(true)
		}
	}
	return len(have.Undeclared) > 0
}

// exported declares a role as it is.
func exported(cr *v1alpha1.IAMRole, have RoleState) {
	out := &cr.Spec
	out.Path, out.AssumeRolePolicyDocument = aws.ToString(have.Path), aws.ToString(have.Trust)
	out.Description, out.MaxSessionDuration, out.PermissionsBoundary = kind.NonEmpty(have.Description), have.MaxSession, have.Boundary
	if len(have.FoundProfiles) == 1 {
		out.InstanceProfile = &v1alpha1.IAMRoleInstanceProfile{Name: have.FoundProfiles[0]}
	}
	for _, name := range kind.SortedKeys(have.Inline) {
		out.InlinePolicies = append(out.InlinePolicies, v1alpha1.IAMInlinePolicy{PolicyName: name, PolicyDocument: aws.ToString(have.Inline[name])})
	}
	for _, arn := range kind.SortedKeys(have.Attached) {
		out.ManagedPolicyArns = append(out.ManagedPolicyArns, v1alpha1.IAMPolicyARN(arn))
	}
}
