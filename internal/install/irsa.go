// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/pmezard/go-difflib/difflib"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Account is an AWS account with an IAM that accepts, or is to accept, the tokens of a cluster.
type Account struct {
	session *awsclient.Session
	cluster string
	iam     *iam.Client
	ecr     *ecr.Client
	// released are the ARNs of roles that planned changes delete, and of policies that they detach.
	released map[string]bool
}

// NewAccount prepares to look at the account of a session for a cluster, which its ID identifies in tags. Without an ID
// nothing in the account proves to be of the cluster.
func NewAccount(s *awsclient.Session, cluster string) *Account {
	return &Account{session: s, cluster: cluster, iam: iam.NewFromConfig(s.Config), ecr: ecr.NewFromConfig(s.Config),
		released: map[string]bool{}}
}

// ownTags are on everything that is created in the account.
func (a *Account) ownTags() map[string]string {
	if a.cluster == "" {
		return map[string]string{TagCreatedBy: creator}
	}
	return map[string]string{TagCreatedBy: creator, wellknown.TagCluster: a.cluster}
}

func (a *Account) tags() []iamtypes.Tag {
	var out []iamtypes.Tag
	for _, key := range slices.Sorted(maps.Keys(a.ownTags())) {
		out = append(out, iamtypes.Tag{Key: &key, Value: aws.String(a.ownTags()[key])})
	}
	return out
}

// isOurs reports whether tags are those of something that was created for this cluster.
func (a *Account) isOurs(tags map[string]string) bool {
	for key, want := range a.ownTags() {
		if tags[key] != want {
			return false
		}
	}
	return a.cluster != ""
}

// ofIAM is a list of tags as a map.
func ofIAM(tags []iamtypes.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
}

// OIDCProvider looks whether IAM accepts the tokens of an issuer, and returns the ARN of its provider and the missing changes. Errors are
// the kinds that awsclient.Explain returns.
func (a *Account) OIDCProvider(ctx context.Context, issuer string) (string, []Change, error) {
	found, err := awsclient.ReadOIDCProvider(ctx, a.iam.GetOpenIDConnectProvider, a.session.Partition, a.session.Account, issuer)
	if err != nil {
		return found.ARN, nil, awsclient.ExplainOnce(err, "iam:GetOpenIDConnectProvider")
	}
	switch {
	case !found.Exists:
		return found.ARN, []Change{{Object: found.ARN, Action: "create the IAM OIDC provider with audience " + kind.STSAudience,
			Creates: &Record{ARN: found.ARN},
			do:      func(ctx context.Context) error { return a.createProvider(ctx, found.ARN, issuer) }}}, nil
	case !found.Accepts(kind.STSAudience):
		return found.ARN, []Change{{Object: found.ARN, Action: "add audience " + kind.STSAudience,
			do: func(ctx context.Context) error { return a.addAudience(ctx, found.ARN) }}}, nil
	default:
		return found.ARN, nil, nil
	}
}

// createProvider creates the provider. IAM gets the certificate of the issuer automatically:
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateOpenIDConnectProvider.html
func (a *Account) createProvider(ctx context.Context, provider, issuer string) error {
	_, err := a.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: &issuer, ClientIDList: []string{kind.STSAudience},
		Tags: a.tags(),
	})
	if awsclient.Is(err, awsclient.Exists) { // a person was faster, perhaps with another audience
		return a.addAudience(ctx, provider)
	}
	return awsclient.ExplainOnce(err, "iam:CreateOpenIDConnectProvider")
}

// addAudience is idempotent in IAM.
func (a *Account) addAudience(ctx context.Context, provider string) error {
	_, err := a.iam.AddClientIDToOpenIDConnectProvider(ctx,
		&iam.AddClientIDToOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider, ClientID: aws.String(kind.STSAudience)})
	return awsclient.ExplainOnce(err, "iam:AddClientIDToOpenIDConnectProvider")
}

// Trust looks whether a role lets a ServiceAccount of the cluster assume it, and returns the necessary changes of its trust policy.
// Statements about providers that exist, such as those of other clusters, stay as they are. Errors are the kinds that awsclient.Explain
// returns.
func (a *Account) Trust(ctx context.Context, role string, account iampolicy.ServiceAccount) ([]Change, error) {
	name, err := a.nameOfRole(role)
	if err != nil {
		return nil, err
	}
	out, err := a.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
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
	gone, err := a.gone(ctx, have, account.Provider)
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
		_, err := a.iam.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: &name, PolicyDocument: &text})
		return awsclient.ExplainOnce(err, "iam:UpdateAssumeRolePolicy")
	}}}, err
}

// nameOfRole returns the name of a role of this account in IAM.
func (a *Account) nameOfRole(role string) (string, error) {
	parsed, err := arn.Parse(role)
	if err != nil || parsed.Service != "iam" || !strings.HasPrefix(parsed.Resource, "role/") {
		return "", fmt.Errorf("%q is not the ARN of an IAM role", role)
	}
	if parsed.AccountID != a.session.Account {
		return "", fmt.Errorf("role %s is in account %s, and your AWS credentials lead to account %s: use credentials of that account (AWS_PROFILE)", role, parsed.AccountID, a.session.Account)
	}
	return parsed.Resource[strings.LastIndex(parsed.Resource, "/")+1:], nil
}

// gone says of the OIDC providers that a trust policy names which ones the account does not have any more. IAM answers
// about the providers of this account only.
func (a *Account) gone(ctx context.Context, d iampolicy.Document, present string) (map[string]bool, error) {
	out := map[string]bool{}
	home := "arn:" + a.session.Partition + ":iam::" + a.session.Account + ":oidc-provider/"
	for _, s := range d.Statement {
		for _, provider := range s.Principal["Federated"] {
			issuer, ours := strings.CutPrefix(provider, home)
			if _, known := out[provider]; known || !ours || provider == present {
				continue
			}
			found, err := awsclient.ReadOIDCProvider(ctx, a.iam.GetOpenIDConnectProvider, a.session.Partition, a.session.Account, issuer)
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
