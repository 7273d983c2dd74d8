// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

const (
	// maxCachedData is the size in bytes of the largest ConfigMap that is cached as a whole. A capability's are far
	// smaller.
	maxCachedData = 16 << 10
	// maxCachedAnnotation is the size of the largest annotation of ours that is cached without the rest.
	maxCachedAnnotation = 512
	// annotationIncomplete marks a cached object without its content. It is in no object of the API server.
	annotationIncomplete = "nexus.ai/incomplete-in-cache"
)

// WithoutBulk is a transform for the cache of ConfigMaps. Anybody may put the operator's label on a ConfigMap in their own
// namespace, and the cache holds all of them. Of a large one it keeps only the metadata that name the owner; the Applier reads
// a child of that size from the API server.
func WithoutBulk(obj any) (any, error) {
	m, ok := obj.(*corev1.ConfigMap)
	if !ok || SizeOf(m) <= maxCachedData {
		return obj, nil
	}
	out := &corev1.ConfigMap{TypeMeta: m.TypeMeta}
	out.Namespace, out.Name, out.UID, out.ResourceVersion = m.Namespace, m.Name, m.UID, m.ResourceVersion
	out.CreationTimestamp, out.DeletionTimestamp, out.OwnerReferences = m.CreationTimestamp, m.DeletionTimestamp,
		shortOwners(m.OwnerReferences)
	out.Labels, out.Annotations = map[string]string{}, map[string]string{annotationIncomplete: "true"}
	for _, k := range []string{wellknown.LabelCapabilityUID, wellknown.LabelManagedBy} {
		if v, ok := m.Labels[k]; ok {
			out.Labels[k] = v
		}
	}
	for _, k := range []string{AnnotationOwner, AnnotationOrphanedFrom, wellknown.AnnotationCapability, wellknown.AnnotationRecoveryState,
		wellknown.AnnotationRecoverableUntil} {
		if v, ok := m.Annotations[k]; ok && len(v) <= maxCachedAnnotation {
			out.Annotations[k] = v
		}
	}
	return out, nil
}

// isIncomplete reports whether the cache holds an object without its content.
func isIncomplete(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()[annotationIncomplete] != ""
}

// WithoutUnusedFields is a transform for caches: it drops the managed fields of an object that this operator has not applied, which are
// half of its size. The managed fields of applied objects are needed to show the additions of others, except those of subresources such as
// the status.
func WithoutUnusedFields(obj any) (any, error) {
	if m, err := meta.Accessor(obj); err == nil {
		dropUnusedFields(m)
	}
	return obj, nil
}

func dropUnusedFields(m metav1.Object) {
	if !wasApplied(m) {
		m.SetManagedFields(nil)
		return
	}
	m.SetManagedFields(slices.DeleteFunc(m.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Subresource != "" }))
}
