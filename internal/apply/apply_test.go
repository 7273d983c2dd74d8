// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestACreatedChildIsMarkedAsItsOwners(t *testing.T) {
	b := newBed(t)
	writes := b.writes()
	r := b.apply(b.configMap("a", "k", "v"), apply.Created)
	writes(1)
	live := b.live(apply.RefOf(r.Live))
	if live.GetLabels()[wellknown.LabelCapabilityUID] != string(b.owner.UID) {
		t.Errorf("the labels are %v", live.GetLabels())
	}
	if c := metav1.GetControllerOf(live); c == nil || c.UID != b.owner.UID || c.Name != b.owner.Name {
		t.Errorf("it is controlled by %v", c)
	}
	if a := live.GetAnnotations(); a[apply.AnnotationOwner] != b.owner.String() || a[apply.AnnotationHash] == "" {
		t.Errorf("the annotations are %v", a)
	}
	for _, m := range live.GetManagedFields() {
		if m.Manager != apply.FieldOwner || m.Operation != metav1.ManagedFieldsOperationApply {
			t.Errorf("fields are managed by %s (%s)", m.Manager, m.Operation)
		}
	}
}

func TestAHandEditIsHealedAndReported(t *testing.T) {
	b := newBed(t)
	desired := b.manifest("%s", spelled["a Deployment"])
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) {
		containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
		containers[0].(map[string]any)["image"] = "evil:1"
		_ = unstructured.SetNestedSlice(u.Object, containers, "spec", "template", "spec", "containers")
		unstructured.RemoveNestedField(u.Object, "spec", "template", "spec", "automountServiceAccountToken")
		u.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "nexus-operator", "theirs": "x"})
		u.SetOwnerReferences(nil)
	})
	b.caughtUp(ref)
	b.refused(desired, "not made by this operator") // neither label nor reference is left: it looks like anybody's
	b.edit(ref, func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{wellknown.LabelCapabilityUID: string(b.owner.UID), "app.kubernetes.io/managed-by": "nexus-operator",
			"theirs": "x"})
	})
	b.caughtUp(ref)
	writes := b.writes()
	r := b.apply(desired, apply.Updated)
	writes(1)
	for _, path := range []string{"spec.template.spec.containers[app].image", "spec.template.spec.automountServiceAccountToken",
		"metadata.labels.app", "metadata.ownerReferences[" + string(b.owner.UID) + "]"} {
		if !contains(" "+paths(r.Drift)+" ", " "+path+" ") {
			t.Errorf("the drift is at %s, expected also %s", paths(r.Drift), path)
		}
	}
	live := b.live(ref)
	containers, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
	if containers[0].(map[string]any)["image"] != "app:1" || metav1.GetControllerOf(live) == nil || live.GetLabels()["theirs"] != "x" {
		t.Errorf("the containers are %v, the controller %v, the labels %v", containers, metav1.GetControllerOf(live), live.GetLabels())
	}
	b.caughtUp(ref)
	b.apply(desired, apply.Unchanged)
}

func TestAHandEditOfWhatIsDesiredEmptyIsHealed(t *testing.T) {
	set := func(v any, path ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			if err := unstructured.SetNestedField(u.Object, v, path...); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		desired string
		edit    func(*unstructured.Unstructured)
		drift   string
	}{
		"a denying policy opened": {"a denying policy", set([]any{map[string]any{}}, "spec", "ingress"), "spec.ingress"},
		"a policy for all narrowed": {"a network policy", set(map[string]any{"a": "b"}, "spec", "podSelector", "matchLabels"),
			"spec.podSelector.matchLabels"},
		"a rule for all narrowed": {"a network policy",
			set([]any{map[string]any{}, map[string]any{"from": []any{map[string]any{"podSelector": map[string]any{}}}}}, "spec", "ingress"),
			"spec.ingress[0].ports spec.ingress[1].from"},
		"rules cleared by hand": {"an S3Bucket",
			func(u *unstructured.Unstructured) { unstructured.RemoveNestedField(u.Object, "spec", "lifecycleRules") }, "spec.lifecycleRules"},
		"an empty value set by hand": {"a ConfigMap", set("x", "data", "A"), "data.A"},
		"a node selector added": {"a Deployment", set("b", "spec", "template", "spec", "nodeSelector", "a"),
			"spec.template.spec.nodeSelector"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			desired := b.manifest("%s", spelled[tc.desired])
			ref := b.given(desired)
			b.edit(ref, tc.edit)
			b.caughtUp(ref)
			if r := b.apply(desired, apply.Updated); paths(r.Drift) != tc.drift {
				t.Errorf("the drift is at %q, expected %q", paths(r.Drift), tc.drift)
			}
			b.caughtUp(ref)
			if p, err := b.Plan(t.Context(), b.owner, desired); err != nil || len(p.Differences) > 0 {
				t.Errorf("still different at %s (%v)", paths(p.Differences), err)
			}
		})
	}
}

func TestWhatAPersonAddsElsewhereStays(t *testing.T) {
	b := newBed(t)
	desired := b.configMap("a", "k", "v")
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) { _ = unstructured.SetNestedField(u.Object, "x", "data", "theirs") })
	b.caughtUp(ref)
	b.apply(desired, apply.Unchanged)
	b.apply(b.configMap("a", "k", "v2"), apply.Updated)
	if data, _, _ := unstructured.NestedStringMap(b.live(ref).Object, "data"); data["theirs"] != "x" || data["k"] != "v2" {
		t.Errorf("the data are %v", data)
	}
}

// The finalizer is written with a patch. The API server keeps it apart from the fields that are applied under the same name.
func TestAPlannedUpdateKeepsTheFinalizer(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v"))
	u := b.live(ref)
	u.SetFinalizers([]string{"test.io/hold"})
	if err := b.person.Update(b.Context(), u, client.FieldOwner(apply.FieldOwner)); err != nil {
		t.Fatal(err)
	}
	b.caughtUp(ref)
	p, err := b.Plan(t.Context(), b.owner, b.configMap("a", "k", "v2"))
	if removed := p.Removals(); err != nil || p.Change != apply.Updated || len(removed) != 0 {
		t.Errorf("%v: %+v", err, removed)
	}
	b.apply(b.configMap("a", "k", "v2"), apply.Updated)
	if kept := b.live(ref).GetFinalizers(); len(kept) != 1 {
		t.Errorf("the finalizers are %v", kept)
	}
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
}

func TestAFieldThatIsNoLongerDesiredIsRemoved(t *testing.T) {
	b := newBed(t)
	ref := b.given(b.configMap("a", "k", "v", "old", "x"))
	p, err := b.Plan(t.Context(), b.owner, b.configMap("a", "k", "v"))
	if removed := p.Removals(); err != nil || len(removed) != 1 || removed[0].Path != "data.old" || removed[0].Have != "x" {
		t.Errorf("%v: %+v", err, removed)
	}
	writes := b.writes()
	r := b.apply(b.configMap("a", "k", "v"), apply.Updated)
	writes(1)
	if len(r.Drift) > 0 {
		t.Errorf("our own change is reported as drift at %s", paths(r.Drift))
	}
	if data, _, _ := unstructured.NestedStringMap(b.live(ref).Object, "data"); len(data) != 1 || data["k"] != "v" {
		t.Errorf("the data are %v", data)
	}
	b.caughtUp(ref)
	b.apply(b.configMap("a", "k", "v"), apply.Unchanged)
}

func TestReplicasThatAreNotDesiredAreLeftToTheAutoscaler(t *testing.T) {
	b := newBed(t)
	desired := b.manifest("%s", spelled["a Deployment"])
	unstructured.RemoveNestedField(desired.Object, "spec", "replicas")
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, int64(3), "spec", "replicas")
	})
	b.caughtUp(ref)
	b.apply(desired, apply.Unchanged)
	if n, _, _ := unstructured.NestedInt64(b.live(ref).Object, "spec", "replicas"); n != 3 {
		t.Errorf("%d replicas", n)
	}
}

func TestAForeignObjectIsRefusedAndUntouched(t *testing.T) {
	b := newBed(t)
	other := b.newOwner("other")
	meta := func(name string, labels map[string]string, refs ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: b.ns, Name: name, Labels: labels, OwnerReferences: refs}
	}
	managed := map[string]string{"app.kubernetes.io/managed-by": "nexus-operator"} // in the cache
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: other.Name, UID: other.UID, Controller: new(true)}
	for why, m := range map[string]metav1.ObjectMeta{
		"it was not made by this operator":  meta("persons", nil),
		"not made by this operator; choose": meta("lookalike", managed),
		"controlled by ConfigMap/other":     meta("others", managed, ref),
		"with UID 1234":                     meta("labeled", map[string]string{wellknown.LabelCapabilityUID: "1234"}),
	} {
		o := &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"k": "theirs"}}
		b.create(o)
		b.refused(b.configMap(o.Name, "k", "v"), why)
		if live := b.live(apply.RefOf(b.configMap(o.Name))); live.GetResourceVersion() != o.ResourceVersion {
			t.Errorf("%s was written", o.Name)
		}
	}
	ns := object(apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: b.namespace()})
	b.refused(ns, "not made by this operator")
	for _, name := range []string{"kube-system", "default", "nexus-system"} {
		ns.SetName(name)
		b.refused(ns, "of the cluster or of the operator")
	}
	in := b.configMap("a")
	in.SetNamespace("kube-system")
	b.refused(in, "of the cluster or of the operator")
}

func TestANamespaceIsClaimedByCreatingIt(t *testing.T) {
	b := newBed(t)
	ns := object(apply.Ref{Kind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: b.ns + "-app"})
	b.Cleanup(func() { _ = b.person.Delete(context.Background(), ns) })
	ref := b.given(ns)
	b.apply(ns, apply.Unchanged)
	there := b.configMap("a", "k", "v")
	there.SetNamespace(ns.GetName())
	r := b.apply(there, apply.Created)
	if len(r.Live.GetOwnerReferences()) > 0 {
		t.Errorf("an owner reference crosses namespaces: %v", r.Live.GetOwnerReferences())
	}
	b.caughtUp(apply.RefOf(there))
	b.apply(there, apply.Unchanged)

	rival := b.newOwner("rival")
	_, err := b.Apply(t.Context(), rival, ns)
	if s, ok := status.AsStalled(err); !ok || !contains(s.Message, "belongs to "+b.owner.String()) {
		t.Errorf("the rival got %v", err)
	}
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetLabels(nil) }) // out of the cache, and nothing says it is ours
	b.leftTheCache(ref)
	b.refused(ns, "not made by this operator")
}

func TestAChildThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	b := newBed(t)
	desired := b.configMap("a", "k", "v")
	ref := b.given(desired)
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"test.io/hold"}) })
	if err := b.person.Delete(t.Context(), object(ref)); err != nil {
		t.Fatal(err)
	}
	b.caughtUp(ref)
	writes := b.writes()
	b.waits(desired, "held by [test.io/hold]")
	writes(0)
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
	b.caughtUp(ref)
	b.apply(desired, apply.Created)
}

func TestAChildWithoutANamespaceToLiveInIsWaitedFor(t *testing.T) {
	b := newBed(t)
	lost := b.configMap("a")
	lost.SetNamespace(b.ns + "-nowhere")
	b.waits(lost, "namespace "+b.ns+"-nowhere to exist")

	dying := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	b.create(dying)
	holder := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: dying.Name, Name: "holder", Finalizers: []string{"test.io/hold"}}}
	b.create(holder)
	b.Cleanup(func() {
		holder.Finalizers = nil
		_ = b.person.Update(context.Background(), holder)
	})
	if err := b.person.Delete(t.Context(), dying); err != nil {
		t.Fatal(err)
	}
	b.eventually("the namespace refuses creates", func() bool {
		err := b.person.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: dying.Name, GenerateName: "x-"}})
		return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	})
	lost.SetNamespace(dying.Name)
	b.waits(lost, "namespace "+dying.Name+" to be gone")
}

func TestWhatTheServerRefusesIsForAPersonToMend(t *testing.T) {
	b := newBed(t)
	stalled := func(desired *unstructured.Unstructured, reason, part string) {
		t.Helper()
		_, err := b.Apply(t.Context(), b.owner, desired)
		if s, ok := status.AsStalled(err); !ok || s.Reason != reason || !contains(s.Message, part) {
			t.Errorf("applying %s: %v, expected %s with %q", apply.RefOf(desired), err, reason, part)
		}
	}
	stalled(b.manifest(`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 99999}]}}`), status.ReasonInvalidSpec,
		"spec.ports[0].port")
	stalled(b.manifest(`{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: many}}`), status.ReasonInvalidSpec, "ports")
	d := b.manifest("%s", spelled["a Deployment"])
	twice := parse(t, strings.Replace(spelled["a Deployment"], "{name: POD,", "{name: A, value: twice}, {name: POD,", 1))
	twice.SetNamespace(b.ns)
	stalled(twice, status.ReasonInvalidSpec, `duplicate entries for key [name="A"]`)
	b.given(d)
	_ = unstructured.SetNestedField(d.Object, "other", "spec", "selector", "matchLabels", "app")
	_ = unstructured.SetNestedField(d.Object, "other", "spec", "template", "metadata", "labels", "app")
	stalled(d, status.ReasonInvalidSpec, "immutable")

	weak, err := b.w.UserConfig("weak-" + b.ns)
	if err != nil {
		t.Fatal(err)
	}
	b.Client = b.clientFor(weak)
	b.Live = b.person
	b.Client = stale{Client: b.Client, ref: apply.RefOf(b.configMap("a"))}
	stalled(b.configMap("a"), status.ReasonAccessDenied, "cannot patch resource")

	b.Client = b.cached
	b.waits(b.manifest(`{apiVersion: kyverno.io/v1, kind: Policy, metadata: {name: web}}`), "kind Policy.kyverno.io to be installed")
}

func TestManyWorkersMayApplyAtOnce(t *testing.T) {
	b := newBed(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 6 {
				if _, err := b.Apply(t.Context(), b.owner, b.configMap(fmt.Sprint("c", (i+j)%4), "k", "v")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	children, err := b.Children(t.Context(), b.owner, kinds("v1/ConfigMap"))
	if err != nil || len(children) > 4 {
		t.Errorf("children %v, %v", children, err)
	}
}

func TestIncompleteOwnersAndChildrenAreRefused(t *testing.T) {
	b := newBed(t)
	nobody := b.owner
	nobody.UID = "" // would match every object without a label
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "theirs"}}
	b.create(o)
	ref := apply.RefOf(b.configMap("theirs"))
	writes := b.writes()
	if _, err := b.Apply(t.Context(), nobody, b.configMap("theirs")); err == nil {
		t.Error("an owner without a UID applied")
	}
	if _, err := b.Delete(t.Context(), nobody, ref); err == nil {
		t.Error("an owner without a UID deleted")
	}
	if err := b.Orphan(t.Context(), nobody, ref); err == nil {
		t.Error("an owner without a UID orphaned")
	}
	if _, err := b.Children(t.Context(), nobody, kinds("v1/ConfigMap")); err == nil {
		t.Error("an owner without a UID has children")
	}
	if _, err := b.Apply(t.Context(), b.owner, b.configMap("")); err == nil {
		t.Error("a child without a name was applied")
	}
	if _, err := b.Delete(t.Context(), b.owner, apply.Ref{Namespace: b.ns, Name: "theirs"}); err == nil {
		t.Error("a child without a kind was deleted")
	}
	writes(0)
}
