package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Compare walks two states of one type and lists the fields where have is not as wanted. Nil
// pointers, maps and slices in want are not managed; empty ones are wanted to be empty. The field tag
// drift says how a field is compared:
//
//	id, observed  never compared
//	immutable     compared; a difference cannot be settled in place
//	secret        compared, never printed
//	set           a slice whose order does not matter
//	json          a policy document, compared parsed and normalised
//	tags          a map whose dropped keys (wanted absent) are listed in dropped
//
// In a map of pointers a nil value means that the key shall be absent.
// Modes other than id and observed are inherited by nested fields and may be combined: "immutable,set".
func Compare(want, have any, dropped []string) kind.Diff {
	c := comparer{dropped: dropped}
	c.walk("", modes{}, reflect.ValueOf(want), reflect.ValueOf(have))
	return c.diff
}

type comparer struct {
	diff    kind.Diff
	dropped []string
}

type modes struct {
	mode            kind.Mode
	set, json, tags bool
	skip            bool
}

func (m modes) with(tag string) modes {
	for word := range strings.SplitSeq(tag, ",") {
		switch word {
		case "id", "observed":
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
		if m.json && SameDocument(w.String(), h.String()) {
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
	if h.IsNil() {
		// What is wanted to be zero and is not there at all is already as wanted: "" clears a policy.
		if empty(w.Elem()) {
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
	keys := w.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	for _, k := range keys {
		p := fmt.Sprintf("%s[%s]", path, k)
		c.element(p, m, w.MapIndex(k), h.MapIndex(k))
	}
	if !m.tags {
		return
	}
	for _, k := range c.dropped {
		key := reflect.ValueOf(k).Convert(w.Type().Key())
		if hv := h.MapIndex(key); hv.IsValid() && !w.MapIndex(key).IsValid() {
			c.diff = append(c.diff, kind.Change{Path: fmt.Sprintf("%s[%s]", path, k), Want: unset, Have: fmt.Sprint(hv.Interface()), Gone: true})
		}
	}
}

// element compares one map value; a nil pointer in want means that the key shall be absent.
func (c *comparer) element(path string, m modes, w, h reflect.Value) {
	absent := w.Kind() == reflect.Pointer && w.IsNil()
	switch {
	case absent && h.IsValid():
		have := text(h.Interface())
		if m.mode == kind.Secret {
			have = "***"
		}
		c.diff = append(c.diff, kind.Change{Path: path, Want: unset, Have: have, Gone: true})
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
	if m.set {
		a, b = sorted(w), sorted(h)
	}
	if !reflect.DeepEqual(a, b) {
		c.add(path, m, a, b)
	}
}

func (c *comparer) leaf(path string, m modes, w, h any) {
	if !reflect.DeepEqual(w, h) {
		c.add(path, m, w, h)
	}
}

const unset = "(unset)"

func (c *comparer) add(path string, m modes, w, h any) {
	ch := kind.Change{Path: path, Mode: m.mode, Want: text(w), Have: text(h)}
	if m.mode == kind.Secret {
		ch.Want, ch.Have = "***", "***"
	}
	c.diff = append(c.diff, ch)
}

// text prints a value the way a person would read it in a status.
func text(v any) string {
	if v == nil {
		return unset
	}
	if s, ok := v.(string); ok {
		return s
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer && !rv.IsNil() {
		return text(rv.Elem().Interface())
	}
	if b, err := json.Marshal(v); err == nil {
		return string(b)
	}
	return fmt.Sprint(v)
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	default:
		return false
	}
}

// sorted returns the elements of a slice in the order of their printed form.
func sorted(v reflect.Value) []string {
	out := make([]string, v.Len())
	for i := range out {
		out[i] = text(v.Index(i).Interface())
	}
	slices.Sort(out)
	return out
}
