// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/internal/apply"
)

func TestMark_ChangesWithWhatAnApplyCompares(t *testing.T) {
	desired := &unstructured.Unstructured{}
	desired.SetAnnotations(map[string]string{"a.example/declared": "yes"})
	live := func(edit func(*appsv1.Deployment)) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			Name: "app", UID: "1", Generation: 3, ResourceVersion: "10", Labels: map[string]string{"team": "a"},
			Annotations:     map[string]string{"a.example/declared": "yes", apply.AnnotationHash: "h", apply.AnnotationOwner: "o"},
			OwnerReferences: []metav1.OwnerReference{{Name: "owner", UID: "2"}},
		}}
		edit(d)
		return d
	}
	was := markOf(desired, live(func(*appsv1.Deployment) {}))
	now := metav1.Now()
	for name, tc := range map[string]struct {
		edit func(*appsv1.Deployment)
		same bool
	}{
		"status":                    {func(d *appsv1.Deployment) { d.ResourceVersion, d.Status.Replicas = "11", 2 }, true},
		"an annotation of others":   {func(d *appsv1.Deployment) { d.Annotations["b.example/record"] = "x" }, true},
		"specification":             {func(d *appsv1.Deployment) { d.Generation = 4 }, false},
		"another object":            {func(d *appsv1.Deployment) { d.UID = "9" }, false},
		"deletion":                  {func(d *appsv1.Deployment) { d.DeletionTimestamp = &now }, false},
		"a label":                   {func(d *appsv1.Deployment) { d.Labels["team"] = "b" }, false},
		"a declared annotation":     {func(d *appsv1.Deployment) { delete(d.Annotations, "a.example/declared") }, false},
		"the record of the apply":   {func(d *appsv1.Deployment) { d.Annotations[apply.AnnotationHash] = "" }, false},
		"the owner's annotation":    {func(d *appsv1.Deployment) { delete(d.Annotations, apply.AnnotationOwner) }, false},
		"the owner reference":       {func(d *appsv1.Deployment) { d.OwnerReferences = nil }, false},
		"a kind without generation": {func(d *appsv1.Deployment) { d.Generation = 0 }, false},
	} {
		if got := was.equals(markOf(desired, live(tc.edit))); got != tc.same {
			t.Errorf("%s: equal is %t, want %t", name, got, tc.same)
		}
	}
	versions := func(version string) mark {
		return markOf(desired, live(func(d *appsv1.Deployment) { d.Generation, d.ResourceVersion = 0, version }))
	}
	if versions("10").equals(versions("11")) || !versions("10").equals(versions("10")) {
		t.Error("the version does not stand for an object without a generation")
	}
}
