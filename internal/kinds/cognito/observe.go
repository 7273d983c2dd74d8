// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"cmp"
	"context"
	"fmt"
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

// page is the largest page of Cognito's lists.
const page = 60

// describe finds the pool by its ID, and otherwise by its name and its tags.
func (p *userPool) describe(ctx context.Context, want UserPoolState, _ kind.Look) (kind.Seen[UserPoolState], error) {
	finder := kind.Finder[types.UserPoolType]{
		ByID: p.byID,
		ByTags: func(ctx context.Context, tags map[string][]string) ([]types.UserPoolType, error) {
			return p.byTags(ctx, want.Name, tags)
		},
		ID:   func(found types.UserPoolType) string { return aws.ToString(found.Id) },
		Tags: func(found types.UserPoolType) map[string]string { return found.UserPoolTags },
	}
	found, duplicates, err := finder.Find(ctx, want.Search)
	if err != nil || found == nil {
		return kind.Seen[UserPoolState]{}, err
	}
	have := UserPoolState{
		Name: want.Name, ID: aws.ToString(found.Id), ARN: aws.ToString(found.Arn), Found: *found, Tags: found.UserPoolTags,
		UsernameAttributes: kind.Ptr(kind.Convert[[]string](found.UsernameAttributes)), AutoVerified: kind.Ptr(kind.Convert[[]string](found.AutoVerifiedAttributes)),
		AdminCreates: aws.Bool(kind.NonNil(found.AdminCreateUserConfig).AllowAdminCreateUserOnly), DeletionProtection: aws.Bool(found.DeletionProtection == types.DeletionProtectionTypeActive),
		Password: kind.Convert[*v1alpha1.CognitoPasswordPolicy](kind.NonNil(found.Policies).PasswordPolicy), Domains: map[string]*bool{},
	}
	if domain := aws.ToString(found.Domain); domain != "" {
		have.Domains[domain] = aws.Bool(true)
	}
	return kind.Seen[UserPoolState]{Exists: true, State: have, Tags: found.UserPoolTags, Created: aws.ToTime(found.CreationDate), Duplicates: duplicates, Holds: holds(want, have)}, nil
}

// holds are the reasons not to delete the pool. Cognito estimates the number of users.
func holds(want, have UserPoolState) []kind.Hold {
	var out []kind.Hold
	if users := have.Found.EstimatedNumberOfUsers; want.Guarded && users > 0 {
		out = append(out, kind.Hold{Reason: status.ReasonDataWouldBeLost, Message: fmt.Sprintf("the user pool to be empty: it holds about %d users", users)})
	}
	if *have.DeletionProtection && !liftsProtection(want) {
		out = append(out, kind.Hold{Reason: status.ReasonDeletionProtected, Message: "the deletion protection of the user pool to be removed: " +
			"set deletionProtection: false to delete the pool, or deletionPolicy: Retain to keep it"})
	}
	return out
}

func (p *userPool) byID(ctx context.Context, id string) (*types.UserPoolType, error) {
	out, err := awsclient.Lookup(ctx, p.api.DescribeUserPool, &cognitoidentityprovider.DescribeUserPoolInput{UserPoolId: &id})
	if out == nil {
		return nil, err
	}
	return out.UserPool, nil
}

// byTags describes the pools of the name, because Cognito lists pools without their tags.
func (p *userPool) byTags(ctx context.Context, name string, tags map[string][]string) ([]types.UserPoolType, error) {
	in := &cognitoidentityprovider.ListUserPoolsInput{MaxResults: aws.Int32(page)}
	all, err := kind.Pages(ctx, p.api.ListUserPools, in, &in.NextToken, func(out *cognitoidentityprovider.ListUserPoolsOutput) ([]types.UserPoolDescriptionType, *string) {
		return out.UserPools, out.NextToken
	})
	if err != nil {
		return nil, err
	}
	var out []types.UserPoolType
	for _, listed := range all {
		if aws.ToString(listed.Name) != name {
			continue
		}
		found, err := p.byID(ctx, aws.ToString(listed.Id))
		if err != nil {
			return nil, err
		}
		if found != nil && carries(found.UserPoolTags, tags) {
			out = append(out, *found)
		}
	}
	return out, nil
}

// carries reports whether each of the tags has one of its values.
func carries(have map[string]string, tags map[string][]string) bool {
	for key, values := range tags {
		if !slices.Contains(values, have[key]) {
			return false
		}
	}
	return true
}

// readMFA reports MFA without authenticator apps as a separate mode, which no spec declares.
func (p *userPool) readMFA(ctx context.Context, _ UserPoolState, have *UserPoolState) error {
	out, err := p.api.GetUserPoolMfaConfig(ctx, &cognitoidentityprovider.GetUserPoolMfaConfigInput{UserPoolId: &have.ID})
	if err != nil {
		return err
	}
	mode := cmp.Or(out.MfaConfiguration, types.UserPoolMfaTypeOff)
	have.FoundMFA, have.MFA = out, kind.Ptr(string(mode))
	if mode != types.UserPoolMfaTypeOff && !kind.NonNil(out.SoftwareTokenMfaConfiguration).Enabled {
		have.MFA = kind.Ptr(string(mode) + withoutApps)
	}
	return nil
}

const withoutApps = " without authenticator apps"

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

// readClientsByName adds the clients of which no ID led to one.
func (p *userPool) readClientsByName(ctx context.Context, want UserPoolState, have *UserPoolState) error {
	all, err := p.listClients(ctx, &have.ID)
	known := maps.Clone(have.Clients)
	for _, listed := range all {
		name := aws.ToString(listed.ClientName)
		if _, ours := want.Clients[name]; (ours || want.Everything) && known[name] == nil && err == nil {
			err = p.readClient(ctx, have, aws.ToString(listed.ClientId))
		}
	}
	return err
}

func (p *userPool) listClients(ctx context.Context, pool *string) ([]types.UserPoolClientDescription, error) {
	in := &cognitoidentityprovider.ListUserPoolClientsInput{UserPoolId: pool, MaxResults: aws.Int32(page)}
	return kind.Pages(ctx, p.api.ListUserPoolClients, in, &in.NextToken, func(out *cognitoidentityprovider.ListUserPoolClientsOutput) ([]types.UserPoolClientDescription, *string) {
		return out.UserPoolClients, out.NextToken
	})
}

// readClient adds a client to what was found, unless an older one of the name is there. An empty ID leads to none.
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
	in := &cognitoidentityprovider.ListGroupsInput{UserPoolId: &have.ID, Limit: aws.Int32(page)}
	all, err := kind.Pages(ctx, p.api.ListGroups, in, &in.NextToken, func(out *cognitoidentityprovider.ListGroupsOutput) ([]types.GroupType, *string) {
		return out.Groups, out.NextToken
	})
	have.Groups = map[string]*Group{}
	for _, g := range all {
		name := aws.ToString(g.GroupName)
		if _, ours := want.Groups[name]; ours || want.Everything {
			have.Groups[name] = &Group{Description: kind.NonNil(g.Description), Precedence: g.Precedence}
		}
	}
	return err
}
