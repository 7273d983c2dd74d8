// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Providers are the OIDC providers in the IAM of an account.
type Providers struct {
	owner    owner
	iam      *iam.Client
	released released
}

// Look looks whether IAM accepts the tokens of an issuer, and returns the ARN of its provider and the missing changes. Errors are
// the kinds that awsclient.Explain returns.
func (p *Providers) Look(ctx context.Context, issuer string) (string, []Change, error) {
	session := p.owner.session
	found, err := awsclient.ReadOIDCProvider(ctx, p.iam.GetOpenIDConnectProvider, session.Partition, session.Account, issuer)
	if err != nil {
		return found.ARN, nil, awsclient.ExplainOnce(err, "iam:GetOpenIDConnectProvider")
	}
	switch {
	case !found.Exists:
		return found.ARN, []Change{{Object: found.ARN, Action: "create the IAM OIDC provider with audience " + kind.STSAudience,
			Creates: &Record{ARN: found.ARN},
			do:      func(ctx context.Context) error { return p.create(ctx, found.ARN, issuer) }}}, nil
	case !found.Accepts(kind.STSAudience):
		return found.ARN, []Change{{Object: found.ARN, Action: "add audience " + kind.STSAudience,
			do: func(ctx context.Context) error { return p.addAudience(ctx, found.ARN) }}}, nil
	default:
		return found.ARN, nil, nil
	}
}

// create creates the provider. IAM gets the certificate of the issuer automatically:
// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateOpenIDConnectProvider.html
func (p *Providers) create(ctx context.Context, provider, issuer string) error {
	_, err := p.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: &issuer, ClientIDList: []string{kind.STSAudience},
		Tags: p.owner.iamTags(),
	})
	if awsclient.Is(err, awsclient.Exists) { // a person was faster, perhaps with another audience
		return p.addAudience(ctx, provider)
	}
	return awsclient.ExplainOnce(err, "iam:CreateOpenIDConnectProvider")
}

// addAudience is idempotent in IAM.
func (p *Providers) addAudience(ctx context.Context, provider string) error {
	_, err := p.iam.AddClientIDToOpenIDConnectProvider(ctx,
		&iam.AddClientIDToOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider, ClientID: aws.String(kind.STSAudience)})
	return awsclient.ExplainOnce(err, "iam:AddClientIDToOpenIDConnectProvider")
}

// remove deletes the OIDC provider, unless a role needs it that stays.
func (p *Providers) remove(ctx context.Context, record Record, _ string) ([]Change, error) {
	tags := map[string]string{}
	out, err := p.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &record.ARN})
	if err == nil {
		tags = ofIAM(out.Tags)
	}
	return p.owner.judge(record, tags, err, func() ([]Change, error) {
		roles, err := p.rolesThatTrust(ctx, record.ARN)
		if err != nil {
			return nil, err
		}
		if len(roles) > 0 {
			return []Change{Forget(record, "leave it: other roles trust it: "+strings.Join(roles, ", "))}, nil
		}
		return []Change{removal(record, "delete the IAM OIDC provider", func(ctx context.Context) error {
			_, err := p.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &record.ARN})
			return unlessGone(err, "iam:DeleteOpenIDConnectProvider")
		})}, nil
	})
}

// rolesThatTrust are the names of roles that trust an OIDC provider, except those that planned changes delete.
func (p *Providers) rolesThatTrust(ctx context.Context, provider string) ([]string, error) {
	in := &iam.ListRolesInput{}
	roles, err := kind.Pages(ctx, p.iam.ListRoles, in, &in.Marker,
		func(page *iam.ListRolesOutput) ([]iamtypes.Role, *string) { return page.Roles, page.Marker })
	var out []string
	for _, role := range roles {
		trust, err := url.PathUnescape(aws.ToString(role.AssumeRolePolicyDocument))
		if err != nil || !strings.Contains(trust, `"`+provider+`"`) {
			continue
		}
		tags, err := p.iam.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: role.RoleName}) // ListRoles does not answer with tags
		if err != nil && !awsclient.IsNotFound(err) {
			return nil, awsclient.ExplainOnce(err, "iam:ListRoleTags")
		}
		if err == nil && !(p.owner.isOurs(ofIAM(tags.Tags)) && p.released[aws.ToString(role.Arn)]) {
			out = append(out, aws.ToString(role.RoleName))
		}
	}
	return out, awsclient.ExplainOnce(err, "iam:ListRoles")
}
