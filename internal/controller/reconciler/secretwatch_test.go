// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// probed is a watch that records and refuses its probes of namespaces.
func probed(t *testing.T) (w *SecretWatch, probes func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	base := cluster(t, nil)
	live := interceptor.NewClient(base,
		interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, opts ...client.ListOption) error {
			o := client.ListOptions{}
			o.ApplyOptions(opts)
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, o.Namespace)
			return forbidden
		}})
	return NewSecretWatch(Environment{Client: base, Live: live}, nil), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
}

// A reconciler may ask for a namespace before the manager starts the watch. The context of that reconcile ends soon, and must not
// end the informer.
func TestSecretWatch_KeepsNamespacesThatWereAskedForEarly(t *testing.T) {
	w, probes := probed(t)
	w.Ensure(t.Context(), "early")
	if got := probes(); len(got) > 0 {
		t.Errorf("probed %q before the start", got)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Start(ctx) }()
	for deadline := time.Now().Add(10 * time.Second); len(probes()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a namespace that was asked for early is forgotten")
		}
	}
	// The right to a namespace may be granted later: a refusal is asked again, and is no failure.
	w.Ensure(t.Context(), "early")
	w.Ensure(t.Context(), "late")
	if got := probes(); !slices.Equal(got, []string{"early", "early", "late"}) {
		t.Errorf("probed %q", got)
	}
	select {
	case err := <-ended:
		t.Fatalf("the watch ended before the manager: %v", err)
	default:
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestSecretWatch_EachSubscriberFindsItsObjects(t *testing.T) {
	w, _ := probed(t)
	w.ctx = t.Context()
	readers := map[string][]string{"password": {"a", "b"}, "key": {"b"}}
	queues := map[string]workqueue.TypedRateLimitingInterface[reconcile.Request]{}
	for _, controller := range []string{"first", "second"} {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		queues[controller] = q
		source := w.Subscribe(func(_ context.Context, secret client.Object) []client.Object {
			var out []client.Object
			for _, name := range readers[secret.GetName()] {
				out = append(out, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: controller, Name: name}})
			}
			return out
		})
		if err := source.Start(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(what string, names ...string) {
		t.Helper()
		for controller, q := range queues {
			for _, name := range names {
				for deadline := time.Now().Add(10 * time.Second); q.Len() == 0; time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatalf("%s: %s reconciles nothing, want %s", what, controller, name)
					}
				}
				got, _ := q.Get()
				if q.Done(got); got.Namespace != controller || got.Name != name {
					t.Errorf("%s: %s reconciles %s, want %s", what, controller, got, name)
				}
			}
		}
	}
	secret := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	w.notify(secret("password"))
	wants("a Secret of two", "a", "b")
	w.notify(secret("unread"))
	w.notify("not an object")
	w.notify(toolscache.DeletedFinalStateUnknown{Key: "ns/key", Obj: secret("key")})
	wants("a Secret whose deletion was missed", "b")
	for controller, q := range queues {
		if n := q.Len(); n > 0 {
			t.Errorf("%s has %d more requests", controller, n)
		}
	}
}
