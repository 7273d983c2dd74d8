// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"cmp"
	"context"
	"maps"
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

// defaultScopes lists the scopes of a client that declares none.
var defaultScopes = []v1alpha1.CognitoScope{"openid", "email", "profile"}

// members are the clients, the groups and the domain. A pool has at most one domain with a prefix, so that the old one is
// deleted before the new one is created. The domain comes last: its name may be taken.
func (p *userPool) members() []kind.Part[UserPoolState] {
	return []kind.Part[UserPoolState]{
		{Fields: []string{"Clients"}, Reads: "cognito-idp:DescribeUserPoolClient", Read: p.readClients, Keys: &kind.Keys[UserPoolState]{OneByOne: true,
			Set:    kind.KeysCall[UserPoolState]{Action: "cognito-idp:CreateUserPoolClient", Do: p.addClient},
			Change: kind.KeysCall[UserPoolState]{Action: "cognito-idp:UpdateUserPoolClient", Do: kind.SendKey(p.api.UpdateUserPoolClient, changed)},
			Unset: kind.KeysCall[UserPoolState]{Action: "cognito-idp:DeleteUserPoolClient", Do: kind.SendKey(p.api.DeleteUserPoolClient, func(_, have UserPoolState, name string) *cognitoidentityprovider.DeleteUserPoolClientInput {
				return &cognitoidentityprovider.DeleteUserPoolClientInput{UserPoolId: &have.ID, ClientId: have.FoundClients[name].ClientId}
			})}}},
		{Fields: []string{"Groups"}, Reads: "cognito-idp:ListGroups", Read: p.readGroups, Keys: &kind.Keys[UserPoolState]{OneByOne: true,
			Set: kind.KeysCall[UserPoolState]{Action: "cognito-idp:CreateGroup", Do: kind.SendKey(p.api.CreateGroup, func(want, have UserPoolState, name string) *cognitoidentityprovider.CreateGroupInput {
				return &cognitoidentityprovider.CreateGroupInput{UserPoolId: &have.ID, GroupName: &name, Description: kind.NonEmpty(want.Groups[name].Description), Precedence: want.Groups[name].Precedence}
			})},
			// A change leaves the role of the group, which the spec does not declare, as it is.
			Change: kind.KeysCall[UserPoolState]{Action: "cognito-idp:UpdateGroup", Do: kind.SendKey(p.api.UpdateGroup, func(want, have UserPoolState, name string) *cognitoidentityprovider.UpdateGroupInput {
				return &cognitoidentityprovider.UpdateGroupInput{UserPoolId: &have.ID, GroupName: &name, Description: want.Groups[name].Description, Precedence: want.Groups[name].Precedence}
			})},
			Unset: kind.KeysCall[UserPoolState]{Action: "cognito-idp:DeleteGroup", Do: kind.SendKey(p.api.DeleteGroup, func(_, have UserPoolState, name string) *cognitoidentityprovider.DeleteGroupInput {
				return &cognitoidentityprovider.DeleteGroupInput{UserPoolId: &have.ID, GroupName: &name}
			})}}},
		{Fields: []string{"Domains"}, Each: &kind.Each[UserPoolState]{Unset: kind.KeyCall[UserPoolState]{Action: "cognito-idp:DeleteUserPoolDomain", Do: p.removeDomain}}},
		{Fields: []string{"Domains"}, Each: &kind.Each[UserPoolState]{Set: kind.KeyCall[UserPoolState]{Action: "cognito-idp:CreateUserPoolDomain", Do: p.addDomain}}},
	}
}

func wantedClient(in v1alpha1.CognitoUserPoolClient) (string, *Client) {
	return in.Name, &Client{OAuth: true, Flows: []string{string(types.OAuthFlowTypeCode)}, Scopes: kind.Convert[[]string](kind.Either(len(in.Scopes) > 0, in.Scopes, defaultScopes)),
		CallbackURLs: kind.Convert[[]string](in.CallbackURLs), LogoutURLs: kind.Convert[*[]string](in.LogoutURLs)}
}

func wantedGroup(in v1alpha1.CognitoUserPoolGroup) (string, *Group) {
	return in.Name, &Group{Description: in.Description, Precedence: in.Precedence}
}

// addClient creates a public client. Undeclared settings get values that are safe for one: only tokens can be refreshed without the sign-in
// page, and errors do not reveal whether a user exists.
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
	return p.yieldToOlder(ctx, *kind.NonNil(out.UserPoolClient))
}

// yieldToOlder deletes the client that a call just created if the pool has an older one of the same name: names of clients are not unique,
// so that two operators, or one that repeats a call after a lost answer, would leave one more way to sign in. Only the answer of the create
// proves the owner of a client. The create succeeded, also when the others cannot be read.
func (p *userPool) yieldToOlder(ctx context.Context, made types.UserPoolClientType) error {
	name := aws.ToString(made.ClientName)
	seen := UserPoolState{ID: aws.ToString(made.UserPoolId), Clients: map[string]*Client{}, FoundClients: map[string]types.UserPoolClientType{name: made}}
	_ = p.readClientsByName(ctx, UserPoolState{Clients: map[string]*Client{name: nil}}, &seen)
	if aws.ToString(seen.FoundClients[name].ClientId) == aws.ToString(made.ClientId) {
		return nil
	}
	_, err := p.api.DeleteUserPoolClient(ctx, &cognitoidentityprovider.DeleteUserPoolClientInput{UserPoolId: made.UserPoolId, ClientId: made.ClientId})
	return err
}

// older orders two clients, so that of those of one name every operator keeps the same.
func older(a, b *types.UserPoolClientType) bool {
	return cmp.Or(aws.ToTime(a.CreationDate).Compare(aws.ToTime(b.CreationDate)), cmp.Compare(aws.ToString(a.ClientId), aws.ToString(b.ClientId))) < 0
}

// changed returns the found client with the declared settings. UpdateUserPoolClient resets every setting that it leaves out.
// https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_UpdateUserPoolClient.html
func changed(want, have UserPoolState, name string) *cognitoidentityprovider.UpdateUserPoolClientInput {
	c := want.Clients[name]
	in := kind.Convert[cognitoidentityprovider.UpdateUserPoolClientInput](have.FoundClients[name])
	in.AllowedOAuthFlowsUserPoolClient, in.AllowedOAuthFlows, in.AllowedOAuthScopes = true, kind.Convert[[]types.OAuthFlowType](c.Flows), c.Scopes
	kind.Overlay(&in, c) // the lists of URLs
	if !slices.Contains(c.CallbackURLs, aws.ToString(in.DefaultRedirectURI)) {
		in.DefaultRedirectURI = nil // Cognito refuses one that is no callback URL
	}
	kind.DropEmpty(&in)
	return &in
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

// readClients reads the clients that are declared or recorded: by their recorded IDs, and where there is none, or Cognito
// does not know it, by name.
func (p *userPool) readClients(ctx context.Context, want UserPoolState, have *UserPoolState) error {
	have.Clients, have.FoundClients = map[string]*Client{}, map[string]types.UserPoolClientType{}
	unknown := want.Everything
	for _, name := range kind.SortedKeys(want.Clients) {
		if err := p.readClient(ctx, have, want.KnownClients[name]); err != nil {
			return err
		}
		unknown = unknown || have.Clients[name] == nil
	}
	if !unknown {
		return nil
	}
	return p.readClientsByName(ctx, want, have)
}

// readClientsByName adds the clients that were not found by an ID; of several with one name, the oldest.
func (p *userPool) readClientsByName(ctx context.Context, want UserPoolState, have *UserPoolState) error {
	in := &cognitoidentityprovider.ListUserPoolClientsInput{UserPoolId: &have.ID, MaxResults: aws.Int32(page)}
	all, err := kind.Pages(ctx, p.api.ListUserPoolClients, in, &in.NextToken, func(out *cognitoidentityprovider.ListUserPoolClientsOutput) ([]types.UserPoolClientDescription, *string) {
		return out.UserPoolClients, out.NextToken
	})
	known := maps.Clone(have.Clients)
	for _, listed := range all {
		name, id := aws.ToString(listed.ClientName), aws.ToString(listed.ClientId)
		if _, ours := want.Clients[name]; (ours || want.Everything) && known[name] == nil && aws.ToString(have.FoundClients[name].ClientId) != id && err == nil {
			err = p.readClient(ctx, have, id)
		}
	}
	return err
}

// readClient adds a client to the found ones, unless an older one of the name is there. An empty ID leads to none.
func (p *userPool) readClient(ctx context.Context, have *UserPoolState, id string) error {
	if id == "" {
		return nil
	}
	out, err := awsclient.Lookup(ctx, p.api.DescribeUserPoolClient, &cognitoidentityprovider.DescribeUserPoolClientInput{UserPoolId: &have.ID, ClientId: &id})
	if out == nil || out.UserPoolClient == nil {
		return err
	}
	found := *out.UserPoolClient
	client := &Client{HasSecret: found.ClientSecret != nil, OAuth: aws.ToBool(found.AllowedOAuthFlowsUserPoolClient), Flows: kind.Convert[[]string](found.AllowedOAuthFlows),
		Scopes: found.AllowedOAuthScopes, CallbackURLs: found.CallbackURLs, LogoutURLs: kind.Ptr(found.LogoutURLs)}
	found.ClientSecret = nil
	name := aws.ToString(found.ClientName)
	if other, ok := have.FoundClients[name]; ok && !older(&found, &other) {
		return nil
	}
	have.Clients[name], have.FoundClients[name] = client, found
	return nil
}

// readGroups reads the groups that are declared or recorded.
func (p *userPool) readGroups(ctx context.Context, want UserPoolState, have *UserPoolState) error {
	all, err := p.listGroups(ctx, have.ID)
	have.Groups = map[string]*Group{}
	for _, g := range all {
		name := aws.ToString(g.GroupName)
		if _, ours := want.Groups[name]; ours || want.Everything {
			have.Groups[name] = &Group{Description: kind.NonNil(g.Description), Precedence: g.Precedence}
		}
	}
	return err
}

func (p *userPool) listGroups(ctx context.Context, pool string) ([]types.GroupType, error) {
	in := &cognitoidentityprovider.ListGroupsInput{UserPoolId: &pool, Limit: aws.Int32(page)}
	return kind.Pages(ctx, p.api.ListGroups, in, &in.NextToken, func(out *cognitoidentityprovider.ListGroupsOutput) ([]types.GroupType, *string) {
		return out.Groups, out.NextToken
	})
}

// rolesOf returns the role that sends text messages, and those that the members of groups get from an identity pool.
// https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-user-groups.html
func (p *userPool) rolesOf(ctx context.Context, have UserPoolState) ([]string, error) {
	roles := kind.Present(kind.NonNil(have.Found.SmsConfiguration).SnsCallerArn)
	groups, err := p.listGroups(ctx, have.ID)
	for _, g := range groups {
		roles = append(roles, kind.Present(g.RoleArn)...)
	}
	return roles, err
}
