// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"fmt"
	"strings"
	"testing"
)

func allow(action, resource string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":%q,"Resource":%q}}`, action, resource)
}

func parse(t fatal, text string) Document {
	t.Helper()
	d, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// fatal is testing.T and rapid.T alike.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

func TestCheckPermissions(t *testing.T) {
	const key = `{"Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"},{"Effect":%q,%s}]}`
	for doc, refused := range map[string]bool{
		allow("*", "*"):                                true,
		allow("*:*", "*"):                              true,
		allow("**", "**"):                              true,
		allow("*", "arn:aws:iam::*:role/*"):            true,
		allow("*", "arn:*"):                            true,
		allow("i*:*", "*"):                             true,
		allow("iam:*", "arn:aws:iam::1:role/x"):        true,
		allow("IAM:*", "*"):                            true,
		allow("iam:?*", "*"):                           true,
		allow("ia?:*", "*"):                            true,
		allow("*", "arn:aws:s3:::mine/*"):              false,
		allow("s3:*", "*"):                             false,
		allow("iam:GetRole", "*"):                      false,
		allow("iam:PassRole", "arn:aws:iam::1:role/x"): false,
		fmt.Sprintf(key, "Allow", `"NotAction":"iam:*","Resource":"*"`):                                      true,
		fmt.Sprintf(key, "allow", `"NOTACTION":["iam:*"],"Resource":"*"`):                                    true,
		fmt.Sprintf(key, "Allow", `"NotAction":[],"Resource":"*"`):                                           true,
		fmt.Sprintf(key, "Allow", `"Action":["s3:GetObject","*"],"NotResource":"arn:aws:s3:::x"`):            true,
		fmt.Sprintf(key, "Allow", `"action":"*","Resource":["arn:aws:s3:::x","*"]`):                          true,
		fmt.Sprintf(key, "Deny", `"Action":"*","Resource":"*"`):                                              false,
		fmt.Sprintf(key, "deny", `"Action":"*","Resource":"*"`):                                              true,
		fmt.Sprintf(key, "Deny", `"NotAction":"s3:*","Resource":"*"`):                                        false,
		fmt.Sprintf(key, "Allow", `"Action":"*","Resource":"*","Condition":{"Bool":{"aws:SecureX":"true"}}`): true,
	} {
		if err := CheckPermissions(parse(t, doc), "aws", "123456789012"); (err != nil) != refused {
			t.Errorf("%s: %v, want refused: %v", doc, err, refused)
		}
	}
}

func TestCheckTrust(t *testing.T) {
	for statement, refused := range map[string]bool{
		`"Effect":"Allow","Principal":"*"`:                                                true,
		`"Effect":"Allow","Principal":"**"`:                                               true,
		`"Effect":"Allow","Principal":""`:                                                 true,
		`"Effect":"Allow","Principal":{"*":"*"}`:                                          true,
		`"Effect":"Allow","Principal":{"Service":"x.amazonaws.com","AWS":["1","*"]}`:      true,
		`"Effect":"Allow","Principal":{"Federated":"*"}`:                                  true,
		`"Effect":"Allow","Principal":{"AWS":"*"},"Condition":{"Bool":{"aws:X":"true"}}`:  true,
		`"effect":"Allow","notPrincipal":{"AWS":"1"}`:                                     true,
		`"Effect":"Allow","NotPrincipal":{}`:                                              true,
		`"Effect":"Allow","Principal":{"AWS":"1"},"NotAction":"sts:TagSession"`:           true,
		`"Effect":"DENY","Principal":"*"`:                                                 true,
		`"Effect":"Deny","Principal":"*"`:                                                 false,
		`"Effect":"Deny","NotPrincipal":{"AWS":"1"}`:                                      false,
		`"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::1:role/*"}`:                    true,
		`"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::*:root"}`:                      true,
		`"Effect":"Allow","Principal":{"Service":"gl?e.amazonaws.com"}`:                   true,
		`"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com","AWS":["1"]}`:       false,
		`"Principal":{"AWS":"*"},"Action":"sts:AssumeRole","Sid":"has no effect, so far"`: true,
	} {
		doc := `{"Statement":[{"Effect":"Deny","Principal":"*","Action":"*"},{` + statement + `}]}`
		if err := CheckTrust(parse(t, doc)); (err != nil) != refused {
			t.Errorf("%s: %v, want refused: %v", statement, err, refused)
		}
	}
}

func TestCheckPrincipals_RefusesUniqueIDs(t *testing.T) {
	for principal, refused := range map[string]bool{
		`"Principal":{"AWS":"AROAKSCDLFT9R5DQP782U"}`:                                  true,
		`"Principal":{"AWS":["123456789012","AIDAJQABLZS4A3QDU576Q"]}`:                 true,
		`"NotPrincipal":{"AWS":"AROAKSCDLFT9R5DQP782U"}`:                               true,
		`"Principal":{"AWS":"arn:aws:iam::123456789012:role/AROAKSCDLFT9R5DQP782U"}`:   false,
		`"Principal":{"Service":"AROAKSCDLFT9R5DQP782U"}`:                              false,
		`"Principal":"*","Condition":{"StringLike":{"aws:userId":"AROAKSCDLFT9R5DQ"}}`: false,
	} {
		err := CheckPrincipals(parse(t, `{"Statement":[{"Effect":"Allow",`+principal+`}]}`))
		if (err != nil) != refused {
			t.Errorf("%s: %v, want refused: %v", principal, err, refused)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "Statement[0].") {
			t.Errorf("the error names no element: %v", err)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{{"*", "", true}, {"", "", true}, {"", "a", false}, {"a", "", false}, {"?", "", false}, {"a?c", "abc", true}, {"a*c", "abbc", true},
		{"a*c", "abb", false},
		{"*a*b", "xaxxab", true}, {"**", "x", true}, {"i*m", "iam", true}, {"i*x", "iam", false},
		{strings.Repeat("*a", 5000) + "b", strings.Repeat("a", 200), false}} {
		if got := MatchesPattern(c.pattern, c.s); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.s, got)
		}
	}
}
