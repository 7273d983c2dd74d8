// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/apply"
)

const forgedMark = "nexus.ai/incomplete-in-cache"

// variables are a mebibyte of environment variables.
func variables(n, size int) []corev1.EnvVar {
	out := make([]corev1.EnvVar, n)
	for i := range out {
		out[i] = corev1.EnvVar{Name: fmt.Sprint("VARIABLE_", i), Value: strings.Repeat("x", size)}
	}
	return out
}

func podOf(env []corev1.EnvVar) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", UID: "u", ResourceVersion: "7"}}
	p.Spec.ServiceAccountName, p.Status.Phase = "app", corev1.PodRunning
	p.Spec.Containers = []corev1.Container{{Name: "app", Env: env}}
	return p
}

func TestWithoutLongContents_KeepsWhatIsShort(t *testing.T) {
	p := podOf(variables(100, 1<<10))
	made, err := apply.WithoutLongContents(p)
	if err != nil {
		t.Fatal(err)
	}
	got := made.(*corev1.Pod)
	if size, trimmed := apply.TrimmedSize(got); !trimmed || size < 100<<10 || apply.SizeOf(got) > 16<<10 {
		t.Errorf("%d bytes of %d are kept", apply.SizeOf(got), size)
	}
	if got.Name != "b" || got.UID != "u" || got.Spec.ServiceAccountName != "app" || got.Status.Phase != corev1.PodRunning ||
		got.Spec.Containers[0].Env[99].Name != "VARIABLE_99" {
		t.Errorf("%+v", got)
	}
	small := podOf(variables(1, 10))
	small.Annotations = map[string]string{forgedMark: "5", "a": "b"}
	if made, _ := apply.WithoutLongContents(small); made.(client.Object).GetAnnotations()[forgedMark] != "" ||
		made.(client.Object).GetAnnotations()["a"] != "b" {
		t.Errorf("a mark that the cache did not write: %v", small.Annotations)
	}
	if got, err := apply.WithoutLongContents("a tombstone"); err != nil || got != "a tombstone" {
		t.Error(got, err)
	}
}

func TestWithoutLongContents_CountsEveryPlace(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	many := map[string]string{}
	for i := range 10000 {
		many[fmt.Sprint("label-", i)] = strings.Repeat("x", 60)
	}
	for place, fill := range map[string]func(d *appsv1.Deployment){
		"annotations": func(d *appsv1.Deployment) { d.Annotations = map[string]string{"a": long} },
		"our prefix": func(d *appsv1.Deployment) {
			d.Annotations = map[string]string{}
			for i := range 1000 {
				d.Annotations[fmt.Sprint("nexus.ai/kept-", i)] = strings.Repeat("x", 300)
			}
		},
		"labels": func(d *appsv1.Deployment) { d.Labels = many },
		"finalizers": func(d *appsv1.Deployment) {
			d.Finalizers = strings.Split(strings.Repeat("a.example/finalizer,", 9000), ",")
		},
		"owners": func(d *appsv1.Deployment) {
			d.OwnerReferences = make([]metav1.OwnerReference, 9000)
			fillOwners(d.OwnerReferences)
		},
		"managed fields": func(d *appsv1.Deployment) {
			d.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(long)}}
		},
		"variables": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = []corev1.Container{{Env: variables(10000, 60)}}
		},
		"arguments": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{long}}}
		},
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}
		fill(d)
		if _, err := apply.WithoutLongContents(d); err != nil {
			t.Fatal(err)
		}
		if _, trimmed := apply.TrimmedSize(d); !trimmed || apply.SizeOf(d) > 20<<10 {
			t.Errorf("%s: %d bytes are kept", place, apply.SizeOf(d))
		}
	}
}

func fillOwners(owners []metav1.OwnerReference) {
	for i := range owners {
		owners[i] = metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint("owner-", i), UID: "u"}
	}
	owners[7].Controller = new(true)
}

func TestWithoutLongContents_KeepsOfUnknownKindsTheMetadata(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "security.kubearmor.com/v1", "kind": "KubeArmorPolicy",
		"metadata": map[string]any{"namespace": "a", "name": "b", "labels": map[string]any{"nexus.ai/policy-owner": "u"}},
		"spec":     map[string]any{"message": strings.Repeat("x", 100<<10)}}}
	if _, err := apply.WithoutLongContents(u); err != nil {
		t.Fatal(err)
	}
	if _, trimmed := apply.TrimmedSize(u); !trimmed || u.Object["spec"] != nil || u.GetLabels()["nexus.ai/policy-owner"] != "u" ||
		u.GetKind() != "KubeArmorPolicy" {
		t.Errorf("%v", u)
	}
}

func TestWithoutLongMetadata_KeepsContentsAndTheController(t *testing.T) {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b",
		OwnerReferences: make([]metav1.OwnerReference, 9000)}}
	fillOwners(m.OwnerReferences)
	m.Annotations = map[string]string{"nexus.ai/paused": "true", "other": strings.Repeat("x", 200<<10)}
	if _, err := apply.WithoutLongMetadata(m); err != nil {
		t.Fatal(err)
	}
	if len(m.OwnerReferences) != 1 || m.OwnerReferences[0].Name != "owner-7" ||
		!reflect.DeepEqual(m.Annotations, map[string]string{"nexus.ai/paused": "true"}) {
		t.Errorf("%v %v", m.OwnerReferences, m.Annotations)
	}
	if _, trimmed := apply.TrimmedSize(m); trimmed {
		t.Error("its contents are whole")
	}
}

func TestSizeOf_LooksOnlyAtFieldsThatAreExported(t *testing.T) {
	o := &corev1.Pod{}
	// Another goroutine may be setting the location of a time, which has a name and a list of zones.
	o.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone(strings.Repeat("x", apply.LargeObject), 0)))
	if n := apply.SizeOf(o); n > 1<<10 {
		t.Errorf("%d bytes", n)
	}
}
