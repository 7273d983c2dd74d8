// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// forgedApplies returns the fields that were applied under the name of our field manager, which anybody may use, and that we do not apply.
// A difference is also that the entry of our field manager is gone, or that another version of the kind was applied. Our next apply
// restores the entry, and takes the fields out.
func forgedApplies(want, live *unstructured.Unstructured) []Difference {
	at := slices.IndexFunc(live.GetManagedFields(), isOurApply)
	if at < 0 || live.GetManagedFields()[at].APIVersion != want.GetAPIVersion() {
		return []Difference{{Path: "metadata.managedFields"}}
	}
	forged := undesired(want, setOf(live.GetManagedFields()[at]),
		func(p fieldpath.Path) bool { return p.Equals(replicas) || p.Equals(podAnnotations) || isStatus(p) })
	return foundIn(live, forged)
}

// foundIn are the fields of a set as differences of an object that has them.
func foundIn(live *unstructured.Unstructured, s *fieldpath.Set) (out []Difference) {
	s.Iterate(func(p fieldpath.Path) {
		have, _, _ := unstructured.NestedFieldNoCopy(live.Object, fieldNamesOf(p)...)
		out = append(out, Difference{Path: p.String()[1:], Have: have})
	})
	return out
}

// isStatus reports whether a field is of the status, which no apply of a whole object writes.
func isStatus(p fieldpath.Path) bool { return p[0].FieldName != nil && *p[0].FieldName == "status" }

func isOurApply(m metav1.ManagedFieldsEntry) bool {
	return m.Manager == FieldOwner && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
}

// forgedUpdates are the topmost fields that were written otherwise than by an apply under the name of our field manager, and that
// are not desired.
func forgedUpdates(want, live *unstructured.Unstructured) *fieldpath.Set {
	found := &fieldpath.Set{}
	for _, m := range live.GetManagedFields() {
		if m.Manager == FieldOwner && m.Operation == metav1.ManagedFieldsOperationUpdate && m.Subresource == "" {
			found = found.Union(undesired(want, setOf(m), isLeftToOthers))
		}
	}
	return found
}

// setOf are the fields of an entry; none where it cannot be read.
func setOf(m metav1.ManagedFieldsEntry) *fieldpath.Set {
	s := &fieldpath.Set{}
	if m.FieldsV1 == nil || s.FromJSON(m.FieldsV1.GetRawReader()) != nil {
		return &fieldpath.Set{}
	}
	return s
}

// undesired are the topmost fields of a set that lead to nothing in a desired object, without those that are allowed.
func undesired(want *unstructured.Unstructured, s *fieldpath.Set, allowed func(fieldpath.Path) bool) *fieldpath.Set {
	found := &fieldpath.Set{}
	s.Leaves().Iterate(func(p fieldpath.Path) {
		if allowed(p) {
			return
		}
		if n := lengthIn(want.Object, p); n < len(p) {
			found.Insert(beside(p, n+1))
		}
	})
	return found
}

// isElement is matchesElement for an element without the defaults of the API server that keys contain, such as the protocol of a
// port.
func isElement(element any, p fieldpath.PathElement) bool {
	m, ok := element.(map[string]any)
	if p.Key == nil || !ok {
		return matchesElement(element, p)
	}
	return !slices.ContainsFunc(*p.Key, func(f value.Field) bool {
		have, said := m[f.Name]
		if !said {
			have, said = defaults[f.Name]
		}
		return said && !value.Equals(f.Value, value.NewValueInterface(have))
	})
}

// disown takes fields out of the managed fields of everybody but our applies, after they were taken out of the object and the API
// server set their defaults. Their manager would count as having added the defaults.
func (a *Applier) disown(ctx context.Context, live *unstructured.Unstructured, paths []fieldpath.Path) (*unstructured.Unstructured, error) {
	if len(paths) == 0 {
		return live, nil
	}
	var kept []metav1.ManagedFieldsEntry
	for _, m := range live.GetManagedFields() {
		if m.Subresource == "" && !isOurApply(m) {
			if m.FieldsV1 = without(m, paths); m.FieldsV1 == nil {
				continue
			}
		}
		kept = append(kept, m)
	}
	next := live.DeepCopy()
	next.SetManagedFields(kept)
	return a.patchAdded(ctx, live, next)
}

// without returns the fields of an entry that are not at or below some paths; nil where there are none.
func without(m metav1.ManagedFieldsEntry, paths []fieldpath.Path) *metav1.FieldsV1 {
	kept := &fieldpath.Set{}
	setOf(m).Iterate(func(p fieldpath.Path) {
		if !slices.ContainsFunc(paths, func(top fieldpath.Path) bool { return len(p) >= len(top) && p[:len(top)].Equals(top) }) {
			kept.Insert(p.Copy())
		}
	})
	raw, err := kept.ToJSON()
	if kept.Empty() || err != nil {
		return nil
	}
	return metav1.NewFieldsV1(string(raw))
}
