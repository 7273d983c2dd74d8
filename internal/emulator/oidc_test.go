// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestTheAudiencesOfAnOIDCProviderCanBeChanged(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	made, err := c.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{Url: aws.String("https://oidc.example.com/id/A"),
		ClientIDList: []string{"a"}, Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}})
	must.Succeed(t, err)
	arn := made.OpenIDConnectProviderArn
	audiences := func() []string {
		out, err := c.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn})
		must.Succeed(t, err)
		if len(out.Tags) != 1 || *out.Url != "oidc.example.com/id/A" && *out.Url != "https://oidc.example.com/id/A" {
			t.Errorf("%v %s", out.Tags, *out.Url)
		}
		return out.ClientIDList
	}
	for range 2 { // adding again changes nothing
		_, err = c.iam.AddClientIDToOpenIDConnectProvider(ctx,
			&iam.AddClientIDToOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn, ClientID: aws.String("b")})
		must.Succeed(t, err)
		if got := audiences(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("audiences %q", got)
		}
	}
	_, err = c.iam.RemoveClientIDFromOpenIDConnectProvider(ctx,
		&iam.RemoveClientIDFromOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn, ClientID: aws.String("a")})
	must.Succeed(t, err)
	if got := audiences(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("audiences %q", got)
	}
	_, err = c.iam.AddClientIDToOpenIDConnectProvider(ctx,
		&iam.AddClientIDToOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(*arn + "B"), ClientID: aws.String("b")})
	if !awsclient.IsNotFound(err) {
		t.Errorf("of a provider that does not exist: %v", err)
	}
}
