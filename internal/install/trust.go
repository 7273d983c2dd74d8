// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/pmezard/go-difflib/difflib"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Trust looks whether a role lets a ServiceAccount of the cluster assume it, and returns the necessary changes of its trust policy.
// Statements about providers that exist, such as those of other clusters, stay as they are. Errors are the kinds that awsclient.Explain
// returns.
func (r *Roles) Trust(ctx context.Context, role string, account iampolicy.ServiceAccount) ([]Change, error) {
	name, err := r.nameOfRole(role)
	if err != nil {
		return nil, err
	}
	out, err := r.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if awsclient.IsNotFound(err) {
		return nil, fmt.Errorf("role %s, which ServiceAccount %s/%s names in its annotation, does not exist: create it, or correct the annotation", role, account.Namespace, account.Name)
	}
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "iam:GetRole")
	}
	have, err := documentOf(aws.ToString(out.Role.AssumeRolePolicyDocument))
	if err != nil {
		return nil, fmt.Errorf("the trust policy of role %s: %w", role, err)
	}
	gone, err := r.gone(ctx, have, account.Provider)
	if err != nil {
		return nil, err
	}
	want := have.RepairTrust(account, func(provider string) bool { return gone[provider] })
	if want.Equal(have) {
		return nil, nil
	}
	text, err := want.Encode()
	if err != nil {
		return nil, err
	}
	diff, err := diffOf(have, want)
	return []Change{{Object: role, Action: "replace the trust policy", Diff: diff, do: func(ctx context.Context) error {
		_, err := r.iam.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &name, PolicyDocument: &text})
		return awsclient.ExplainOnce(err, "iam:UpdateAssumeRolePolicy")
	}}}, err
}

// nameOfRole returns the name of a role of this account in IAM.
func (r *Roles) nameOfRole(role string) (string, error) {
	parsed, err := arn.Parse(role)
	if err != nil || parsed.Service != "iam" || !strings.HasPrefix(parsed.Resource, "role/") {
		return "", fmt.Errorf("%q is not the ARN of an IAM role", role)
	}
	if parsed.AccountID != r.owner.session.Account {
		return "", fmt.Errorf("role %s is in account %s, and your AWS credentials lead to account %s: use credentials of that account (AWS_PROFILE)",
			role, parsed.AccountID, r.owner.session.Account)
	}
	return parsed.Resource[strings.LastIndex(parsed.Resource, "/")+1:], nil
}

// gone says of the OIDC providers that a trust policy names which ones the account does not have any more. IAM answers
// about the providers of this account only.
func (r *Roles) gone(ctx context.Context, d iampolicy.Document, present string) (map[string]bool, error) {
	out := map[string]bool{}
	home, session := r.owner.iamARN("oidc-provider/"), r.owner.session
	for _, s := range d.Statement {
		for _, provider := range s.Principal["Federated"] {
			issuer, ours := strings.CutPrefix(provider, home)
			if _, known := out[provider]; known || !ours || provider == present {
				continue
			}
			found, err := awsclient.ReadOIDCProvider(ctx, r.iam.GetOpenIDConnectProvider, session.Partition, session.Account, issuer)
			if err != nil {
				return nil, awsclient.ExplainOnce(err, "iam:GetOpenIDConnectProvider")
			}
			out[provider] = !found.Exists
		}
	}
	return out, nil
}

// documentOf reads a document as IAM returns it, encoded as in a URL:
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetRole.html
func documentOf(encoded string) (iampolicy.Document, error) {
	text, err := url.PathUnescape(encoded)
	if err != nil {
		return iampolicy.Document{}, err
	}
	return iampolicy.Parse(text)
}

func diffOf(have, want iampolicy.Document) (string, error) {
	var text [2]string
	for i, d := range []iampolicy.Document{have, want} {
		b, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return "", err
		}
		text[i] = string(b) + "\n"
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: difflib.SplitLines(text[0]), B: difflib.SplitLines(text[1]),
		FromFile: "trust policy now", ToFile: "trust policy after", Context: 3})
}
