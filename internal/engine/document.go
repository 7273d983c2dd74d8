// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	document "github.com/nexus-operator/nexus-operator/internal/kind/documents"
)

// documents compares two documents by the rules of the wanted one. Its differences go to the comparer.
type documents struct {
	*comparer
	rules *kind.Document
}

// place locates a value: its path in messages, and the names that lead to its rule.
type place struct {
	path string
	at   []string
}

// plainName is a name that needs no brackets in a path.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// member returns the place of a member of an object.
func (p place) member(name string) place {
	path := p.path + "." + name
	if !plainName.MatchString(name) {
		path = p.path + "[" + document.Bracketed(name) + "]"
	}
	return place{path, append(slices.Clone(p.at), name)}
}

// element returns the place of an element of a list.
func (p place) element(i int) place {
	return place{fmt.Sprintf("%s[%d]", p.path, i), append(slices.Clone(p.at), kind.EveryElement)}
}

// document compares a wanted document with the one that AWS shows, which may be nil.
func (c *comparer) document(path string, m modes, want, have *kind.Document) {
	var shown map[string]any
	if have != nil {
		shown = have.Value
	}
	documents{c, want}.object(place{path: path}, m, want.Value, shown)
}

// object compares the members of an object that are wanted.
func (d documents) object(p place, m modes, want, have map[string]any) {
	for _, name := range sortedKeys(want) {
		at := p.member(name)
		rule := d.rules.RuleAt(at.at)
		if rule.Skip && !rule.Ignored {
			continue
		}
		below := m
		if rule.Mode != kind.Mutable {
			below.mode = rule.Mode
		}
		d.member(at, below, rule, want, have[name])
	}
}

// member compares a member of a wanted object with the one that AWS shows, or nil for none.
func (d documents) member(p place, m modes, rule kind.DocumentRule, within map[string]any, shown any) {
	want := within[p.at[len(p.at)-1]]
	one := documents{&comparer{written: d.written}, d.rules}
	one.value(p, m, want, shown, shown != nil)
	if len(one.diff) > 0 && isSame(rule, m.mode, within, want, shown) {
		one.diff = nil
	}
	if rule.Ignored {
		one.diff, one.ignored = nil, append(one.ignored, one.diff...)
	}
	d.diff, d.ignored = append(d.diff, one.diff...), append(d.ignored, one.ignored...)
}

// isSame reports whether AWS shows a wanted value in another form, or leaves it out.
func isSame(rule kind.DocumentRule, mode kind.Mode, within map[string]any, want, have any) bool {
	switch {
	case want == nil:
		return false
	case have == nil:
		return rule.Omitted != nil && rule.Omitted(want)
	default:
		return rule.Same != nil && mode != kind.Secret && rule.Same(within, want, have)
	}
}

// value compares a wanted value with the one that AWS shows, if it exists.
func (d documents) value(p place, m modes, want, have any, exists bool) {
	if !exists && d.isHollow(p, want) {
		d.hollow(p, m, want)
		return
	}
	switch w := want.(type) {
	case nil:
		if exists {
			d.diff = append(d.diff, kind.Change{Path: p.path, Mode: m.mode, Want: unset, Have: d.printed(p, m, have), Gone: true, Sum: sumOf(unset)})
		}
	case *kind.WriteOnly:
		d.writeOnly(p.path, m, w)
	case map[string]any:
		d.objectOrNone(p, m, w, have, exists)
	case []any:
		d.list(p, m, w, have)
	default:
		if !reflect.DeepEqual(want, have) && (exists || want != "") { // AWS may leave out an empty text
			d.differ(p, m, want, have)
		}
	}
}

// objectOrNone compares a wanted object with the value that AWS shows. That may be of another type, or absent.
func (d documents) objectOrNone(p place, m modes, want map[string]any, have any, exists bool) {
	h, isObject := have.(map[string]any)
	if isObject || !exists && d.isInvisible(p, want) {
		d.object(p, m, want, h)
		return
	}
	d.differ(p, m, want, have)
}

// isInvisible reports whether AWS may leave out an object because it shows none of its members: each is hidden, wanted to be absent, or one
// that AWS may leave out. A member that is an empty object counts, because its name may be of the user's choice.
func (d documents) isInvisible(p place, object map[string]any) bool {
	for name, value := range object {
		at := p.member(name)
		members, _ := value.(map[string]any)
		if isHidden(value) || len(members) > 0 && d.isInvisible(at, members) || d.isHollow(at, value) && d.isRecorded(at, value) {
			continue
		}
		if rule := d.rules.RuleAt(at.at); !rule.Skip && !isSame(rule, rule.Mode, object, value, nil) {
			return false
		}
	}
	return true
}

// isHidden reports whether AWS shows nothing of a wanted value.
func isHidden(value any) bool {
	_, writeOnly := value.(*kind.WriteOnly)
	return writeOnly || value == nil
}

// differ adds a difference without the secrets in its values.
func (d documents) differ(p place, m modes, want, have any) {
	d.diff = append(d.diff, kind.Change{Path: p.path, Mode: m.mode, Want: d.printed(p, m, want), Have: d.printed(p, m, have),
		Sum: sumOf(versioned(want))})
}

// printed prints a value with stars in the place of the secrets in it.
func (d documents) printed(p place, m modes, v any) string { return printed(m, d.masked(p, v)) }

func (d documents) masked(p place, v any) any {
	if _, isSecret := v.(*kind.WriteOnly); isSecret || len(p.at) > 0 && d.rules.RuleAt(p.at).Mode == kind.Secret {
		return stars
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = d.masked(p.member(name), member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = d.masked(p.element(i), element)
		}
		return out
	default:
		return v
	}
}

// versioned returns a value with the versions of the write-only values in it.
func versioned(v any) any {
	switch v := v.(type) {
	case *kind.WriteOnly:
		return v.Version
	case map[string]any:
		out := maps.Clone(v)
		for name, member := range out {
			out[name] = versioned(member)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, element := range out {
			out[i] = versioned(element)
		}
		return out
	default:
		return v
	}
}

// list compares a wanted list with the value that AWS shows. That may be of another type, or absent.
func (d documents) list(p place, m modes, want []any, have any) {
	if h, _ := have.([]any); !d.sameList(p, m, want, h) {
		d.differ(p, m, want, have)
	}
}

// sameList reports whether AWS shows the wanted elements and no others. Of elements that are objects, only the wanted members count.
func (d documents) sameList(p place, m modes, want, have []any) bool {
	if len(want) != len(have) {
		return false
	}
	if !d.rules.RuleAt(p.at).Unordered {
		for i := range want {
			if !d.same(p.element(i), m, want[i], have[i]) {
				return false
			}
		}
		return true
	}
	match := matching{taken: make([]int, len(have)), same: func(i, j int) bool { return d.same(p.element(i), m, want[i], have[j]) }}
	for i := range want {
		if !match.assign(i, map[int]bool{}) {
			return false
		}
	}
	return true
}

// matching assigns the wanted elements of a list to those that AWS shows, each to another one.
type matching struct {
	taken []int // the wanted element that takes each, counted from 1
	same  func(wanted, shown int) bool
}

// assign finds an element for a wanted one, and others for the wanted ones that had it: an element may be as several are wanted.
func (m matching) assign(i int, tried map[int]bool) bool {
	for j := range m.taken {
		if tried[j] || !m.same(i, j) {
			continue
		}
		tried[j] = true
		if m.taken[j] == 0 || m.assign(m.taken[j]-1, tried) {
			m.taken[j] = i + 1
			return true
		}
	}
	return false
}

// same reports whether an element is as wanted.
func (d documents) same(p place, m modes, want, have any) bool {
	one := documents{&comparer{written: d.written}, d.rules}
	one.value(p, m, want, have, have != nil)
	return len(one.diff) == 0
}

// addVersions adds the versions of the write-only values in a document, by path.
func addVersions(p place, v any, out map[string]string) {
	eachWriteOnly(p, v, func(at place, w *kind.WriteOnly) { out[at.path] = w.Version })
}

// eachWriteOnly visits the write-only values in a document.
func eachWriteOnly(p place, v any, visit func(place, *kind.WriteOnly)) {
	switch v := v.(type) {
	case *kind.WriteOnly:
		visit(p, v)
	case map[string]any:
		for name, member := range v {
			eachWriteOnly(p.member(name), member, visit)
		}
	case []any:
		for i, element := range v {
			eachWriteOnly(p.element(i), element, visit)
		}
	}
}
