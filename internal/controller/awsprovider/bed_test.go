// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakeapi"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakests"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

const (
	team    = "team"
	userARN = "arn:aws:iam::123456789012:user/tester"
	podARN  = "arn:aws:sts::123456789012:assumed-role/operator/pod-1"
)

var (
	start = fakeapi.Start()

	errOutage    = fakeapi.Outage()
	errForbidden = fakeapi.Forbidden()
	errConflict  = fakeapi.Conflict()
)

// bed is a reconciler before a fake API server and a fake STS.
type bed struct {
	*testing.T
	*Reconciler
	api    *fakeapi.API
	sts    *fakests.STS
	clock  *testingclock.FakePassiveClock
	events *events.FakeRecorder
	// used counts the objects that use each provider, and usedErr fails the count.
	used    map[string]int
	usedErr error
	// watched holds the namespaces with watched Secrets.
	watched []string
	// generated is whether capabilities vouch for providers.
	generated bool
}

// IsGenerated implements awssession.Provenance.
func (b *bed) IsGenerated(context.Context, client.Object) (bool, error) { return b.generated, nil }

func newBed(t *testing.T, objs ...client.Object) *bed {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}}).WithObjects(objs...).WithStatusSubresource(&v1alpha1.AWSProvider{})
	b := &bed{T: t, api: fakeapi.New(builder), sts: fakests.New(), events: events.NewFakeRecorder(100), used: map[string]int{}}
	b.sts.Caller("AKIAUSER", userARN)
	b.sts.Caller("ASIAPOD", podARN)
	b.restart()
	return b
}

// restart creates the reconciler again, as after a restart of the operator.
func (b *bed) restart() {
	if b.clock == nil {
		b.clock = testingclock.NewFakePassiveClock(start)
	}
	env := reconciler.Environment{
		Client: b.api, Live: b.api.Live(), Clock: b.clock, Events: reconciler.Events{Recorder: b.events}, ClusterID: "cluster-1",
		Intervals: reconciler.Intervals{Check: 5 * time.Minute, Stalled: time.Minute, RetryFirst: time.Second, RetryMost: time.Minute},
	}
	sessions := awsclient.NewSessions(awsclient.Options{Now: b.clock.Now, HTTPClient: b.sts,
		Ambient: func(context.Context) (aws.Config, error) {
			return aws.Config{BaseEndpoint: aws.String("http://sts.example"),
				Credentials: credentials.NewStaticCredentialsProvider("ASIAPOD", "secret", "")}, nil
		}})
	directory := &awssession.Directory{Client: b.api, Live: b.api.Live(), ClusterID: "cluster-1", Sessions: sessions, Provenance: b,
		Guards: awssession.Guards{AmbientNamespaces: []string{team}}}
	dependents := func(_ context.Context, ns, name string) (users []string, err error) {
		for i := range b.used[name] {
			users = append(users, fmt.Sprintf("S3Bucket %s/b%d", ns, i))
		}
		return users, b.usedErr
	}
	b.Reconciler = New(env, directory, dependents, func(_ context.Context, ns string) { b.watched = append(b.watched, ns) })
}

func (b *bed) must(err error) {
	b.Helper()
	must.Succeed(b, err)
}

func (b *bed) pass(p client.Object) (reconcile.Result, error) {
	b.Helper()
	return b.Reconcile(b.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(p)})
}

// passed is pass without an error, and reads the provider again.
func (b *bed) passed(p *v1alpha1.AWSProvider) reconcile.Result {
	b.Helper()
	res, err := b.pass(p)
	b.must(err)
	b.get(p)
	return res
}

func (b *bed) get(o client.Object) {
	b.Helper()
	b.api.Read(b, o)
}

func (b *bed) gone(o client.Object) bool {
	b.Helper()
	err := b.api.Store.Get(b.Context(), client.ObjectKeyFromObject(o), o)
	b.must(client.IgnoreNotFound(err))
	return err != nil
}

// edit changes an object as it is in the store.
func (b *bed) edit(o client.Object, change func()) {
	b.Helper()
	b.get(o)
	change()
	b.must(b.api.Store.Update(b.Context(), o))
}

func (b *bed) remove(o client.Object) {
	b.Helper()
	b.must(b.api.Store.Delete(b.Context(), o))
}

// held reports whether a Secret has our finalizer.
func (b *bed) held(name string) bool {
	b.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	return !b.gone(s) && slices.Contains(s.Finalizers, SecretFinalizer)
}

func (b *bed) shows(p *v1alpha1.AWSProvider, kind, status, reason string, texts ...string) {
	b.Helper()
	fakeapi.CheckCondition(b, p.Status.Conditions, kind, status, reason, texts...)
}

func (b *bed) writes(want ...string) {
	b.Helper()
	b.api.CheckWrites(b, want...)
}

// expectEvent checks that there was exactly one event, and that it has all of the texts; without texts, none.
func (b *bed) expectEvent(texts ...string) {
	b.Helper()
	fakeapi.CheckEvent(b, b.events, texts...)
}

// ambient is a provider that uses the operator's identity.
func ambient(name string) *v1alpha1.AWSProvider {
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	p.Spec.Region = "eu-west-1"
	return p
}

// withKeys is a provider that reads a Secret.
func withKeys(name, secret string) *v1alpha1.AWSProvider {
	p := ambient(name)
	p.Spec.CredentialsSecret = &v1alpha1.SecretReference{Name: secret}
	return p
}

func secretOf(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name},
		Data: map[string][]byte{"AWS_ACCESS_KEY_ID": []byte("AKIAUSER"), "AWS_SECRET_ACCESS_KEY": []byte("secret")}}
}

var finalizer = v1alpha1.FinalizerOf("AWSProvider")
