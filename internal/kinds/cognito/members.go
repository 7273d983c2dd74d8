// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Client is an app client; the empty HasSecret and Flows other than those of wantedClient are wanted of none.
type Client struct {
	HasSecret    bool
	OAuth        bool
	Flows        []string  `drift:"set"`
	Scopes       []string  `drift:"set"`
	CallbackURLs []string  `drift:"set"`
	LogoutURLs   *[]string `drift:"set"`
}

// Group is a group of users; a nil field is not declared.
type Group struct {
	Description *string
	Precedence  *int32
}

// defaultScopes are those of a client that declares none.
var defaultScopes = []v1alpha1.CognitoScope{"openid", "email", "profile"}

// members are the clients, the groups and the domain. A pool has at most one domain with a prefix, so that the old one is
// deleted before the new one is created. The domain comes last: its name may be taken.
func (p *userPool) members() []kind.Part[UserPoolState] {
	return []kind.Part[UserPoolState]{
		{Fields: []string{"Clients"}, Reads: "cognito-idp:DescribeUserPoolClient", Read: p.readClients, Keys: &kind.Keys[UserPoolState]{OneByOne: true,
			Set:    kind.KeysCall[UserPoolState]{Action: "cognito-idp:CreateUserPoolClient", Do: p.addClient},
			Change: kind.KeysCall[UserPoolState]{Action: "cognito-idp:UpdateUserPoolClient", Do: p.changeClient},
			Unset:  kind.KeysCall[UserPoolState]{Action: "cognito-idp:DeleteUserPoolClient", Do: p.removeClient}}},
		{Fields: []string{"Groups"}, Reads: "cognito-idp:ListGroups", Read: p.readGroups, Keys: &kind.Keys[UserPoolState]{OneByOne: true,
			Set:    kind.KeysCall[UserPoolState]{Action: "cognito-idp:CreateGroup", Do: p.addGroup},
			Change: kind.KeysCall[UserPoolState]{Action: "cognito-idp:UpdateGroup", Do: p.changeGroup},
			Unset:  kind.KeysCall[UserPoolState]{Action: "cognito-idp:DeleteGroup", Do: p.removeGroup}}},
		{Fields: []string{"Domains"}, Each: &kind.Each[UserPoolState]{Unset: kind.KeyCall[UserPoolState]{Action: "cognito-idp:DeleteUserPoolDomain", Do: p.removeDomain}}},
		{Fields: []string{"Domains"}, Each: &kind.Each[UserPoolState]{Set: kind.KeyCall[UserPoolState]{Action: "cognito-idp:CreateUserPoolDomain", Do: p.addDomain}}},
	}
}

func wantedClient(in v1alpha1.CognitoUserPoolClient) (string, *Client) {
	scopes := in.Scopes
	if len(scopes) == 0 {
		scopes = defaultScopes
	}
	return in.Name, &Client{OAuth: true, Flows: []string{string(types.OAuthFlowTypeCode)}, Scopes: kind.Convert[[]string](scopes),
		CallbackURLs: kind.Convert[[]string](in.CallbackURLs), LogoutURLs: kind.Convert[*[]string](in.LogoutURLs)}
}

func wantedGroup(in v1alpha1.CognitoUserPoolGroup) (string, *Group) {
	return in.Name, &Group{Description: in.Description, Precedence: in.Precedence}
}

// addClient creates a public client. What the spec does not declare is safe for one: only tokens can be refreshed without
// the sign-in page, and errors do not reveal what users exist.
func (p *userPool) addClient(ctx context.Context, want, have UserPoolState, names []string) error {
	c := want.Clients[names[0]]
	out, err := p.api.CreateUserPoolClient(ctx, &cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: &have.ID, ClientName: &names[0],
		AllowedOAuthFlowsUserPoolClient: true, AllowedOAuthFlows: kind.Convert[[]types.OAuthFlowType](c.Flows), AllowedOAuthScopes: c.Scopes,
		CallbackURLs: c.CallbackURLs, LogoutURLs: *kind.NonNil(c.LogoutURLs), SupportedIdentityProviders: []string{"COGNITO"},
		ExplicitAuthFlows: []types.ExplicitAuthFlowsType{types.ExplicitAuthFlowsTypeAllowRefreshTokenAuth}, EnableTokenRevocation: aws.Bool(true),
		PreventUserExistenceErrors: types.PreventUserExistenceErrorTypesEnabled})
	if err != nil {
		return err
	}
	return p.yieldToOlder(ctx, out.UserPoolClient)
}

// yieldToOlder deletes the client that a call just created if the pool has an older one of the same name: names of clients
// are not unique, so that two operators, or one that repeats a call whose answer was lost, would leave one more way to sign
// in. Only the answer of the create proves whose a client is. The create succeeded, also when the others cannot be read.
func (p *userPool) yieldToOlder(ctx context.Context, made *types.UserPoolClientType) error {
	others, _ := p.listClients(ctx, made.UserPoolId)
	for _, listed := range others {
		if aws.ToString(listed.ClientName) != aws.ToString(made.ClientName) || aws.ToString(listed.ClientId) == aws.ToString(made.ClientId) {
			continue
		}
		other, err := p.api.DescribeUserPoolClient(ctx, &cognitoidentityprovider.DescribeUserPoolClientInput{UserPoolId: made.UserPoolId, ClientId: listed.ClientId})
		if err == nil && older(other.UserPoolClient, made) {
			_, err := p.api.DeleteUserPoolClient(ctx, &cognitoidentityprovider.DeleteUserPoolClientInput{UserPoolId: made.UserPoolId, ClientId: made.ClientId})
			return err
		}
	}
	return nil
}

// older orders two clients, so that of those of one name every operator keeps the same.
func older(a, b *types.UserPoolClientType) bool {
	return cmp.Or(aws.ToTime(a.CreationDate).Compare(aws.ToTime(b.CreationDate)), cmp.Compare(aws.ToString(a.ClientId), aws.ToString(b.ClientId))) < 0
}

// changeClient sends what was found with the declared settings. UpdateUserPoolClient resets every setting that it leaves out.
// https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_UpdateUserPoolClient.html
func (p *userPool) changeClient(ctx context.Context, want, have UserPoolState, names []string) error {
	c := want.Clients[names[0]]
	in := kind.Convert[cognitoidentityprovider.UpdateUserPoolClientInput](have.FoundClients[names[0]])
	in.AllowedOAuthFlowsUserPoolClient, in.AllowedOAuthFlows = true, kind.Convert[[]types.OAuthFlowType](c.Flows)
	in.AllowedOAuthScopes, in.CallbackURLs = c.Scopes, c.CallbackURLs
	if c.LogoutURLs != nil {
		in.LogoutURLs = *c.LogoutURLs
	}
	if !slices.Contains(c.CallbackURLs, aws.ToString(in.DefaultRedirectURI)) {
		in.DefaultRedirectURI = nil // Cognito refuses one that is no callback URL
	}
	_, err := p.api.UpdateUserPoolClient(ctx, &in)
	return err
}

func (p *userPool) removeClient(ctx context.Context, _, have UserPoolState, names []string) error {
	_, err := p.api.DeleteUserPoolClient(ctx, &cognitoidentityprovider.DeleteUserPoolClientInput{UserPoolId: &have.ID, ClientId: have.FoundClients[names[0]].ClientId})
	return err
}

func (p *userPool) addGroup(ctx context.Context, want, have UserPoolState, names []string) error {
	g := want.Groups[names[0]]
	_, err := p.api.CreateGroup(ctx, &cognitoidentityprovider.CreateGroupInput{UserPoolId: &have.ID, GroupName: &names[0], Description: kind.NonEmpty(g.Description), Precedence: g.Precedence})
	return err
}

// changeGroup leaves the role of the group, which the spec does not declare, as it is.
func (p *userPool) changeGroup(ctx context.Context, want, have UserPoolState, names []string) error {
	g := want.Groups[names[0]]
	_, err := p.api.UpdateGroup(ctx, &cognitoidentityprovider.UpdateGroupInput{UserPoolId: &have.ID, GroupName: &names[0], Description: g.Description, Precedence: g.Precedence})
	return err
}

func (p *userPool) removeGroup(ctx context.Context, _, have UserPoolState, names []string) error {
	_, err := p.api.DeleteGroup(ctx, &cognitoidentityprovider.DeleteGroupInput{UserPoolId: &have.ID, GroupName: &names[0]})
	return err
}

// addDomain succeeds where the pool has the domain already: Cognito may not show it yet.
func (p *userPool) addDomain(ctx context.Context, _, have UserPoolState, domain string) error {
	_, err := p.api.CreateUserPoolDomain(ctx, &cognitoidentityprovider.CreateUserPoolDomainInput{UserPoolId: &have.ID, Domain: &domain})
	if !awsclient.Is(err, awsclient.NameTaken) && !awsclient.Is(err, awsclient.Exists) {
		return err
	}
	out, lookup := p.api.DescribeUserPoolDomain(ctx, &cognitoidentityprovider.DescribeUserPoolDomainInput{Domain: &domain})
	switch {
	case lookup != nil:
		return err
	case aws.ToString(kind.NonNil(out.DomainDescription).UserPoolId) == have.ID:
		return nil
	}
	return &status.Stalled{Reason: status.ReasonNameTaken, Field: "spec.domain", Message: "the domain prefix " + domain +
		" is that of another user pool in this region, of this or another AWS account: declare another prefix", Cause: err}
}

func (p *userPool) removeDomain(ctx context.Context, _, have UserPoolState, domain string) error {
	_, err := p.api.DeleteUserPoolDomain(ctx, &cognitoidentityprovider.DeleteUserPoolDomainInput{UserPoolId: &have.ID, Domain: &domain})
	return err
}
