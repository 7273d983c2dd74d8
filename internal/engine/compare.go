// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Compare walks two states of one type and lists the fields where have is not as wanted. Nil
// pointers, maps and slices in want are not managed; empty ones are wanted to be empty. The field tag
// drift says how a field is compared:
//
//	id, observed  never compared
//	identity      as id; what identifies the resource, recorded with the write-ahead intent
//	immutable     compared; a difference cannot be settled in place
//	secret        compared, never printed
//	set           a slice whose order does not matter
//	json          a policy document, compared by its meaning (iampolicy.IsAsWanted)
//	tags          a map; keys of dropped that want does not have are wanted to be absent
//	exact         a map; all keys that want does not have are wanted to be absent
//	keys          a map of pointers; the keys that are to be written are recorded before, see keysOf
//
// In a map of pointers a nil value means that the key is wanted to be absent. A *kind.WriteOnly is
// compared by its version with the one recorded in written under its path. A *kind.Document is compared by the rules that it has.
// Modes other than id and observed are inherited by nested fields and may be combined: "immutable,set".
func Compare(want, have any, dropped []string, written map[string]string) kind.Diff {
	c := comparer{dropped: dropped, written: written}
	c.walk("", modes{}, reflect.ValueOf(want), reflect.ValueOf(have))
	return c.diff
}

// identityOf returns the fields tagged identity, printed.
func identityOf(want any) map[string]string {
	out := map[string]string{}
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if slices.Contains(strings.Split(f.Tag.Get("drift"), ","), "identity") {
			out[f.Name] = textOf(v.Field(i).Interface())
		}
	}
	return out
}

// writeOnlyVersions returns the versions of the write-only values of a state, by path.
func writeOnlyVersions(want any) map[string]string {
	var out map[string]string
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		found := map[string]string{}
		at := place{path: v.Type().Field(i).Name}
		switch w := v.Field(i).Interface().(type) {
		case *kind.WriteOnly:
			if w != nil {
				addVersions(at, w, found)
			}
		case *kind.Document:
			if w != nil {
				addVersions(at, w.Value, found)
			}
		}
		if len(found) > 0 {
			out = merged(out, found)
		}
	}
	return out
}

// merged returns the entries of both maps. The first map may be nil.
func merged(a, b map[string]string) map[string]string {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}

type comparer struct {
	diff    kind.Diff
	ignored kind.Diff // see kind.DocumentRule
	dropped []string
	written map[string]string
}

type modes struct {
	mode            kind.Mode
	set, json, tags bool
	exact, skip     bool
}

func (m modes) with(tag string) modes {
	for word := range strings.SplitSeq(tag, ",") {
		switch word {
		case "id", "identity", "observed":
			m.skip = true
		case "immutable":
			m.mode = kind.Immutable
		case "secret":
			m.mode = kind.Secret
		case "set":
			m.set = true
		case "json":
			m.json = true
		case "tags":
			m.tags = true
		case "exact":
			m.exact = true
		}
	}
	return m
}

func (c *comparer) walk(path string, m modes, w, h reflect.Value) {
	switch w.Kind() {
	case reflect.Pointer:
		c.pointer(path, m, w, h)
	case reflect.Struct:
		c.structure(path, m, w, h)
	case reflect.Map:
		c.mapping(path, m, w, h)
	case reflect.Slice:
		c.slice(path, m, w, h)
	case reflect.String:
		if m.json && iampolicy.IsAsWanted(w.String(), h.String()) {
			return
		}
		c.leaf(path, m, w.Interface(), h.Interface())
	default:
		c.leaf(path, m, w.Interface(), h.Interface())
	}
}

func (c *comparer) pointer(path string, m modes, w, h reflect.Value) {
	if w.IsNil() {
		return
	}
	if secret, ok := w.Interface().(*kind.WriteOnly); ok {
		c.writeOnly(path, m, secret)
		return
	}
	if document, ok := w.Interface().(*kind.Document); ok {
		have, _ := h.Interface().(*kind.Document)
		c.document(path, m, document, have)
		return
	}
	if h.IsNil() {
		// An absent part is already as wanted where the wanted value is empty: "" clears a policy.
		if isEmpty(w.Elem()) {
			return
		}
		c.add(path, m, w.Elem().Interface(), nil)
		return
	}
	c.walk(path, m, w.Elem(), h.Elem())
}

func (c *comparer) structure(path string, m modes, w, h reflect.Value) {
	t := w.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		fm := m.with(f.Tag.Get("drift"))
		if fm.skip || !f.IsExported() {
			continue
		}
		p := f.Name
		if path != "" {
			p = path + "." + f.Name
		}
		c.walk(p, fm, w.Field(i), h.Field(i))
	}
}

func (c *comparer) mapping(path string, m modes, w, h reflect.Value) {
	if w.IsNil() {
		return
	}
	for _, k := range stringKeys(w) {
		key := reflect.ValueOf(k).Convert(w.Type().Key())
		c.element(fmt.Sprintf("%s[%s]", path, k), m, w.MapIndex(key), h.MapIndex(key))
	}
	var dropped []string
	if m.tags {
		dropped = c.dropped
	}
	if m.exact {
		dropped = stringKeys(h)
	}
	for _, k := range dropped {
		key := reflect.ValueOf(k).Convert(w.Type().Key())
		if hv := h.MapIndex(key); hv.IsValid() && !w.MapIndex(key).IsValid() {
			c.diff = append(c.diff, kind.Change{Path: fmt.Sprintf("%s[%s]", path, k), Want: unset, Have: printed(m, hv.Interface()), Gone: true,
				Sum: sumOf(unset)})
		}
	}
}

// stringKeys returns the keys of a map in order.
func stringKeys(m reflect.Value) []string {
	out := make([]string, 0, m.Len())
	for _, k := range m.MapKeys() {
		out = append(out, k.String())
	}
	slices.Sort(out)
	return out
}

// element compares one map value; a nil pointer in want means that the key is wanted to be absent.
func (c *comparer) element(path string, m modes, w, h reflect.Value) {
	absent := w.Kind() == reflect.Pointer && w.IsNil()
	switch {
	case absent && h.IsValid():
		c.diff = append(c.diff, kind.Change{Path: path, Want: unset, Have: printed(m, h.Interface()), Gone: true, Sum: sumOf(unset)})
	case absent:
	case !h.IsValid():
		c.add(path, m, w.Interface(), nil)
	default:
		c.walk(path, m, w, h)
	}
}

func (c *comparer) slice(path string, m modes, w, h reflect.Value) {
	if w.IsNil() || w.Len() == 0 && h.Len() == 0 {
		return
	}
	a, b := w.Interface(), h.Interface()
	same := reflect.DeepEqual(a, b)
	if m.set {
		a, b = sortedElements(w), sortedElements(h)
		same = textOf(a) == textOf(b)
	}
	if !same {
		c.add(path, m, a, b)
	}
}

// writeOnly compares a value that AWS does not show with the written one. If the value is fixed at the creation, or may be, and this object
// did not write it, the declared value is assumed: AWS would refuse to set it, and later edits are compared with the version that is
// recorded now.
func (c *comparer) writeOnly(path string, m modes, want *kind.WriteOnly) {
	written, isFixed := c.written[path], m.mode == kind.Immutable || m.mode == kind.Conditional
	if want.Version == written || isFixed && written == "" {
		return
	}
	if !isFixed {
		m.mode = kind.Secret
	}
	c.diff = append(c.diff, kind.Change{Path: path, Mode: m.mode, Want: stars, Have: stars, Sum: sumOf(want.Version)})
}

func (c *comparer) leaf(path string, m modes, w, h any) {
	if !reflect.DeepEqual(w, h) {
		c.add(path, m, w, h)
	}
}

const (
	unset = "(unset)"
	stars = "***" // in the place of a secret
)

// sumOf hashes a wanted value, so that the engine knows whether the same value was written before.
func sumOf(v any) string {
	h := sha256.Sum256([]byte(textOf(v)))
	return hex.EncodeToString(h[:8])
}

func (c *comparer) add(path string, m modes, w, h any) {
	c.diff = append(c.diff, kind.Change{Path: path, Mode: m.mode, Want: printed(m, w), Have: printed(m, h), Sum: sumOf(w)})
}

// printed prints a value, or stars in the place of a secret.
func printed(m modes, v any) string {
	if m.mode == kind.Secret {
		return stars
	}
	text := textOf(v)
	var members map[string]any
	switch {
	case text == "":
		return `""`
	case strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &members) == nil && len(members) > 0:
		maps.DeleteFunc(members, func(_ string, member any) bool { return member == nil })
		return kind.Either(len(members) == 0, "(set)", textOf(members))
	}
	return text
}

// textOf prints a value the way a person would read it in a status.
func textOf(v any) string {
	if v == nil {
		return unset
	}
	if s, ok := v.(string); ok {
		return s
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer && !rv.IsNil() {
		return textOf(rv.Elem().Interface())
	}
	if b, err := json.Marshal(v); err == nil {
		return string(b)
	}
	return fmt.Sprint(v)
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	default:
		return false
	}
}

// sortedElements returns the elements of a slice in the order of their printed form.
func sortedElements(v reflect.Value) []any {
	out := make([]any, v.Len())
	for i := range out {
		out[i] = v.Index(i).Interface()
	}
	slices.SortFunc(out, func(a, b any) int { return strings.Compare(textOf(a), textOf(b)) })
	return out
}
