// SPDX-License-Identifier: Apache-2.0

package iampolicy_test

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

const (
	present = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/NEW"
	old     = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/OLD"
	blue    = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/BLUE"
)

var operator = iampolicy.ServiceAccount{Provider: present, Audience: "sts.amazonaws.com", Namespace: "nexus-system", Name: "nexus-operator"}

// trusting is the statement that lets a subject of a provider in.
func trusting(provider, sub string) string {
	issuer := provider[strings.Index(provider, "oidc.eks"):]
	return `{"Effect":"Allow","Principal":{"Federated":"` + provider +
		`"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"` +
		issuer + `:aud":"sts.amazonaws.com","` + issuer + `:sub":"` + sub + `"}}}`
}

func TestRepairTrust(t *testing.T) {
	const me = "system:serviceaccount:nexus-system:nexus-operator"
	fine := trusting(present, me)
	like := strings.ReplaceAll(strings.Replace(fine, "StringEquals", "StringLike", 1), me, "system:serviceaccount:nexus-system:*")
	person := `{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/admin"},"Action":"sts:AssumeRole"}`
	everybody := strings.Replace(trusting(old, me), `,"oidc.eks.eu-west-1.amazonaws.com/id/OLD:sub":"`+me+`"`, "", 1)
	limited := strings.Replace(trusting(old, me), `"Condition":{`, `"Condition":{"IpAddress":{"aws:SourceIp":"192.0.2.0/24"},`, 1)
	for name, tc := range map[string]struct{ have, want []string }{
		"as it should be":       {[]string{fine}, []string{fine}},
		"by a pattern":          {[]string{like}, []string{like}},
		"only people":           {[]string{person}, []string{person, fine}},
		"of the cluster before": {[]string{person, trusting(old, me)}, []string{person, fine}},
		"both":                  {[]string{trusting(old, me), fine}, []string{fine}},
		"of another cluster":    {[]string{trusting(blue, me)}, []string{trusting(blue, me), fine}},
		"of another ServiceAccount": {[]string{trusting(old, "system:serviceaccount:a:b")},
			[]string{trusting(old, "system:serviceaccount:a:b"), fine}},
		"of every ServiceAccount before": {[]string{everybody}, []string{everybody, fine}},
		"with a further limit":           {[]string{limited}, []string{strings.ReplaceAll(limited, "OLD", "NEW")}},
		"another audience": {[]string{strings.Replace(fine, `"sts.amazonaws.com"`, `"other"`, 1)},
			[]string{strings.Replace(fine, `"sts.amazonaws.com"`, `"other"`, 1), fine}},
		"a refusal": {[]string{strings.Replace(fine, "Allow", "Deny", 1)},
			[]string{strings.Replace(fine, "Allow", "Deny", 1), fine}},
		"an operator that excludes": {[]string{strings.Replace(fine, "StringEquals", "StringNotEquals", 1)},
			[]string{strings.Replace(fine, "StringEquals", "StringNotEquals", 1), fine}},
		"the provider with keys of the other": {[]string{strings.Replace(trusting(old, me), old, present, 1)},
			[]string{strings.Replace(trusting(old, me), old, present, 1), fine}},
	} {
		t.Run(name, func(t *testing.T) {
			got := parsed(t, tc.have).RepairTrust(operator, func(provider string) bool { return provider == old })
			if want := parsed(t, tc.want); !got.Equal(want) || len(got.Statement) != len(want.Statement) {
				text, err := got.Encode()
				t.Errorf("got %s, %v\nwant %s", text, err, tc.want)
			}
			if again := got.RepairTrust(operator, func(provider string) bool { return provider == old }); !again.Equal(got) {
				t.Errorf("a second repair changes it to %v", again)
			}
		})
	}
}

func parsed(t *testing.T, statements []string) iampolicy.Document {
	t.Helper()
	d, err := iampolicy.Parse(`{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
