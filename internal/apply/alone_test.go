// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"reflect"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/apply"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const soleManifest = `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web, labels: {app.kubernetes.io/managed-by: nimbus-kubearmor}},
  spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}], ports: [{port: 80, protocol: TCP}]}]}}`

// newSole returns a bed with a Sole owner, and reads that keep managed fields.
func newSole(t *testing.T) *bed {
	t.Helper()
	b := newBed(t)
	b.owner.Sole, b.owner.Label = true, "test.io/owner-uid"
	live, err := client.New(b.w.Config(), client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	b.Client = live
	return b
}

func TestWhatAPersonAddsToASoleOwnersChildIsTakenOut(t *testing.T) {
	extent.Full(t)
	b := newSole(t)
	desired := b.manifest(soleManifest)
	r := b.apply(desired, apply.Created)
	ref := apply.RefOf(r.Live)
	b.apply(desired, apply.Unchanged)

	b.edit(ref, func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"to": []any{map[string]any{"podSelector": map[string]any{}}}}}, "spec",
			"egress")
	})
	if r := b.apply(desired, apply.Updated); paths(r.Drift) == "" {
		t.Error("the addition is not told")
	}
	np := &networkingv1.NetworkPolicy{}
	if err := b.person.Get(t.Context(), types.NamespacedName{Namespace: b.ns, Name: "web"}, np); err != nil || len(np.Spec.Egress) > 0 ||
		len(np.Spec.Ingress) != 1 {
		t.Errorf("%+v %v", np.Spec, err)
	}
	b.apply(desired, apply.Unchanged)

	// A person who declares a desired field with the same value adds nothing, and the operator does not contest it.
	same := b.manifest(soleManifest)
	if err := b.person.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(same), client.FieldOwner("person"),
		client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	b.apply(desired, apply.Unchanged)
}

func TestAFieldAddedToAnElementOfAListIsTakenOut(t *testing.T) {
	b := newSole(t)
	// The list has no keys: who writes a field of an element manages the whole list from then on.
	desired := b.manifest(`{apiVersion: intent.security.nimbus.com/v1alpha1, kind: NimbusPolicy, metadata: {name: web},
  spec: {selector: {matchLabels: {app: web}}, rules: [{id: dnsManipulation, rule: {action: Block}}]}}`)
	ref := apply.RefOf(b.apply(desired, apply.Created).Live)
	b.apply(desired, apply.Unchanged)
	for _, add := range []func(rule map[string]any){
		func(rule map[string]any) { rule["description"] = "added" },
		func(rule map[string]any) { rule["rule"].(map[string]any)["params"] = map[string]any{"a": []any{"b"}} },
	} {
		b.edit(ref, func(u *unstructured.Unstructured) {
			rules, _, _ := unstructured.NestedSlice(u.Object, "spec", "rules")
			add(rules[0].(map[string]any))
			_ = unstructured.SetNestedSlice(u.Object, rules, "spec", "rules")
		})
		r := b.apply(desired, apply.Updated)
		if paths(r.Drift) == "" {
			t.Error("the addition is not reported")
		}
		have, _, _ := unstructured.NestedSlice(r.Live.Object, "spec", "rules")
		want, _, _ := unstructured.NestedSlice(desired.Object, "spec", "rules")
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%v, want %v", have, want)
		}
		b.apply(desired, apply.Unchanged)
	}
}

func TestAnAdditionBesideAnEditIsTakenOutInOnePass(t *testing.T) {
	b := newSole(t)
	desired := b.manifest(soleManifest)
	ref := apply.RefOf(b.apply(desired, apply.Created).Live)
	b.edit(ref, func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedStringMap(u.Object, map[string]string{"app": "other"}, "spec", "podSelector", "matchLabels")
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{}}, "spec", "egress")
	})
	b.apply(desired, apply.Updated)
	live := b.live(ref)
	if _, there, _ := unstructured.NestedSlice(live.Object, "spec", "egress"); there {
		t.Errorf("the addition is still there: %v", live.Object["spec"])
	}
	if l, _, _ := unstructured.NestedStringMap(live.Object, "spec", "podSelector", "matchLabels"); l["app"] != "web" {
		t.Errorf("the selector is %v", l)
	}
	b.apply(desired, apply.Unchanged)
}

func TestAnOwnersOwnLabelLeavesTheManifestsManagedBy(t *testing.T) {
	b := newSole(t)
	live := b.apply(b.manifest(soleManifest), apply.Created).Live
	if l := live.GetLabels(); l["app.kubernetes.io/managed-by"] != "nimbus-kubearmor" || l["test.io/owner-uid"] != string(b.owner.UID) {
		t.Errorf("the labels are %v", l)
	}
	plain := b.apply(b.configMap("plain"), apply.Created).Live
	if plain.GetLabels()["app.kubernetes.io/managed-by"] != apply.FieldOwner {
		t.Errorf("the labels are %v", plain.GetLabels())
	}
	b.owner.Label = ""
	desired := b.configMap("x")
	desired.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "somebody"})
	if l := b.apply(desired, apply.Created).Live.GetLabels(); l["app.kubernetes.io/managed-by"] != apply.FieldOwner {
		t.Errorf("a capability's child left the cache: %v", l)
	}
}

// TestAMapThatBecomesEmptyIsApplied: a server-side apply that takes the last key out of a map that it says to be
// empty leaves null in its place, which no schema takes.
func TestAMapThatBecomesEmptyIsApplied(t *testing.T) {
	for name, sole := range map[string]bool{"the owner has the only say": true, "others have theirs": false} {
		t.Run(name, func(t *testing.T) {
			b := newSole(t)
			b.owner.Sole = sole
			full := b.manifest(`{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: S3Bucket, metadata: {name: data},
  spec: {providerRef: {name: aws}, bucketName: some-bucket, tags: {a: b, c: d}}}`)
			empty := full.DeepCopy()
			_ = unstructured.SetNestedMap(empty.Object, map[string]any{}, "spec", "tags")
			b.apply(full, apply.Created)
			live := b.apply(empty, apply.Updated).Live
			if tags, there, _ := unstructured.NestedMap(live.Object, "spec", "tags"); !there || len(tags) > 0 {
				t.Errorf("tags %v, there %t", tags, there)
			}
			b.apply(empty, apply.Unchanged)
			b.apply(full, apply.Updated)
			again := full.DeepCopy()
			unstructured.RemoveNestedField(again.Object, "spec", "tags")
			live = b.apply(again, apply.Updated).Live
			if tags, there, _ := unstructured.NestedMap(live.Object, "spec", "tags"); there {
				t.Errorf("tags are no longer declared, and are %v", tags)
			}
			b.apply(again, apply.Unchanged)
		})
	}
}
