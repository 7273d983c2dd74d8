// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Remove looks at something in the account that a record names, and returns the necessary changes. Something that does not prove to be
// created for this cluster, or that others need, stays: the only change is then that its record is dropped. The error is an *ElsewhereError
// for another account or region, or one of the kinds that awsclient.Explain returns.
func (a *Account) Remove(ctx context.Context, r Record) ([]Change, error) {
	parsed, err := arn.Parse(r.ARN)
	if err != nil {
		return nil, fmt.Errorf("the ledger names %q: %w", r.ARN, err)
	}
	if parsed.AccountID != a.session.Account || parsed.Region != "" && parsed.Region != a.session.Region {
		return nil, &ElsewhereError{ARN: r.ARN, Account: a.session.Account, Region: a.session.Region}
	}
	kind, name, typed := strings.Cut(parsed.Resource, "/")
	if parsed.Service == "sqs" && !typed { // the ARN of a queue has no type
		kind, name = "queue", parsed.Resource
	}
	look := map[string]func(context.Context, Record, string) ([]Change, error){
		"iam:role": a.removeRole, "iam:policy": a.removePolicy, "iam:oidc-provider": a.removeProvider, "ecr:repository": a.removeRepository,
		"events:rule": a.removeRule, "sqs:queue": a.removeQueue,
	}[parsed.Service+":"+kind]
	if look == nil {
		return nil, fmt.Errorf("the ledger names %s, of a kind that this version does not know: use the nexusctl that wrote it", r.ARN)
	}
	return look(ctx, r, name)
}

// ElsewhereError says that the credentials lead to another account or region than that of something to be removed.
type ElsewhereError struct{ ARN, Account, Region string }

// Error implements error.
func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("%s is not in account %s and region %s, to which your AWS credentials and settings lead: use those with which it was created (AWS_PROFILE, AWS_REGION)", e.ARN, e.Account, e.Region)
}

// Why something in the account is not deleted.
const (
	gone    = "do nothing: it does not exist any more"
	notOurs = "leave it: its tags do not say that nexusctl created it for this cluster"
)

// judge decides about a recorded resource by its tags.
func (a *Account) judge(r Record, tags map[string]string, looked error, remove func() ([]Change, error)) ([]Change, error) {
	switch {
	case awsclient.IsNotFound(looked):
		return []Change{Forget(r, gone)}, nil
	case looked != nil:
		return nil, awsclient.ExplainOnce(looked, "")
	case !a.isOurs(tags):
		return []Change{Forget(r, notOurs)}, nil
	default:
		return remove()
	}
}

// unlessGone explains an error, except that there is nothing any more.
func unlessGone(err error, action string) error {
	if awsclient.IsNotFound(err) {
		return nil
	}
	return awsclient.ExplainOnce(err, action)
}

// removal returns the change that deletes the recorded resource.
func removal(r Record, action string, do func(context.Context) error) Change {
	return Change{Object: r.ARN, Action: action, Removes: &r, do: do}
}

func (a *Account) removeRole(ctx context.Context, r Record, name string) ([]Change, error) {
	tags, err := a.tagsOfRole(ctx, name)
	return a.judge(r, tags, err, func() ([]Change, error) {
		attached, err := a.attached(ctx, name)
		a.released[r.ARN] = true
		var changes []Change
		for _, p := range attached {
			if strings.HasPrefix(p, a.arnOf("policy/"+name+"-")) {
				changes = append(changes, a.detach(name, p))
				a.released[p] = true
			}
		}
		return append(changes, removal(r, "delete the role", func(ctx context.Context) error {
			_, err := a.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &name})
			if awsclient.Is(err, awsclient.NotEmpty) || awsclient.Is(err, awsclient.Conflict) {
				return fmt.Errorf("the role has policies that nexusctl did not add: remove these, and run the command again: %w",
					awsclient.ExplainOnce(err, "iam:DeleteRole"))
			}
			return unlessGone(err, "iam:DeleteRole")
		})), err
	})
}

func (a *Account) removePolicy(ctx context.Context, r Record, _ string) ([]Change, error) {
	policy, err := a.findPolicy(ctx, r.ARN)
	return a.judge(r, ofIAM(policy.Tags), err, func() ([]Change, error) {
		users := aws.ToInt32(policy.AttachmentCount)
		if a.released[r.ARN] {
			users--
		}
		if users > 0 {
			return []Change{Forget(r, "leave it: it is attached to roles or users that stay")}, nil
		}
		return []Change{removal(r, "delete the policy", func(ctx context.Context) error { return a.deletePolicy(ctx, r.ARN) })}, nil
	})
}

// deletePolicy deletes a policy with its versions.
func (a *Account) deletePolicy(ctx context.Context, policy string) error {
	versions, err := a.versions(ctx, policy)
	if err != nil {
		return unlessGone(err, "iam:ListPolicyVersions")
	}
	for _, v := range slices.DeleteFunc(versions, isDefault) {
		if err := a.deleteVersion(ctx, policy, v); err != nil {
			return err
		}
	}
	_, err = a.iam.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: &policy})
	return unlessGone(err, "iam:DeletePolicy")
}

// removeProvider deletes the OIDC provider, unless a role needs it that stays.
func (a *Account) removeProvider(ctx context.Context, r Record, _ string) ([]Change, error) {
	tags := map[string]string{}
	out, err := a.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &r.ARN})
	if err == nil {
		tags = ofIAM(out.Tags)
	}
	return a.judge(r, tags, err, func() ([]Change, error) {
		roles, err := a.rolesThatTrust(ctx, r.ARN)
		if err != nil {
			return nil, err
		}
		if len(roles) > 0 {
			return []Change{Forget(r, "leave it: other roles trust it: "+strings.Join(roles, ", "))}, nil
		}
		return []Change{removal(r, "delete the IAM OIDC provider", func(ctx context.Context) error {
			_, err := a.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &r.ARN})
			return unlessGone(err, "iam:DeleteOpenIDConnectProvider")
		})}, nil
	})
}

// rolesThatTrust are the names of roles that trust an OIDC provider, except those that planned changes delete.
func (a *Account) rolesThatTrust(ctx context.Context, provider string) ([]string, error) {
	in := &iam.ListRolesInput{}
	roles, err := kind.Pages(ctx, a.iam.ListRoles, in, &in.Marker,
		func(page *iam.ListRolesOutput) ([]iamtypes.Role, *string) { return page.Roles, page.Marker })
	var out []string
	for _, role := range roles {
		trust, err := url.PathUnescape(aws.ToString(role.AssumeRolePolicyDocument))
		if err != nil || !strings.Contains(trust, `"`+provider+`"`) {
			continue
		}
		tags, err := a.iam.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: role.RoleName}) // ListRoles does not answer with tags
		if err != nil && !awsclient.IsNotFound(err) {
			return nil, awsclient.ExplainOnce(err, "iam:ListRoleTags")
		}
		if err == nil && !(a.isOurs(ofIAM(tags.Tags)) && a.released[aws.ToString(role.Arn)]) {
			out = append(out, aws.ToString(role.RoleName))
		}
	}
	return out, awsclient.ExplainOnce(err, "iam:ListRoles")
}

// removeRepository deletes the image repository with its images.
func (a *Account) removeRepository(ctx context.Context, r Record, name string) ([]Change, error) {
	tags, err := a.tagsOfRepository(ctx, r.ARN)
	return a.judge(r, tags, err, func() ([]Change, error) {
		return []Change{removal(r, "delete the image repository with its images", func(ctx context.Context) error {
			_, err := a.ecr.DeleteRepository(ctx, &ecr.DeleteRepositoryInput{RepositoryName: &name, Force: true})
			return unlessGone(err, "ecr:DeleteRepository")
		})}, nil
	})
}
