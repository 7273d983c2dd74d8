package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stamp returns the manifest to apply: the desired one with our marks, without what only the server
// says and without finalizers, which are never applied.
func stamp(o Owner, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	want := &unstructured.Unstructured{Object: withoutNulls(desired.Object)}
	meta := map[string]any{"name": desired.GetName()}
	if ns := desired.GetNamespace(); ns != "" {
		meta["namespace"] = ns
	}
	delete(want.Object, "status")
	want.Object["metadata"] = meta
	labels := desired.GetLabels()
	if o.Label == "" || labels[labelManagedBy] == "" {
		// Caches of a capability's children select on managed-by: one without it would be read live every time.
		labels = with(labels, labelManagedBy, FieldOwner)
	}
	want.SetLabels(with(labels, o.label(), string(o.UID)))
	want.SetAnnotations(with(desired.GetAnnotations(), AnnotationOwner, o.String()))
	if o.refersTo(desired) {
		meta["ownerReferences"] = []any{o.reference()}
	}
	h, err := hash(want)
	if err != nil {
		return nil, fmt.Errorf("hashing %s: %w", RefOf(want), err)
	}
	want.SetAnnotations(with(want.GetAnnotations(), AnnotationHash, h))
	return want, nil
}

// with copies a map and adds a pair; a hash of before is left behind.
func with(m map[string]string, k, v string) map[string]string {
	out := make(map[string]string, len(m)+1)
	maps.Copy(out, m)
	delete(out, AnnotationHash)
	out[k] = v
	return out
}

// hash is short and stable: JSON orders the keys of maps.
func hash(u *unstructured.Unstructured) (string, error) {
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
			out[k] = cleaned(v)
		}
	}
	return out
}

func cleaned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return withoutNulls(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cleaned(v[i])
		}
		return out
	default:
		return v
	}
}
