// SPDX-License-Identifier: Apache-2.0

// Package sts holds the emulator's facts and corrections for AWS STS.
package sts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// Service keeps nothing: it reports accounts of callers, and the core stores these.
type Service struct{ proxy.Base }

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "sts",
		Requests: proxy.RequestFacts{
			Keys: []string{"RoleArn"}, ShortName: iam.ShortName, Reads: []string{"AssumeRole", "Decode"},
			IsUnsigned: func(op string) bool { return strings.HasPrefix(op, "AssumeRole") }, // with a web identity or SAML
		},
		Errors: proxy.ErrorFacts{Throttled: proxy.RateExceeded},
		Rights: proxy.RightFacts{
			GivesKeys: true,
			Open:      []string{"AssumeRoleWithWebIdentity"}, // no one calls it yet
			// GetCallerIdentity takes no right, and AssumeRole is about the role in another service.
			Demands: func(q *proxy.Asker) []policy.Demand {
				if q.X.Op == "GetCallerIdentity" {
					return nil
				}
				return []policy.Demand{q.Need(q.Action, q.X.Form.Get("RoleArn"), nil)}
			},
		},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "accounts of assumed roles are remembered", After: s.recordAccount},
		{Name: "role to be assumed", Ops: []string{"AssumeRole"}, Before: s.checkAssumedRole},
		{Name: "role to be assumed with a token", Ops: []string{"AssumeRoleWithWebIdentity"}, Before: s.assumeWithToken},
	}
}

// assumeWithToken: moto lets any token assume any role. As AWS does, this looks whether
// the role trusts the issuer, audience and subject of the token; the signature of
// the token is not checked.
func (s *Service) assumeWithToken(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	claims, ok := claimsOf(x.Form.Get("WebIdentityToken"))
	if !ok {
		return x.Refuse(http.StatusBadRequest, "InvalidIdentityToken", "The ID Token provided is not a valid JWT")
	}
	document, ok := s.trustPolicy(ctx, x, x.Form.Get("RoleArn"))
	if !ok || !trustsToken(document, claims) {
		return x.Refuse(http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity")
	}
	a, err := s.Pass(ctx, x)
	if err != nil {
		return nil
	}
	return s.recordAccount(ctx, x, a)
}

// claims holds the claims of a ServiceAccount's token.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience any    `json:"aud"`
}

func claimsOf(token string) (claims, bool) {
	var c claims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	return c, err == nil && json.Unmarshal(text, &c) == nil && c.Subject != ""
}

// trustsToken reports whether some statement of a trust policy lets the bearer of
// a token with these claims assume the role.
func trustsToken(document string, c claims) bool {
	var trust struct {
		Statement []struct {
			Effect    string
			Action    any
			Principal map[string]any
			Condition map[string]map[string]any
		}
	}
	if json.Unmarshal([]byte(document), &trust) != nil {
		return false
	}
	issuer := strings.TrimPrefix(c.Issuer, "https://")
	values := map[string][]string{issuer + ":sub": {c.Subject}, issuer + ":aud": policy.List(c.Audience)}
	for _, s := range trust.Statement {
		federated := slices.ContainsFunc(policy.List(s.Principal["Federated"]),
			func(arn string) bool { return strings.HasSuffix(arn, ":oidc-provider/"+issuer) })
		if s.Effect == "Allow" && slices.Contains(policy.List(s.Action), "sts:AssumeRoleWithWebIdentity") && federated &&
			conditionsMet(s.Condition, values) {
			return true
		}
	}
	return false
}

// conditionsMet knows StringEquals only; any other operator is not met.
func conditionsMet(conditions map[string]map[string]any, values map[string][]string) bool {
	for operator, keys := range conditions {
		for key, want := range keys {
			met := slices.ContainsFunc(values[key], func(v string) bool { return slices.Contains(policy.List(want), v) })
			if operator != "StringEquals" || !met {
				return false
			}
		}
	}
	return true
}

// checkAssumedRole: moto lets anybody assume any role, also one that does not
// exist, and does not look at the ExternalId.
func (s *Service) checkAssumedRole(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	arn := x.Form.Get("RoleArn")
	denied := x.Refuse(http.StatusForbidden, "AccessDenied",
		"User: arn:aws:iam::"+proxy.DefaultAccount+":root is not authorized to perform: sts:AssumeRole on resource: "+arn)
	if len(strings.SplitN(arn, ":", 6)) != 6 {
		return nil // moto refuses it
	}
	document, ok := s.trustPolicy(ctx, x, arn)
	if !ok || !trusts(document, x.Form.Get("ExternalId")) {
		return denied
	}
	return nil
}

// trustPolicy is that of the role of an ARN that a request names; ok is false when there is no such role.
func (s *Service) trustPolicy(ctx context.Context, x *proxy.Exchange, arn string) (document string, ok bool) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 {
		return "", false
	}
	body := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {x.Resource}}.Encode()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Moto-Account-Id": {parts[4]}}
	a, err := s.Ask(ctx, x.To("iam"), http.MethodPost, "/", header, []byte(body))
	if err != nil || a.Status != http.StatusOK {
		return "", false
	}
	var role struct {
		Trust string `xml:"GetRoleResult>Role>AssumeRolePolicyDocument"`
	}
	if xml.Unmarshal(a.Body, &role) != nil {
		return "", false
	}
	if document, err = url.PathUnescape(role.Trust); err != nil {
		document = role.Trust
	}
	return document, true
}

// trusts reports whether some statement of a trust policy that allows AssumeRole
// has no condition on the ExternalId or one that is met.
func trusts(document, externalID string) bool {
	var trust struct {
		Statement []struct {
			Effect    string
			Action    any
			Condition map[string]map[string]any
		}
	}
	if json.Unmarshal([]byte(document), &trust) != nil {
		return true // a single statement as an object: not looked into
	}
	for _, s := range trust.Statement {
		actions := policy.List(s.Action)
		if s.Effect == "Allow" && (slices.Contains(actions, "sts:AssumeRole") || slices.Contains(actions, "sts:*") ||
			slices.Contains(actions, "*")) &&
			externalIDMet(s.Condition, externalID) {
			return true
		}
	}
	return false
}

func externalIDMet(condition map[string]map[string]any, externalID string) bool {
	for operator, keys := range condition {
		for key, want := range keys {
			if !strings.EqualFold(key, "sts:ExternalId") {
				continue
			}
			matches := func(w string) bool {
				return externalID == w || operator == "StringLike" && w != "" && wire.Glob(w, externalID)
			}
			if externalID == "" || !slices.ContainsFunc(policy.List(want), matches) {
				return false
			}
		}
	}
	return true
}

// recordAccount records the account of the credentials of an assumed role.
func (s *Service) recordAccount(_ context.Context, _ *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if key, arn := proxy.AssumedRole(a); key != "" {
		s.SetAccount(key, strings.SplitN(arn, ":", 6)[4])
	}
	return a
}
