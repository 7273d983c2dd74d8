// SPDX-License-Identifier: Apache-2.0

// Package cognito holds the emulator's facts and corrections for Amazon Cognito user pools.
package cognito

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
)

// Service keeps nothing: moto has all that is needed.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "cognito-idp",
		Requests: proxy.RequestFacts{Targets: []string{"AWSCognitoIdentityProviderService"}, Keys: []string{"UserPoolId", "PoolName", "Domain"},
			Reads: []string{"AdminGet", "AdminList"}},
		Errors: proxy.ErrorFacts{Throttled: proxy.TooManyRequests},
		Writes: proxy.WriteFacts{
			CreatedID: proxy.IDAt(map[string]string{"CreateUserPool": "UserPool.Id"}),
			TagReads:  []proxy.TagRead{{Op: "DescribeUserPool", Where: "UserPool.UserPoolTags"}, {Op: "ListTagsForResource", Where: "Tags"}},
			TagWrites: []string{"UpdateUserPool"},
		},
		Names: map[string]proxy.NameRule{
			"CreateUserPool": {Member: "PoolName", Min: 1, Max: 128, Pattern: regexp.MustCompile(`^[\w\s+=,.@-]+$`),
				Code: "InvalidParameterException"},
			"CreateUserPoolClient": {Member: "ClientName", Min: 1, Max: 128, Pattern: regexp.MustCompile(`^[\w\s+=,.@-]+$`),
				Code: "InvalidParameterException"},
		},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{"cognito-idp userpool/*": {Members: []string{"UserPoolId"}}},
			Dependents: []proxy.Dependent{
				// Seen as "not authorized to perform: cognito-idp:TagResource on resource: *".
				proxy.Tagging("cognito-idp:CreateUserPool", "cognito-idp:TagResource"),
				iam.Hands("cognito-idp:CreateUserPool", "SmsConfiguration.SnsCallerArn", "cognito-idp"), iam.Hands("cognito-idp:UpdateUserPool",
					"SmsConfiguration.SnsCallerArn", "cognito-idp"),
				iam.Hands("cognito-idp:SetUserPoolMfaConfig", "SmsMfaConfiguration.SmsConfiguration.SnsCallerArn", "cognito-idp"),
			},
			TagsOf: func(q *proxy.Asker, _, id string) map[string]string { // with the pool: the emulator does not list them
				return proxy.TagsIn(q.Found("AWSCognitoIdentityProviderService.DescribeUserPool", map[string]any{"UserPoolId": id},
					"UserPool.UserPoolTags"))
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "cognito-idp/pool", Global: false,
			List: proxy.ListJSON("cognito-idp", "AWSCognitoIdentityProviderService.ListUserPools", "UserPools", "Name", "MaxResults", 60)}},
		Rewrites: []proxy.Rewrite{
			{Kind: "CognitoUserPool", Field: "clients.callbackURLs", What: proxy.AnyOrder, IsRecorded: true,
				Ops: []string{"DescribeUserPoolClient"}, Members: proxy.Reverses("UserPoolClient.CallbackURLs")},
			{Kind: "CognitoUserPool", Field: "clients.logoutURLs", What: proxy.AnyOrder, IsRecorded: true,
				Ops: []string{"DescribeUserPoolClient"}, Members: proxy.Reverses("UserPoolClient.LogoutURLs")},
			{Kind: "CognitoUserPool", Field: "clients.scopes", What: proxy.AnyOrder, IsRecorded: true,
				Ops: []string{"DescribeUserPoolClient"}, Members: proxy.Reverses("UserPoolClient.AllowedOAuthScopes")},
		},
		Unset: map[string]string{"GetLogDeliveryConfiguration": `{}`},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "domains of user pools are unique", Ops: []string{"CreateUserPoolDomain"}, Before: s.refuseTakenDomain},
		{Name: "user pools in use are kept", Ops: []string{"DeleteUserPool"}, Before: s.refuseUserPoolDeletion},
		{Name: "settings of user pools that updates keep and reset",
			Ops: []string{"UpdateUserPool"}, Before: s.checkPoolUpdate, After: s.finishPoolUpdate},
		{Name: "changes of MFA that Cognito refuses", Ops: []string{"SetUserPoolMfaConfig"}, Before: s.refuseMFA},
		{Name: "MFA of user pools", Ops: []string{"DescribeUserPool"}, After: s.showMFA},
		{Name: "dates of app clients", Ops: []string{"CreateUserPoolClient"}, After: s.dateClient},
		{Name: "settings of app clients that updates reset", Ops: []string{"UpdateUserPoolClient"}, After: s.resetClient},
	}
}

// invalidParameter is the error of Cognito for most requests that it refuses.
func invalidParameter(x *proxy.Exchange, message string) *proxy.Answer {
	return x.Refuse(http.StatusBadRequest, "InvalidParameterException", message)
}

// describedPool returns moto's description of the pool of a request; nil without one.
func (s *Service) describedPool(ctx context.Context, x *proxy.Exchange) map[string]any {
	_, got, err := s.AskJSON(ctx, x, "DescribeUserPool", map[string]any{"UserPoolId": x.JSON["UserPoolId"]})
	if err != nil {
		return nil
	}
	pool, _ := got["UserPool"].(map[string]any)
	return pool
}

// refuseTakenDomain: moto gives a domain to every pool that asks for it, and any number of domains to one pool.
func (s *Service) refuseTakenDomain(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	_, got, err := s.AskJSON(ctx, x, "DescribeUserPoolDomain", map[string]any{"Domain": x.JSON["Domain"]})
	if err != nil {
		return nil
	}
	switch {
	case proxy.Text(proxy.Member(got, "DomainDescription.UserPoolId")) != "":
		return invalidParameter(x, "Domain already associated with another user pool.")
	case proxy.Text(s.describedPool(ctx, x)["Domain"]) != "":
		return invalidParameter(x, "User pool already has a domain configured.")
	default:
		return nil
	}
}

// refuseUserPoolDeletion: moto deletes pools with a domain, and those that are protected.
func (s *Service) refuseUserPoolDeletion(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	switch pool := s.describedPool(ctx, x); {
	case proxy.Text(pool["Domain"]) != "":
		return invalidParameter(x, "User pool cannot be deleted. It has a domain configured that should be deleted first.")
	case proxy.Text(pool["DeletionProtection"]) == "ACTIVE":
		return invalidParameter(x, "The user pool cannot be deleted because deletion protection is activated.")
	default:
		return nil
	}
}

// fixedOfPools are the settings of a pool that UpdateUserPool does not have.
var fixedOfPools = []string{"UsernameAttributes", "AliasAttributes", "UsernameConfiguration"}

// checkPoolUpdate refuses the updates that Cognito refuses, and adds to the request the settings that moto would forget: those that never
// change, and the new name. They are never lost in between, so that two updates at once keep them.
func (s *Service) checkPoolUpdate(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if proxy.Member(x.JSON, "AdminCreateUserConfig.UnusedAccountValidityDays") != nil &&
		proxy.Member(x.JSON, "Policies.PasswordPolicy.TemporaryPasswordValidityDays") != nil {
		return invalidParameter(x, "Please use TemporaryPasswordValidityDays in PasswordPolicy instead of UnusedAccountValidityDays")
	}
	pool := s.describedPool(ctx, x)
	if pool == nil {
		return nil
	}
	request := maps.Clone(x.JSON)
	for _, name := range fixedOfPools {
		if value, ok := pool[name]; ok {
			request[name] = value
		}
	}
	if name, ok := request["PoolName"]; ok {
		request["Name"] = name
	}
	body, err := json.Marshal(request)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	x.Body = body
	return nil
}

// finishPoolUpdate: AWS resets MFA where the request leaves it out.
func (s *Service) finishPoolUpdate(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	if err := s.setMFA(ctx, x, proxy.Text(x.JSON["MfaConfiguration"])); err != nil {
		return proxy.ProxyError(x, err)
	}
	return a
}

// setMFA sets whether the pool of a request has MFA; "" is OFF.
func (s *Service) setMFA(ctx context.Context, x *proxy.Exchange, mode string) error {
	_, mfa, err := s.AskJSON(ctx, x, "GetUserPoolMfaConfig", map[string]any{"UserPoolId": x.JSON["UserPoolId"]})
	if err == nil {
		mfa["UserPoolId"], mfa["MfaConfiguration"] = x.JSON["UserPoolId"], cmp.Or(mode, "OFF")
		_, _, err = s.AskJSON(ctx, x, "SetUserPoolMfaConfig", mfa)
	}
	return err
}

// refuseMFA: moto turns MFA off and configures one of its factors in one request.
func (s *Service) refuseMFA(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	if proxy.Text(x.JSON["MfaConfiguration"]) != "OFF" {
		return nil
	}
	for _, factor := range []string{"SoftwareTokenMfaConfiguration", "SmsMfaConfiguration", "EmailMfaConfiguration"} {
		if x.JSON[factor] != nil {
			return invalidParameter(x, "Invalid MFA configuration given, can't turn off MFA and configure an MFA together.")
		}
	}
	return nil
}

// showMFA: moto describes the MFA of the last UpdateUserPool, and not that of SetUserPoolMfaConfig.
func (s *Service) showMFA(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	body, ok := proxy.DecodeJSON(a.Body).(map[string]any)
	pool, _ := proxy.Member(body, "UserPool").(map[string]any)
	if !a.OK() || !ok || pool == nil {
		return a
	}
	_, mfa, err := s.AskJSON(ctx, x, "GetUserPoolMfaConfig", map[string]any{"UserPoolId": x.JSON["UserPoolId"]})
	if err != nil {
		return a
	}
	pool["MfaConfiguration"] = mfa["MfaConfiguration"]
	return a.WithJSON(body)
}

// clientDefaults are the settings of an app client that UpdateUserPoolClient resets where a request leaves them out.
var clientDefaults = map[string]any{
	"AllowedOAuthFlowsUserPoolClient": false, "AllowedOAuthFlows": nil, "AllowedOAuthScopes": nil, "CallbackURLs": nil, "LogoutURLs": nil,
	"DefaultRedirectURI":         nil,
	"SupportedIdentityProviders": nil, "ExplicitAuthFlows": nil, "PreventUserExistenceErrors": "LEGACY", "AccessTokenValidity": nil,
	"IdTokenValidity":      nil,
	"RefreshTokenValidity": 30, "TokenValidityUnits": nil, "ReadAttributes": nil, "WriteAttributes": nil, "EnableTokenRevocation": true,
}

// dateClient: moto's app clients have no dates.
func (s *Service) dateClient(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	body, ok := proxy.DecodeJSON(a.Body).(map[string]any)
	if !a.OK() || !ok {
		return a
	}
	now := float64(time.Now().UnixMilli()) / 1000
	return s.changeClient(ctx, x, map[string]any{"UserPoolId": x.JSON["UserPoolId"], "ClientId": proxy.Member(body, "UserPoolClient.ClientId"),
		"CreationDate": now, "LastModifiedDate": now})
}

// resetClient: moto changes only the settings that an update names.
func (s *Service) resetClient(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	request := maps.Clone(clientDefaults)
	maps.Copy(request, x.JSON)
	return s.changeClient(ctx, x, request)
}

func (s *Service) changeClient(ctx context.Context, x *proxy.Exchange, request map[string]any) *proxy.Answer {
	changed, _, err := s.AskJSON(ctx, x, "UpdateUserPoolClient", request)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return changed
}
