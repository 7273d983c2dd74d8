// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
)

// kinds reads v1/ConfigMap or group/v1/Kind.
func kinds(names ...string) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, n := range names {
		i := strings.LastIndex(n, "/")
		gv, err := schema.ParseGroupVersion(n[:i])
		if err != nil {
			panic(err)
		}
		out = append(out, gv.WithKind(n[i+1:]))
	}
	return out
}

func (b *bed) clientFor(cfg *rest.Config) client.Client {
	b.Helper()
	c, err := client.New(cfg, client.Options{Scheme: newScheme(b)})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// deleted calls Delete and expects an answer.
func (b *bed) deleted(ref apply.Ref, want bool) {
	b.Helper()
	gone, err := b.Delete(b.Context(), b.owner, ref)
	if err != nil || gone != want {
		b.Errorf("deleting %s: gone is %v, expected %v (%v)", ref, gone, want, err)
	}
}

func TestAChildIsDeletedAndThenGone(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v"))
	writes := b.writes()
	b.deleted(ref, false)
	b.caughtUp(ref)
	b.deleted(ref, true)
	b.deleted(ref, true)
	writes(1)
	b.apply(b.configMap("a", "k", "v"), apply.Created)
}

func TestAChildHeldByAFinalizerIsNotGone(t *testing.T) {
	b := newBed(t)
	desired := b.manifest("%s", spelled["an S3Bucket"])
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"test.io/hold"}) })
	b.caughtUp(ref)
	writes := b.writes()
	b.deleted(ref, false)
	b.caughtUp(ref)
	b.deleted(ref, false)
	writes(1)
	b.Client = stale{Client: b.cached, ref: ref} // a cache that says absent is not believed
	b.deleted(ref, false)
	writes(1)
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	b.deleted(ref, true)
}

func TestDependentsOfADeletedChildGoInTheBackground(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.manifest("%s", spelled["a Deployment"]))
	b.eventually("the Deployment has a ReplicaSet", func() bool {
		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSetList"})
		return b.person.List(t.Context(), l, client.InNamespace(b.ns)) == nil && len(l.Items) > 0
	})
	b.deleted(ref, false)
	b.eventually("the Deployment is gone, then its ReplicaSet", func() bool {
		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSetList"})
		return !b.exists(ref) && b.person.List(t.Context(), l, client.InNamespace(b.ns)) == nil && len(l.Items) == 0
	})
}

func TestAForeignObjectIsNotDeleted(t *testing.T) {
	b := newBed(t)
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "a"}, Data: map[string]string{"k": "theirs"}}
	b.create(o)
	ref := apply.RefOf(b.configMap("a"))
	writes := b.writes()
	b.deleted(ref, true) // ours is not there
	if err := b.Orphan(t.Context(), b.owner, ref); err != nil {
		t.Error(err)
	}
	writes(0)
	b.same(o)
}

func TestReservedNamespacesAreNotDeletedEvenWithOurLabel(t *testing.T) {
	b := newBed(t)
	b.OperatorNamespace = b.namespace()
	ref := apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: b.OperatorNamespace}
	b.edit(ref, func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{wellknown.LabelCapabilityUID: string(b.owner.UID)})
	})
	writes := b.writes()
	b.deleted(ref, true)
	writes(0)
	if b.live(ref).GetDeletionTimestamp() != nil {
		t.Error("it is being deleted")
	}
}

func TestAClaimedNamespaceIsDeletedAndThenGone(t *testing.T) {
	b := newBed(t)
	ref := b.given(object(apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: b.ns + "-app"}))
	b.deleted(ref, false)
	b.eventually("the namespace is gone", func() bool {
		gone, err := b.Delete(t.Context(), b.owner, ref)
		if err != nil {
			t.Fatal(err)
		}
		return gone
	})
	if b.exists(ref) {
		t.Error("it is still there")
	}
}

func TestChildrenAreWhatExistsOfAnOwner(t *testing.T) {
	b := newBed(t)
	b.given(b.configMap("b", "k", "v"))
	going := b.given(b.configMap("a", "k", "v"))
	bucket := b.given(b.manifest("%s", spelled["an S3Bucket"]))
	ns := b.given(object(apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: b.ns + "-app"}))
	b.Cleanup(func() { _ = b.person.Delete(context.Background(), object(ns)) })
	mine := b.owner
	b.owner = b.newOwner("other")
	b.given(b.configMap("others"))
	b.owner = mine
	// It carries our label, but is another's.
	fake := b.configMap("fake")
	fake.SetLabels(map[string]string{wellknown.LabelCapabilityUID: string(b.owner.UID), "app.kubernetes.io/managed-by": "nexus-operator"})
	fake.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "1", Controller: new(true)}})
	b.create(fake)
	b.edit(going, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"test.io/hold"}) })
	b.deleted(going, false)
	b.caughtUp(going)

	children, err := b.Children(t.Context(), b.owner,
		kinds("v1/ConfigMap", "v1/Namespace", "aws-infra-operator.runner.codes/v1alpha1/S3Bucket", "kyverno.io/v1/Policy"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range children {
		if inside := c.Namespace == b.ns; c.UID == "" || c.Controlled != inside {
			t.Errorf("%s has the UID %q and is controlled: %v", c.Ref, c.UID, c.Controlled)
		}
		name := c.String()
		if c.Deleting {
			name += " (deleting)"
		}
		got = append(got, name)
	}
	want := []string{"ConfigMap " + b.ns + "/a (deleting)", "ConfigMap " + b.ns + "/b", "Namespace " + b.ns + "-app",
		"S3Bucket " + b.ns + "/web"}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("the children are %q, expected %q", got, want)
	}
	bucket.Kind.Version = "v1beta1" // a version is not an identity
	var left []string
	for _, c := range apply.Surplus(children, []apply.Ref{bucket, ns}) {
		left = append(left, c.Name)
	}
	if strings.Join(left, " ") != "a b" {
		t.Errorf("%v are surplus", left)
	}
	b.edit(going, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
}

func TestAnOrphanOutlivesItsOwnerWithoutOurMarks(t *testing.T) {
	b := newBed(t)
	desired := b.configMap("a", "k", "v")
	desired.SetLabels(map[string]string{"nexus.ai/environment": "dev", "app": "web"})
	desired.SetAnnotations(map[string]string{"nexus.ai/capability": "x/y", "nexus.ai/home": "aws/1/r", "note": "n"})
	ref := b.given(desired)
	writes := b.writes()
	if err := b.Orphan(t.Context(), b.owner, ref); err != nil {
		t.Fatal(err)
	}
	writes(1)
	live := b.live(ref)
	if l := live.GetLabels(); len(l) != 1 || l["app"] != "web" {
		t.Errorf("the labels are %v", l)
	}
	if a := live.GetAnnotations(); len(a) != 3 || a["note"] != "n" || a["nexus.ai/home"] == "" ||
		a[apply.AnnotationOrphanedFrom] != b.owner.String() {
		t.Errorf("the annotations are %v", a)
	}
	if err := b.Orphan(t.Context(), b.owner, ref); err != nil { // nothing is left to do
		t.Error(err)
	}
	writes(1)
	if err := b.person.Delete(t.Context(), object(apply.Ref{Kind: b.owner.Kind, Namespace: b.ns, Name: b.owner.Name})); err != nil {
		t.Fatal(err)
	}
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "probe",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: b.owner.Name, UID: b.owner.UID}}}}
	b.create(probe)
	b.eventually("the garbage collector has taken what still had the owner",
		func() bool { return !b.exists(apply.RefOf(b.configMap("probe"))) })
	if !b.exists(ref) {
		t.Error("the orphan went with its owner")
	}
	b.owner = b.newOwner("other")
	b.refused(desired, "not made by this operator")
	b.owner = b.newOwner("app")
	b.apply(desired, apply.Updated)
}

func TestWhatAnEarlierOwnerOfTheNameLeftIsTakenOver(t *testing.T) {
	b := newBed(t)
	desired := b.configMap("a", "k", "v")
	ref := b.given(desired)
	self := object(apply.Ref{Kind: b.owner.Kind, Namespace: b.ns, Name: b.owner.Name})
	if err := b.person.Delete(t.Context(), self, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	b.eventually("the garbage collector has cut the reference", func() bool {
		return len(b.live(ref).GetOwnerReferences()) == 0 && !b.exists(apply.RefOf(self))
	})
	b.owner = b.newOwner("app")
	b.caughtUp(ref)
	b.deleted(ref, true) // not ours yet, so not ours to delete
	r := b.apply(desired, apply.Updated)
	if c := metav1.GetControllerOf(r.Live); c == nil || c.UID != b.owner.UID ||
		r.Live.GetLabels()[wellknown.LabelCapabilityUID] != string(b.owner.UID) {
		t.Errorf("it is controlled by %v and labeled %v", c, r.Live.GetLabels())
	}
}

// The caller's cache still shows an owner without a deletion. A restored reference would let the garbage collector delete an object that
// the user asked to keep.
func TestNoReferenceIsRestoredToAnOwnerInDeletion(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v"))
	owner := apply.Ref{Kind: b.owner.Kind, Namespace: b.ns, Name: b.owner.Name}
	b.edit(owner, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"test.io/hold"}) })
	if err := b.person.Delete(t.Context(), object(owner), client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	b.eventually("the garbage collector has cut the reference", func() bool { return len(b.live(ref).GetOwnerReferences()) == 0 })
	b.caughtUp(ref)
	b.waits(b.configMap("a", "k", "v2"), "is left as it is")
	if refs := b.live(ref).GetOwnerReferences(); len(refs) > 0 {
		t.Errorf("restored: %v", refs)
	}
	b.edit(owner, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	b.waits(b.configMap("a", "k", "v2"), "is left as it is")
}

func TestWhatTheGarbageCollectorIsAboutToTakeIsWaitedFor(t *testing.T) {
	b := newBed(t)
	o := b.configMap("a", "k", "old")
	o.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "nexus-operator"})
	o.SetFinalizers([]string{"test.io/hold"})
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: b.owner.Name,
		UID: "5e1f0e9c-0000-4000-8000-000000000000", Controller: new(true)}})
	b.create(o)
	ref := apply.RefOf(b.configMap("a"))
	b.waits(b.configMap("a", "k", "v"), "to be") // the collector may have been faster
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	b.eventually("the old one is gone and ours is made", func() bool {
		r, err := b.Apply(t.Context(), b.owner, b.configMap("a", "k", "v"))
		return err == nil && r.Change == apply.Created
	})
}
