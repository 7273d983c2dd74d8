// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Member is a member of an answer, with everything below it.
type Member struct {
	// Operation is the one that was called, such as dynamodb.DescribeTable.
	Operation string
	// Path leads to the member, such as Table.GlobalSecondaryIndexes[by-tenant].KeySchema. Elements of lists are named by their own
	// names where they have some, and by their positions otherwise.
	Path string
	// Leaves are the values at and below the member that are not empty.
	Leaves []Leaf
}

// Leaf is a value without members.
type Leaf struct {
	// Path is as that of Member, and Plain is without the names and positions of the elements of lists: Table.Replicas.RegionName.
	Path, Plain string
	Value       any
}

// Result holds the results of the reading, in parts that are compared one by one.
type Result map[string]string

// maxRepetitions bounds how often the reading is repeated.
const maxRepetitions = 20000

// Unread returns the members of the recorded answers that do not affect the result of read: the outermost ones, in the order of operations
// and members. The reading is repeated in contexts that keep the clients of an instrumented configuration from calling AWS. Dates are left
// out, because they are no settings, and a panic is a result like others. Errors say that the reading cannot be repeated, or not often
// enough.
func (r *Recording) Unread(ctx context.Context, read func(ctx context.Context) Result) ([]Member, error) {
	w := &walk{ctx: ctx, recording: r, read: read}
	w.base = w.repeat(nil)
	if again := w.repeat(nil); !maps.Equal(w.base, again) {
		return nil, fmt.Errorf("the same answers of AWS gave two results")
	}
	var out []Member
	for _, key := range slices.Sorted(maps.Keys(r.answers)) { // the names of operations come first in them
		if a := r.answers[key]; a.err == nil && a.output != nil {
			w.key, w.operation = key, a.operation
			out = append(out, w.unread(at{value: reflect.ValueOf(a.output)})...)
		}
		if w.repetitions > maxRepetitions {
			return out, fmt.Errorf("AWS answered with more members than can be compared")
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
	}
	return out, nil
}

type walk struct {
	ctx       context.Context
	recording *Recording
	read      func(context.Context) Result
	base      Result
	// key and operation are those of the answer that is walked.
	key, operation string
	repetitions    int
}

// at is a place in an answer.
type at struct {
	value reflect.Value
	// path is for people, and plain has no elements.
	path, plain string
	// steps lead from the answer to the value.
	steps []step
}

// step leads to a field of a struct, an element of a list or the value of a key.
type step struct {
	index int
	key   reflect.Value
}

// unread returns the outermost unread members at and below a place.
func (w *walk) unread(p at) []Member {
	p.value = indirect(p.value)
	leaves := leavesBelow(p)
	if len(leaves) == 0 || w.repetitions > maxRepetitions {
		return nil
	}
	if len(p.steps) > 0 && w.ignores(p, leaves) {
		m := Member{Operation: w.operation, Path: p.path}
		for _, l := range leaves {
			m.Leaves = append(m.Leaves, Leaf{Path: l.path, Plain: l.plain, Value: l.value.Interface()})
		}
		return []Member{m}
	}
	var out []Member
	for _, below := range children(p) {
		out = append(out, w.unread(below)...)
	}
	return out
}

// ignores reports whether the result is the same without the value, and with each leaf of it changed.
func (w *walk) ignores(p at, leaves []at) bool {
	return w.same(func(output reflect.Value) { removeAt(output, p.steps) }) &&
		w.same(func(output reflect.Value) {
			for _, l := range leaves {
				changeAt(output, l.steps, alter)
			}
		})
}

// same reports whether the reading gives the same result after a change of the answer.
func (w *walk) same(change func(output reflect.Value)) bool {
	w.repetitions++
	return maps.Equal(w.base, w.repeat(change))
}

// repeat reads again, with a change of the answer to the request of the key. A panic is a result: the answer lacks a member that the
// reading needs.
func (w *walk) repeat(change func(output reflect.Value)) (out Result) {
	defer func() {
		if p := recover(); p != nil {
			out = Failed("the answers lack a member")
		}
	}()
	return w.read(w.recording.replay(w.ctx, w.key, change))
}

// changeAt changes the value at the end of the steps.
func changeAt(v reflect.Value, steps []step, change func(reflect.Value)) {
	if len(steps) == 0 {
		change(v)
		return
	}
	v = indirect(v)
	switch first := steps[0]; v.Kind() {
	case reflect.Struct:
		changeAt(v.Field(first.index), steps[1:], change)
	case reflect.Slice:
		changeAt(v.Index(first.index), steps[1:], change)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(first.key))
		changeAt(value, steps[1:], change)
		if value.IsZero() {
			value = reflect.Value{} // without its key
		}
		v.SetMapIndex(first.key, value)
	}
}

// removeAt removes the value at the end of the steps: an element from its list, and any other by making it empty.
func removeAt(v reflect.Value, steps []step) {
	last := len(steps) - 1
	changeAt(v, steps[:last], func(parent reflect.Value) {
		if parent = indirect(parent); parent.Kind() != reflect.Slice {
			changeAt(parent, steps[last:], reflect.Value.SetZero)
			return
		}
		i := steps[last].index
		parent.Set(reflect.AppendSlice(parent.Slice(0, i), parent.Slice(i+1, parent.Len())))
	})
}

// alter replaces a leaf by another value of its type.
func alter(v reflect.Value) {
	v = indirect(v)
	switch v.Kind() {
	case reflect.String:
		v.SetString(otherText(v))
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(v.Float() + 1)
	default:
		v.SetZero()
	}
}

// otherText returns another value of an enumeration, or another text.
func otherText(v reflect.Value) string {
	if values := v.MethodByName("Values"); values.IsValid() && values.Type().NumIn() == 0 && values.Type().NumOut() == 1 {
		all := values.Call(nil)[0]
		for i := range all.Len() {
			if other := all.Index(i).String(); other != v.String() {
				return other
			}
		}
	}
	return v.String() + "-other"
}

func indirect(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return v
}

// leavesBelow returns the places of the values without members that are not empty, at and below a place.
func leavesBelow(p at) []at {
	p.value = indirect(p.value)
	switch {
	case p.value.Type() == reflect.TypeFor[time.Time]():
		return nil
	case isComposite(p.value):
		var out []at
		for _, below := range children(p) {
			out = append(out, leavesBelow(below)...)
		}
		return out
	case p.value.IsZero():
		return nil
	}
	return []at{p}
}

func isComposite(v reflect.Value) bool {
	return v.Kind() == reflect.Struct || v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 || v.Kind() == reflect.Map
}

// children returns the places directly below a struct, a list or a map.
func children(p at) []at {
	var out []at
	add := func(v reflect.Value, s step, name, plain string) {
		out = append(out, at{value: v, path: p.path + name, plain: p.plain + plain, steps: append(slices.Clone(p.steps), s)})
	}
	switch v := p.value; v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "ResultMetadata" {
				name := f.Name
				if p.path != "" {
					name = "." + f.Name
				}
				add(v.Field(i), step{index: i}, name, name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			add(v.Index(i), step{index: i}, "["+nameOf(indirect(v.Index(i)), i)+"]", "")
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			add(v.MapIndex(key), step{key: key}, "["+key.String()+"]", "["+key.String()+"]")
		}
	}
	return out
}

// nameOf returns the name of an element of a list: that of its type, such as IndexName, or otherwise the first one. It is the position
// where there is none.
func nameOf(v reflect.Value, position int) string {
	if v.Kind() != reflect.Struct {
		return fmt.Sprint(position)
	}
	name, rank := fmt.Sprint(position), 0
	for i := range v.NumField() {
		if f := indirect(v.Field(i)); f.Kind() == reflect.String && f.Len() > 0 {
			if r := rankOf(v.Type().Field(i).Name, v.Type().Name()); r > rank {
				name, rank = f.String(), r
			}
		}
	}
	return name
}

// rankOf says how well a member names its struct; 0 where it does not.
func rankOf(member, typeName string) int {
	lower := strings.ToLower(member)
	switch of, isName := strings.CutSuffix(lower, "name"); {
	case isName && strings.HasSuffix(strings.ToLower(typeName), of):
		return 4
	case strings.HasSuffix(lower, "id") && strings.HasSuffix(strings.ToLower(typeName), strings.TrimSuffix(lower, "id")):
		return 3
	case isName:
		return 2
	case strings.HasSuffix(member, "Id") || strings.HasSuffix(member, "ID"):
		return 1
	default:
		return 0
	}
}
