// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// stsService keeps nothing: what it gives are accounts of callers, which the core knows.
type stsService struct{ base }

func (s *stsService) Facts() *Facts {
	return &Facts{
		Prefix: "sts",
		Requests: RequestFacts{
			Keys: []string{"RoleArn"}, ShortName: nameInIAM,
			IsUnsigned: func(op string) bool { return strings.HasPrefix(op, "AssumeRole") }, // with a web identity or SAML
		},
		Errors: ErrorFacts{Throttled: rateExceeded},
		Rights: RightFacts{
			Open: []string{"AssumeRoleWithWebIdentity"}, // nobody calls it yet
			// GetCallerIdentity takes no right, and AssumeRole is about the role in another service.
			Demands: func(q *asker) []demand {
				if q.x.op == "GetCallerIdentity" {
					return nil
				}
				return []demand{q.need(q.action, q.x.form.Get("RoleArn"), nil)}
			},
		},
	}
}

func (s *stsService) Corrections() []Correction {
	return []Correction{
		{Name: "accounts of assumed roles are remembered", After: s.recordAccount},
		{Name: "role to be assumed", Ops: []string{"AssumeRole"}, Before: s.checkAssumedRole},
		{Name: "role to be assumed with a token", Ops: []string{"AssumeRoleWithWebIdentity"}, Before: s.assumeWithToken},
	}
}

// assumeWithToken: moto lets any token assume any role. As AWS does, this looks whether
// the role trusts the issuer, audience and subject of the token; the signature of
// the token is not checked.
func (s *stsService) assumeWithToken(ctx context.Context, x *exchange) *answer {
	claims, ok := claimsOf(x.form.Get("WebIdentityToken"))
	if !ok {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidIdentityToken", "The ID Token provided is not a valid JWT"})
	}
	document, ok := s.trustPolicy(ctx, x, x.form.Get("RoleArn"))
	if !ok || !trustsToken(document, claims) {
		return errorAnswer(x.request, awsError{http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"})
	}
	a, err := s.pass(ctx, x)
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
	var policy struct {
		Statement []struct {
			Effect    string
			Action    any
			Principal map[string]any
			Condition map[string]map[string]any
		}
	}
	if json.Unmarshal([]byte(document), &policy) != nil {
		return false
	}
	issuer := strings.TrimPrefix(c.Issuer, "https://")
	values := map[string][]string{issuer + ":sub": {c.Subject}, issuer + ":aud": list(c.Audience)}
	for _, s := range policy.Statement {
		federated := slices.ContainsFunc(list(s.Principal["Federated"]), func(arn string) bool { return strings.HasSuffix(arn, ":oidc-provider/"+issuer) })
		if s.Effect == "Allow" && slices.Contains(list(s.Action), "sts:AssumeRoleWithWebIdentity") && federated && conditionsMet(s.Condition, values) {
			return true
		}
	}
	return false
}

// conditionsMet knows StringEquals only; any other operator is not met.
func conditionsMet(conditions map[string]map[string]any, values map[string][]string) bool {
	for operator, keys := range conditions {
		for key, want := range keys {
			met := slices.ContainsFunc(values[key], func(v string) bool { return slices.Contains(list(want), v) })
			if operator != "StringEquals" || !met {
				return false
			}
		}
	}
	return true
}

// checkAssumedRole: moto lets anybody assume any role, also one that does not
// exist, and does not look at the ExternalId.
func (s *stsService) checkAssumedRole(ctx context.Context, x *exchange) *answer {
	arn := x.form.Get("RoleArn")
	denied := errorAnswer(x.request, awsError{http.StatusForbidden, "AccessDenied",
		"User: arn:aws:iam::" + defaultAccount + ":root is not authorized to perform: sts:AssumeRole on resource: " + arn})
	if len(strings.SplitN(arn, ":", 6)) != 6 {
		return nil // moto refuses it
	}
	document, ok := s.trustPolicy(ctx, x, arn)
	if !ok || !trusts(document, x.form.Get("ExternalId")) {
		return denied
	}
	return nil
}

// trustPolicy is that of the role of an ARN that a request names; ok is false when there is no such role.
func (s *stsService) trustPolicy(ctx context.Context, x *exchange, arn string) (document string, ok bool) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 {
		return "", false
	}
	body := url.Values{"Action": {"GetRole"}, "Version": {"2010-05-08"}, "RoleName": {x.resource}}.Encode()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Moto-Account-Id": {parts[4]}}
	a, err := s.ask(ctx, x.to("iam"), http.MethodPost, "/", header, []byte(body))
	if err != nil || a.status != http.StatusOK {
		return "", false
	}
	var role struct {
		Trust string `xml:"GetRoleResult>Role>AssumeRolePolicyDocument"`
	}
	if xml.Unmarshal(a.body, &role) != nil {
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
	var policy struct {
		Statement []struct {
			Effect    string
			Action    any
			Condition map[string]map[string]any
		}
	}
	if json.Unmarshal([]byte(document), &policy) != nil {
		return true // a single statement as an object: not looked into
	}
	for _, s := range policy.Statement {
		actions := list(s.Action)
		if s.Effect == "Allow" && (slices.Contains(actions, "sts:AssumeRole") || slices.Contains(actions, "sts:*") || slices.Contains(actions, "*")) &&
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
			if externalID == "" || !slices.ContainsFunc(list(want), matches) {
				return false
			}
		}
	}
	return true
}

// recordAccount records the account in which the credentials of an assumed role
// act.
func (s *stsService) recordAccount(_ context.Context, _ *exchange, a *answer) *answer {
	if key, arn := assumedRole(a); key != "" {
		s.setAccount(key, strings.SplitN(arn, ":", 6)[4])
	}
	return a
}
