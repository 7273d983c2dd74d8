// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
)

const (
	homeAccount  = "123456789012"
	otherAccount = "210987654321"
)

// admin returns a configuration with every right in an account. It goes past the proxy, so that the ledger holds the
// operator's calls only.
func (b *bed) admin(account string) aws.Config {
	b.Helper()
	cfg := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.MotoURL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	if account == homeAccount {
		return cfg
	}
	out, err := sts.NewFromConfig(cfg).AssumeRole(b.Ctx(),
		&sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::" + account + ":role/admin"), RoleSessionName: aws.String("admin")})
	if err != nil {
		b.Fatal(err)
	}
	c := out.Credentials
	cfg.Credentials = credentials.NewStaticCredentialsProvider(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken)
	return cfg
}

func (b *bed) oidcARN(account string) *string {
	return aws.String("arn:aws:iam::" + account + ":oidc-provider/" + strings.TrimPrefix(b.World.Issuer(), "https://"))
}

func (b *bed) createOIDCProvider(account, audience string) {
	b.Helper()
	_, err := iam.NewFromConfig(b.admin(account)).CreateOpenIDConnectProvider(b.Ctx(), &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(b.World.Issuer()), ClientIDList: []string{audience}, ThumbprintList: []string{strings.Repeat("0", 40)}})
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bed) deleteOIDCProvider(account string) {
	b.Helper()
	if _, err := iam.NewFromConfig(b.admin(account)).DeleteOpenIDConnectProvider(b.Ctx(),
		&iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: b.oidcARN(account)}); err != nil {
		b.Fatal(err)
	}
}

// contains fails the test for each part that the message lacks.
func (b *bed) contains(message string, parts ...string) {
	b.Helper()
	for _, p := range parts {
		if !strings.Contains(message, p) {
			b.Errorf("the message does not contain %q: %s", p, message)
		}
	}
}

// irsaRole is a role for one ServiceAccount, outside a capability.
func irsaRole(name, provider string) *v1alpha1.IAMRole {
	return &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.IAMRoleSpec{
		CommonSpec: through(provider), RoleName: name, IRSA: &v1alpha1.IAMRoleIRSA{ServiceAccount: "app"}}}
}

func TestCapabilityWithoutOIDCProviderIsNotReady(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s")
	b.deleteOIDCProvider(homeAccount)
	mark, _ := b.Mark()
	c := b.small("unknown")
	b.Create(c)
	message := b.Shows(c, nexusv1.ConditionIdentityReady, metav1.ConditionFalse, "OIDCProviderMissing")
	b.contains(message, homeAccount, b.World.Issuer(), "aws iam create-open-id-connect-provider --url "+b.World.Issuer()+
		" --client-id-list sts.amazonaws.com")
	b.Shows(c, "Ready", metav1.ConditionFalse, "OIDCProviderMissing")
	b.Shows(c, nexusv1.ConditionBackendReady, metav1.ConditionTrue, "Ready") // the workloads do not wait for it
	if err := b.Get(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "unknown-dev-backend", Namespace: c.Namespace}}); err != nil {
		t.Error(err)
	}
	if c.Status.Phase != nexusv1.PhaseFailed {
		t.Errorf("phase %s, want Failed", c.Status.Phase)
	}
	if n := b.World.AWS().Since(mark).Match("iam", "GetOpenIDConnectProvider", "*").Count(); n == 0 {
		t.Error("IAM was never asked")
	}
	b.createOIDCProvider(homeAccount, "sts.amazonaws.com")
	b.healed(c)
	b.Shows(c, nexusv1.ConditionIdentityReady, metav1.ConditionTrue, "Ready")

	// The same after it has run, for the audience.
	b.deleteOIDCProvider(homeAccount)
	b.createOIDCProvider(homeAccount, "another-audience")
	message = b.Shows(c, nexusv1.ConditionIdentityReady, metav1.ConditionFalse, "OIDCAudienceMissing")
	b.contains(message, homeAccount, b.World.Issuer(), "aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn "+
		*b.oidcARN(homeAccount)+" --client-id sts.amazonaws.com")
	b.deleteOIDCProvider(homeAccount)
	b.createOIDCProvider(homeAccount, "sts.amazonaws.com")
	b.healed(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestUnreadableOIDCProviderLeavesIdentityUnknown(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	rule := b.World.AWS().Fault(emulator.Match{Service: "iam", Op: "GetOpenIDConnectProvider"}, emulator.Fail(403, "AccessDenied",
		"User: arn:aws:iam::123456789012:user/x is not authorized to perform: iam:GetOpenIDConnectProvider"))
	c := b.small("unreadable")
	b.Create(c)
	b.contains(b.Shows(c, nexusv1.ConditionIdentityReady, metav1.ConditionUnknown, "AccessDenied"), "iam:GetOpenIDConnectProvider")
	if c.Status.Ready {
		t.Error("the capability is Ready, and it is not known whether its pods get credentials")
	}
	rule.Remove()
	b.healed(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestRoleInOtherAccountNamesItsMissingOIDCProvider(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	p := provider("other")
	p.Spec.RoleARN = "arn:aws:iam::" + otherAccount + ":role/acts"
	b.Create(p)
	b.Shows(p, "Stalled", metav1.ConditionTrue, "RoleNotAssumable")
	b.trust(otherAccount, "acts", p.Status.ExternalID)
	near, far, twin := irsaRole("near", "home"), irsaRole("far", "other"), irsaRole("twin", "other")
	b.Create(provider("home"), near, far, twin)
	b.Shows(near, v1alpha1.ConditionOIDCProviderReady, metav1.ConditionTrue, "Ready")
	message := b.Shows(far, v1alpha1.ConditionOIDCProviderReady, metav1.ConditionFalse, "OIDCProviderMissing")
	b.contains(message, otherAccount, b.World.Issuer())
	b.Ready(near, far, twin) // the roles themselves are as declared
	b.createOIDCProvider(otherAccount, "sts.amazonaws.com")
	b.Shows(far, v1alpha1.ConditionOIDCProviderReady, metav1.ConditionTrue, "Ready")
	b.Shows(twin, v1alpha1.ConditionOIDCProviderReady, metav1.ConditionTrue, "Ready")

	// One read serves all roles of a provider.
	b.Restart("--check-interval=2s")
	mark, _ := b.Mark()
	b.Eventually(10*time.Second, "every role to be checked twice", func() error {
		for _, name := range []string{"near", "far", "twin"} {
			if n := b.World.AWS().Since(mark).Match("iam", "GetRole", name).Count(); n < 2 {
				return fmt.Errorf("%s: %d checks", name, n)
			}
		}
		return nil
	})
	calls := b.World.AWS().Since(mark)
	reads, checks := calls.Match("iam", "GetOpenIDConnectProvider", "*").Count(), calls.Match("iam", "GetRole", "*").Count()
	if reads == 0 || reads >= checks {
		t.Errorf("%d reads of OIDC providers for %d checks of roles:\n%s", reads, checks, calls)
	}
	b.Remove(near, far, twin)
}

func TestIssuerIsReadFromEKSWithoutWellKnown(t *testing.T) {
	extent.Full(t)
	k := kit.Proxied(t, "--eks-cluster-name=prod", "--region=ap-southeast-1")
	b := &bed{k}
	k.Kube.Fault(kubeproxy.Match{Path: "/.well-known/*"}, kubeproxy.Forbidden())
	r := irsaRole("on-eks", "aws")
	b.Create(provider("aws"), r)
	b.contains(b.Shows(r, "Stalled", metav1.ConditionTrue, "IssuerUnknown"), homeAccount, "EKS cluster prod", "--eks-cluster-name")

	api := eks.NewFromConfig(b.admin(homeAccount))
	out, err := api.CreateCluster(b.Ctx(),
		&eks.CreateClusterInput{Name: aws.String("prod"), RoleArn: aws.String("arn:aws:iam::123456789012:role/eks"),
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{"subnet-1", "subnet-2"}}})
	if err != nil {
		t.Fatal(err)
	}
	issuer := *out.Cluster.Identity.Oidc.Issuer
	message := b.Shows(r, v1alpha1.ConditionOIDCProviderReady, metav1.ConditionFalse, "OIDCProviderMissing")
	b.contains(message, issuer)
	b.Ready(r)
	role, err := iam.NewFromConfig(b.admin(homeAccount)).GetRole(b.Ctx(), &iam.GetRoleInput{RoleName: aws.String("on-eks")})
	if err != nil {
		t.Fatal(err)
	}
	b.contains(*role.Role.AssumeRolePolicyDocument, strings.TrimPrefix(issuer, "https://oidc.")[:20])
	b.Remove([]client.Object{r}...)
}
