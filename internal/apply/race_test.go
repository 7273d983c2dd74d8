// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestAChildThatTheCacheDoesNotHaveYetIsReadLive(t *testing.T) {
	b := newBed(t)
	desired := b.configMap("a", "k", "v")
	ref := b.given(desired)
	b.Client = stale{Client: b.cached, ref: ref}
	writes := b.writes()
	b.apply(desired, apply.Unchanged)
	b.Applier = &apply.Applier{Client: b.Client, Live: b.Live} // nor does anybody remember
	b.apply(desired, apply.Unchanged)
	b.apply(desired, apply.Unchanged)
	writes(0, 1) // the create of the one who does not remember
	b.apply(b.configMap("a", "k", "v2"), apply.Updated)
	writes(1, 1)
}

func TestAnAbsentChildIsCreatedWithoutAQuestion(t *testing.T) {
	b := newBed(t)
	mark, err := b.w.Audit().Mark()
	if err != nil {
		t.Fatal(err)
	}
	b.given(b.configMap("a", "k", "v"))
	b.apply(b.configMap("a", "k", "v"), apply.Unchanged)
	events, err := b.w.Audit().Since(mark, world.AuditFilter{UserAgent: b.agent})
	if err != nil {
		t.Fatal(err)
	}
	about := slices.DeleteFunc(events, func(e world.AuditEvent) bool { return e.Name != "a" })
	if len(about) != 1 || about[0].Verb != "patch" {
		t.Errorf("requests about it: %v", about)
	}
}

func TestACacheBehindOurOwnWriteCausesNoSecondWrite(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v"))
	b.Client = stale{Client: b.cached, ref: ref, had: b.live(ref)}
	writes := b.writes()
	b.apply(b.configMap("a", "k", "v2"), apply.Updated)
	r := b.apply(b.configMap("a", "k", "v2"), apply.Unchanged)
	if data, _, _ := unstructured.NestedStringMap(r.Live.Object, "data"); data["k"] != "v2" {
		t.Errorf("the result is as stale as the cache: %v", data)
	}
	writes(1)
	b.Client = b.cached
	b.caughtUp(ref)
	b.apply(b.configMap("a", "k", "v2"), apply.Unchanged)
	writes(1)
}

func TestAnApplyThatTheServerHadAlreadyIsUnchanged(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v"))
	old := b.live(ref)
	b.apply(b.configMap("a", "k", "v2"), apply.Updated)
	restarted := &apply.Applier{Client: stale{Client: b.cached, ref: ref, had: old}, Live: b.Live}
	r, err := restarted.Apply(t.Context(), b.owner, b.configMap("a", "k", "v2"))
	if err != nil {
		t.Fatal(err)
	}
	if live := b.live(ref); r.Live.GetResourceVersion() != live.GetResourceVersion() {
		t.Errorf("the result is of resourceVersion %s, live is %s", r.Live.GetResourceVersion(), live.GetResourceVersion())
	}
}

// between runs something after the applier's look and before its write.
type between struct {
	client.Client
	do func()
}

// Apply implements client.Writer.
func (c between) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	c.do()
	return c.Client.Apply(ctx, o, opts...)
}

// once is do, the first time.
func once(do func()) func() {
	done := false
	return func() {
		if !done {
			done = true
			do()
		}
	}
}

func TestAnObjectThatAppearsBeforeOurCreateStaysItsMakers(t *testing.T) {
	b := newBed(t)
	for name, theirs := range map[string]map[string]string{"differing": {"k": "theirs"}, "agreeing": {"k": "v"}, "apart": {"z": "theirs"}} {
		t.Run(name, func(t *testing.T) {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: name}, Data: theirs}
			b.Client = between{b.cached, once(func() { b.create(o) })}
			_, err := b.Apply(t.Context(), b.owner, b.configMap(name, "k", "v"))
			if s, ok := status.AsStalled(err); !apierrors.IsConflict(err) && (!ok || s.Reason != status.ReasonConflict) {
				t.Errorf("the error is %v, expected a conflict", err)
			}
			b.same(o)
			b.refused(b.configMap(name, "k", "v"), "not made by this operator")
		})
	}
}

func TestANamespaceThatAppearsBeforeOurCreateIsNotClaimed(t *testing.T) {
	b := newBed(t)
	o := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.ns + "-app"}}
	b.Client = between{b.cached, once(func() { b.create(o) })}
	ns := object(apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: o.Name})
	_, err := b.Apply(t.Context(), b.owner, ns)
	if s, ok := status.AsStalled(err); !ok || s.Reason != status.ReasonConflict || !contains(s.Message, "not made by this operator") {
		t.Errorf("the error is %v, expected a conflict", err)
	}
	b.same(o)
	b.refused(ns, "not made by this operator")
}

// Two operators share owner, marks and field manager. The second one's create finds the object of the first one. kube-controller-manager
// may have written a status to it by then.
func TestApply_SecondOperatorKeepsWhatTheFirstCreated(t *testing.T) {
	b := newBed(t)
	budget := b.manifest("%s",
		`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}`)
	for _, desired := range []*unstructured.Unstructured{b.configMap("a", "k", "v"), budget} {
		ref := apply.RefOf(desired)
		first := &apply.Applier{Client: b.cached, Live: b.Live}
		b.Client = between{b.cached, once(func() {
			if _, err := first.Apply(t.Context(), b.owner, desired); err != nil {
				t.Fatal(err)
			}
			b.eventually("the status of "+ref.String(), func() bool {
				return ref.Kind.Kind == "ConfigMap" || len(b.live(ref).GetManagedFields()) > 1
			})
		})}
		writes := b.writes()
		b.apply(desired, apply.Unchanged)
		writes(2) // the first one's create, and the second one's that conflicted
		if live := b.live(ref); live.GetLabels()[wellknown.LabelCapabilityUID] != string(b.owner.UID) || live.Object["data"] == nil &&
			live.Object["spec"] == nil {
			t.Errorf("the second operator took the first one's fields away: %v", live.Object)
		}
		b.caughtUp(ref)
		b.apply(desired, apply.Unchanged)
	}
}

// same expects that an object has the fields of its maker, and none of ours.
func (b *bed) same(o client.Object) {
	b.Helper()
	live := o.DeepCopyObject().(client.Object)
	if err := b.person.Get(b.Context(), client.ObjectKeyFromObject(o), live); err != nil {
		b.Fatal(err)
	}
	if live.GetUID() != o.GetUID() || len(live.GetOwnerReferences()) > 0 || live.GetAnnotations()[apply.AnnotationOwner] != "" ||
		live.GetLabels()[wellknown.LabelCapabilityUID] != "" {
		b.Errorf("%s carries our marks: %v %v %v", o.GetName(), live.GetLabels(), live.GetAnnotations(), live.GetOwnerReferences())
	}
	was, ok := o.(*corev1.ConfigMap)
	if is, _ := live.(*corev1.ConfigMap); ok && (len(is.Data) != len(was.Data) || is.Data["k"] != was.Data["k"]) {
		b.Errorf("%s holds %v, its maker said %v", o.GetName(), is.Data, was.Data)
	}
}

func TestAnObjectReplacedBehindTheCacheStaysItsMakers(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v"))
	old := b.live(ref)
	if err := b.person.Delete(t.Context(), object(ref)); err != nil {
		t.Fatal(err)
	}
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "a"}, Data: map[string]string{"k": "theirs"}}
	b.create(o)
	b.Client = stale{Client: b.cached, ref: ref, had: old}
	if _, err := b.Apply(t.Context(), b.owner, b.configMap("a", "k", "v2")); !apierrors.IsConflict(err) {
		t.Errorf("the error is %v, expected a conflict", err)
	}
	if gone, err := b.Delete(t.Context(), b.owner, ref); gone || !apierrors.IsConflict(err) {
		t.Errorf("gone is %v, the error %v, expected a conflict", gone, err)
	}
	if err := b.Orphan(t.Context(), b.owner, ref); !apierrors.IsConflict(err) {
		t.Errorf("the error is %v, expected a conflict", err)
	}
	b.same(o)
}

func TestAChildDeletedBehindTheCacheIsMadeAgainOnlyAsANewObject(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v"))
	old := b.live(ref)
	if err := b.person.Delete(t.Context(), object(ref)); err != nil {
		t.Fatal(err)
	}
	b.Client = stale{Client: b.cached, ref: ref, had: old}
	if _, err := b.Apply(t.Context(), b.owner, b.configMap("a", "k", "v2")); !apierrors.IsConflict(err) {
		t.Errorf("the error is %v, expected a conflict", err)
	}
	if gone, err := b.Delete(t.Context(), b.owner, ref); !gone || err != nil {
		t.Errorf("gone is %v, %v", gone, err)
	}
	b.Client = b.cached
	b.caughtUp(ref)
	b.apply(b.configMap("a", "k", "v2"), apply.Created)
}

// mutating is a cluster with a webhook that rewrites a value at every write.
type mutating struct{ client.Client }

const mirrored = "mirror"

// Apply implements client.Writer.
func (c mutating) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if err := c.Client.Apply(ctx, o, opts...); err != nil {
		return err
	}
	m := &corev1.ConfigMap{}
	u := o.(interface{ GetName() string })
	if err := c.Get(ctx, client.ObjectKey{Namespace: o.(interface{ GetNamespace() string }).GetNamespace(), Name: u.GetName()},
		m); err != nil {
		return err
	}
	return unstructured.SetNestedField(o.(runtime.Unstructured).UnstructuredContent(), mirrored, "data", "k")
}

// Get implements client.Reader.
func (c mutating) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := c.Client.Get(ctx, key, o, opts...); err != nil {
		return err
	}
	if m, ok := o.(*corev1.ConfigMap); ok && m.Data["k"] != "" {
		m.Data["k"] = mirrored
	}
	return nil
}

func TestWhatTheServerInsistsOnIsNotFoughtOver(t *testing.T) {
	b := newBed(t)
	uncached := b.Live.(client.Client)
	b.Client = mutating{uncached}
	desired := b.configMap("a", "k", "v")
	b.apply(desired, apply.Created)
	writes := b.writes()
	for range 3 {
		if r := b.apply(desired, apply.Unchanged); paths(r.Drift) != "data.k" {
			t.Errorf("the drift is at %q", paths(r.Drift))
		}
	}
	writes(0)
	b.apply(b.configMap("a", "k", "v2"), apply.Updated) // something else is desired: try again
	b.apply(b.configMap("a", "k", "v2"), apply.Unchanged)
	writes(1)
	b.edit(apply.RefOf(desired), func(u *unstructured.Unstructured) { u.SetOwnerReferences(nil) })
	b.apply(b.configMap("a", "k", "v2"), apply.Updated) // something else differs: try again
	b.Client = uncached                                 // the webhook is gone
	b.apply(b.configMap("a", "k", "v2"), apply.Unchanged)
	writes(2)
}

func TestAPlanSaysWhatAnApplyWouldDoAndWritesNothing(t *testing.T) {
	b := newBed(t)
	planned := func(desired *unstructured.Unstructured, change apply.Change, differences, drift string) apply.Plan {
		t.Helper()
		writes := b.writes()
		p, err := b.Plan(t.Context(), b.owner, desired)
		if err != nil || p.Change != change || paths(p.Differences) != differences || paths(p.Drift) != drift {
			t.Errorf("the plan is %s with differences %q and drift %q (%v)", p.Change, paths(p.Differences), paths(p.Drift), err)
		}
		writes(0)
		return p
	}
	if p := planned(b.configMap("a", "k", "v"), apply.Created, "", ""); p.Live != nil {
		t.Errorf("what is to be created is there already: %v", p.Live)
	}
	ref := b.given(b.configMap("a", "k", "v"))
	b.edit(ref, func(u *unstructured.Unstructured) { _ = unstructured.SetNestedField(u.Object, "x", "data", "k") })
	b.caughtUp(ref)
	if p := planned(b.configMap("a", "k", "v"), apply.Updated, "data.k", "data.k"); p.Drift[0].Have != "x" {
		t.Errorf("live is said to have %v", p.Drift[0].Have)
	}
	planned(b.configMap("a", "k", "v2"), apply.Updated, "data.k metadata.annotations."+apply.AnnotationHash, "")
}
