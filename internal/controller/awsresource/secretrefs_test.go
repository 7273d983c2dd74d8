// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kinds/secretsmanager"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func secretFrom(namespace, name, source string) *v1alpha1.SecretsManagerSecret {
	o := &v1alpha1.SecretsManagerSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	o.Spec.SecretName, o.Spec.ProviderRef.Name = name, "aws"
	if source != "" {
		o.Spec.SecretStringRef = &v1alpha1.SecretKeyReference{Name: source, Key: "value"}
	}
	return o
}

func TestSecretReferencesAreFoundInEverySpec(t *testing.T) {
	provider := &v1alpha1.AWSProvider{}
	provider.Spec.AccessKeyIDRef = &v1alpha1.SecretKeyReference{Name: "b", Key: "id"}
	provider.Spec.SecretAccessKeyRef = &v1alpha1.SecretKeyReference{Name: "b", Key: "secret"}
	provider.Spec.CredentialsSecret = &v1alpha1.SecretReference{Name: "a"}
	for _, c := range []struct {
		name   string
		obj    client.Object
		reads  []string
		refers bool
	}{
		{"a key of a Secret", secretFrom("ns", "s", "source"), []string{"source"}, true},
		{"a kind that can refer to a Secret and does not", secretFrom("ns", "s", ""), nil, true},
		{"several fields, sorted and distinct", provider, []string{"a", "b"}, true},
		{"properties", stream("shop",
			`{"A":[{"B":{"$secret":"b","key":"k"}}],"C":{"$secret":"a","key":"k"},"D":{"$ref":"KMSKey/c","field":"status.arn"},"E":{"$secret":"d"}}`), []string{"a", "b"}, true},
		{"a kind that refers to no Secret", &v1alpha1.S3Bucket{}, nil, false},
	} {
		if got := secretsReadBy(c.obj); !slices.Equal(got, c.reads) {
			t.Errorf("%s: reads %q, want %q", c.name, got, c.reads)
		}
		if got := refersToSecrets(c.obj); got != c.refers {
			t.Errorf("%s: refers %v, want %v", c.name, got, c.refers)
		}
	}
}

func TestReadersOfASecretAreDue(t *testing.T) {
	w := world.Shared(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(w.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	leaving := secretFrom("refs-a", "leaving", "source")
	leaving.Finalizers = []string{"example.com/keep"}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "refs-a"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "refs-b"}},
		secretFrom("refs-a", "one", "source"), secretFrom("refs-a", "two", "source"), secretFrom("refs-a", "other", "another"),
		secretFrom("refs-a", "none", ""), secretFrom("refs-b", "elsewhere", "source"), leaving,
	} {
		if err := c.Create(ctx, o); err != nil {
			t.Fatal(err)
		}
		if _, ok := o.(*corev1.Namespace); !ok {
			t.Cleanup(func() {
				if err := c.Delete(context.WithoutCancel(ctx), o); client.IgnoreNotFound(err) != nil {
					t.Error(err)
				}
			})
		}
	}
	if err := c.Delete(ctx, leaving); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		leaving.Finalizers = nil
		if err := c.Update(context.WithoutCancel(ctx), leaving); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	if err := c.Get(ctx, client.ObjectKeyFromObject(leaving), leaving); err != nil {
		t.Fatal(err)
	}
	reader, err := cache.New(w.Config(), cache.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	if err := indexSecretReferences(ctx, reader, &v1alpha1.SecretsManagerSecret{}); err != nil {
		t.Fatal(err)
	}
	go func() { _ = reader.Start(ctx) }()
	if !reader.WaitForCacheSync(ctx) {
		t.Fatal("the cache does not start")
	}
	cached, err := client.New(w.Config(), client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: reader}})
	if err != nil {
		t.Fatal(err)
	}
	env := reconciler.Environment{Client: cached, Clock: clock.RealClock{},
		Intervals: reconciler.Intervals{Check: 5 * time.Minute, Stalled: time.Minute, RetryFirst: 500 * time.Millisecond, RetryMost: time.Minute}}
	r := New(env, engine.For(secretsmanager.NewSecret), nil, nil)
	var names []string
	for _, o := range r.triggers().readersOf(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "refs-a", Name: "source"}}) {
		names = append(names, client.ObjectKeyFromObject(o).String())
		if due, ok := r.checks.Due(client.ObjectKeyFromObject(o)); !ok || due.After(env.Clock.Now()) {
			t.Errorf("%s is not looked at before its next check", o.GetName())
		}
	}
	slices.Sort(names)
	if want := []string{"refs-a/one", "refs-a/two"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}
