// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func memberEdits() []kindtest.Case {
	edit := func(what, path, action string, from, to func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: what, Existing: poolOf(from), Object: poolOf(to), Cause: engine.Edited, Diff: []string{path},
			Actions: []string{action}}
	}
	none := func(*spec) {}
	return []kindtest.Case{
		edit("a client", "Clients[web]", createClient, none, client("web", logout("https://example.com/"), scopes("openid"))),
		edit("another callback", "Clients[web].CallbackURLs", updateClient, client("web"),
			client("web", callback("https://example.com/callback", "http://localhost:3000/callback"))),
		edit("the callback of an app", "Clients[web].CallbackURLs", updateClient, client("web"), client("web", callback("myapp://callback"))),
		edit("other scopes", "Clients[web].Scopes", updateClient, client("web"), client("web", scopes("openid", "phone"))),
		edit("a logout URL", "Clients[web].LogoutURLs", updateClient, client("web"), client("web", logout("https://example.com/"))),
		edit("two logout URLs", "Clients[web].LogoutURLs", updateClient, client("web"),
			client("web", logout("https://example.com/", "https://example.com/bye"))),
		edit("no logout URL", "Clients[web].LogoutURLs", updateClient, client("web", logout("https://example.com/")), client("web", logout())),
		edit("no client", "Clients[web]", deleteClient, client("web"), none),
		edit("a group", "Groups[admin]", createGroup, none, group("admin", described("May do all"), precedence(1))),
		edit("another description", "Groups[admin].Description", updateGroup, group("admin", described("May do all")),
			group("admin", described("Admins"))),
		edit("no description", "Groups[admin].Description", updateGroup, group("admin", described("May do all")), group("admin", described(""))),
		edit("a precedence", "Groups[admin].Precedence", updateGroup, group("admin"), group("admin", precedence(0))),
		edit("another precedence", "Groups[admin].Precedence", updateGroup, group("admin", precedence(1)), group("admin", precedence(2))),
		edit("no group", "Groups[admin]", deleteGroup, group("admin"), none),
		edit("a domain", "Domains[orders-dev]", createDomain, none, domain("orders-dev")),
		edit("no domain", "Domains[orders-dev]", deleteDomain, domain("orders-dev"), domain("")),
		{Name: "another domain", Existing: poolOf(domain("orders-dev")), Object: poolOf(domain("sales-dev")), Cause: engine.Edited,
			Diff: []string{"Domains[sales-dev]", "Domains[orders-dev]"}, Actions: []string{deleteDomain, createDomain}},
		{Name: "another client and group", Existing: poolOf(client("web"), group("admin")), Object: poolOf(client("app"), group("viewer")),
			Cause:   engine.Edited,
			Diff:    []string{"Clients[app]", "Clients[web]", "Groups[admin]", "Groups[viewer]"},
			Actions: []string{createClient, createGroup, deleteClient, deleteGroup}},
		{Name: "the same in another order", Existing: poolOf(client("web", scopes("openid", "email")), client("app")),
			Object: poolOf(client("app"), client("web", scopes("email", "openid"))), Cause: engine.InSync},
		{Name: "logout URLs that are no longer declared stay", Existing: poolOf(client("web", logout("https://example.com/"))),
			Object: poolOf(client("web")), Cause: engine.InSync},
		{Name: "the domain of another pool", Object: poolOf(domain("orders-dev")), Stalled: status.ReasonNameTaken, OnRun: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).CreateUserPoolDomain(t.Context(),
					&cognitoidentityprovider.CreateUserPoolDomainInput{UserPoolId: aws.String(makePool(t, r, nil)), Domain: aws.String("orders-dev")})
				kindtest.Must(t, err)
			}},
		{Name: "a client with a secret", Existing: poolOf(), Object: poolOf(client("web")), Stalled: status.ReasonImmutable,
			Before: onPool(func(t *testing.T, c *idp, id *string) error {
				_, err := c.CreateUserPoolClient(t.Context(),
					&cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: id, ClientName: aws.String("web"), GenerateSecret: true})
				return err
			})},
	}
}

func memberDrifts() []kindtest.Case {
	drift := func(path, action string, edit func(s *spec), change func(t *testing.T, c *idp, id *string) error) kindtest.Case {
		return kindtest.Case{Name: path + " is restored", Existing: poolOf(edit), Object: poolOf(edit), Drift: true, Before: onPool(change),
			Cause: engine.Drifted, Diff: []string{path}, Actions: []string{action}}
	}
	noClient := func(t *testing.T, c *idp, id *string) error {
		_, err := c.DeleteUserPoolClient(t.Context(),
			&cognitoidentityprovider.DeleteUserPoolClientInput{UserPoolId: id, ClientId: clientsOf(t, c, id)[0].ClientId})
		return err
	}
	noGroup := func(t *testing.T, c *idp, id *string) error {
		_, err := c.DeleteGroup(t.Context(), &cognitoidentityprovider.DeleteGroupInput{UserPoolId: id, GroupName: aws.String("admin")})
		return err
	}
	noDomain := func(t *testing.T, c *idp, id *string) error {
		_, err := c.DeleteUserPoolDomain(t.Context(),
			&cognitoidentityprovider.DeleteUserPoolDomainInput{UserPoolId: id, Domain: aws.String("orders-dev")})
		return err
	}
	foreign := func(t *testing.T, c *idp, id *string) error {
		_, err := c.CreateUserPoolClient(t.Context(),
			&cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: id, ClientName: aws.String("theirs")})
		kindtest.Must(t, err)
		_, err = c.CreateGroup(t.Context(), &cognitoidentityprovider.CreateGroupInput{UserPoolId: id, GroupName: aws.String("theirs")})
		return err
	}
	return []kindtest.Case{
		drift("Clients[web]", createClient, client("web"), noClient),
		drift("Clients[web].OAuth", updateClient, client("web"), func(t *testing.T, c *idp, id *string) error {
			in := have(clientsOf(t, c, id)[0])
			in.AllowedOAuthFlowsUserPoolClient = false
			_, err := c.UpdateUserPoolClient(t.Context(), in)
			return err
		}),
		drift("Clients[web].Flows", updateClient, client("web"), func(t *testing.T, c *idp, id *string) error {
			in := have(clientsOf(t, c, id)[0])
			in.AllowedOAuthFlows = []types.OAuthFlowType{types.OAuthFlowTypeImplicit}
			_, err := c.UpdateUserPoolClient(t.Context(), in)
			return err
		}),
		drift("Groups[admin]", createGroup, group("admin"), noGroup),
		drift("Domains[orders-dev]", createDomain, domain("orders-dev"), noDomain),
		{Name: "clients and groups of others stay", Existing: poolOf(client("web"), group("admin")),
			Object: poolOf(client("web"), group("admin")), Drift: true, Before: onPool(foreign), Cause: engine.InSync},
	}
}

// A pool that shows a structure without its required members can still be changed.
func TestRequests_LeaveOutEmptyStructuresThatWereFound(t *testing.T) {
	noSender := &types.SmsConfigurationType{}
	want := UserPoolState{MFA: aws.String("ON"), Clients: map[string]*Client{"web": {}}}
	have := UserPoolState{
		Found: types.UserPoolType{SmsConfiguration: noSender,
			LambdaConfig: &types.LambdaConfigType{CustomSMSSender: &types.CustomSMSLambdaVersionConfigType{}}},
		FoundMFA: &cognitoidentityprovider.GetUserPoolMfaConfigOutput{SmsMfaConfiguration: &types.SmsMfaConfigType{SmsConfiguration: noSender}},
		FoundClients: map[string]types.UserPoolClientType{"web": {AnalyticsConfiguration: &types.AnalyticsConfigurationType{},
			RefreshTokenRotation: &types.RefreshTokenRotationType{}}},
	}
	if in := update(want, have, nil); in.SmsConfiguration != nil || in.LambdaConfig != nil {
		t.Errorf("UpdateUserPool: %+v, %+v", in.SmsConfiguration, in.LambdaConfig)
	}
	if in := mfaConfig(want, have); in.SmsMfaConfiguration != nil || in.SoftwareTokenMfaConfiguration == nil {
		t.Errorf("SetUserPoolMfaConfig: %+v, %+v", in.SmsMfaConfiguration, in.SoftwareTokenMfaConfiguration)
	}
	if in := changed(want, have, "web"); in.RefreshTokenRotation != nil {
		t.Errorf("UpdateUserPoolClient: %+v", in.RefreshTokenRotation)
	}
}
