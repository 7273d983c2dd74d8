// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/apply"
)

func TestWithoutBulk_KeepsMetadataOfLargeConfigMaps(t *testing.T) {
	large := strings.Repeat("x", 20<<10)
	for name, fill := range map[string]func(m *corev1.ConfigMap){
		"data":           func(m *corev1.ConfigMap) { m.Data = map[string]string{"a": large} },
		"binary data":    func(m *corev1.ConfigMap) { m.BinaryData = map[string][]byte{"a": []byte(large)} },
		"annotations":    func(m *corev1.ConfigMap) { m.Annotations["a"] = large },
		"our annotation": func(m *corev1.ConfigMap) { m.Annotations["nexus.ai/orphaned-from"] = large },
		"owners": func(m *corev1.ConfigMap) {
			m.OwnerReferences = make([]metav1.OwnerReference, 5000)
			fillOwners(m.OwnerReferences)
		},
		"managed fields": func(m *corev1.ConfigMap) {
			m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(large)}}
		},
	} {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u", ResourceVersion: "7",
			Labels:          map[string]string{"app.kubernetes.io/managed-by": "nexus-operator", "nexus.ai/capability-uid": "c", "other": "l"},
			Annotations:     map[string]string{"nexus.ai/owner": "o", "other": "a"},
			OwnerReferences: []metav1.OwnerReference{{Name: "c"}}}}
		if got, err := apply.WithoutBulk(m); err != nil || got != any(m) {
			t.Errorf("a small one is %v: %v", got, err)
		}
		fill(m)
		made, err := apply.WithoutBulk(m)
		if err != nil {
			t.Fatal(err)
		}
		got := made.(*corev1.ConfigMap)
		if got.Size() > 1<<10 || got.Name != "a" || got.Namespace != "b" || got.UID != "u" || got.ResourceVersion != "7" ||
			len(got.OwnerReferences) != 1 ||
			got.Labels["nexus.ai/capability-uid"] != "c" || got.Labels["app.kubernetes.io/managed-by"] == "" ||
			got.Annotations["nexus.ai/owner"] != "o" {
			t.Errorf("%s: %d bytes: %v", name, got.Size(), got)
		}
		if again, err := apply.WithoutBulk(got); err != nil || again != any(got) {
			t.Errorf("%s: the second time %v: %v", name, again, err)
		}
	}
	if got, err := apply.WithoutBulk("a tombstone"); err != nil || got != "a tombstone" {
		t.Error(got, err)
	}
}

func TestWithoutUnusedFields_KeepsThoseOfAppliedObjects(t *testing.T) {
	entry := func(manager string, op metav1.ManagedFieldsOperationType, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: op, Subresource: subresource}
	}
	user := entry("kubectl", metav1.ManagedFieldsOperationApply, "")
	for name, c := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		kept    int
	}{
		"made by a user": {[]metav1.ManagedFieldsEntry{user}, 0},
		"a user's, with our status": {[]metav1.ManagedFieldsEntry{user,
			entry(apply.FieldOwner, metav1.ManagedFieldsOperationApply, "status")}, 0},
		"a user's, with our finalizer": {[]metav1.ManagedFieldsEntry{user,
			entry(apply.FieldOwner, metav1.ManagedFieldsOperationUpdate, "")}, 0},
		"applied, and edited by a user": {[]metav1.ManagedFieldsEntry{entry(apply.FieldOwner, metav1.ManagedFieldsOperationApply, ""), user}, 2},
		"applied, with our status": {[]metav1.ManagedFieldsEntry{entry(apply.FieldOwner, metav1.ManagedFieldsOperationApply, ""),
			entry(apply.FieldOwner, metav1.ManagedFieldsOperationUpdate, "status")}, 1},
		"applied, without marks of ours": {[]metav1.ManagedFieldsEntry{entry(apply.FieldOwner, metav1.ManagedFieldsOperationApply, "")}, 1},
	} {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", ManagedFields: c.entries}}
		if got, err := apply.WithoutUnusedFields(m); err != nil || got != any(m) || len(m.ManagedFields) != c.kept {
			t.Errorf("%s: %d entries, %v", name, len(m.ManagedFields), err)
		}
	}
	if got, err := apply.WithoutUnusedFields("a tombstone"); err != nil || got != "a tombstone" {
		t.Error(got, err)
	}
}
