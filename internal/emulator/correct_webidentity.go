// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// assumeWithToken: moto lets any token assume any role. As AWS does, this looks whether
// the role trusts the issuer, audience and subject of the token; the signature of
// the token is not checked.
func assumeWithToken(ctx context.Context, p *Proxy, x *exchange) *answer {
	claims, ok := claimsOf(x.form.Get("WebIdentityToken"))
	if !ok {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidIdentityToken", "The ID Token provided is not a valid JWT"})
	}
	document, ok := trustPolicy(ctx, p, x, x.form.Get("RoleArn"))
	if !ok || !trustsToken(document, claims) {
		return errorAnswer(x.request, awsError{http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"})
	}
	r, err := http.NewRequestWithContext(ctx, x.http.Method, p.backend+x.http.URL.RequestURI(), bytes.NewReader(x.body))
	if err != nil {
		return nil
	}
	r.Header = x.http.Header.Clone()
	r.Header.Del("Connection")
	a, err := p.roundTrip(r)
	if err != nil {
		return nil
	}
	return recordAccount(ctx, p, x, a)
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
