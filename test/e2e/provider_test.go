// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// keys is a Secret with credentials.
func keys(name, id string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{
		"AWS_ACCESS_KEY_ID": id, "AWS_SECRET_ACCESS_KEY": "canary-of-the-operator"}}
}

// keyed is a provider with its own credentials.
func keyed(name, secret string) *v1alpha1.AWSProvider {
	p := provider(name)
	p.Spec.CredentialsSecret = &v1alpha1.SecretReference{Name: secret}
	return p
}

// trusting makes a role that everyone who presents the ExternalId may assume.
func (b *bed) trusting(name, externalID string) string {
	b.Helper()
	return b.trust(homeAccount, name, externalID)
}

// trust creates or changes a role of an account, so that only requests with one of the ExternalIds may assume it, and returns its ARN.
func (b *bed) trust(account, name string, externalIDs ...string) string {
	b.Helper()
	ids, err := json.Marshal(externalIDs)
	must(b, 0, err)
	policy := aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + homeAccount +
		`:root"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":` + string(ids) + `}}}]}`)
	c := iam.NewFromConfig(b.admin(account))
	_, err = c.CreateRole(b.Ctx(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: policy})
	if _, exists := errors.AsType[*iamtypes.EntityAlreadyExistsException](err); exists {
		_, err = c.UpdateAssumeRolePolicy(b.Ctx(), &iam.UpdateAssumeRolePolicyInput{RoleName: &name, PolicyDocument: policy})
	}
	must(b, 0, err)
	return "arn:aws:iam::" + account + ":role/" + name
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
		b.Create(p)
		message := b.Shows(p, "Stalled", metav1.ConditionTrue, "RoleNotAssumable")
		for _, want := range []string{c.field, "trust policy", "sts:ExternalId", p.Status.ExternalID} {
			if p.Status.ExternalID == "" || !strings.Contains(message, want) {
				t.Errorf("%s: the message does not name %q: %s", c.name, want, message)
			}
		}
		o := bucket("made-by-" + c.name)
		o.Spec.ProviderRef.Name = c.name
		b.Create(o)
		if m := b.Shows(o, "Ready", metav1.ConditionFalse, "ProviderNotReady"); !strings.Contains(m, "assume") {
			t.Errorf("%s: the dependent does not say why: %s", c.name, m)
		}
		if w := b.World.AWS().Calls().Match("s3", "*", "*"); len(w) > 0 {
			t.Errorf("%s: called without the role:\n%s", c.name, w)
		}
		b.trusting("acts-"+c.name, p.Status.ExternalID)
		b.Ready(p, o)
		if !strings.Contains(p.Status.CallerIdentity, ":assumed-role/acts-"+c.name+"/nexus-") {
			t.Errorf("%s: acts as %s", c.name, p.Status.CallerIdentity)
		}
		for _, call := range b.World.AWS().Calls().Match("s3", "*", "made-by-*") {
			if call.AccessKey == "AKIAIOSFODNN7EXAMPLE" {
				t.Errorf("%s: %s was called with the operator's own key", c.name, call.Label())
			}
		}
		b.Remove(o, p)
		b.World.AWS().ClearFaults()
		if err := b.World.ResetAWS(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProvidersAreHeldToTheAdministratorsGuards(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=*", "--allowed-endpoints=http://127.*,https://*.example.com,http://plain.example.com")
	b.Create(keys("keys", "AKIAGUARDS"))
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
		b.Create(p)
		if m := b.Shows(p, "Stalled", metav1.ConditionTrue, c.reason); !strings.Contains(m, c.names) {
			t.Errorf("%s does not name %q: %s", c.reason, c.names, m)
		}
	}
	if n := b.World.AWS().Calls().Match("sts", "AssumeRole", "*").Count(); n > 0 {
		t.Errorf("%d roles were assumed", n)
	}
	// A namespace that is the object's own is accepted, and so is the ID that we would choose.
	p := keyed("fine", "keys")
	p.Spec.CredentialsSecret.Namespace = b.Namespace
	p.Spec.AllowedAccountIDs = []v1alpha1.AccountID{"123456789012"}
	b.Create(p)
	b.Ready(p)
	arn := b.trusting("fine", p.Status.ExternalID)
	b.Edit(p, func() { p.Spec.RoleARN, p.Spec.ExternalID = arn, p.Status.ExternalID })
	b.Ready(p)
	o := bucket("elsewhere")
	o.Spec.ProviderRef = v1alpha1.ProviderReference{Name: "fine", Namespace: "kube-system"}
	b.Create(o)
	if m := b.Shows(o, "Stalled", metav1.ConditionTrue, "InvalidSpec"); !strings.Contains(m, "spec.providerRef.namespace") {
		t.Errorf("the field is not named: %s", m)
	}
	b.Remove(o)
}

func TestRotatedCredentialsAreUsedAtOnce(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s")
	secret := keys("keys", "AKIABEFORE")
	b.Create(secret)
	p := keyed("aws", "keys")
	b.Create(p)
	o := bucket("rotated")
	b.Create(o)
	b.Ready(p, o)
	b.Edit(secret, func() { secret.StringData = map[string]string{"AWS_ACCESS_KEY_ID": "AKIAAFTER"} })
	mark, _ := b.Mark()
	b.Eventually(5*time.Second, "the new key to be used", func() error {
		for _, c := range b.World.AWS().Since(mark).Match("s3", "*", "rotated") {
			if c.AccessKey == "AKIAAFTER" {
				return nil
			}
		}
		return fmt.Errorf("%s", b.World.AWS().Since(mark))
	})
	b.Quiet() // what was under way with the old key has ended
	mark, _ = b.Mark()
	b.Eventually(5*time.Second, "another check", func() error {
		if n := b.World.AWS().Since(mark).Match("s3", "*", "rotated").Count(); n < 3 {
			return fmt.Errorf("%d calls", n)
		}
		return nil
	})
	for _, c := range b.World.AWS().Since(mark) {
		if c.AccessKey != "AKIAAFTER" {
			t.Errorf("%s was called with %s", c.Label(), c.AccessKey)
		}
	}
	b.Remove(o, p, secret)
}

// An object whose provider is broken does not go on saying that it is Ready until its next check, which is minutes away.
func TestABrokenProviderShowsOnItsObjectsAtOnce(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	p, o := keyed("aws", "keys"), bucket("follows")
	b.Create(keys("keys", "AKIAFOLLOWS"), p, o)
	b.Ready(p, o)
	mark, _ := b.Mark()
	b.Edit(p, func() { p.Spec.AllowedAccountIDs = []v1alpha1.AccountID{otherAccount} })
	b.contains(b.Shows(o, "Ready", metav1.ConditionFalse, "ProviderNotReady"), "spec.allowedAccountIDs")
	b.Edit(p, func() { p.Spec.AllowedAccountIDs = nil })
	b.Ready(p, o)
	if made := b.World.AWS().Since(mark).Writes(); made.Count() > 0 {
		t.Errorf("a provider that was broken for a moment led to %v", made)
	}
	b.Remove(o, p)
}

func TestRotatedKeysOfOtherAccountServeNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s")
	secret := keys("keys", "AKIABEFORE")
	b.Create(secret)
	p := keyed("aws", "keys")
	p.Spec.AllowedAccountIDs = []v1alpha1.AccountID{homeAccount}
	b.Create(p)
	var all []client.Object
	for i := range 8 {
		all = append(all, bucket(fmt.Sprintf("attested-%d", i)))
	}
	b.Create(all...)
	b.Ready(append(all, p)...)
	other, err := b.admin(otherAccount).Credentials.Retrieve(b.Ctx())
	if err != nil {
		t.Fatal(err)
	}
	// Slow enough that objects ask for the new session before the provider's controller has judged it.
	slow := b.World.AWS().Fault(emulator.Match{Service: "sts", AccessKey: other.AccessKeyID}, emulator.Delay(2*time.Second))
	mark, _ := b.Mark()
	b.Edit(secret, func() {
		secret.StringData = map[string]string{"AWS_ACCESS_KEY_ID": other.AccessKeyID, "AWS_SECRET_ACCESS_KEY": other.SecretAccessKey,
			"AWS_SESSION_TOKEN": other.SessionToken}
	})
	b.Eventually(10*time.Second, "the new keys to be shown to STS", func() error {
		for _, call := range b.World.AWS().Since(mark) {
			if call.AccessKey == other.AccessKeyID {
				return nil
			}
		}
		return fmt.Errorf("not yet")
	})
	// Objects without a home: nothing but the attestation keeps them from being made in the other account.
	var late []client.Object
	for i := range 4 {
		late = append(late, bucket(fmt.Sprintf("unattested-%d", i)))
	}
	b.Create(late...)
	b.contains(b.Shows(p, "Stalled", metav1.ConditionTrue, "AccountNotAllowed"), otherAccount, "spec.allowedAccountIDs")
	slow.Remove()
	all = append(all, late...)
	for _, o := range []client.Object{all[0], late[0]} {
		b.Shows(o, "Ready", metav1.ConditionFalse, "ProviderNotReady")
	}
	for _, call := range b.World.AWS().Since(mark).Match("s3", "*", "*") {
		if call.AccessKey == other.AccessKeyID {
			t.Errorf("%s was called with keys of account %s, which is not allowed", call.Label(), otherAccount)
		}
	}
	b.Edit(secret, func() {
		secret.Data = nil
		secret.StringData = map[string]string{"AWS_ACCESS_KEY_ID": "AKIAAGAIN", "AWS_SECRET_ACCESS_KEY": "canary-of-the-operator"}
	})
	b.Ready(append(all, p)...)
	b.Remove(append(all, p, secret)...)
}

func TestProviderInDeletionCreatesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s")
	p := provider("going")
	old := bucket("before-deletion")
	old.Spec.ProviderRef.Name = p.Name
	b.Create(p, old)
	b.Ready(p, old)
	if p.Status.LastSyncTime.IsZero() {
		t.Error("status.lastSyncTime of the provider is missing")
	}
	if err := b.Client.Delete(b.Ctx(), p); err != nil {
		t.Fatal(err)
	}
	b.counts(p, "1 object ")
	late := bucket("after-deletion")
	late.Spec.ProviderRef.Name = p.Name
	b.Create(late)
	b.contains(b.Shows(late, "Ready", metav1.ConditionFalse, "ProviderDeleting"), "AWSProvider/going", "spec.providerRef")
	mark, _ := b.Mark()
	b.Edit(old, func() { old.Spec.Tags = map[string]v1alpha1.TagValue{"team": "x"} })
	b.Eventually(10*time.Second, "the existing bucket to be served", func() error {
		if b.World.AWS().Since(mark).Match("s3", "PutBucketTagging", "before-deletion").Count() == 0 {
			return fmt.Errorf("its tags are not written")
		}
		return nil
	})
	if n := b.World.AWS().Calls().Match("s3", "CreateBucket", "after-deletion").Count(); n > 0 {
		t.Errorf("a provider in deletion made %d buckets", n)
	}
	b.Remove(late, old)
	b.Gone(p)
}

func TestRoleARNWithoutKeysWorksWhereAmbientIsAllowed(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=platform")
	if _, err := iam.NewFromConfig(b.admin(homeAccount)).CreateRole(b.Ctx(),
		&iam.CreateRoleInput{RoleName: aws.String("seed"), AssumeRolePolicyDocument: aws.String(
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sts:AssumeRole"}]}`)}); err != nil {
		t.Fatal(err)
	}
	p := provider("irsa")
	p.Spec.RoleARN = "arn:aws:iam::123456789012:role/seed"
	b.Create(p)
	flag := "--ambient-namespaces=platform," + b.Namespace
	b.contains(b.Shows(p, "Stalled", metav1.ConditionTrue, "AmbientNotAllowed"), p.Spec.RoleARN, flag)
	b.Restart(flag)
	o := bucket("of-the-seed")
	o.Spec.ProviderRef.Name = p.Name
	b.Create(o)
	b.Ready(p, o)
	b.contains(p.Status.CallerIdentity, ":assumed-role/seed")
	b.Remove(o, p)
}

func TestAProviderAndItsSecretInUseCannotVanish(t *testing.T) {
	b := newBed(t)
	secret, bystander := keys("keys", "AKIAINUSE"), keys("bystander", "AKIANOBODY")
	b.Create(secret, bystander)
	p := keyed("aws", "keys")
	b.Create(p)
	one, two := bucket("dependent-one"), bucket("dependent-two")
	b.Create(one, two)
	b.Ready(p, one, two)
	if err := b.Get(bystander); err != nil || len(bystander.Finalizers) > 0 {
		t.Errorf("a Secret that no provider reads has finalizers %v, %v", bystander.Finalizers, err)
	}
	for _, o := range []client.Object{secret, p} {
		if err := b.Client.Delete(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	b.counts(p, "2 objects")
	b.Ready(p) // fit for use all the same
	if err := b.Client.Delete(b.Ctx(), one); err != nil {
		t.Fatal(err)
	}
	b.Gone(one)
	b.counts(p, "1 object ")
	for _, o := range []client.Object{secret, p} {
		if err := b.Get(o); err != nil {
			t.Fatalf("%T vanished from under its dependents: %v", o, err)
		}
	}
	b.Remove(two)
	b.Eventually(5*time.Second, "the provider and its Secret to go", func() error {
		for _, o := range []client.Object{p, secret} {
			if err := b.Get(o); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is still there: %v", o.GetName(), err)
			}
		}
		return nil
	})
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

// counts waits until a provider's condition InUse names a number of objects.
func (b *bed) counts(p *v1alpha1.AWSProvider, want string) {
	b.Helper()
	b.Eventually(5*time.Second, "InUse to count "+want, func() error {
		c, err := b.Condition(p, "InUse")
		if err == nil && !strings.HasPrefix(c.Message, want) {
			err = fmt.Errorf("%s", c.Message)
		}
		return err
	})
}

func TestASecretInUseStaysAndIsReleasedWhenUnread(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	old, next := keys("old", "AKIAOLD"), keys("next", "AKIANEXT")
	b.Create(old, next)
	p := keyed("aws", "old")
	b.Create(p)
	o := bucket("needs-keys")
	b.Create(o)
	b.Ready(p, o)
	if err := b.Client.Delete(b.Ctx(), old); err != nil {
		t.Fatal(err)
	}
	b.counts(p, "1 object still needs Secret old")
	b.Ready(p, o)
	b.Edit(p, func() { p.Spec.CredentialsSecret.Name = "next" })
	b.Gone(old)
	b.Ready(p, o)
	// AWS refuses the key while the provider goes; when it is in order again, so does everything else.
	rule := b.World.AWS().Fault(emulator.Match{Service: "sts"},
		emulator.Fail(403, "InvalidClientTokenId", "The security token included in the request is invalid."))
	b.Edit(p, func() { p.Spec.DefaultTags = map[string]v1alpha1.TagValue{"team": "x"} })
	b.Shows(p, "Stalled", metav1.ConditionTrue, "CredentialsInvalid")
	for _, o := range []client.Object{p, o} {
		if err := b.Client.Delete(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	b.Shows(o, "Ready", metav1.ConditionFalse, "ProviderNotReady")
	rule.Remove()
	b.Gone(o)
	b.Gone(p)
	b.Remove(next)
}
