// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func scope(edit func(sc *kind.Scope)) kind.Scope {
	sc := kind.Scope{Place: kind.Place{Partition: "aws", Account: kindtest.Account, Region: kindtest.Region},
		Federation: kind.Federation{EKSCluster: kindtest.EKSCluster, Issuer: "https://oidc.example.com/id/ABC"},
		Namespace:  "team-a", Guards: kind.RoleGuards{Boundary: boundary}}
	if edit != nil {
		edit(&sc)
	}
	return sc
}

func desired(t *testing.T, sc kind.Scope, cr *v1alpha1.IAMRole) (RoleState, error) {
	t.Helper()
	return NewRole(aws.Config{}).Desired(sc, cr)
}

// podIdentity adds to a role, which may trust the issuer as well.
func podIdentity(cluster, account, namespace string) func(s *spec) {
	return func(s *spec) {
		s.AssumeRolePolicyDocument, s.PodIdentity = "",
			&v1alpha1.IAMRolePodIdentity{ClusterName: cluster, ServiceAccount: account, Namespace: namespace}
	}
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
	bare := func(sc *kind.Scope) { sc.Guards.Boundary = "" }
	compiled := func(sc *kind.Scope) { sc.Guards.Boundary, sc.Trusted = "", true }
	under := func(sc *kind.Scope) { sc.Guards.RolePath = "/nexus" }
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
		{"a user's single policy needs a boundary", bare,
			[]func(*spec){irsa("sa", ""), func(s *spec) { s.InlinePolicy = &policies("one", readOne)[0] }}, notOK, "spec.inlinePolicy"},
		{"a managed policy needs a boundary", bare, []func(*spec){irsa("sa", ""), attach(policyA)}, notOK, "spec.managedPolicyArns"},
		{"the user's own boundary is none", bare, []func(*spec){bound(policyA)}, notOK, "spec.assumeRolePolicyDocument"},
		{"a role without rights needs none", bare, []func(*spec){irsa("sa", "")}, "", ""},
		{"nor does what a capability compiled", compiled, []func(*spec){inline("one", readOne), attach(policyA)}, "", ""},
		{"a user's documents within the boundary", nil, []func(*spec){inline("one", readOne), attach(policyA)}, "", ""},
		{"the boundary repeated", nil, []func(*spec){bound(boundary)}, "", ""},
		{"another boundary", nil, []func(*spec){bound(policyA)}, notOK, "spec.permissionsBoundary"},
		{"no boundary", nil, []func(*spec){bound("")}, notOK, "spec.permissionsBoundary"},
		{"another boundary, from a capability", func(sc *kind.Scope) { sc.Trusted = true }, []func(*spec){bound(policyA)}, notOK,
			"spec.permissionsBoundary"},
		{"a path under the provider's", under, []func(*spec){path("/nexus/a/")}, "", ""},
		{"a path beside the provider's", under, []func(*spec){path("/nexus-not/")}, notOK, "spec.path"},
		{"the path of service-linked roles", nil, []func(*spec){path("/aws-service-role/x/")}, notOK, "spec.path"},
		{"a path that AWS reserves", nil, []func(*spec){path("/aws-reserved/sso.amazonaws.com/")}, notOK, "spec.path"},
		{"a name that AWS reserves", nil, []func(*spec){func(s *spec) { s.RoleName = "AWSServiceRoleForRDS" }}, notOK, "spec.roleName"},
		{"no trust", nil, []func(*spec){func(s *spec) { s.AssumeRolePolicyDocument = "" }}, invalid, "spec.assumeRolePolicyDocument"},
		{"another namespace's ServiceAccount", nil, []func(*spec){irsa("sa", "team-b")}, notOK, "spec.irsa.namespace"},
		{"which a capability may name", compiled, []func(*spec){irsa("sa", "team-b")}, "", ""},
		{"another namespace's ServiceAccount, by Pod Identity", nil, []func(*spec){podIdentity("production", "sa", "team-b")}, notOK,
			"spec.podIdentity.namespace"},
		{"another cluster's ServiceAccount", nil, []func(*spec){podIdentity("staging", "sa", "")}, notOK, "spec.podIdentity.clusterName"},
		{"a cluster that the operator does not know", func(sc *kind.Scope) { sc.Federation.EKSCluster = "" },
			[]func(*spec){podIdentity("production", "sa", "")}, notOK, "spec.podIdentity.clusterName"},
		{"which a capability may name, too", compiled, []func(*spec){podIdentity("production", "sa", "team-b")}, "", ""},
		{"an issuer that AWS cannot trust", func(sc *kind.Scope) { sc.Federation.Issuer = "http://localhost" },
			[]func(*spec){irsa("sa", "")}, invalid,
			"spec.irsa"},
		{"a trust that is not JSON", nil, []func(*spec){func(s *spec) { s.AssumeRolePolicyDocument = "{" }}, invalid,
			"spec.assumeRolePolicyDocument"},
		{"trust in everybody", nil, []func(*spec){trusting(`"*"`)}, notOK, "spec.assumeRolePolicyDocument"},
		{"trust in every account", nil, []func(*spec){trusting(`{"Service":"x.amazonaws.com","AWS":["1","*"]}`)}, notOK,
			"spec.assumeRolePolicyDocument"},
		{"trust in everybody but one", nil, []func(*spec){func(s *spec) {
			s.AssumeRolePolicyDocument = `{"statement":{"effect":"Allow","notPrincipal":{"AWS":"1"},"Action":"sts:AssumeRole"}}`
		}}, notOK, "spec.assumeRolePolicyDocument"},
		{"a policy that is a list", nil, []func(*spec){inline("one", "[]")}, invalid, "spec.inlinePolicies[one].policyDocument"},
		{"a policy with something behind it", nil, []func(*spec){inline("one", readOne+"{}")}, invalid,
			"spec.inlinePolicies[one].policyDocument"},
		{"a policy without statements", nil, []func(*spec){inline("one", "{}")}, invalid, "spec.inlinePolicies[one].policyDocument"},
		{"policies that are too long together", nil,
			[]func(*spec){inline("one", allow("s3:GetObject", strings.Repeat("x", 6000)), "two", allow("s3:GetObject", strings.Repeat("x", 6000)))},
			invalid, "spec.inlinePolicies"},
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

func TestProviderGuardsAreEnforcedOnTheRole(t *testing.T) {
	s, err := desired(t, scope(func(sc *kind.Scope) { sc.Guards.RolePath = "/nexus" }), roleOf())
	if err != nil || *s.Boundary != boundary || *s.Path != "/nexus/" {
		t.Errorf("%+v %v", s, err)
	}
	s, err = desired(t, scope(func(sc *kind.Scope) { sc.Guards.Boundary, sc.Trusted = "", true }), roleOf())
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
	_, err = desired(t, scope(func(sc *kind.Scope) { sc.Federation.Issuer = "" }), roleOf(irsa("sa", "")))
	if w, ok := errors.AsType[*status.Waiting](err); !ok || w.Reason != status.ReasonIssuerUnknown {
		t.Errorf("got %v, want to wait for the issuer", err)
	}
}

// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
func TestTheTrustOfPodIdentity(t *testing.T) {
	const statement = `{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"],"Condition":{"StringEquals":{` +
		`"aws:RequestTag/eks-cluster-arn":"arn:aws:eks:ap-southeast-1:123456789012:cluster/production",` +
		`"aws:RequestTag/kubernetes-namespace":"team-a","aws:RequestTag/kubernetes-service-account":"llm-query"}}}`
	s, err := desired(t, scope(func(sc *kind.Scope) { sc.Federation.Issuer = "" }), roleOf(podIdentity("production", "llm-query", "")))
	if want := `{"Version":"2012-10-17","Statement":[` + statement + `]}`; err != nil || *s.Trust != want {
		t.Errorf("%v\n got %s\nwant %s", err, aws.ToString(s.Trust), want)
	}
	s, err = desired(t, scope(nil), roleOf(irsa("llm-query", ""), podIdentity("production", "llm-query", "")))
	if err != nil || !strings.Contains(*s.Trust, "sts:AssumeRoleWithWebIdentity") || !strings.HasSuffix(*s.Trust, ","+statement+`]}`) {
		t.Errorf("%v\n%s", err, aws.ToString(s.Trust))
	}
}

func TestDeletingAsksForNothingButIdentity(t *testing.T) {
	cr := roleOf(irsa("sa", "team-b"), inline("one", "{"), func(s *spec) { s.Path = "/aws-reserved/" })
	if _, err := desired(t, scope(func(sc *kind.Scope) { *sc = kind.Scope{Search: kind.Search{Deleting: true}} }), cr); err != nil {
		t.Error(err)
	}
}

// The guard itself is tested in iampolicy; here its verdict reaches the object, unless a capability compiled it.
func TestDesired_GuardsInlinePolicies(t *testing.T) {
	for doc, refused := range map[string]bool{
		allow("*", "*"):                      true,
		allow("iam:*", "*"):                  true,
		allow("*", "arn:aws:iam::*:role/*"):  true,
		allow("*", "arn:aws:s3:::mine/*"):    false,
		allow("*", "arn:aws-cn:iam::1:role"): false,
	} {
		_, err := desired(t, scope(nil), roleOf(inline("one", doc)))
		if s, ok := status.AsStalled(err); refused != (ok && s.Reason == status.ReasonNotPermitted) {
			t.Errorf("%s: %v", doc, err)
		}
		if _, err = desired(t, scope(func(sc *kind.Scope) { sc.Trusted = true }), roleOf(inline("one", doc))); err != nil {
			t.Errorf("%s: a document that a capability compiled is refused: %v", doc, err)
		}
	}
}

func TestDesired_SendsDocumentsAsChecked(t *testing.T) {
	const text = "{ \"statement\" : [ { \"Effect\":\"Allow\", \"action\":[\"s3:GetObject\"], \"Resource\":\"arn:aws:s3:::a<b>&c\" } ] }\n"
	const want = `{"Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::a<b>&c"}]}`
	s, err := desired(t, scope(nil), roleOf(inline("one", text)))
	if err != nil || *s.Inline["one"] != want {
		t.Errorf("%v\n got %s\nwant %s", err, aws.ToString(s.Inline["one"]), want)
	}
}

func TestDesired_RefusesUniqueIDsOfPrincipals(t *testing.T) {
	_, err := desired(t, scope(nil), roleOf(func(s *spec) {
		s.AssumeRolePolicyDocument = `{"Statement":{"Effect":"Allow","Principal":{"AWS":"AROAKSCDLFT9R5DQP782U"},"Action":"sts:AssumeRole"}}`
	}))
	if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonInvalidSpec || !strings.Contains(s.Message, "AROAKSCDLFT9R5DQP782U") {
		t.Error(err)
	}
}

func TestFewNamesAreShown(t *testing.T) {
	if got := joinNames([]string{"1", "2", "3", "4", "5", "6", "7"}); got != "1, 2, 3, 4, 5 and 2 more" {
		t.Error(got)
	}
}
