// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"time"
)

// cognitoService keeps nothing: moto has all that is needed.
type cognitoService struct{ base }

func (s *cognitoService) Facts() *Facts {
	return &Facts{
		Prefix:   "cognito-idp",
		Requests: RequestFacts{Targets: []string{"AWSCognitoIdentityProviderService"}, Keys: []string{"UserPoolId", "PoolName", "Domain"}},
		Errors:   ErrorFacts{Throttled: tooManyRequests},
		Writes: WriteFacts{
			CreatedID: idAt(map[string]string{"CreateUserPool": "UserPool.Id"}),
			TagReads:  []tagRead{{op: "DescribeUserPool", where: "UserPool.UserPoolTags"}, {op: "ListTagsForResource", where: "Tags"}},
			TagWrites: []string{"UpdateUserPool"},
		},
		Names: map[string]nameRule{
			"CreateUserPool":       {"PoolName", 1, 128, regexp.MustCompile(`^[\w\s+=,.@-]+$`), "InvalidParameterException"},
			"CreateUserPoolClient": {"ClientName", 1, 128, regexp.MustCompile(`^[\w\s+=,.@-]+$`), "InvalidParameterException"},
		},
		Rights: RightFacts{
			Namings: map[string]naming{"cognito-idp userpool/*": {members: []string{"UserPoolId"}}},
			Dependents: []dependent{
				// Seen as "not authorized to perform: cognito-idp:TagResource on resource: *".
				tagging("cognito-idp:CreateUserPool", "cognito-idp:TagResource"),
				hands("cognito-idp:CreateUserPool", "SmsConfiguration.SnsCallerArn", "cognito-idp"), hands("cognito-idp:UpdateUserPool", "SmsConfiguration.SnsCallerArn", "cognito-idp"),
				hands("cognito-idp:SetUserPoolMfaConfig", "SmsMfaConfiguration.SmsConfiguration.SnsCallerArn", "cognito-idp"),
			},
			TagsOf: func(q *asker, _, id string) map[string]string { // with the pool: the emulator does not list them
				return tagsIn(q.found("AWSCognitoIdentityProviderService.DescribeUserPool", map[string]any{"UserPoolId": id}, "UserPool.UserPoolTags"))
			},
		},
		Inventory: []inventoryKind{{"cognito-idp/pool", false, listJSON("cognito-idp", "AWSCognitoIdentityProviderService.ListUserPools", "UserPools", "Name", "MaxResults", 60)}},
		Rewrites: []Rewrite{
			{Kind: "CognitoUserPool", Field: "clients.callbackURLs", What: anyOrder, isRecorded: true, ops: []string{"DescribeUserPoolClient"}, members: reverses("UserPoolClient.CallbackURLs")},
			{Kind: "CognitoUserPool", Field: "clients.logoutURLs", What: anyOrder, isRecorded: true, ops: []string{"DescribeUserPoolClient"}, members: reverses("UserPoolClient.LogoutURLs")},
			{Kind: "CognitoUserPool", Field: "clients.scopes", What: anyOrder, isRecorded: true, ops: []string{"DescribeUserPoolClient"}, members: reverses("UserPoolClient.AllowedOAuthScopes")},
		},
		Unset: map[string]string{"GetLogDeliveryConfiguration": `{}`},
	}
}

func (s *cognitoService) Corrections() []Correction {
	return []Correction{
		{Name: "domains of user pools are unique", Ops: []string{"CreateUserPoolDomain"}, Before: s.refuseTakenDomain},
		{Name: "user pools in use are kept", Ops: []string{"DeleteUserPool"}, Before: s.refuseUserPoolDeletion},
		{Name: "settings of user pools that updates keep and reset", Ops: []string{"UpdateUserPool"}, Before: s.checkPoolUpdate, After: s.finishPoolUpdate},
		{Name: "changes of MFA that Cognito refuses", Ops: []string{"SetUserPoolMfaConfig"}, Before: s.refuseMFA},
		{Name: "MFA of user pools", Ops: []string{"DescribeUserPool"}, After: s.showMFA},
		{Name: "dates of app clients", Ops: []string{"CreateUserPoolClient"}, After: s.dateClient},
		{Name: "settings of app clients that updates reset", Ops: []string{"UpdateUserPoolClient"}, After: s.resetClient},
	}
}

// invalidParameter is the error by which Cognito refuses most requests.
func invalidParameter(x *exchange, message string) *answer {
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", message})
}

// describedPool returns what moto describes of the pool of a request; nil without one.
func (s *cognitoService) describedPool(ctx context.Context, x *exchange) map[string]any {
	_, got, err := s.askJSON(ctx, x, "DescribeUserPool", map[string]any{"UserPoolId": x.json["UserPoolId"]})
	if err != nil {
		return nil
	}
	pool, _ := got["UserPool"].(map[string]any)
	return pool
}

// refuseTakenDomain: moto gives a domain to every pool that asks for it, and any number of domains to one pool.
func (s *cognitoService) refuseTakenDomain(ctx context.Context, x *exchange) *answer {
	_, got, err := s.askJSON(ctx, x, "DescribeUserPoolDomain", map[string]any{"Domain": x.json["Domain"]})
	if err != nil {
		return nil
	}
	switch {
	case text(member(got, "DomainDescription.UserPoolId")) != "":
		return invalidParameter(x, "Domain already associated with another user pool.")
	case text(s.describedPool(ctx, x)["Domain"]) != "":
		return invalidParameter(x, "User pool already has a domain configured.")
	default:
		return nil
	}
}

// refuseUserPoolDeletion: moto deletes pools with a domain, and those that are protected.
func (s *cognitoService) refuseUserPoolDeletion(ctx context.Context, x *exchange) *answer {
	switch pool := s.describedPool(ctx, x); {
	case text(pool["Domain"]) != "":
		return invalidParameter(x, "User pool cannot be deleted. It has a domain configured that should be deleted first.")
	case text(pool["DeletionProtection"]) == "ACTIVE":
		return invalidParameter(x, "The user pool cannot be deleted because deletion protection is activated.")
	default:
		return nil
	}
}

// fixedOfPools are the settings of a pool that UpdateUserPool does not have.
var fixedOfPools = []string{"UsernameAttributes", "AliasAttributes", "UsernameConfiguration"}

// checkPoolUpdate refuses what Cognito refuses, and sends what moto would forget with the request: the settings that never
// change, and the new name. They are never lost in between, so that two updates at once keep them.
func (s *cognitoService) checkPoolUpdate(ctx context.Context, x *exchange) *answer {
	if member(x.json, "AdminCreateUserConfig.UnusedAccountValidityDays") != nil && member(x.json, "Policies.PasswordPolicy.TemporaryPasswordValidityDays") != nil {
		return invalidParameter(x, "Please use TemporaryPasswordValidityDays in PasswordPolicy instead of UnusedAccountValidityDays")
	}
	pool := s.describedPool(ctx, x)
	if pool == nil {
		return nil
	}
	request := maps.Clone(x.json)
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
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	x.body = body
	return nil
}

// finishPoolUpdate: AWS resets MFA where the request leaves it out.
func (s *cognitoService) finishPoolUpdate(ctx context.Context, x *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	if err := s.setMFA(ctx, x, text(x.json["MfaConfiguration"])); err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return a
}

// setMFA sets whether the pool of a request has MFA; "" is OFF.
func (s *cognitoService) setMFA(ctx context.Context, x *exchange, mode string) error {
	_, mfa, err := s.askJSON(ctx, x, "GetUserPoolMfaConfig", map[string]any{"UserPoolId": x.json["UserPoolId"]})
	if err == nil {
		mfa["UserPoolId"], mfa["MfaConfiguration"] = x.json["UserPoolId"], cmp.Or(mode, "OFF")
		_, _, err = s.askJSON(ctx, x, "SetUserPoolMfaConfig", mfa)
	}
	return err
}

// refuseMFA: moto turns MFA off and configures one of its factors in one request.
func (s *cognitoService) refuseMFA(_ context.Context, x *exchange) *answer {
	if text(x.json["MfaConfiguration"]) != "OFF" {
		return nil
	}
	for _, factor := range []string{"SoftwareTokenMfaConfiguration", "SmsMfaConfiguration", "EmailMfaConfiguration"} {
		if x.json[factor] != nil {
			return invalidParameter(x, "Invalid MFA configuration given, can't turn off MFA and configure an MFA together.")
		}
	}
	return nil
}

// showMFA: moto describes the MFA of the last UpdateUserPool, and not that of SetUserPoolMfaConfig.
func (s *cognitoService) showMFA(ctx context.Context, x *exchange, a *answer) *answer {
	body, ok := decodeJSON(a.body).(map[string]any)
	pool, _ := member(body, "UserPool").(map[string]any)
	if !a.ok() || !ok || pool == nil {
		return a
	}
	_, mfa, err := s.askJSON(ctx, x, "GetUserPoolMfaConfig", map[string]any{"UserPoolId": x.json["UserPoolId"]})
	if err != nil {
		return a
	}
	pool["MfaConfiguration"] = mfa["MfaConfiguration"]
	return a.withJSON(body)
}

// clientDefaults are the settings of an app client that UpdateUserPoolClient resets where a request leaves them out.
var clientDefaults = map[string]any{
	"AllowedOAuthFlowsUserPoolClient": false, "AllowedOAuthFlows": nil, "AllowedOAuthScopes": nil, "CallbackURLs": nil, "LogoutURLs": nil, "DefaultRedirectURI": nil,
	"SupportedIdentityProviders": nil, "ExplicitAuthFlows": nil, "PreventUserExistenceErrors": "LEGACY", "AccessTokenValidity": nil, "IdTokenValidity": nil,
	"RefreshTokenValidity": 30, "TokenValidityUnits": nil, "ReadAttributes": nil, "WriteAttributes": nil, "EnableTokenRevocation": true,
}

// dateClient: moto's app clients have no dates.
func (s *cognitoService) dateClient(ctx context.Context, x *exchange, a *answer) *answer {
	body, ok := decodeJSON(a.body).(map[string]any)
	if !a.ok() || !ok {
		return a
	}
	now := float64(time.Now().UnixMilli()) / 1000
	return s.changeClient(ctx, x, map[string]any{"UserPoolId": x.json["UserPoolId"], "ClientId": member(body, "UserPoolClient.ClientId"),
		"CreationDate": now, "LastModifiedDate": now})
}

// resetClient: moto changes only the settings that an update names.
func (s *cognitoService) resetClient(ctx context.Context, x *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	request := maps.Clone(clientDefaults)
	maps.Copy(request, x.json)
	return s.changeClient(ctx, x, request)
}

func (s *cognitoService) changeClient(ctx context.Context, x *exchange, request map[string]any) *answer {
	changed, _, err := s.askJSON(ctx, x, "UpdateUserPoolClient", request)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return changed
}
