// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// UnreadIfFilled returns the members that the recorded answers lack and that would not affect the result if AWS answered with them, in the
// order of operations and members. It is for tests: settings that no one made yet are among them. Members with values that the reading
// refuses are read, and not among them.
func (r *Recording) UnreadIfFilled(ctx context.Context, read func(ctx context.Context) Result) []Member {
	var out []Member
	for _, key := range slices.Sorted(maps.Keys(r.answers)) {
		a := r.answers[key]
		if a.err != nil || a.output == nil {
			continue
		}
		for _, p := range emptyBelow(at{value: reflect.ValueOf(a.output)}) {
			out = append(out, r.unreadIfFilled(ctx, read, key, p)...)
		}
	}
	return out
}

// unreadIfFilled returns the unread members of one that AWS did not answer with.
func (r *Recording) unreadIfFilled(ctx context.Context, read func(ctx context.Context) Result, key string, p at) []Member {
	a := r.answers[key]
	a.output = deepCopy(a.output)
	changeAt(reflect.ValueOf(a.output), p.steps, func(v reflect.Value) { fill(v, maxDepth) })
	filled := &Recording{answers: maps.Clone(r.answers)}
	filled.answers[key] = a
	w := &walk{ctx: ctx, recording: filled, read: read, key: key, operation: a.operation}
	if w.base = w.repeat(nil); w.base[failed] != "" {
		return nil
	}
	p.value = placeIn(reflect.ValueOf(a.output), p.steps)
	return w.unread(p)
}

// failed is the part of a result that says why there is no other.
const failed = "failed"

// Failed is the result of a reading that found nothing.
func Failed(why string) Result { return Result{failed: why} }

// placeIn returns the value at the end of steps that go through fields and elements of lists.
func placeIn(v reflect.Value, steps []step) reflect.Value {
	for _, s := range steps {
		if v = indirect(v); v.Kind() == reflect.Slice {
			v = v.Index(s.index)
		} else {
			v = v.Field(s.index)
		}
	}
	return v
}

// emptyBelow returns the outermost places without a value, and of lists those in one element: the first by its content, because AWS may
// list in any order. Maps have no members.
func emptyBelow(p at) []at {
	if t := p.value.Type(); t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[*time.Time]() || p.value.Kind() == reflect.Interface {
		return nil
	}
	p.value = indirect(p.value)
	if len(p.steps) > 0 && len(leavesBelow(p)) == 0 {
		return []at{p}
	}
	if p.value.Kind() == reflect.Map {
		return nil
	}
	below := children(p)
	if p.value.Kind() == reflect.Slice && len(below) > 1 {
		below = []at{slices.MinFunc(below, func(a, b at) int { return strings.Compare(contentOf(a.value), contentOf(b.value)) })}
	}
	var out []at
	for _, c := range below {
		out = append(out, emptyBelow(c)...)
	}
	return out
}

func contentOf(v reflect.Value) string {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return ""
	}
	return string(text)
}

// maxDepth limits the depth of filled members in types that contain themselves.
const maxDepth = 4

// fill gives a value, and everything below it, something that is not empty.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), depth)
	case reflect.Struct:
		fillFields(v, depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, depth)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("other").Convert(v.Type().Key()), value)
	case reflect.Uint8:
		v.SetUint(1)
	default:
		alter(v)
	}
}

func fillFields(v reflect.Value, depth int) {
	for i := range v.NumField() {
		if f := v.Type().Field(i); depth > 0 && f.IsExported() && f.Type != reflect.TypeFor[time.Time]() && v.Field(i).CanSet() {
			fill(v.Field(i), depth-1)
		}
	}
}

// LacksMember reports whether a recorded answer has the first member of a path, by its type, and not the whole path. The path is that
// of Leaf.Plain.
func (r *Recording) LacksMember(path string) bool {
	members := strings.Split(elementNames.ReplaceAllString(path, ""), ".")
	begins := false
	for _, a := range r.answers {
		if a.output == nil {
			continue
		}
		if typeHas(reflect.TypeOf(a.output), members) {
			return false
		}
		begins = begins || typeHas(reflect.TypeOf(a.output), members[:1])
	}
	return begins
}

// elementNames matches the names of elements in a path.
var elementNames = regexp.MustCompile(`\[[^\]]*\]`)

func typeHas(t reflect.Type, path []string) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if len(path) == 0 {
		return true
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	f, ok := t.FieldByName(path[0])
	return ok && typeHas(f.Type, path[1:])
}
