// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestOIDCNoteSaysWhatIsKnown(t *testing.T) {
	const arn = "arn:aws:iam::123456789012:oidc-provider/oidc.example.com/id/ABC"
	answer := func(p kind.OIDCProvider, err error) func(string) (kind.OIDCProvider, error) {
		return func(string) (kind.OIDCProvider, error) { return p, err }
	}
	denied := &status.Stalled{Reason: status.ReasonAccessDenied, Message: "allow iam:GetOpenIDConnectProvider"}
	passing := &status.Retrying{Reason: status.ReasonThrottled, Cause: errors.New("slow down")}
	before := []metav1.Condition{{Type: v1alpha1.ConditionOIDCProviderReady, Status: metav1.ConditionTrue}}
	for name, c := range map[string]struct {
		edits    []func(*spec)
		reported []metav1.Condition
		look     func(string) (kind.OIDCProvider, error)
		want     string // empty: no note
		message  []string
	}{
		"absent": {look: answer(kind.OIDCProvider{ARN: arn}, nil), want: "False/OIDCProviderMissing recheck",
			message: []string{kindtest.Account, "https://oidc.example.com/id/ABC",
				"aws iam create-open-id-connect-provider --url https://oidc.example.com/id/ABC --client-id-list sts.amazonaws.com"}},
		"audience": {look: answer(kind.OIDCProvider{ARN: arn, Exists: true, Audiences: []string{"x"}}, nil),
			want: "False/OIDCAudienceMissing recheck",
			message: []string{"aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn " + arn +
				" --client-id sts.amazonaws.com"}},
		"there": {look: answer(kind.OIDCProvider{ARN: arn, Exists: true, Audiences: []string{"x", "sts.amazonaws.com"}}, nil),
			want: "True/Ready"},
		"denied": {look: answer(kind.OIDCProvider{}, denied), want: "Unknown/AccessDenied recheck",
			message: []string{"iam:GetOpenIDConnectProvider"}},
		"denied later":           {look: answer(kind.OIDCProvider{}, denied), reported: before, want: "Unknown/AccessDenied recheck"},
		"passing failure":        {look: answer(kind.OIDCProvider{}, passing), want: "Unknown/Retrying recheck"},
		"passing failure, later": {look: answer(kind.OIDCProvider{}, passing), reported: before},
		"no irsa":                {edits: []func(*spec){func(s *spec) { s.IRSA, s.AssumeRolePolicyDocument = nil, trust }}},
		"irsa replaced": {edits: []func(*spec){func(s *spec) { s.IRSA, s.AssumeRolePolicyDocument = nil, trust }}, reported: before,
			want: "True/Skipped"},
	} {
		cr := roleOf(append([]func(*spec){irsa("sa", "")}, c.edits...)...)
		cr.Status.Conditions = c.reported
		s, err := desired(t, scope(func(sc *kind.Scope) { sc.Federation.OIDCProvider = c.look }), cr)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, message := "", ""
		if n := s.OIDC; n != nil {
			got, message = map[bool]string{true: "True", false: "False"}[n.True], n.Message
			if n.Unknown {
				got = "Unknown"
			}
			if got += "/" + n.Reason; n.Recheck {
				got += " recheck"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, part := range c.message {
			if !strings.Contains(message, part) {
				t.Errorf("%s: %q does not contain %q", name, message, part)
			}
		}
	}
}

func TestIssuerThatIsUnknownIsExplained(t *testing.T) {
	why := &status.Stalled{Reason: status.ReasonIssuerUnknown, Message: "set --eks-cluster-name"}
	_, err := desired(t, scope(func(sc *kind.Scope) { sc.Federation.Issuer, sc.Federation.NoIssuer = "", why }), roleOf(irsa("sa", "")))
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestRoleIsMadeAndReportsItsMissingOIDCProvider(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewRole), roleOf(capability))
	s.Trusted = true
	noted := func() kind.Note {
		t.Helper()
		out, err := s.Settle(t.Context(), nil)
		if err != nil || !out.Synced || len(out.Plan.Notes) != 1 {
			t.Fatalf("synced %v, notes %v, %v", out.Synced, out.Plan.Notes, err)
		}
		return out.Plan.Notes[0]
	}
	if n := noted(); n.True || n.Reason != status.ReasonOIDCProviderMissing {
		t.Errorf("without a provider: %+v", n)
	}
	if _, err := iam.NewFromConfig(r.Config).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String(name)}); err != nil {
		t.Errorf("the role was not made: %v", err)
	}
	if _, err := r.AWS.CreateOIDCProvider(t.Context(), kindtest.Issuer); err != nil {
		t.Fatal(err)
	}
	if n := noted(); !n.True {
		t.Errorf("with the provider: %+v", n)
	}
}
