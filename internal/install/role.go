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

// Roles are the roles in the IAM of an account, and their managed policies.
type Roles struct {
	owner    owner
	iam      *iam.Client
	released released
}

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

// Look looks at a role, and returns its ARN and the necessary changes. The error is a *ForeignError where the name is in use, or one of the
// kinds that awsclient.Explain returns.
func (r *Roles) Look(ctx context.Context, want Role) (string, []Change, error) {
	role := r.owner.iamARN("role/" + want.Name)
	tags, err := r.tagsOfRole(ctx, want.Name)
	var changes []Change
	switch {
	case awsclient.IsNotFound(err):
		changes, err = r.newRole(role, want)
	case err != nil:
		err = awsclient.ExplainOnce(err, "iam:GetRole")
	case !r.owner.isOurs(tags):
		err = &ForeignError{ARN: role, Remedy: "use it as it is with --role-arn, or choose another name with --role"}
	default:
		changes, err = r.Trust(ctx, role, want.Trust)
	}
	if err != nil {
		return role, nil, err
	}
	policies, err := r.policies(ctx, want)
	return role, append(changes, policies...), err
}

// tagsOfRole reads the tags of a role. Errors are those of the SDK.
func (r *Roles) tagsOfRole(ctx context.Context, name string) (map[string]string, error) {
	out, err := r.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err != nil {
		return nil, err
	}
	return ofIAM(out.Role.Tags), nil
}

// newRole creates the role with a trust policy for its ServiceAccount alone.
func (r *Roles) newRole(role string, want Role) ([]Change, error) {
	trust, err := iampolicy.New(want.Trust.Trust()).Encode()
	return []Change{{Object: role, Action: "create the role of " + want.Of, Creates: &Record{ARN: role}, do: func(ctx context.Context) error {
		_, err := r.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &want.Name, AssumeRolePolicyDocument: &trust, Tags: r.owner.iamTags(),
			Description: &want.Description})
		return r.owner.created(role, err, "iam:CreateRole", func() (map[string]string, error) { return r.tagsOfRole(ctx, want.Name) })
	}}}, err
}

// policies finds the changes that the managed policies of the role need.
func (r *Roles) policies(ctx context.Context, want Role) ([]Change, error) {
	attached, err := r.attached(ctx, want.Name)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for i, document := range want.Policies {
		p := r.owner.iamARN("policy/" + want.Name + "-" + strconv.Itoa(i+1))
		change, err := r.policy(ctx, p, document)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change...)
		if !slices.Contains(attached, p) {
			changes = append(changes, r.attach(want.Name, p))
		}
		attached = slices.DeleteFunc(attached, func(other string) bool { return other == p })
	}
	for _, p := range attached {
		if number, ok := strings.CutPrefix(p, r.owner.iamARN("policy/"+want.Name+"-")); ok {
			if n, err := strconv.Atoi(number); err == nil && n > len(want.Policies) {
				changes = append(changes, r.detach(want.Name, p))
			}
		}
	}
	return changes, nil
}

// attached are the ARNs of the managed policies of a role; none of a role that does not exist yet.
func (r *Roles) attached(ctx context.Context, role string) ([]string, error) {
	in := &iam.ListAttachedRolePoliciesInput{RoleName: &role}
	attached, err := kind.Pages(ctx, r.iam.ListAttachedRolePolicies, in, &in.Marker,
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

func (r *Roles) attach(role, policy string) Change {
	return Change{Object: policy, Action: "attach the policy to role " + role, do: func(ctx context.Context) error {
		_, err := r.iam.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &role, PolicyArn: &policy})
		return awsclient.ExplainOnce(err, "iam:AttachRolePolicy")
	}}
}

func (r *Roles) detach(role, policy string) Change {
	return Change{Object: policy, Action: "detach the policy from role " + role, do: func(ctx context.Context) error {
		_, err := r.iam.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &role, PolicyArn: &policy})
		return unlessGone(err, "iam:DetachRolePolicy")
	}}
}

func (r *Roles) remove(ctx context.Context, record Record, name string) ([]Change, error) {
	tags, err := r.tagsOfRole(ctx, name)
	return r.owner.judge(record, tags, err, func() ([]Change, error) {
		attached, err := r.attached(ctx, name)
		r.released[record.ARN] = true
		var changes []Change
		for _, p := range attached {
			if strings.HasPrefix(p, r.owner.iamARN("policy/"+name+"-")) {
				changes = append(changes, r.detach(name, p))
				r.released[p] = true
			}
		}
		return append(changes, removal(record, "delete the role", func(ctx context.Context) error {
			_, err := r.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &name})
			if awsclient.Is(err, awsclient.NotEmpty) || awsclient.Is(err, awsclient.Conflict) {
				return fmt.Errorf("the role has policies that nexusctl did not add: remove these, and run the command again: %w",
					awsclient.ExplainOnce(err, "iam:DeleteRole"))
			}
			return unlessGone(err, "iam:DeleteRole")
		})), err
	})
}
