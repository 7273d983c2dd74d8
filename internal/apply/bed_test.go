// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	world.Main(m, world.Options{NoAWS: true, CRDs: []string{"../../config/crd/bases"}})
}

// bed is an Applier as the operator has it, over a label-filtered cache, with an owner in its own
// namespace; beside it a person with every right.
type bed struct {
	*testing.T
	w      *world.World
	agent  string        // the applier's user agent, for the audit log
	person client.Client // reads live; field manager "person"
	cached client.Client
	*apply.Applier
	owner apply.Owner
	ns    string
}

func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, nexusv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{T: t, w: world.Shared(t), agent: "applier-of-" + t.Name()}
	scheme := newScheme(t)
	person, err := client.New(b.w.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b.person = client.WithFieldOwner(person, "person")
	cfg := b.w.Config()
	cfg.UserAgent = b.agent
	live, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b.cached, err = client.New(cfg, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: b.startCache(scheme)}})
	if err != nil {
		t.Fatal(err)
	}
	b.Applier = &apply.Applier{Client: b.cached, Live: live, OperatorNamespace: "nexus-system"}
	b.ns = b.namespace()
	b.owner = b.newOwner("app")
	return b
}

// startCache fills a cache like the operator's: only labeled objects, except of AWS kinds.
func (b *bed) startCache(scheme *runtime.Scheme) client.Reader {
	b.Helper()
	cfg := b.w.Config()
	cfg.UserAgent = b.agent + "-cache"
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{"app.kubernetes.io/managed-by": "nexus-operator"})}
	c, err := cache.New(cfg, cache.Options{Scheme: scheme, DefaultTransform: apply.WithoutUnusedFields,
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}: ours, &corev1.Service{}: ours, &corev1.ConfigMap{}: ours, &corev1.ServiceAccount{}: ours,
			&networkingv1.Ingress{}: ours, &policyv1.PodDisruptionBudget{}: ours, &corev1.Namespace{}: ours,
		}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return c
}

// namespace makes one that is deleted, without waiting, at the end.
func (b *bed) namespace() string {
	b.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	b.create(ns)
	return ns.Name
}

// newOwner makes an object to own children: a ConfigMap will do, the garbage collector treats all alike.
func (b *bed) newOwner(name string) apply.Owner {
	b.Helper()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: name}}
	b.create(o)
	return apply.Owner{Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Namespace: b.ns, Name: name, UID: o.UID}
}

func (b *bed) create(o client.Object) {
	b.Helper()
	if err := b.person.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = b.person.Delete(context.Background(), o) })
}

// edit is a person's hand in a live object.
func (b *bed) edit(ref apply.Ref, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	b.Helper()
	for {
		u := b.live(ref)
		change(u)
		err := b.person.Update(b.Context(), u)
		if err == nil {
			return u
		}
		if !apierrors.IsConflict(err) {
			b.Fatal(err)
		}
	}
}

func (b *bed) live(ref apply.Ref) *unstructured.Unstructured {
	b.Helper()
	u := object(ref)
	if err := b.person.Get(b.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		b.Fatal(err)
	}
	return u
}

func object(ref apply.Ref) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(ref.Kind)
	u.SetNamespace(ref.Namespace)
	u.SetName(ref.Name)
	return u
}

// caughtUp waits until the cache has an object as it is live.
func (b *bed) caughtUp(ref apply.Ref) {
	b.Helper()
	b.eventually("the cache has "+ref.String()+" as it is", func() bool {
		o, err := b.cached.Scheme().New(ref.Kind)
		if err != nil {
			b.Fatal(err)
		}
		c := o.(client.Object)
		live := object(ref)
		errLive := b.person.Get(b.Context(), client.ObjectKeyFromObject(live), live)
		errCache := b.cached.Get(b.Context(), client.ObjectKeyFromObject(live), c)
		if apierrors.IsNotFound(errLive) || apierrors.IsNotFound(errCache) {
			return apierrors.IsNotFound(errLive) && apierrors.IsNotFound(errCache)
		}
		return errLive == nil && errCache == nil && c.GetResourceVersion() == live.GetResourceVersion()
	})
}

func (b *bed) eventually(what string, check func() bool) {
	b.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if check() {
			return
		}
	}
	b.Fatalf("not within 60 s: %s", what)
}

// apply applies and expects a change.
func (b *bed) apply(desired *unstructured.Unstructured, want apply.Change) apply.Result {
	b.Helper()
	before := desired.DeepCopy()
	r, err := b.Apply(b.Context(), b.owner, desired)
	if err != nil {
		b.Fatalf("applying %s: %v", apply.RefOf(desired), err)
	}
	if !reflect.DeepEqual(before, desired) {
		b.Fatalf("applying %s changed what is desired, which is shared", apply.RefOf(desired))
	}
	if r.Change != want {
		b.Fatalf("applying %s: %s (drift at %s), expected %s", apply.RefOf(desired), r.Change, paths(r.Drift), want)
	}
	if r.Live == nil || r.Live.GetUID() == "" {
		b.Fatalf("applying %s: the result has no live object", apply.RefOf(desired))
	}
	return r
}

// given applies, and waits until the cache has it.
func (b *bed) given(desired *unstructured.Unstructured) apply.Ref {
	b.Helper()
	b.apply(desired, apply.Created)
	b.caughtUp(apply.RefOf(desired))
	return apply.RefOf(desired)
}

// refused applies and expects a conflict with a reason, and that nothing was written.
func (b *bed) refused(desired *unstructured.Unstructured, why string) {
	b.Helper()
	writes := b.writes()
	_, err := b.Apply(b.Context(), b.owner, desired)
	s, ok := status.AsStalled(err)
	if !ok || s.Reason != status.ReasonConflict || !contains(s.Message, why) || !contains(s.Message, desired.GetName()) {
		b.Errorf("applying %s: %v, expected a conflict because %q", apply.RefOf(desired), err, why)
	}
	writes(0, 1)
}

// waits applies and expects to wait for something.
func (b *bed) waits(desired *unstructured.Unstructured, what string) {
	b.Helper()
	_, err := b.Apply(b.Context(), b.owner, desired)
	if w, ok := status.AsWaiting(err); !ok || !contains(w.For, what) || w.After <= 0 {
		b.Errorf("applying %s: %v, expected to wait for %q", apply.RefOf(desired), err, what)
	}
}

// writes counts the writes of the applier from here on, refused ones too. Call the result with the expected number, and with the number of
// creates that may have met an object that the cache does not show.
func (b *bed) writes() func(want int, met ...int) {
	b.Helper()
	mark, err := b.w.Audit().Mark()
	if err != nil {
		b.Fatal(err)
	}
	return func(want int, met ...int) {
		b.Helper()
		events, err := b.w.Audit().Since(mark, world.AuditFilter{UserAgent: b.agent, Writes: true})
		if err != nil {
			b.Fatal(err)
		}
		conflicts := 0
		for _, e := range events {
			if e.Code == http.StatusConflict && len(met) > 0 && conflicts < met[0] {
				conflicts++
			}
		}
		if len(events)-conflicts != want {
			b.Errorf("%d writes, expected %d: %v", len(events), want, events)
		}
	}
}

func (b *bed) configMap(name string, pairs ...string) *unstructured.Unstructured {
	data := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		data[pairs[i]] = pairs[i+1]
	}
	u := object(apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Namespace: b.ns, Name: name})
	u.Object["data"] = data
	return u
}

func (b *bed) manifest(format string, args ...any) *unstructured.Unstructured {
	b.Helper()
	u := parse(b, fmt.Sprintf(format, args...))
	if u.GetKind() != "Namespace" {
		u.SetNamespace(b.ns)
	}
	return u
}

func (b *bed) exists(ref apply.Ref) bool {
	b.Helper()
	u := object(ref)
	err := b.person.Get(b.Context(), client.ObjectKeyFromObject(u), u)
	if client.IgnoreNotFound(err) != nil {
		b.Fatal(err)
	}
	return err == nil
}

// stale is a cache that stands still: its answer for one object is an earlier state.
type stale struct {
	client.Client
	ref apply.Ref
	had client.Object // nil: it had nothing
}

// Get implements client.Reader.
func (s stale) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	kind, err := s.GroupVersionKindFor(o)
	if err != nil || kind != s.ref.Kind || key != (types.NamespacedName{Namespace: s.ref.Namespace, Name: s.ref.Name}) {
		return s.Client.Get(ctx, key, o, opts...)
	}
	if s.had == nil {
		return apierrors.NewNotFound(corev1.Resource("objects"), key.Name)
	}
	u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s.had)
	if err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(u, o)
}

// readFile returns a file of the tree.
func readFile(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// leftTheCache waits until the cache has lost sight of an object.
func (b *bed) leftTheCache(ref apply.Ref) {
	b.Helper()
	b.eventually("the cache has lost "+ref.String(), func() bool {
		o, err := b.cached.Scheme().New(ref.Kind)
		if err != nil {
			b.Fatal(err)
		}
		err = b.cached.Get(b.Context(), types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, o.(client.Object))
		return apierrors.IsNotFound(err)
	})
}
