package iam

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func scope(edit func(sc *kind.Scope)) kind.Scope {
	sc := kind.Scope{Partition: "aws", Account: kindtest.Account, Namespace: "team-a", Issuer: "https://oidc.example.com/id/ABC", Boundary: boundary}
	if edit != nil {
		edit(&sc)
	}
	return sc
}

func desired(t *testing.T, sc kind.Scope, cr *v1alpha1.IAMRole) (RoleState, error) {
	t.Helper()
	return NewRole(aws.Config{}).Desired(sc, cr)
}

func irsa(account, namespace string) func(s *spec) {
	return func(s *spec) {
		s.AssumeRolePolicyDocument, s.IRSA = "", &v1alpha1.IAMRoleIRSA{ServiceAccount: account, Namespace: namespace}
	}
}

func allow(action, resource string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":%q,"Resource":%q}}`, action, resource)
}

func TestGuards(t *testing.T) {
	bare := func(sc *kind.Scope) { sc.Boundary = "" }
	compiled := func(sc *kind.Scope) { sc.Boundary, sc.Trusted = "", true }
	under := func(sc *kind.Scope) { sc.RolePath = "/nexus" }
	path := func(p string) func(s *spec) { return func(s *spec) { s.Path = p } }
	trusting := func(principal string) func(s *spec) {
		return func(s *spec) {
			s.AssumeRolePolicyDocument = `{"Statement":[{"Effect":"Allow","Principal":` + principal + `,"Action":"sts:AssumeRole"}]}`
		}
	}
	const notOK, invalid = status.ReasonNotPermitted, status.ReasonInvalidSpec
	for _, c := range []struct {
		name   string
		scope  func(*kind.Scope)
		edits  []func(*spec)
		reason string // empty: accepted
		field  string
	}{
		{"a user's trust needs a boundary", bare, nil, notOK, "spec.assumeRolePolicyDocument"},
		{"a user's policies need a boundary", bare, []func(*spec){irsa("sa", ""), inline("one", readOne)}, notOK, "spec.inlinePolicies"},
		{"a user's single policy needs a boundary", bare, []func(*spec){irsa("sa", ""), func(s *spec) { s.InlinePolicy = &policies("one", readOne)[0] }}, notOK, "spec.inlinePolicy"},
		{"a managed policy needs a boundary", bare, []func(*spec){irsa("sa", ""), attach(policyA)}, notOK, "spec.managedPolicyArns"},
		{"the user's own boundary is none", bare, []func(*spec){bound(policyA)}, notOK, "spec.assumeRolePolicyDocument"},
		{"a role without rights needs none", bare, []func(*spec){irsa("sa", "")}, "", ""},
		{"nor does what a capability compiled", compiled, []func(*spec){inline("one", readOne), attach(policyA)}, "", ""},
		{"a user's documents within the boundary", nil, []func(*spec){inline("one", readOne), attach(policyA)}, "", ""},
		{"the boundary repeated", nil, []func(*spec){bound(boundary)}, "", ""},
		{"another boundary", nil, []func(*spec){bound(policyA)}, notOK, "spec.permissionsBoundary"},
		{"no boundary", nil, []func(*spec){bound("")}, notOK, "spec.permissionsBoundary"},
		{"another boundary, from a capability", func(sc *kind.Scope) { sc.Trusted = true }, []func(*spec){bound(policyA)}, notOK, "spec.permissionsBoundary"},
		{"a path under the provider's", under, []func(*spec){path("/nexus/a/")}, "", ""},
		{"a path beside the provider's", under, []func(*spec){path("/nexus-not/")}, notOK, "spec.path"},
		{"the path of service-linked roles", nil, []func(*spec){path("/aws-service-role/x/")}, notOK, "spec.path"},
		{"a path that AWS reserves", nil, []func(*spec){path("/aws-reserved/sso.amazonaws.com/")}, notOK, "spec.path"},
		{"a name that AWS reserves", nil, []func(*spec){func(s *spec) { s.RoleName = "AWSServiceRoleForRDS" }}, notOK, "spec.roleName"},
		{"both trusts", nil, []func(*spec){func(s *spec) { s.IRSA = &v1alpha1.IAMRoleIRSA{} }}, invalid, "spec.irsa"},
		{"no trust", nil, []func(*spec){func(s *spec) { s.AssumeRolePolicyDocument = "" }}, invalid, "spec.assumeRolePolicyDocument"},
		{"another namespace's ServiceAccount", nil, []func(*spec){irsa("sa", "team-b")}, notOK, "spec.irsa.namespace"},
		{"which a capability may name", compiled, []func(*spec){irsa("sa", "team-b")}, "", ""},
		{"an issuer that AWS cannot trust", func(sc *kind.Scope) { sc.Issuer = "http://localhost" }, []func(*spec){irsa("sa", "")}, invalid, "spec.irsa"},
		{"a trust that is not JSON", nil, []func(*spec){func(s *spec) { s.AssumeRolePolicyDocument = "{" }}, invalid, "spec.assumeRolePolicyDocument"},
		{"trust in everybody", nil, []func(*spec){trusting(`"*"`)}, notOK, "spec.assumeRolePolicyDocument"},
		{"trust in every account", nil, []func(*spec){trusting(`{"Service":"x.amazonaws.com","AWS":["1","*"]}`)}, notOK, "spec.assumeRolePolicyDocument"},
		{"trust in everybody but one", nil, []func(*spec){func(s *spec) {
			s.AssumeRolePolicyDocument = `{"statement":{"effect":"Allow","notPrincipal":{"AWS":"1"},"Action":"sts:AssumeRole"}}`
		}}, notOK, "spec.assumeRolePolicyDocument"},
		{"two policies of one name", nil, []func(*spec){inline("one", readOne), func(s *spec) { s.InlinePolicy = &policies("one", readTwo)[0] }}, invalid, "spec.inlinePolicies[one].policyDocument"},
		{"a policy that is a list", nil, []func(*spec){inline("one", "[]")}, invalid, "spec.inlinePolicies[one].policyDocument"},
		{"a policy with something behind it", nil, []func(*spec){inline("one", readOne+"{}")}, invalid, "spec.inlinePolicies[one].policyDocument"},
		{"a policy without statements", nil, []func(*spec){inline("one", "{}")}, invalid, "spec.inlinePolicies[one].policyDocument"},
		{"policies that are too long together", nil, []func(*spec){inline("one", allow("s3:GetObject", strings.Repeat("x", 6000)), "two", allow("s3:GetObject", strings.Repeat("x", 6000)))}, invalid, "spec.inlinePolicies"},
		{"white space does not count", nil, []func(*spec){inline("one", allow("s3:GetObject", "x")+strings.Repeat(" ", 15000))}, "", ""},
	} {
		_, err := desired(t, scope(c.scope), roleOf(c.edits...))
		s, ok := status.AsStalled(err)
		switch {
		case c.reason == "" && err != nil:
			t.Errorf("%s: refused: %v", c.name, err)
		case c.reason != "" && (!ok || s.Reason != c.reason || s.Field != c.field):
			t.Errorf("%s: got %v (%+v), want %s of %s", c.name, err, s, c.reason, c.field)
		}
	}
}

func TestPoliciesThatAllowTooMuch(t *testing.T) {
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
		fmt.Sprintf(key, "Allow", `"Action":["s3:GetObject","*"],"NotResource":"arn:aws:s3:::x"`):            true,
		fmt.Sprintf(key, "Allow", `"action":"*","Resource":["arn:aws:s3:::x","*"]`):                          true,
		fmt.Sprintf(key, "Deny", `"Action":"*","Resource":"*"`):                                              false,
		fmt.Sprintf(key, "Deny", `"NotAction":"s3:*","Resource":"*"`):                                        false,
		fmt.Sprintf(key, "Allow", `"Action":"s3:GetObject","Action":"*","Resource":"*"`):                     true,
		fmt.Sprintf(key, "Allow", `"Action":"*","Resource":"*","Condition":{"Bool":{"aws:SecureX":"true"}}`): true,
	} {
		canon, err := canonical(doc)
		if err != nil {
			t.Fatal(err)
		}
		why := allowsTooMuch(canon, scope(nil))
		if (why != "") != refused {
			t.Errorf("%s: %q, want refused: %v", doc, why, refused)
		}
		_, err = desired(t, scope(nil), roleOf(inline("one", doc)))
		if s, ok := status.AsStalled(err); refused != (ok && s.Reason == status.ReasonNotPermitted) {
			t.Errorf("%s: %v", doc, err)
		}
		if _, err = desired(t, scope(func(sc *kind.Scope) { sc.Trusted = true }), roleOf(inline("one", doc))); err != nil {
			t.Errorf("what a capability compiled is checked twice: %v", err)
		}
	}
}

func TestWildcards(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{{"*", "", true}, {"", "", true}, {"", "a", false}, {"a", "", false}, {"?", "", false}, {"a?c", "abc", true}, {"a*c", "abbc", true}, {"a*c", "abb", false},
		{"*a*b", "xaxxab", true}, {"**", "x", true}, {"i*m", "iam", true}, {"i*x", "iam", false}, {strings.Repeat("*a", 5000) + "b", strings.Repeat("a", 200), false}} {
		if got := like(c.pattern, c.s); got != c.want {
			t.Errorf("%q like %q: %v", c.s, c.pattern, got)
		}
	}
}

func TestProviderGuardsAreEnforcedOnTheRole(t *testing.T) {
	s, err := desired(t, scope(func(sc *kind.Scope) { sc.RolePath = "/nexus" }), roleOf())
	if err != nil || *s.Boundary != boundary || *s.Path != "/nexus/" {
		t.Errorf("%+v %v", s, err)
	}
	s, err = desired(t, scope(func(sc *kind.Scope) { sc.Boundary, sc.Trusted = "", true }), roleOf())
	if err != nil || s.Boundary != nil || s.Path != nil {
		t.Errorf("%+v %v", s, err)
	}
}

// https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
func TestTheTrustOfAServiceAccount(t *testing.T) {
	const want = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws-cn:iam::123456789012:oidc-provider/oidc.example.com/id/ABC"},` +
		`"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"oidc.example.com/id/ABC:aud":"sts.amazonaws.com",` +
		`"oidc.example.com/id/ABC:sub":"system:serviceaccount:team-a:llm-query"}}}]}`
	s, err := desired(t, scope(func(sc *kind.Scope) { sc.Partition = "aws-cn" }), roleOf(irsa("llm-query", "team-a")))
	if err != nil || *s.Trust != want {
		t.Errorf("%v\n got %s\nwant %s", err, aws.ToString(s.Trust), want)
	}
	s, err = desired(t, scope(func(sc *kind.Scope) { sc.Trusted = true }), roleOf(irsa("sa", "team-b")))
	if err != nil || !strings.Contains(*s.Trust, "system:serviceaccount:team-b:sa") {
		t.Errorf("%v %v", s.Trust, err)
	}
	_, err = desired(t, scope(func(sc *kind.Scope) { sc.Issuer = "" }), roleOf(irsa("sa", "")))
	if w, ok := errors.AsType[*status.Waiting](err); !ok || w.Reason != status.ReasonIssuerUnknown {
		t.Errorf("got %v, want to wait for the issuer", err)
	}
}

func TestDeletingAsksForNothingButIdentity(t *testing.T) {
	cr := roleOf(irsa("sa", "team-b"), inline("one", "{"), func(s *spec) { s.Path = "/aws-reserved/" })
	if _, err := desired(t, scope(func(sc *kind.Scope) { *sc = kind.Scope{Deleting: true} }), cr); err != nil {
		t.Error(err)
	}
}

func TestDocumentsAreSentAsTheyWereChecked(t *testing.T) {
	doc, err := canonical("{ \"Statement\" : [ { \"Effect\":\"Allow\", \"Action\":\"*\", \"Action\":\"s3:GetObject\", \"Resource\":\"arn:aws:s3:::a<b>&c\", \"N\": 12345678901234567890 } ] }\n")
	const want = `{"Statement":[{"Action":"s3:GetObject","Effect":"Allow","N":12345678901234567890,"Resource":"arn:aws:s3:::a<b>&c"}]}`
	if err != nil || doc != want {
		t.Errorf("%v\n got %s\nwant %s", err, doc, want)
	}
	if !engine.SameDocument(doc, `{"Statement":{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::a<b>&c"],"N":12345678901234567890}}`) {
		t.Error("not the same to the engine")
	}
}

func TestFewNamesAreShown(t *testing.T) {
	if got := few([]string{"1", "2", "3", "4", "5", "6", "7"}); got != "1, 2, 3, 4, 5 and 2 more" {
		t.Error(got)
	}
}
