// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/apply"
)

func TestWhatIsAddedToAChildThatMustBeExactIsTakenOutAgain(t *testing.T) {
	b := newBed(t)
	desired := b.manifest("%s", spelled["an S3Bucket"])
	ref := b.given(desired)
	add := func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, true, "spec", "forceDestroy")
		_ = unstructured.SetNestedStringMap(u.Object, map[string]string{"theirs": "x"}, "spec", "tags")
	}
	exact := func(want int) *unstructured.Unstructured {
		t.Helper()
		r := b.apply(desired, apply.Unchanged)
		writes := b.writes()
		live, err := b.Exact(t.Context(), desired, r.Live)
		if err != nil || !apply.SameSpec(b.cached.Scheme(), desired, live) {
			t.Errorf("the spec is %v (%v)", live, err)
		}
		writes(want)
		return live
	}
	exact(0)
	b.edit(ref, add)
	b.caughtUp(ref)
	exact(1)
	if tags, _, _ := unstructured.NestedMap(b.live(ref).Object, "spec", "tags"); len(tags) > 0 {
		t.Errorf("the tags are %v", tags)
	}
	exact(0) // whether or not the cache has caught up
	b.caughtUp(ref)
	old := exact(0)

	b.edit(ref, add)
	changed := old.DeepCopy()
	add(changed) // what the cache shows by now, but not of the newest version
	b.edit(ref, func(u *unstructured.Unstructured) { u.SetAnnotations(nil) })
	if _, err := b.Exact(t.Context(), desired, changed); !apierrors.IsConflict(err) {
		t.Errorf("the error is %v, expected a conflict", err)
	}
}

func TestSpecsAreTheSameAsTheirKindReadsThem(t *testing.T) {
	s := newScheme(t)
	bucket := func(rest string) *unstructured.Unstructured {
		return parse(t, `{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: S3Bucket, metadata: {name: a}, spec: {providerRef: {name: p}`+rest+`}}`)
	}
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"", "", true},
		{", tags: {}", "", true},
		{", tags: {a: b}", "", false},
		{", lifecycleRules: []", "", false}, // absent is not managed, empty is none
		{", forceDestroy: 1", ", forceDestroy: 1", false},
	} {
		if got := apply.SameSpec(s, bucket(tc.a), bucket(tc.b)); got != tc.same {
			t.Errorf("%q and %q are the same: %v", tc.a, tc.b, got)
		}
	}
	other := parse(t, `{apiVersion: x.io/v1, kind: X, spec: {}}`)
	if apply.SameSpec(s, other, other) {
		t.Error("a kind that cannot be read is taken for the same")
	}
}
