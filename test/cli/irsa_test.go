// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// account is that of the emulator.
const account = "123456789012"

// repaired holds what the tests read of an answer of fix-irsa.
type repaired struct {
	Issuer, Provider, Account string
	DryRun                    bool
	Changes                   []struct{ Object, Action, Diff string }
	Notes                     []string
}

// provider is the ARN of the IAM OIDC provider of an issuer.
func (x *tool) provider(issuer string) string {
	return "arn:aws:iam::" + account + ":oidc-provider/" + strings.TrimPrefix(issuer, "https://")
}

// audiences returns the audiences that IAM accepts in tokens of an issuer; nil when it accepts none of them.
func (x *tool) audiences(issuer string) []string {
	out, err := x.iam().GetOpenIDConnectProvider(x.Ctx(),
		&iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(x.provider(issuer))})
	if err != nil {
		return nil
	}
	return out.ClientIDList
}

func (x *tool) withoutProvider(issuer string) {
	x.Helper()
	if _, err := x.iam().DeleteOpenIDConnectProvider(x.Ctx(),
		&iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(x.provider(issuer))}); err != nil {
		x.Fatal(err)
	}
}

func (x *tool) trustOf(role string) string {
	x.Helper()
	out, err := x.iam().GetRole(x.Ctx(), &iam.GetRoleInput{RoleName: &role})
	if err != nil {
		x.Fatal(err)
	}
	text, err := url.PathUnescape(*out.Role.AssumeRolePolicyDocument)
	if err != nil {
		x.Fatal(err)
	}
	return text
}

func TestFixIRSA_CreatesTheProviderOnce(t *testing.T) {
	x := newTool(t)
	x.withoutProvider(world.DefaultIssuer)
	t.Cleanup(func() {
		if x.audiences(world.DefaultIssuer) == nil {
			_, _ = x.World.AWS().CreateOIDCProvider(x.Ctx(), world.DefaultIssuer) // for the tests that follow
		}
	})
	mark := x.World.AWS().Mark()
	x.wants(x.run("", "fix-irsa", "--dry-run"), 0, x.provider(world.DefaultIssuer),
		"would: create the IAM OIDC provider with audience sts.amazonaws.com",
		"namespace default has no operator yet")
	if w := x.ownWrites(mark); len(w) > 0 {
		t.Errorf("a dry run wrote %v", w)
	}
	x.wants(x.run("", "fix-irsa"), 0, "done: create the IAM OIDC provider")
	if got := x.audiences(world.DefaultIssuer); len(got) != 1 || got[0] != "sts.amazonaws.com" {
		t.Errorf("audiences %q", got)
	}
	mark = x.World.AWS().Mark()
	x.wants(x.run("", "fix-irsa"), 0, "There is nothing to change.")
	if w := x.ownWrites(mark); len(w) > 0 {
		t.Errorf("a second run wrote %v", w)
	}
	x.withoutProvider(world.DefaultIssuer)
	x.World.AWS().Fault(emulator.Match{Service: "iam", Op: "CreateOpenIDConnectProvider", Times: 1}, emulator.BeforeThen(func() {
		// a person is faster, and the answer is lost as well
		if _, err := x.World.AWS().CreateOIDCProvider(x.Ctx(), world.DefaultIssuer); err != nil {
			t.Error(err)
		}
	}))
	x.wants(x.run("", "fix-irsa"), 0, "done: create the IAM OIDC provider")
}

func TestFixIRSA_AddsTheAudience(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	arn := aws.String(x.provider(world.DefaultIssuer))
	if _, err := x.iam().AddClientIDToOpenIDConnectProvider(x.Ctx(),
		&iam.AddClientIDToOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn, ClientID: aws.String("other")}); err != nil {
		t.Fatal(err)
	}
	if _, err := x.iam().RemoveClientIDFromOpenIDConnectProvider(x.Ctx(),
		&iam.RemoveClientIDFromOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn, ClientID: aws.String("sts.amazonaws.com")}); err != nil {
		t.Fatal(err)
	}
	var r repaired
	if x.read(&r, "fix-irsa"); len(r.Changes) != 1 || r.Changes[0].Action != "add audience sts.amazonaws.com" ||
		r.Provider != x.provider(world.DefaultIssuer) || r.DryRun {
		t.Errorf("%+v", r)
	}
	if got := x.audiences(world.DefaultIssuer); len(got) != 2 {
		t.Errorf("audiences %q", got)
	}
}

// The cluster was created again: the role of the operator trusts the issuer that is gone. It also serves another cluster.
func TestFixIRSA_RepairsTheTrustOfTheOperatorsRole(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	const gone, other = "https://oidc.eks.ap-southeast-1.amazonaws.com/id/GONE", "https://oidc.eks.ap-southeast-1.amazonaws.com/id/OTHER"
	if _, err := x.World.AWS().CreateOIDCProvider(x.Ctx(), other); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.withoutProvider(other) })
	trusts := func(issuer string) string {
		name := strings.TrimPrefix(issuer, "https://")
		return `{"Effect":"Allow","Principal":{"Federated":"` + x.provider(issuer) +
			`"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"` +
			name + `:sub":"system:serviceaccount:default:operator-irsa","` + name + `:aud":"sts.amazonaws.com"}}}`
	}
	const role = "NexusAIOperatorRole"
	document := `{"Version":"2012-10-17","Statement":[` + trusts(gone) + `,` + trusts(other) + `]}`
	if _, err := x.iam().CreateRole(x.Ctx(),
		&iam.CreateRoleInput{RoleName: aws.String(role), AssumeRolePolicyDocument: &document}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := x.iam().DeleteRole(x.Ctx(), &iam.DeleteRoleInput{RoleName: aws.String(role)}); err != nil {
			t.Error(err)
		}
	})
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "operator-irsa"}}
	x.installed(sa)
	selector, template := operatorPod()
	template.Spec.ServiceAccountName = sa.Name
	x.installed(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nexus-operator"},
		Spec: appsv1.DeploymentSpec{Selector: &selector, Template: template}})

	x.wants(x.run("", "fix-irsa"), 0, "There is nothing to change.", "ServiceAccount default/operator-irsa names no role")
	name := func(arn string) {
		x.Edit(sa, func() { sa.Annotations = map[string]string{"eks.amazonaws.com/role-arn": arn} })
	}
	for arn, want := range map[string]string{
		"arn:aws:iam::210987654321:role/x":       "is in account 210987654321, and your AWS credentials lead to account " + account,
		"arn:aws:iam::" + account + ":role/none": "does not exist: create it, or correct the annotation",
		"arn:aws:s3:::" + role:                   "is not the ARN of an IAM role",
	} {
		name(arn)
		x.wants(x.run("", "fix-irsa"), 1, want)
	}
	name("arn:aws:iam::" + account + ":role/" + role)
	x.wants(x.run("", "fix-irsa", "--dry-run"), 0, "would: replace the trust policy", "- \"Federated\": \""+x.provider(gone),
		"+ \"Federated\": \""+x.provider(world.DefaultIssuer))
	if got := x.trustOf(role); !strings.Contains(got, x.provider(gone)) || strings.Contains(got, x.provider(world.DefaultIssuer)) {
		t.Errorf("a dry run changed the trust policy to %s", got)
	}
	x.wants(x.run("", "fix-irsa"), 0, "done: replace the trust policy")
	if got := x.trustOf(role); strings.Contains(got, "GONE") || !strings.Contains(got, x.provider(other)) ||
		!strings.Contains(got, x.provider(world.DefaultIssuer)) {
		t.Errorf("the trust policy is %s", got)
	}
	x.wants(x.run("", "fix-irsa"), 0, "There is nothing to change.")
	x.wants(x.run("", "fix-irsa", "--service-account", "default"), 2, `"default" is not NAMESPACE/NAME`)
	x.wants(x.run("", "fix-irsa", "--service-account", "default/none"), 4, "ServiceAccount default/none does not exist")
}

func TestFixIRSA_NeedsAWSAndTheCluster(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	x.wants(x.runAs([]string{"KUBECONFIG=" + x.World.Kubeconfig()}, "", "fix-irsa"), 4, "credentials")
	x.wants(x.runAs([]string{"KUBECONFIG=/nonexistent"}, "", "fix-irsa"), 4)
	x.wants(x.as("stranger", "fix-irsa"), 4, "cannot get resource")
	x.World.AWS().Fault(emulator.Match{Service: "iam", Op: "GetOpenIDConnectProvider"}, emulator.Fail(403, "AccessDenied", "not allowed"))
	x.wants(x.run("", "fix-irsa"), 4, "iam:GetOpenIDConnectProvider")
	x.wants(x.run("", "fix-irsa", "-o", "wide"), 2, `"wide" is none of`)
}
