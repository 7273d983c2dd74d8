// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"slices"
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

// policy finds the changes that one managed policy needs.
func (r *Roles) policy(ctx context.Context, policy string, want iampolicy.Document) ([]Change, error) {
	text, err := want.Encode()
	if err != nil {
		return nil, err
	}
	found, err := r.findPolicy(ctx, policy)
	if awsclient.IsNotFound(err) {
		return []Change{r.newPolicy(policy, text)}, nil
	}
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "iam:GetPolicy")
	}
	if !r.owner.isOurs(ofIAM(found.Tags)) {
		return nil, &ForeignError{ARN: policy, Remedy: "delete it, or choose another name of the role with --role"}
	}
	version, err := r.iam.GetPolicyVersion(ctx, &iam.GetPolicyVersionInput{PolicyArn: &policy, VersionId: found.DefaultVersionId})
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
		do: func(ctx context.Context) error { return r.newVersion(ctx, policy, text) }}}, err
}

// findPolicy reads a managed policy. Errors are those of the SDK.
func (r *Roles) findPolicy(ctx context.Context, policy string) (iamtypes.Policy, error) {
	out, err := r.iam.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: &policy})
	if err != nil {
		return iamtypes.Policy{}, err
	}
	return *out.Policy, nil
}

func (r *Roles) newPolicy(policy, text string) Change {
	name := policy[strings.LastIndex(policy, "/")+1:]
	return Change{Object: policy, Action: "create the policy", Creates: &Record{ARN: policy}, do: func(ctx context.Context) error {
		_, err := r.iam.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: &name, PolicyDocument: &text, Tags: r.owner.iamTags()})
		return r.owner.created(policy, err, "iam:CreatePolicy", func() (map[string]string, error) {
			found, err := r.findPolicy(ctx, policy)
			return ofIAM(found.Tags), err
		})
	}}
}

// newVersion makes a document the policy's default. The oldest version goes where IAM has no room for another.
func (r *Roles) newVersion(ctx context.Context, policy, text string) error {
	versions, err := r.versions(ctx, policy)
	if err != nil {
		return err
	}
	if len(versions) >= maxPolicyVersions {
		oldest := slices.MinFunc(slices.DeleteFunc(versions, isDefault), func(x, y iamtypes.PolicyVersion) int {
			return aws.ToTime(x.CreateDate).Compare(aws.ToTime(y.CreateDate))
		})
		if err := r.deleteVersion(ctx, policy, oldest); err != nil {
			return err
		}
	}
	_, err = r.iam.CreatePolicyVersion(ctx, &iam.CreatePolicyVersionInput{PolicyArn: &policy, PolicyDocument: &text, SetAsDefault: true})
	return awsclient.ExplainOnce(err, "iam:CreatePolicyVersion")
}

func isDefault(v iamtypes.PolicyVersion) bool { return v.IsDefaultVersion }

func (r *Roles) versions(ctx context.Context, policy string) ([]iamtypes.PolicyVersion, error) {
	in := &iam.ListPolicyVersionsInput{PolicyArn: &policy}
	out, err := kind.Pages(ctx, r.iam.ListPolicyVersions, in, &in.Marker,
		func(page *iam.ListPolicyVersionsOutput) ([]iamtypes.PolicyVersion, *string) {
			return page.Versions, page.Marker
		})
	return out, awsclient.ExplainOnce(err, "iam:ListPolicyVersions")
}

func (r *Roles) deleteVersion(ctx context.Context, policy string, v iamtypes.PolicyVersion) error {
	_, err := r.iam.DeletePolicyVersion(ctx, &iam.DeletePolicyVersionInput{PolicyArn: &policy, VersionId: v.VersionId})
	return unlessGone(err, "iam:DeletePolicyVersion")
}

func (r *Roles) removePolicy(ctx context.Context, record Record, _ string) ([]Change, error) {
	policy, err := r.findPolicy(ctx, record.ARN)
	return r.owner.judge(record, ofIAM(policy.Tags), err, func() ([]Change, error) {
		users := aws.ToInt32(policy.AttachmentCount)
		if r.released[record.ARN] {
			users--
		}
		if users > 0 {
			return []Change{Forget(record, "leave it: it is attached to roles or users that stay")}, nil
		}
		return []Change{removal(record, "delete the policy", func(ctx context.Context) error { return r.deletePolicy(ctx, record.ARN) })}, nil
	})
}

// deletePolicy deletes a policy with its versions.
func (r *Roles) deletePolicy(ctx context.Context, policy string) error {
	versions, err := r.versions(ctx, policy)
	if err != nil {
		return unlessGone(err, "iam:ListPolicyVersions")
	}
	for _, v := range slices.DeleteFunc(versions, isDefault) {
		if err := r.deleteVersion(ctx, policy, v); err != nil {
			return err
		}
	}
	_, err = r.iam.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: &policy})
	return unlessGone(err, "iam:DeletePolicy")
}
