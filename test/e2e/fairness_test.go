// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// inCrowd sets how many objects one namespace has before another one's first.
const inCrowd = 500

// crowded are objects of each controller that it reports on without a call to AWS.
var crowded = map[string]func(b *bed, name string) client.Object{
	"AWS resources": func(_ *bed, name string) client.Object {
		o := &v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.SQSQueueSpec{CommonSpec: through("missing"), QueueName: name}}
		return o
	},
	"capabilities": func(b *bed, name string) client.Object {
		c := b.small("crowd")
		c.Name, c.Spec.CapabilityName = name, name
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "missing"}
		return c
	},
	"providers": func(_ *bed, name string) client.Object {
		p := provider(name)
		p.Spec.CredentialsSecret = &v1alpha1.SecretReference{Name: "missing"}
		return p
	},
}

// The first object of a namespace waits for a few of another one that has hundreds, whichever controller serves them.
func TestFairness_AnotherNamespaceIsServedAmongTheFirst(t *testing.T) {
	for name, made := range crowded {
		t.Run(name, func(t *testing.T) {
			if name != "AWS resources" {
				extent.Full(t)
			}
			b := newBed(t, "--workers=2")
			quiet := b.MakeNamespace(b.Namespace + "-quiet")
			b.Op.Stop()
			b.createAll(inCrowd, func(i int) client.Object {
				o := made(b, fmt.Sprint("crowd-", i))
				o.SetNamespace(b.Namespace)
				return o
			})
			b.Restart("--workers=2")
			// The crowd is being served when the other namespace's object comes.
			b.Eventually(time.Minute, "the first of the crowd to be served", func() error { return b.servedAtLeast(made(b, "x"), b.Namespace, 20) })
			o := made(b, "first")
			o.SetNamespace(quiet)
			before := b.answered(o, b.Namespace)
			if err := b.Client.Create(b.Ctx(), o); err != nil {
				t.Fatal(err)
			}
			created := version(o)
			b.Eventually(time.Minute, "the object of the quiet namespace to be served", func() error { return b.servedAtLeast(o, quiet, 1) })
			answered := b.answeredVersions(o, quiet)[0]
			ahead := 0
			for _, v := range b.answeredVersions(o, b.Namespace) {
				if v > created && v < answered {
					ahead++
				}
			}
			if before > inCrowd-100 || ahead > 20 {
				t.Errorf("%d of the crowd were served before the object was created, and %d before it was served", before, ahead)
			}
		})
	}
}

// A service that answers none of a namespace's calls holds a worker for each, until the first of them is given up. The first object of
// another namespace does not wait for that.
func TestFairness_SilentServiceLeavesWorkersToOthers(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	far := provider("far")
	far.Namespace, far.Spec.Region = b.Namespace, "eu-west-1"
	quiet := b.MakeNamespace(b.Namespace + "-quiet")
	near := provider("near")
	near.Namespace = quiet
	b.Create(far, near)
	b.Ready(far, near)
	rule := b.World.AWS().Fault(emulator.Match{Service: "secretsmanager", Resource: "silent*"}, emulator.Hang())
	const workers = 8
	var silent []client.Object
	for i := range 3 * workers {
		o := silentSecret(b.Namespace, fmt.Sprint("silent-", i), far.Name)
		silent = append(silent, o)
	}
	b.Create(silent...)
	b.Eventually(20*time.Second, "the silent service to hold the workers of the namespace", func() error {
		if n := rule.Hits(); n < workers*3/4 {
			return fmt.Errorf("%d calls wait", n)
		}
		return nil
	})
	o := silentSecret(quiet, "answered", near.Name)
	b.Create(o)
	b.Ready(o)
	for _, s := range silent {
		if c, err := b.Condition(s, "Reconciling"); err == nil && c.Reason == "Unreachable" {
			t.Errorf("%s was given up before the object of the quiet namespace was served", s.GetName())
		}
	}
	rule.Remove()
	b.Ready(silent...)
	b.Remove(append(silent, o)...)
}

func silentSecret(namespace, name, through string) *v1alpha1.SecretsManagerSecret {
	return &v1alpha1.SecretsManagerSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.SecretsManagerSecretSpec{
			CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: through}}, SecretName: name,
			Placeholder: map[string]v1alpha1.PlaceholderValue{"key": ""}}}
}

// createAll creates objects, eight at a time.
func (b *bed) createAll(n int, made func(i int) client.Object) {
	b.Helper()
	var wg sync.WaitGroup
	failed := make([]error, 8)
	for w := range failed {
		wg.Go(func() {
			for i := w; i < n; i += len(failed) {
				failed[w] = errors.Join(failed[w], b.Client.Create(b.Ctx(), made(i)))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		b.Fatal(err)
	}
}

// answeredVersions are the resource versions of the objects of a kind in a namespace that have conditions.
func (b *bed) answeredVersions(like client.Object, namespace string) []uint64 {
	b.Helper()
	gvk, err := apiutil.GVKForObject(like, b.Client.Scheme())
	if err != nil {
		b.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := b.Client.List(b.Ctx(), list, client.InNamespace(namespace)); err != nil {
		b.Fatal(err)
	}
	var out []uint64
	for i := range list.Items {
		if conditions, _, _ := unstructured.NestedSlice(list.Items[i].Object, "status", "conditions"); len(conditions) > 0 {
			out = append(out, version(&list.Items[i]))
		}
	}
	return out
}

func version(o client.Object) uint64 {
	v, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64) // the API server of the bed numbers them
	return v
}

func (b *bed) answered(like client.Object, namespace string) int {
	return len(b.answeredVersions(like, namespace))
}

func (b *bed) servedAtLeast(like client.Object, namespace string, n int) error {
	if have := b.answered(like, namespace); have < n {
		return fmt.Errorf("%d of %d", have, n)
	}
	return nil
}
