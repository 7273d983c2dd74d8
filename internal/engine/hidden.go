// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// hiddenIn returns the paths of the write-only values in the documents of a state.
func hiddenIn(want any) []string {
	found := map[string]string{}
	for field, d := range documentsOf(want) {
		addVersions(place{path: field}, d.Value, found)
	}
	return sortedKeys(found)
}

// hiddenPaths are the paths of write-only values that the status or the intent records.
func hiddenPaths(st *v1alpha1.CommonStatus, i *Intent) []string {
	recorded := slices.DeleteFunc(slices.Collect(maps.Keys(st.WrittenVersions)),
		func(path string) bool { return strings.HasSuffix(path, hollowMark) })
	if i != nil {
		recorded = append(recorded, i.Hidden...)
	}
	return union(recorded, nil)
}

// hiddenToRecord returns the paths of write-only values that the intent must record before a plan runs, by the rules of tagsToRecord.
func (w Written) hiddenToRecord(recorded []string, p Plan) []string {
	switch {
	case p.Cause == InSync:
		return slices.DeleteFunc(slices.Clone(recorded), func(path string) bool { return !slices.Contains(p.Written.Hidden, path) })
	case p.Writes():
		return union(recorded, slices.DeleteFunc(slices.Clone(p.Written.Hidden),
			func(path string) bool { return slices.Contains(w.Hidden, path) }))
	default:
		return recorded
	}
}

// hideWritten replaces a value from AWS by stars at a path with a written secret, also after the spec has another value there, or none.
func (w Written) hideWritten(diff kind.Diff) kind.Diff {
	for i, c := range diff {
		hides := func(path string) bool { return c.At(path) || kind.Change{Path: path}.At(c.Path) }
		if slices.ContainsFunc(w.Hidden, hides) {
			diff[i].Have = stars
		}
	}
	return diff
}

// fixedVersions returns the recorded versions of values in documents that are fixed at the creation: no later request can have changed
// them, successful or not.
func fixedVersions(want any, written map[string]string) map[string]string {
	out := map[string]string{}
	for field, d := range documentsOf(want) {
		eachWriteOnly(place{path: field}, d.Value, func(p place, _ *kind.WriteOnly) {
			if version := written[p.path]; version != "" && isFixed(d, p.at) {
				out[p.path] = version
			}
		})
	}
	return out
}

// isFixed reports whether a member of a document, or an object that contains it, cannot be changed after the creation, or not always.
func isFixed(d *kind.Document, at []string) bool {
	for i := range at {
		if mode := d.RuleAt(at[:i+1]).Mode; mode == kind.Immutable || mode == kind.Conditional {
			return true
		}
	}
	return false
}
