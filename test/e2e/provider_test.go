package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
)

// keys is a Secret with credentials.
func keys(name, id string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{
		"AWS_ACCESS_KEY_ID": id, "AWS_SECRET_ACCESS_KEY": "canary-of-the-operator"}}
}

// keyed is a provider with credentials of its own.
func keyed(name, secret string) *v1alpha1.AWSProvider {
	p := provider(name)
	p.Spec.CredentialsSecret = &v1alpha1.SecretReference{Name: secret}
	return p
}

// trusting makes a role that whoever presents the ExternalId may assume.
func (b *bed) trusting(name, externalID string) string {
	b.Helper()
	c := iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.w.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	out, err := c.CreateRole(b.ctx(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: aws.String(fmt.Sprintf(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":%q}}}]}`, externalID))})
	if err != nil {
		b.Fatal(err)
	}
	return *out.Role.Arn
}

func TestAProviderActsAsItsRoleOrNotAtAll(t *testing.T) {
	b := newBed(t)
	for _, c := range []struct {
		name  string
		field string
		set   func(*v1alpha1.AWSProviderSpec, string)
	}{
		{"first-hop", "spec.roleARN", func(s *v1alpha1.AWSProviderSpec, arn string) { s.RoleARN = arn }},
		{"second-hop", "spec.assumeRoleARN", func(s *v1alpha1.AWSProviderSpec, arn string) { s.AssumeRoleARN = arn }},
	} {
		p := provider(c.name)
		c.set(&p.Spec, "arn:aws:iam::123456789012:role/acts-"+c.name)
		b.create(p)
		message := b.shows(p, "Stalled", metav1.ConditionTrue, "RoleNotAssumable")
		for _, want := range []string{c.field, "trust policy", "sts:ExternalId", p.Status.ExternalID} {
			if p.Status.ExternalID == "" || !strings.Contains(message, want) {
				t.Errorf("%s: the message does not name %q: %s", c.name, want, message)
			}
		}
		o := bucket("made-by-" + c.name)
		o.Spec.ProviderRef.Name = c.name
		b.create(o)
		if m := b.shows(o, "Ready", metav1.ConditionFalse, "ProviderNotReady"); !strings.Contains(m, "assume") {
			t.Errorf("%s: the dependent does not say why: %s", c.name, m)
		}
		if w := b.w.AWS().Calls().Match("s3", "*", "*"); len(w) > 0 {
			t.Errorf("%s: called without the role:\n%s", c.name, w)
		}
		b.trusting("acts-"+c.name, p.Status.ExternalID)
		b.ready(p, o)
		if !strings.Contains(p.Status.CallerIdentity, ":assumed-role/acts-"+c.name+"/nexus-") {
			t.Errorf("%s: acts as %s", c.name, p.Status.CallerIdentity)
		}
		for _, call := range b.w.AWS().Calls().Match("s3", "*", "made-by-*") {
			if call.AccessKey == "AKIAIOSFODNN7EXAMPLE" {
				t.Errorf("%s: %s was called with the operator's own key", c.name, call.Label())
			}
		}
		b.remove(o, p)
		b.w.AWS().ClearFaults()
		if err := b.w.AWS().Reset(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProvidersAreHeldToTheAdministratorsGuards(t *testing.T) {
	b := newBed(t, "--ambient-namespaces=*", "--allowed-endpoints=http://127.*,https://*.example.com,http://plain.example.com")
	b.create(keys("keys", "AKIAGUARDS"))
	role := "arn:aws:iam::123456789012:role/any"
	for i, c := range []struct {
		reason, names string
		spec          func(*v1alpha1.AWSProviderSpec)
	}{
		{"AccountNotAllowed", "123456789012", func(s *v1alpha1.AWSProviderSpec) { s.AllowedAccountIDs = []v1alpha1.AccountID{"210987654321"} }},
		{"EndpointNotAllowed", "--allowed-endpoints", func(s *v1alpha1.AWSProviderSpec) { s.Endpoint = "https://evil.test" }},
		{"EndpointNotAllowed", "https", func(s *v1alpha1.AWSProviderSpec) { s.Endpoint = "http://plain.example.com" }},
		{"EndpointNotAllowed", "plain URL", func(s *v1alpha1.AWSProviderSpec) { s.Endpoint = "http://127.0.0.1:80@evil.test" }},
		{"EndpointNotAllowed", "own credentials", func(s *v1alpha1.AWSProviderSpec) {
			s.Endpoint, s.CredentialsSecret = "http://127.0.0.1:4566", nil
		}},
		{"ExternalIDNotAllowed", "--allow-custom-external-id", func(s *v1alpha1.AWSProviderSpec) { s.RoleARN, s.ExternalID = role, "mine" }},
		{"InvalidSpec", "spec.credentialsSecret.namespace", func(s *v1alpha1.AWSProviderSpec) { s.CredentialsSecret.Namespace = "kube-system" }},
		{"InvalidSpec", "spec.secretAccessKeyRef.namespace", func(s *v1alpha1.AWSProviderSpec) {
			s.CredentialsSecret = nil
			s.AccessKeyIDRef = &v1alpha1.SecretKeyReference{Name: "keys", Key: "AWS_ACCESS_KEY_ID"}
			s.SecretAccessKeyRef = &v1alpha1.SecretKeyReference{Name: "keys", Key: "AWS_SECRET_ACCESS_KEY", Namespace: "kube-system"}
		}},
	} {
		p := keyed(fmt.Sprintf("guarded-%d", i), "keys")
		c.spec(&p.Spec)
		b.create(p)
		if m := b.shows(p, "Stalled", metav1.ConditionTrue, c.reason); !strings.Contains(m, c.names) {
			t.Errorf("%s does not name %q: %s", c.reason, c.names, m)
		}
	}
	if n := b.w.AWS().Calls().Match("sts", "AssumeRole", "*").Count(); n > 0 {
		t.Errorf("%d roles were assumed", n)
	}
	// A namespace that is the object's own is accepted, and so is the ID that we would choose.
	p := keyed("fine", "keys")
	p.Spec.CredentialsSecret.Namespace = b.ns
	p.Spec.AllowedAccountIDs = []v1alpha1.AccountID{"123456789012"}
	b.create(p)
	b.ready(p)
	arn := b.trusting("fine", p.Status.ExternalID)
	b.edit(p, func() { p.Spec.RoleARN, p.Spec.ExternalID = arn, p.Status.ExternalID })
	b.ready(p)
	o := bucket("elsewhere")
	o.Spec.ProviderRef = v1alpha1.ProviderReference{Name: "fine", Namespace: "kube-system"}
	b.create(o)
	if m := b.shows(o, "Stalled", metav1.ConditionTrue, "InvalidSpec"); !strings.Contains(m, "spec.providerRef.namespace") {
		t.Errorf("the field is not named: %s", m)
	}
	b.remove(o)
}

func TestRotatedCredentialsAreUsedAtOnce(t *testing.T) {
	b := newBed(t, "--check-interval=1s")
	secret := keys("keys", "AKIABEFORE")
	b.create(secret)
	p := keyed("aws", "keys")
	b.create(p)
	o := bucket("rotated")
	b.create(o)
	b.ready(p, o)
	b.edit(secret, func() { secret.StringData = map[string]string{"AWS_ACCESS_KEY_ID": "AKIAAFTER"} })
	mark, _ := b.mark()
	b.eventually(5*time.Second, "the new key to be used", func() error {
		for _, c := range b.w.AWS().Since(mark).Match("s3", "*", "rotated") {
			if c.AccessKey == "AKIAAFTER" {
				return nil
			}
		}
		return fmt.Errorf("%s", b.w.AWS().Since(mark))
	})
	time.Sleep(200 * time.Millisecond) // what was under way with the old key
	mark, _ = b.mark()
	b.eventually(5*time.Second, "another check", func() error {
		if n := b.w.AWS().Since(mark).Match("s3", "*", "rotated").Count(); n < 3 {
			return fmt.Errorf("%d calls", n)
		}
		return nil
	})
	for _, c := range b.w.AWS().Since(mark) {
		if c.AccessKey != "AKIAAFTER" {
			t.Errorf("%s was called with %s", c.Label(), c.AccessKey)
		}
	}
	b.remove(o, p, secret)
}

func TestAProviderAndItsSecretInUseCannotVanish(t *testing.T) {
	b := newBed(t)
	secret, bystander := keys("keys", "AKIAINUSE"), keys("bystander", "AKIANOBODY")
	b.create(secret, bystander)
	p := keyed("aws", "keys")
	b.create(p)
	one, two := bucket("dependent-one"), bucket("dependent-two")
	b.create(one, two)
	b.ready(p, one, two)
	if err := b.get(bystander); err != nil || len(bystander.Finalizers) > 0 {
		t.Errorf("a Secret that no provider reads has finalizers %v, %v", bystander.Finalizers, err)
	}
	for _, o := range []client.Object{secret, p} {
		if err := b.c.Delete(b.ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	b.counts(p, "2 objects")
	b.ready(p) // fit for use all the same
	if err := b.c.Delete(b.ctx(), one); err != nil {
		t.Fatal(err)
	}
	b.gone(one)
	b.counts(p, "1 objects")
	for _, o := range []client.Object{secret, p} {
		if err := b.get(o); err != nil {
			t.Fatalf("%T vanished from under its dependents: %v", o, err)
		}
	}
	b.remove(two)
	b.eventually(5*time.Second, "the provider and its Secret to go", func() error {
		for _, o := range []client.Object{p, secret} {
			if err := b.get(o); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is still there: %v", o.GetName(), err)
			}
		}
		return nil
	})
	if inv := b.inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

// counts waits until a provider's condition InUse names a number of objects.
func (b *bed) counts(p *v1alpha1.AWSProvider, want string) {
	b.Helper()
	b.eventually(5*time.Second, "InUse to count "+want, func() error {
		c, err := b.condition(p, "InUse")
		if err == nil && !strings.HasPrefix(c.Message, want) {
			err = fmt.Errorf("%s", c.Message)
		}
		return err
	})
}

func TestASecretInUseStaysAndIsLetGoWhenNobodyReadsIt(t *testing.T) {
	b := newBed(t)
	old, next := keys("old", "AKIAOLD"), keys("next", "AKIANEXT")
	b.create(old, next)
	p := keyed("aws", "old")
	b.create(p)
	o := bucket("needs-keys")
	b.create(o)
	b.ready(p, o)
	if err := b.c.Delete(b.ctx(), old); err != nil {
		t.Fatal(err)
	}
	b.counts(p, "1 objects still need Secret old")
	b.ready(p, o)
	b.edit(p, func() { p.Spec.CredentialsSecret.Name = "next" })
	b.gone(old)
	b.ready(p, o)
	// AWS refuses the key while the provider goes; when it is in order again, so does everything else.
	rule := b.w.AWS().Fault(awsproxy.Match{Service: "sts"}, awsproxy.Fail(403, "InvalidClientTokenId", "The security token included in the request is invalid."))
	b.edit(p, func() { p.Spec.DefaultTags = map[string]v1alpha1.TagValue{"team": "x"} })
	b.shows(p, "Stalled", metav1.ConditionTrue, "CredentialsInvalid")
	for _, o := range []client.Object{p, o} {
		if err := b.c.Delete(b.ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	b.shows(o, "Ready", metav1.ConditionFalse, "ProviderNotReady")
	rule.Remove()
	b.gone(o)
	b.gone(p)
	b.remove(next)
}
