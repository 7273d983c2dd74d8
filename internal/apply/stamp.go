// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// addMarks returns the manifest to apply: the desired one with our marks, without fields that only the server writes and without
// finalizers, which are never applied.
func addMarks(o Owner, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	want := &unstructured.Unstructured{Object: withoutNulls(desired.Object)}
	meta := map[string]any{"name": desired.GetName()}
	if ns := desired.GetNamespace(); ns != "" {
		meta["namespace"] = ns
	}
	delete(want.Object, "status")
	want.Object["metadata"] = meta
	labels := desired.GetLabels()
	if o.Label == "" || labels[wellknown.LabelManagedBy] == "" {
		// Caches of a capability's children select on managed-by: one without it would be read live every time.
		labels = withKey(labels, wellknown.LabelManagedBy, FieldOwner)
	}
	want.SetLabels(withKey(labels, o.label(), string(o.UID)))
	want.SetAnnotations(withKey(desired.GetAnnotations(), AnnotationOwner, o.String()))
	if o.refersTo(desired) {
		meta["ownerReferences"] = []any{o.reference()}
	}
	h, err := hashOf(want)
	if err != nil {
		return nil, fmt.Errorf("hashing %s: %w", RefOf(want), err)
	}
	want.SetAnnotations(withKey(want.GetAnnotations(), AnnotationHash, h))
	return want, nil
}

// withKey copies a map and adds a pair; a hash of before is left behind.
func withKey(m map[string]string, k, v string) map[string]string {
	out := make(map[string]string, len(m)+1)
	maps.Copy(out, m)
	delete(out, AnnotationHash)
	out[k] = v
	return out
}

// hashOf is short and stable: JSON orders the keys of maps.
func hashOf(u *unstructured.Unstructured) (string, error) {
	b, err := json.Marshal(u.Object)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8]), nil
}

// withoutNulls copies a manifest without its nulls, which typed objects leave and which say nothing.
func withoutNulls(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if v != nil {
			out[k] = withoutEmptyValues(v)
		}
	}
	return out
}

func withoutEmptyValues(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return withoutNulls(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutEmptyValues(v[i])
		}
		return out
	default:
		return v
	}
}
