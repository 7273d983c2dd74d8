// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Removals are the fields of an existing child that Apply removes: those that it wrote before, that the desired object no longer has and
// that no other manager has. They are no part of Differences: the owner's desired object does not name them.
func (p Plan) Removals() []Difference {
	if p.Live == nil || p.Change == Unchanged {
		return nil
	}
	ours, theirs := appliedSets(p.Live)
	gone := &fieldpath.Set{}
	ours.Leaves().Iterate(func(path fieldpath.Path) {
		if n := lengthIn(p.want.Object, path); n < len(path) && !containsPath(theirs, path[:n+1]) {
			gone.Insert(path[:n+1].Copy())
		}
	})
	var out []Difference
	gone.Iterate(func(path fieldpath.Path) {
		d := Difference{Path: path.String()[1:]}
		if names := fieldNamesOf(path); names != nil {
			d.Have, _, _ = unstructured.NestedFieldNoCopy(p.Live.Object, names...)
		}
		out = append(out, d)
	})
	return out
}

// lengthIn returns how many elements of a path lead to something in a value.
func lengthIn(v any, path fieldpath.Path) int {
	for n, e := range path {
		next, found := elementOf(v, e)
		if !found {
			return n
		}
		v = next
	}
	return len(path)
}

// elementOf follows one element of a path into a value.
func elementOf(v any, e fieldpath.PathElement) (next any, found bool) {
	switch v := v.(type) {
	case map[string]any:
		if e.FieldName != nil {
			next, found = v[*e.FieldName]
		}
	case []any:
		for i, element := range v {
			if e.Index != nil && i == *e.Index || isElement(element, e) {
				return element, true
			}
		}
	}
	return next, found
}
