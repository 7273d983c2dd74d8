// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// An empty object in a document selects an option by its name, such as {"DefaultAction": {"Block": {}}} of a web ACL. It is written like
// every other value. The handlers of some types do not show it afterwards. So the written values that AWS does not show are recorded next
// to the versions of write-only values.

// hollowMark ends the key of the record of a document. No property of a schema has this name.
const hollowMark = "[{}]"

// mostHollow bounds a record. Further values count as differences while AWS does not show them.
const mostHollow = 64

// saysNothing reports whether a value consists only of empty strings, lists and objects, and of values that AWS may leave out.
func (d documents) saysNothing(p place, within map[string]any, v any) bool {
	switch w := v.(type) {
	case nil:
		return true
	case string:
		if w == "" {
			return true
		}
	case []any:
		for i, element := range w {
			if !d.saysNothing(p.element(i), nil, element) {
				return false
			}
		}
		return true
	case map[string]any:
		for name, member := range w {
			if !d.saysNothing(p.member(name), w, member) {
				return false
			}
		}
		return true
	}
	rule := d.rules.RuleAt(p.at)
	return len(p.at) > 0 && isSame(rule, rule.Mode, within, v, nil)
}

// isHollow reports whether a value says nothing but by the names in it. AWS may always leave out an empty text or list, which have none.
func (d documents) isHollow(p place, v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && d.saysNothing(p, nil, v)
	case map[string]any:
		return d.saysNothing(p, nil, v) && !isRemoval(v)
	default:
		return false
	}
}

// isRemoval reports whether an object wants nothing but the absence of members.
func isRemoval(object map[string]any) bool {
	for _, member := range object {
		if below, ok := member.(map[string]any); member != nil && !(ok && isRemoval(below)) {
			return false
		}
	}
	return len(object) > 0
}

// hollowEntry identifies a hollow value and its place in a record.
func hollowEntry(p place, v any) string { return sumOf(map[string]any{p.path: v})[:8] }

// isRecorded reports whether a hollow value was written, and was not shown when the record was made.
func (d documents) isRecorded(p place, v any) bool {
	field, _, _ := strings.Cut(strings.ReplaceAll(p.path, "[", "."), ".")
	return slices.Contains(strings.Split(d.written[field+hollowMark], ","), hollowEntry(p, v))
}

// hollow compares a wanted hollow value with its absence.
func (d documents) hollow(p place, m modes, want any) {
	if !d.isRecorded(p, want) {
		d.differ(p, m, want, nil)
	}
}

// withHollow adds the records of the documents of a state to the versions of the values that a plan writes.
func withHollow(want, have any, written, versions map[string]string) map[string]string {
	shown := documentsOf(have)
	for field, d := range documentsOf(want) {
		versions = addHollow(field, d, shown[field], written, versions)
	}
	return versions
}

// addHollow adds the hollow values of a wanted document that AWS does not show to the versions of the values that a plan writes.
func addHollow(field string, want, have *kind.Document, written, versions map[string]string) map[string]string {
	shown := map[string]string{}
	for path, version := range written {
		if !strings.HasSuffix(path, hollowMark) {
			shown[path] = version
		}
	}
	var found []string
	d, all := documents{&comparer{written: shown}, want}, map[string]any{}
	if have != nil {
		all = have.Value
	}
	d.unshown(place{path: field}, want.Value, all, &found)
	if len(found) == 0 {
		return versions
	}
	slices.Sort(found)
	return merged(versions, map[string]string{field + hollowMark: strings.Join(found[:min(len(found), mostHollow)], ",")})
}

// unshown collects the hollow values in a wanted one that AWS does not show. Of a list, only the elements count that are not among those
// that it shows.
func (d documents) unshown(p place, want, have any, found *[]string) {
	if have == nil && d.isHollow(p, want) { // and its content, for when AWS shows the outer value only
		*found = append(*found, hollowEntry(p, want))
	}
	switch want := want.(type) {
	case map[string]any:
		shown, _ := have.(map[string]any)
		for _, name := range sortedKeys(want) {
			if at := p.member(name); !d.rules.RuleAt(at.at).Skip {
				d.unshown(at, want[name], shown[name], found)
			}
		}
	case []any:
		shown, _ := have.([]any)
		for i, element := range want {
			at := p.element(i)
			if !slices.ContainsFunc(shown, func(other any) bool { return d.same(at, modes{}, element, other) }) {
				d.unshown(at, element, nil, found)
			}
		}
	}
}
