// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// maxPolicyVersions is the number of versions of a managed policy that IAM keeps:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
const maxPolicyVersions = 5

// Role is a role that a ServiceAccount of the cluster is to have.
type Role struct {
	// Name is the role's name; its managed policies are called NAME-1, NAME-2 and so on.
	Name string
	// Of names the purpose of the role, as in "the operator".
	Of string
	// Description is that of the role in IAM.
	Description string
	// Trust is the ServiceAccount.
	Trust iampolicy.ServiceAccount
	// Policies lists the rights of the role, one managed policy each.
	Policies []iampolicy.Document
}

// ForeignError says that something of the wanted name exists and was not created for this cluster.
type ForeignError struct{ ARN, Remedy string }

// Error implements error.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s exists and was not created by nexusctl for this cluster: %s", e.ARN, e.Remedy)
}

// Role looks at a role, and returns its ARN and the necessary changes. The error is a *ForeignError where the name is in use, or one of the
// kinds that awsclient.Explain returns.
func (a *Account) Role(ctx context.Context, want Role) (string, []Change, error) {
	role := a.arnOf("role/" + want.Name)
	tags, err := a.tagsOfRole(ctx, want.Name)
	var changes []Change
	switch {
	case awsclient.IsNotFound(err):
		changes, err = a.newRole(role, want)
	case err != nil:
		err = awsclient.ExplainOnce(err, "iam:GetRole")
	case !a.isOurs(tags):
		err = &ForeignError{ARN: role, Remedy: "use it as it is with --role-arn, or choose another name with --role"}
	default:
		changes, err = a.Trust(ctx, role, want.Trust)
	}
	if err != nil {
		return role, nil, err
	}
	policies, err := a.policies(ctx, want)
	return role, append(changes, policies...), err
}

// tagsOfRole reads the tags of a role. Errors are those of the SDK.
func (a *Account) tagsOfRole(ctx context.Context, name string) (map[string]string, error) {
	out, err := a.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return nil, err
	}
	return ofIAM(out.Role.Tags), nil
}

// findPolicy reads a managed policy. Errors are those of the SDK.
func (a *Account) findPolicy(ctx context.Context, policy string) (iamtypes.Policy, error) {
	out, err := a.iam.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: &policy})
	if err != nil {
		return iamtypes.Policy{}, err
	}
	return *out.Policy, nil
}

// created judges the answer to a create. An existing resource is ours when an answer was lost, and not when another client created it
// first.
func (a *Account) created(arn string, err error, action string, tags func() (map[string]string, error)) error {
	if !awsclient.Is(err, awsclient.Exists) {
		return awsclient.ExplainOnce(err, action)
	}
	have, err := tags()
	if err == nil && !a.isOurs(have) {
		return &ForeignError{ARN: arn, Remedy: "run the command again"}
	}
	return awsclient.ExplainOnce(err, "")
}

// arnOf is the ARN of something in the account's IAM.
func (a *Account) arnOf(resource string) string {
	return "arn:" + a.session.Partition + ":iam::" + a.session.Account + ":" + resource
}

// newRole creates the role with a trust policy for its ServiceAccount alone.
func (a *Account) newRole(role string, want Role) ([]Change, error) {
	trust, err := iampolicy.New(want.Trust.Trust()).Encode()
	return []Change{{Object: role, Action: "create the role of " + want.Of, Creates: &Record{ARN: role}, do: func(ctx context.Context) error {
		_, err := a.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &want.Name, AssumeRolePolicyDocument: &trust, Tags: a.tags(),
			Description: &want.Description})
		return a.created(role, err, "iam:CreateRole", func() (map[string]string, error) { return a.tagsOfRole(ctx, want.Name) })
	}}}, err
}

// policies finds the changes that the managed policies of the role need.
func (a *Account) policies(ctx context.Context, want Role) ([]Change, error) {
	attached, err := a.attached(ctx, want.Name)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for i, document := range want.Policies {
		p := a.arnOf("policy/" + want.Name + "-" + strconv.Itoa(i+1))
		change, err := a.policy(ctx, p, document)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change...)
		if !slices.Contains(attached, p) {
			changes = append(changes, a.attach(want.Name, p))
		}
		attached = slices.DeleteFunc(attached, func(other string) bool { return other == p })
	}
	for _, p := range attached {
		if number, ok := strings.CutPrefix(p, a.arnOf("policy/"+want.Name+"-")); ok {
			if n, err := strconv.Atoi(number); err == nil && n > len(want.Policies) {
				changes = append(changes, a.detach(want.Name, p))
			}
		}
	}
	return changes, nil
}

// attached are the ARNs of the managed policies of a role; none of a role that does not exist yet.
func (a *Account) attached(ctx context.Context, role string) ([]string, error) {
	in := &iam.ListAttachedRolePoliciesInput{RoleName: &role}
	attached, err := kind.Pages(ctx, a.iam.ListAttachedRolePolicies, in, &in.Marker,
		func(page *iam.ListAttachedRolePoliciesOutput) ([]iamtypes.AttachedPolicy, *string) {
			return page.AttachedPolicies, page.Marker
		})
	if awsclient.IsNotFound(err) {
		return nil, nil
	}
	out := make([]string, len(attached))
	for i, p := range attached {
		out[i] = aws.ToString(p.PolicyArn)
	}
	return out, awsclient.ExplainOnce(err, "iam:ListAttachedRolePolicies")
}

func (a *Account) attach(role, policy string) Change {
	return Change{Object: policy, Action: "attach the policy to role " + role, do: func(ctx context.Context) error {
		_, err := a.iam.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &role, PolicyArn: &policy})
		return awsclient.ExplainOnce(err, "iam:AttachRolePolicy")
	}}
}

func (a *Account) detach(role, policy string) Change {
	return Change{Object: policy, Action: "detach the policy from role " + role, do: func(ctx context.Context) error {
		_, err := a.iam.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: &policy})
		return unlessGone(err, "iam:DetachRolePolicy")
	}}
}

// policy finds the changes that one managed policy needs.
func (a *Account) policy(ctx context.Context, policy string, want iampolicy.Document) ([]Change, error) {
	text, err := want.Encode()
	if err != nil {
		return nil, err
	}
	found, err := a.findPolicy(ctx, policy)
	if awsclient.IsNotFound(err) {
		return []Change{a.newPolicy(policy, text)}, nil
	}
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "iam:GetPolicy")
	}
	if !a.isOurs(ofIAM(found.Tags)) {
		return nil, &ForeignError{ARN: policy, Remedy: "delete it, or choose another name of the role with --role"}
	}
	version, err := a.iam.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: &policy, VersionId: found.DefaultVersionId})
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "iam:GetPolicyVersion")
	}
	have, err := documentOf(aws.ToString(version.PolicyVersion.Document))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", policy, err)
	}
	if have.Equal(want) {
		return nil, nil
	}
	diff, err := diffOf(have, want)
	return []Change{{Object: policy, Action: "replace the policy", Diff: diff,
		do: func(ctx context.Context) error { return a.newVersion(ctx, policy, text) }}}, err
}

func (a *Account) newPolicy(policy, text string) Change {
	name := policy[strings.LastIndex(policy, "/")+1:]
	return Change{Object: policy, Action: "create the policy", Creates: &Record{ARN: policy}, do: func(ctx context.Context) error {
		_, err := a.iam.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: &name, PolicyDocument: &text, Tags: a.tags()})
		return a.created(policy, err, "iam:CreatePolicy", func() (map[string]string, error) {
			found, err := a.findPolicy(ctx, policy)
			return ofIAM(found.Tags), err
		})
	}}
}

// newVersion makes a document the policy's default. The oldest version goes where IAM has no room for another.
func (a *Account) newVersion(ctx context.Context, policy, text string) error {
	versions, err := a.versions(ctx, policy)
	if err != nil {
		return err
	}
	if len(versions) >= maxPolicyVersions {
		oldest := slices.MinFunc(slices.DeleteFunc(versions, isDefault), func(x, y iamtypes.PolicyVersion) int {
			return aws.ToTime(x.CreateDate).Compare(aws.ToTime(y.CreateDate))
		})
		if err := a.deleteVersion(ctx, policy, oldest); err != nil {
			return err
		}
	}
	_, err = a.iam.CreatePolicyVersion(ctx, &iam.CreatePolicyVersionInput{PolicyArn: &policy, PolicyDocument: &text, SetAsDefault: true})
	return awsclient.ExplainOnce(err, "iam:CreatePolicyVersion")
}

func isDefault(v iamtypes.PolicyVersion) bool { return v.IsDefaultVersion }

func (a *Account) versions(ctx context.Context, policy string) ([]iamtypes.PolicyVersion, error) {
	in := &iam.ListPolicyVersionsInput{PolicyArn: &policy}
	out, err := kind.Pages(ctx, a.iam.ListPolicyVersions, in, &in.Marker,
		func(page *iam.ListPolicyVersionsOutput) ([]iamtypes.PolicyVersion, *string) {
			return page.Versions, page.Marker
		})
	return out, awsclient.ExplainOnce(err, "iam:ListPolicyVersions")
}

func (a *Account) deleteVersion(ctx context.Context, policy string, v iamtypes.PolicyVersion) error {
	_, err := a.iam.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: &policy, VersionId: v.VersionId})
	return unlessGone(err, "iam:DeletePolicyVersion")
}
