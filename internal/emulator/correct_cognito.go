// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"
)

// invalidParameter is the error by which Cognito refuses most requests.
func invalidParameter(x *exchange, message string) *answer {
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", message})
}

// describedPool returns what moto describes of the pool of a request; nil without one.
func (p *Proxy) describedPool(ctx context.Context, x *exchange) map[string]any {
	_, got, err := p.askJSON(ctx, x, "DescribeUserPool", map[string]any{"UserPoolId": x.json["UserPoolId"]})
	if err != nil {
		return nil
	}
	pool, _ := got["UserPool"].(map[string]any)
	return pool
}

// refuseTakenDomain: moto gives a domain to every pool that asks for it, and any number of domains to one pool.
func refuseTakenDomain(ctx context.Context, p *Proxy, x *exchange) *answer {
	_, got, err := p.askJSON(ctx, x, "DescribeUserPoolDomain", map[string]any{"Domain": x.json["Domain"]})
	if err != nil {
		return nil
	}
	switch {
	case text(member(got, "DomainDescription.UserPoolId")) != "":
		return invalidParameter(x, "Domain already associated with another user pool.")
	case text(p.describedPool(ctx, x)["Domain"]) != "":
		return invalidParameter(x, "User pool already has a domain configured.")
	default:
		return nil
	}
}

// refuseUserPoolDeletion: moto deletes pools with a domain, and those that are protected.
func refuseUserPoolDeletion(ctx context.Context, p *Proxy, x *exchange) *answer {
	switch pool := p.describedPool(ctx, x); {
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
func checkPoolUpdate(ctx context.Context, p *Proxy, x *exchange) *answer {
	if member(x.json, "AdminCreateUserConfig.UnusedAccountValidityDays") != nil && member(x.json, "Policies.PasswordPolicy.TemporaryPasswordValidityDays") != nil {
		return invalidParameter(x, "Please use TemporaryPasswordValidityDays in PasswordPolicy instead of UnusedAccountValidityDays")
	}
	pool := p.describedPool(ctx, x)
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
func finishPoolUpdate(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	if err := p.setMFA(ctx, x, text(x.json["MfaConfiguration"])); err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return a
}

// setMFA sets whether the pool of a request has MFA; "" is OFF.
func (p *Proxy) setMFA(ctx context.Context, x *exchange, mode string) error {
	_, mfa, err := p.askJSON(ctx, x, "GetUserPoolMfaConfig", map[string]any{"UserPoolId": x.json["UserPoolId"]})
	if err == nil {
		mfa["UserPoolId"], mfa["MfaConfiguration"] = x.json["UserPoolId"], cmp.Or(mode, "OFF")
		_, _, err = p.askJSON(ctx, x, "SetUserPoolMfaConfig", mfa)
	}
	return err
}

// refuseMFA: moto turns MFA off and configures one of its factors in one request.
func refuseMFA(_ context.Context, _ *Proxy, x *exchange) *answer {
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
func showMFA(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	body, ok := decodeJSON(a.body).(map[string]any)
	pool, _ := member(body, "UserPool").(map[string]any)
	if !a.ok() || !ok || pool == nil {
		return a
	}
	_, mfa, err := p.askJSON(ctx, x, "GetUserPoolMfaConfig", map[string]any{"UserPoolId": x.json["UserPoolId"]})
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
func dateClient(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	body, ok := decodeJSON(a.body).(map[string]any)
	if !a.ok() || !ok {
		return a
	}
	now := float64(time.Now().UnixMilli()) / 1000
	return p.changeClient(ctx, x, map[string]any{"UserPoolId": x.json["UserPoolId"], "ClientId": member(body, "UserPoolClient.ClientId"),
		"CreationDate": now, "LastModifiedDate": now})
}

// resetClient: moto changes only the settings that an update names.
func resetClient(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	request := maps.Clone(clientDefaults)
	maps.Copy(request, x.json)
	return p.changeClient(ctx, x, request)
}

func (p *Proxy) changeClient(ctx context.Context, x *exchange, request map[string]any) *answer {
	changed, _, err := p.askJSON(ctx, x, "UpdateUserPoolClient", request)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return changed
}
