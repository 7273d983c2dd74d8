// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// keyRefs is a provider that reads its two keys from Secrets.
func keyRefs(name, id, secret string) *v1alpha1.AWSProvider {
	p := ambient(name)
	p.Spec.AccessKeyIDRef, p.Spec.SecretAccessKeyRef = &v1alpha1.SecretKeyReference{Name: id, Key: "AWS_ACCESS_KEY_ID"},
		&v1alpha1.SecretKeyReference{Name: secret, Key: "AWS_SECRET_ACCESS_KEY"}
	return p
}

// working is a provider that has authenticated with the keys of a Secret.
func working(name, secret string) *v1alpha1.AWSProvider {
	p := withKeys(name, secret)
	p.Status.AccountID = "123456789012"
	return p
}

func TestSecretsThatAProviderReads(t *testing.T) {
	for _, c := range []struct {
		name     string
		provider *v1alpha1.AWSProvider
		want     []string
	}{
		{"its own identity", ambient("p"), nil},
		{"a Secret", withKeys("p", "keys"), []string{"keys"}},
		{"two keys of one Secret", keyRefs("p", "keys", "keys"), []string{"keys"}},
		{"two Secrets", keyRefs("p", "ids", "keys"), []string{"ids", "keys"}},
	} {
		if got := secretsOf(c.provider); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestReconcile_HoldsBothSecretsOfKeys(t *testing.T) {
	p := keyRefs("aws", "ids", "keys")
	b := newBed(t, p, secretOf("ids"), secretOf("keys"))
	b.passed(p)
	b.shows(p, "Ready", "True", "Authenticated", userARN)
	if !b.held("ids") || !b.held("keys") {
		t.Error("a Secret that the provider reads is not held")
	}
}

func TestReconcile_WorksWithoutTheRightToHoldASecret(t *testing.T) {
	p := withKeys("aws", "keys")
	b := newBed(t, p, secretOf("keys"))
	b.api.Fail("patch Secret", errForbidden)
	b.passed(p)
	b.shows(p, "Ready", "True", "Authenticated")
	b.api.Fail("live list Secret", errForbidden)
	b.remove(p)
	if _, err := b.pass(p); err != nil || !b.gone(p) {
		t.Errorf("a provider whose Secrets may not be listed stays: %v", err)
	}
}

func TestReconcile_RetriesASecretThatCannotBeHeld(t *testing.T) {
	for _, c := range []struct {
		call  string
		err   error
		retry bool
	}{{"patch Secret", errConflict, true}, {"patch Secret", errOutage, false}, {"live get Secret", errOutage, false},
		{"live list Secret", errOutage, false}} {
		p := withKeys("aws", "keys")
		b := newBed(t, p, secretOf("keys"))
		b.api.Fail(c.call, c.err)
		res, err := b.pass(p)
		if c.retry != (err == nil) || c.retry != (res.RequeueAfter > 0) {
			t.Errorf("%s %v: %+v %v", c.call, c.err, res, err)
		}
		if n := b.sts.Calls(); n != 0 {
			t.Errorf("%s %v: authenticated with a Secret that may vanish", c.call, c.err)
		}
	}
}

func TestReconcile_ReleasesSecretsThatNobodyReads(t *testing.T) {
	held := func(name string, change func(s *corev1.Secret)) *corev1.Secret {
		s := secretOf(name)
		s.Finalizers = []string{SecretFinalizer, "example.com/other"}
		change(s)
		return s
	}
	for _, c := range []struct {
		name   string
		others []client.Object
		used   int
		going  bool
		held   bool
	}{
		{"nobody reads it", nil, 0, false, false},
		{"another provider reads it", []client.Object{withKeys("other", "keys")}, 0, false, true},
		{"another provider reads another one", []client.Object{withKeys("other", "others")}, 0, false, false},
		{"it is to go, and its reader is in use", []client.Object{working("other", "keys")}, 1, true, true},
		{"it is to go, and its reader has never worked", []client.Object{withKeys("other", "keys")}, 1, true, false},
		{"it is to go, and its reader is not in use", []client.Object{working("other", "keys")}, 0, true, false},
	} {
		b := newBed(t, append(c.others, held("keys", func(*corev1.Secret) {}))...)
		b.used["other"] = c.used
		if c.going {
			b.remove(secretOf("keys"))
		}
		_, err := b.pass(ambient("gone")) // its finalizer was cut
		b.must(err)
		if got := b.held("keys"); got != c.held {
			t.Errorf("%s: held %v, want %v", c.name, got, c.held)
		}
		s := secretOf("keys")
		if b.get(s); !slices.Contains(s.Finalizers, "example.com/other") || string(s.Data["AWS_ACCESS_KEY_ID"]) != "AKIAUSER" {
			t.Errorf("%s: more than our finalizer is changed: %+v", c.name, s)
		}
	}
}

func TestReconcile_KeepsASecretWhoseReadersAreUnknown(t *testing.T) {
	s := secretOf("keys")
	s.Finalizers = []string{SecretFinalizer}
	b := newBed(t, working("other", "keys"), s)
	b.remove(s)
	b.usedErr = errOutage
	if _, err := b.pass(ambient("gone")); !errors.Is(err, errOutage) || !b.held("keys") {
		t.Errorf("%v, held %v", err, b.held("keys"))
	}
	b.usedErr = nil
	b.api.Fail("list AWSProvider", errOutage)
	if _, err := b.pass(ambient("gone")); !errors.Is(err, errOutage) || !b.held("keys") {
		t.Errorf("%v, held %v", err, b.held("keys"))
	}
}

// A Secret in deletion takes no finalizer any more; an existing finalizer is removed once the provider is unused.
func TestReconcile_LetsAnUnusedProvidersSecretGo(t *testing.T) {
	p, s := withKeys("aws", "keys"), secretOf("keys")
	b := newBed(t, p, s)
	b.passed(p)
	b.remove(s)
	_, err := b.pass(p)
	if err == nil {
		t.Error("the provider does not say that its credentials are gone")
	}
	if !b.gone(s) {
		t.Error("the Secret of a provider that nobody uses stays")
	}
	b.get(p)
	b.shows(p, "Ready", "False", "CredentialsMissing", "team/keys")
}

// Objects that wait for a provider need no Secret that never worked: a person deletes it and creates it again.
func TestReconcile_LetsASecretGoThatNeverWorked(t *testing.T) {
	p, s := withKeys("aws", "keys"), secretOf("keys")
	delete(s.Data, "AWS_ACCESS_KEY_ID")
	b := newBed(t, p, s)
	b.used["aws"] = 3
	if _, err := b.pass(p); err == nil || !b.held("keys") {
		t.Fatalf("%v, held %v", err, b.held("keys"))
	}
	b.remove(s)
	if _, err := b.pass(p); err == nil || !b.gone(s) {
		t.Errorf("%v: a Secret that never worked stays", err)
	}
	b.get(p)
	if meta.IsStatusConditionTrue(p.Status.Conditions, "InUse") {
		t.Error("the provider says that objects need the Secret")
	}
}

func TestProvidersReadingASecret(t *testing.T) {
	elsewhere := withKeys("elsewhere", "keys")
	elsewhere.Namespace = "other"
	b := newBed(t, withKeys("a", "keys"), keyRefs("b", "ids", "keys"), withKeys("c", "others"), ambient("d"), elsewhere)
	find := providersReading(b.api)
	var got []string
	for _, o := range find(t.Context(), &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "keys"}}) {
		got = append(got, o.GetNamespace()+"/"+o.GetName())
	}
	if !slices.Equal(got, []string{"team/a", "team/b"}) {
		t.Errorf("a changed Secret wakes %q", got)
	}
	b.api.Fail("list AWSProvider", errOutage)
	if got := find(t.Context(), secretOf("keys")); got != nil {
		t.Errorf("without the cache: %v", got)
	}
}
