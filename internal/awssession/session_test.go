// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakeapi"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakests"
)

const (
	team    = "team"
	account = "123456789012"
	userARN = "arn:aws:iam::123456789012:user/tester"
	podARN  = "arn:aws:sts::123456789012:assumed-role/operator/pod-1"
)

var (
	start = fakeapi.Start()

	errOutage    = fakeapi.Outage()
	errForbidden = fakeapi.Forbidden()
)

// bed is a directory before a fake API server and a fake STS.
type bed struct {
	*testing.T
	*Directory
	api *fakeapi.API
	sts *fakests.STS
	// generated is whether capabilities vouch for providers, and vouchErr fails the question.
	generated bool
	vouchErr  error
}

// IsGenerated implements Provenance.
func (b *bed) IsGenerated(context.Context, client.Object) (bool, error) {
	return b.generated, b.vouchErr
}

func newBed(t *testing.T, objs ...client.Object) *bed {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := &bed{T: t, api: fakeapi.New(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...)), sts: fakests.New()}
	b.sts.Caller("AKIAUSER", userARN)
	b.sts.Caller("ASIAPOD", podARN)
	b.Directory = b.directory()
	return b
}

// directory is a new one, as after a restart.
func (b *bed) directory() *Directory {
	sessions := awsclient.NewSessions(awsclient.Options{Now: testingclock.NewFakePassiveClock(start).Now, HTTPClient: b.sts,
		Ambient: func(context.Context) (aws.Config, error) {
			return aws.Config{BaseEndpoint: aws.String("http://sts.example"),
				Credentials: credentials.NewStaticCredentialsProvider("ASIAPOD", "secret", "")}, nil
		}})
	return &Directory{Client: b.api, Live: b.api.Live(), ClusterID: "cluster-1", Sessions: sessions, Provenance: b,
		Guards: Guards{AmbientNamespaces: []string{"ops"}}}
}

// readyProvider is one that its own controller has checked.
func readyProvider(name, secret string) *v1alpha1.AWSProvider {
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	p.Spec.Region = "eu-west-1"
	if secret != "" {
		p.Spec.CredentialsSecret = &v1alpha1.SecretReference{Name: secret}
	}
	p.Status.AccountID, p.Status.Partition = account, "aws"
	status.Summarize(&p.Status.Conditions, status.Result{Generation: 1, Now: start})
	return p
}

func secretOf(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name},
		Data: map[string][]byte{"AWS_ACCESS_KEY_ID": []byte("AKIAUSER"), "AWS_SECRET_ACCESS_KEY": []byte("secret")}}
}

func bucketOf(provider string) *v1alpha1.S3Bucket {
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "b"}}
	o.Spec.ProviderRef.Name = provider
	return o
}

func TestSessions_AreOpenedOnceForAllObjectsOfAProvider(t *testing.T) {
	b := newBed(t, readyProvider("aws", "keys"), secretOf("keys"))
	first, provider, err := b.For(t.Context(), bucketOf("aws"), false)
	if err != nil || first.Account != account || first.CallerARN != userARN || first.Region != "eu-west-1" || provider.Name != "aws" {
		t.Fatalf("%v %v %v", first, provider, err)
	}
	b.sts.Calls()
	b.api.Calls()
	second, _, err := b.For(t.Context(), bucketOf("aws"), false)
	if err != nil || second != first {
		t.Errorf("%v %v: a second session of one identity", second, err)
	}
	if n, reads := b.sts.Calls(), b.api.Calls("live get Secret"); n != 0 || len(reads) != 0 {
		t.Errorf("asked STS %d times and the API server %q", n, reads)
	}
}

func TestSessions_WaitForAReadyProvider(t *testing.T) {
	notReady, edited := readyProvider("notready", "keys"), readyProvider("edited", "keys")
	status.Summarize(&notReady.Status.Conditions,
		status.Result{Err: &status.Stalled{Reason: "CredentialsInvalid", Message: "AWS does not accept the credentials"}, Generation: 1,
			Now: start})
	edited.Generation = 2
	other := readyProvider("other", "keys")
	other.Namespace = "other"
	b := newBed(t, notReady, edited, other, secretOf("keys"))
	for _, c := range []struct{ provider, reason, text string }{
		{"missing", status.ReasonProviderMissing, "AWSProvider/missing to exist in namespace team"},
		{"other", status.ReasonProviderMissing, "AWSProvider/other to exist in namespace team"},
		{"notready", status.ReasonProviderNotReady, "AWS does not accept the credentials"},
		{"edited", status.ReasonProviderNotReady, "AWSProvider/edited to be ready"},
	} {
		_, _, err := b.For(t.Context(), bucketOf(c.provider), false)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != c.reason || w.After != PollInterval || !strings.Contains(w.For, c.text) {
			t.Errorf("%s: %v", c.provider, err)
		}
	}
	if n := b.sts.Calls(); n != 0 {
		t.Errorf("STS is asked %d times with credentials that nobody checked", n)
	}
	b.api.Fail("get AWSProvider", errOutage)
	if _, _, err := b.For(t.Context(), bucketOf("aws"), false); !errors.Is(err, errOutage) {
		t.Errorf("an outage looks like a missing provider: %v", err)
	}
}

func TestSessions_RefuseReferencesToOtherNamespaces(t *testing.T) {
	o := bucketOf("aws")
	o.Spec.ProviderRef.Namespace = "victim"
	secret, id, key := readyProvider("secret", "keys"), readyProvider("id", ""), readyProvider("key", "")
	secret.Spec.CredentialsSecret.Namespace = "victim"
	id.Spec.AccessKeyIDRef, id.Spec.SecretAccessKeyRef = &v1alpha1.SecretKeyReference{Namespace: "victim", Name: "keys", Key: "k"},
		&v1alpha1.SecretKeyReference{Name: "keys", Key: "k"}
	key.Spec.AccessKeyIDRef, key.Spec.SecretAccessKeyRef = &v1alpha1.SecretKeyReference{Name: "keys", Key: "AWS_ACCESS_KEY_ID"},
		&v1alpha1.SecretKeyReference{Namespace: "victim", Name: "keys", Key: "k"}
	b := newBed(t, secretOf("keys"))
	_, _, forErr := b.For(t.Context(), o, false)
	_, secretErr := b.Resolve(t.Context(), secret)
	_, idErr := b.Resolve(t.Context(), id)
	_, keyErr := b.Resolve(t.Context(), key)
	for field, err := range map[string]error{"spec.providerRef.namespace": forErr, "spec.credentialsSecret.namespace": secretErr,
		"spec.accessKeyIDRef.namespace": idErr, "spec.secretAccessKeyRef.namespace": keyErr} {
		if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonInvalidSpec || s.Field != field || !strings.Contains(s.Message, team) {
			t.Errorf("%s: %v", field, err)
		}
	}
	o.Spec.ProviderRef.Namespace = team // the object's own is allowed
	if _, _, err := b.For(t.Context(), o, false); !strings.Contains(err.Error(), "to exist") {
		t.Errorf("got %v", err)
	}
}

// People who may read Secrets of their namespace do not get the keys of a Secret that an administrator keeps in the operator's.
func TestResolve_ReadsASecretOfTheOperatorOnlyWhereItIsGranted(t *testing.T) {
	shared := secretOf("accounts")
	shared.Namespace = "nexus-system"
	for granted, want := range map[string]bool{"": false, "other": false, team: true, "other," + team: true, team[:1] + "*": true,
		team + "x": false} {
		s := shared.DeepCopy()
		s.Annotations = map[string]string{AnnotationAllowedNamespaces: granted}
		b := newBed(t, s, secretOf("keys"))
		b.OperatorNamespace = "nexus-system"
		p := readyProvider("aws", "accounts")
		p.Spec.CredentialsSecret.Namespace = "nexus-system"
		id, err := b.Resolve(t.Context(), p)
		stalled, refused := status.AsStalled(err)
		if refused == want || refused && stalled.Reason != status.ReasonCredentialsMissing || want && id.Static.AccessKeyID != "AKIAUSER" {
			t.Errorf("granted to %q: %+v, %v", granted, id.Static, err)
		}
		p.Spec.CredentialsSecret.Name = "absent"
		if _, absent := b.Resolve(t.Context(), p); !want && strings.ReplaceAll(absent.Error(), "absent", "accounts") != err.Error() {
			t.Errorf("the message tells whether the Secret exists: %v, and %v", err, absent)
		}
	}
}

func TestResolve_ChangesTheIdentityWithItsSecret(t *testing.T) {
	p, s := readyProvider("aws", "keys"), secretOf("keys")
	b := newBed(t, p, s)
	session, _, err := b.For(t.Context(), bucketOf("aws"), false)
	if err != nil {
		t.Fatal(err)
	}
	b.sts.Caller("AKIAOTHER", "arn:aws:iam::123456789012:user/other")
	s.Data["AWS_ACCESS_KEY_ID"] = []byte("AKIAOTHER")
	if err := b.api.Store.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if same, _, err := b.For(t.Context(), bucketOf("aws"), false); err != nil || same != session {
		t.Errorf("%v: the Secret is read by each object, not by the provider's controller", err)
	}
	old := b.open[p.UID].identity
	if _, err := b.Resolve(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	b.sts.Calls()
	if _, err := b.Sessions.Open(t.Context(), old); err != nil || b.sts.Calls() == 0 {
		t.Errorf("%v: the session of the keys before is kept", err)
	}
	if rotated, _, err := b.For(t.Context(), bucketOf("aws"), false); err != nil || !strings.HasSuffix(rotated.CallerARN, "/other") {
		t.Errorf("%v %v", rotated, err)
	}
}

func TestResolve_SaysWhatIsMissing(t *testing.T) {
	refs := func(id, secret string) *v1alpha1.AWSProvider {
		p := readyProvider("aws", "")
		p.Spec.AccessKeyIDRef, p.Spec.SecretAccessKeyRef = &v1alpha1.SecretKeyReference{Name: "keys", Key: id},
			&v1alpha1.SecretKeyReference{Name: "keys", Key: secret}
		return p
	}
	empty := secretOf("empty")
	empty.Data["AWS_SECRET_ACCESS_KEY"] = nil
	for _, c := range []struct {
		name     string
		provider *v1alpha1.AWSProvider
		fault    error
		text     string // empty is none
	}{
		{"a Secret with both keys", readyProvider("aws", "keys"), nil, ""},
		{"references to both keys", refs("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), nil, ""},
		{"no Secret", readyProvider("aws", "none"), nil, "Secret team/none does not exist or may not be read"},
		{"a Secret that may not be read", readyProvider("aws", "keys"), errForbidden, "Secret team/keys does not exist or may not be read"},
		{"an empty key", readyProvider("aws", "empty"), nil, "Secret empty has no key AWS_SECRET_ACCESS_KEY"},
		{"a reference to a key that is missing", refs("AWS_ACCESS_KEY_ID", "nope"), nil, "Secret keys has no key nope"},
	} {
		b := newBed(t, secretOf("keys"), empty.DeepCopy())
		b.api.Fail("live get Secret", c.fault)
		id, err := b.Resolve(t.Context(), c.provider)
		if c.text == "" {
			if err != nil || id.Static.AccessKeyID != "AKIAUSER" || id.Static.SecretAccessKey.Reveal() != "secret" ||
				strings.Contains(id.Key, "secret") {
				t.Errorf("%s: %+v %v", c.name, id, err)
			}
			continue
		}
		if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonCredentialsMissing || !strings.Contains(s.Message, c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	b := newBed(t, secretOf("keys"))
	b.api.Fail("live get Secret", errOutage)
	for _, p := range []*v1alpha1.AWSProvider{readyProvider("aws", "keys"), refs("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")} {
		if _, err := b.Resolve(t.Context(), p); !errors.Is(err, errOutage) {
			t.Errorf("an outage looks like a missing Secret: %v", err)
		}
	}
}

func TestResolve_DerivesTheExternalID(t *testing.T) {
	p := readyProvider("aws", "keys")
	p.Spec.RoleARN, p.Spec.SessionDuration = "arn:aws:iam::123456789012:role/app", &metav1.Duration{Duration: 2 * time.Hour}
	own := awsclient.ExternalID("cluster-1", team, "aws")
	for _, c := range []struct {
		spec    string
		custom  bool
		want    string
		refused bool
	}{{"", false, own, false}, {own, false, own, false}, {"mine", false, "", true}, {"mine", true, "mine", false}} {
		b := newBed(t, secretOf("keys"))
		b.Guards.AllowCustomExternalID, p.Spec.ExternalID = c.custom, c.spec
		id, err := b.Resolve(t.Context(), p)
		if s, refused := status.AsStalled(err); refused != c.refused || refused &&
			(s.Reason != status.ReasonExternalIDNotAllowed || !strings.Contains(s.Message, own)) {
			t.Errorf("%q, custom %v: %v", c.spec, c.custom, err)
		}
		if !c.refused && (id.ExternalID != c.want || id.RoleARN != p.Spec.RoleARN || id.SessionDuration != 2*time.Hour ||
			id.SessionName != awsclient.SessionName(team, "aws")) {
			t.Errorf("%q: %+v", c.spec, id)
		}
	}
}

func TestForget_DropsTheSession(t *testing.T) {
	p := readyProvider("aws", "keys")
	b := newBed(t, p, secretOf("keys"))
	first, _, err := b.For(t.Context(), bucketOf("aws"), false)
	if err != nil {
		t.Fatal(err)
	}
	b.Forget("uid-other")
	if same, _, _ := b.For(t.Context(), bucketOf("aws"), false); same != first {
		t.Error("another provider's session is dropped")
	}
	b.Forget(p.UID)
	b.sts.Calls()
	if again, _, err := b.For(t.Context(), bucketOf("aws"), false); err != nil || again == first || b.sts.Calls() == 0 {
		t.Errorf("%v: the credentials of a provider that is gone are kept", err)
	}
}

func TestSecretKey(t *testing.T) {
	b := newBed(t, secretOf("keys"))
	if v, err := b.SecretKey(t.Context(), team, "keys", "AWS_ACCESS_KEY_ID"); err != nil || string(v) != "AKIAUSER" {
		t.Errorf("%s %v", v, err)
	}
	for _, c := range []struct{ name, key, text string }{{"keys", "nope", "Secret keys has no key nope"},
		{"none", "k", "kubectl create rolebinding"}} {
		_, err := b.SecretKey(t.Context(), team, c.name, c.key)
		if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonCredentialsMissing || !strings.Contains(s.Message, c.text) {
			t.Errorf("%s/%s: %v", c.name, c.key, err)
		}
	}
}
