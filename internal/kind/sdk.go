// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// Send returns a function that makes the call op of an AWS client with the input that input returns, and
// drops the answer. The two arguments are those of the field that takes the function: the wanted and the
// observed state for Call.Do, the observed state and the tags for Tagging.Set.
func Send[A, B, In, Out, Opt any](op func(context.Context, *In, ...func(*Opt)) (*Out, error), input func(A, B) *In) func(context.Context, A,
	B) error {
	return func(ctx context.Context, a A, b B) error {
		_, err := op(ctx, input(a, b))
		return err
	}
}

// SendDiff is Send for Call.DoDiff, for a request that depends on the diff.
func SendDiff[S, In, Out, Opt any](op func(context.Context, *In, ...func(*Opt)) (*Out, error),
	input func(want, have S, diff Diff) *In) func(context.Context, S, S, Diff) error {
	return func(ctx context.Context, want, have S, diff Diff) error {
		_, err := op(ctx, input(want, have, diff))
		return err
	}
}

// SendKey is Send for KeysCall.Do, where a call is for one key.
func SendKey[S, In, Out, Opt any](op func(context.Context, *In, ...func(*Opt)) (*Out, error),
	input func(want, have S, key string) *In) func(context.Context, S, S, []string) error {
	return func(ctx context.Context, want, have S, keys []string) error {
		_, err := op(ctx, input(want, have, keys[0]))
		return err
	}
}

// OnlyChanged returns a state with only the changed ones of the fields, for a request that leaves unnamed settings unchanged.
func OnlyChanged[S any](want S, fields []string, diff Diff) S {
	var out S
	for _, name := range fields {
		if diff.Under(name) {
			fieldOf(&out, name).Set(fieldOf(&want, name))
		}
	}
	return out
}

// Collect returns the items of all pages. It is for operations without a paginator in the SDK, and for lists that need only their first
// pages: read ends the list by returning no next token. A repeated token is an error, because it would repeat the same pages endlessly.
func Collect[T any](read func(token *string) (items []T, next *string, err error)) ([]T, error) {
	var all []T
	var token *string
	given := map[string]bool{}
	for {
		items, next, err := read(token)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if next == nil || *next == "" {
			return all, nil
		}
		if given[*next] {
			return nil, fmt.Errorf("the list of AWS has no end: page %d gives the token of an earlier page again", len(given)+1)
		}
		given[*next], token = true, next
	}
}

// Pages returns the items of all pages of a list: next is the member of the request for the token that the last function
// returns with the items of an answer. Unlike a paginator of the SDK it takes one method instead of the client: a program
// that uses reflection, such as one with text/template, keeps all methods of a type that it turns into an interface. With
// paginators nexusctl had 156 MB instead of 118 MB.
func Pages[In, Out, Opt, T any](ctx context.Context, call func(context.Context, *In, ...func(*Opt)) (*Out, error), in *In, next **string,
	page func(*Out) ([]T, *string)) ([]T, error) {
	return Collect(func(token *string) ([]T, *string, error) {
		*next = token
		out, err := call(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		items, following := page(out)
		return items, following, nil
	})
}

// SDKTags turns tags into a list of a service's own Tag type, in the order of the keys.
func SDKTags[T any](tags map[string]string) []T {
	out := make([]T, 0, len(tags))
	for _, k := range SortedKeys(tags) {
		out = append(out, Convert[T](struct{ Key, Value *string }{Ptr(k), Ptr(tags[k])}))
	}
	return out
}

// TagMap turns a list of a service's own Tag type into a map.
func TagMap[T any](tags []T) map[string]string {
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		if tag := Convert[struct{ Key, Value *string }](t); tag.Key != nil {
			out[*tag.Key] = *NonNil(tag.Value)
		}
	}
	return out
}

// NonEmptyList returns nil for an empty list, so that an export does not declare it.
func NonEmptyList[T any](list *[]T) *[]T { return Either(list == nil || len(*list) == 0, nil, list) }

// NonEmpty returns nil for an empty string: AWS takes an absent member for a default, or clears the setting, and refuses an empty one.
func NonEmpty[T ~string](s *T) *T {
	if s == nil || *s == "" {
		return nil
	}
	return s
}

// NonZero returns nil for a zero: a member that a request leaves out.
func NonZero[T comparable](v *T) *T {
	var zero T
	return Either(v == nil || *v == zero, nil, v)
}

// DateOf returns the day of a time in UTC; "" for none.
func DateOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// TimeOf returns the beginning of a day in UTC; nil for a text of another form.
func TimeOf(date string) *time.Time {
	t, err := time.Parse(time.DateOnly, date)
	return Either(err != nil, nil, &t)
}

// Present returns the values that are not empty.
func Present(values ...*string) (out []string) {
	for _, v := range values {
		if NonEmpty(v) != nil {
			out = append(out, *v)
		}
	}
	return out
}

// NonNil returns v, or a pointer to a zero value instead of nil.
func NonNil[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	return v
}

// Text returns a value as a string, for services with attributes that are all strings; nil for nil.
func Text[T any](v *T) *string {
	if v == nil {
		return nil
	}
	return Ptr(fmt.Sprint(*v))
}

// Convert returns a T with the values of from, as Overlay copies them. The types of a spec and those of
// an SDK differ in pointers, in names of string types and in members that only one of them has.
func Convert[T any](from any) T {
	var to T
	Overlay(&to, from)
	return to
}

// Overlay copies the fields of from into the fields of *to that have the same names, in nested structs, slices and maps too. A nil or an
// empty string in from is absent: the field of to stays. Lists and maps are replaced as a whole. Values behind pointers in to are copied
// before they are changed. Fields of the same name and of types that do not correspond are a mistake in the program: Overlay panics.
func Overlay[T any](to *T, from any) {
	if src := reflect.ValueOf(from); !isAbsent(src) {
		overlay(reflect.ValueOf(to).Elem(), src)
	}
}

func isAbsent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return v.IsNil()
	case reflect.String:
		return v.Len() == 0
	default:
		return false
	}
}

func overlay(to, from reflect.Value) {
	switch {
	case from.Type().AssignableTo(to.Type()):
		to.Set(from)
	case from.Kind() == reflect.Pointer:
		overlay(to, from.Elem())
	case to.Kind() == reflect.Pointer:
		target := reflect.New(to.Type().Elem())
		if !to.IsNil() {
			target.Elem().Set(to.Elem())
		}
		overlay(target.Elem(), from)
		to.Set(target)
	case to.Kind() != from.Kind():
		panic(fmt.Sprintf("kind.Overlay: %s does not correspond to %s", from.Type(), to.Type()))
	case to.Kind() == reflect.Struct:
		overlayFields(to, from)
	case to.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			overlay(to.Index(i), from.Index(i))
		}
	case to.Kind() == reflect.Map:
		to.Set(reflect.MakeMapWithSize(to.Type(), from.Len()))
		for _, key := range from.MapKeys() {
			value := reflect.New(to.Type().Elem()).Elem()
			overlay(value, from.MapIndex(key))
			to.SetMapIndex(key.Convert(to.Type().Key()), value)
		}
	default:
		to.Set(from.Convert(to.Type()))
	}
}

func overlayFields(to, from reflect.Value) {
	for i := range to.NumField() {
		field := to.Type().Field(i)
		if v := from.FieldByName(field.Name); field.IsExported() && v.IsValid() && !isAbsent(v) {
			overlay(to.Field(i), v)
		}
	}
}

// OverlayEach returns one element for each wanted one: the found element that same pairs with it, or a zero one, after a call of set. So
// elements keep the members that the spec cannot declare. Found elements that are not wanted are dropped.
func OverlayEach[W, H any](want []W, found []H, same func(W, H) bool, set func(*H, W)) []H {
	out := make([]H, len(want))
	for i, w := range want {
		for _, h := range found {
			if same(w, h) {
				out[i] = h
				break
			}
		}
		set(&out[i], w)
	}
	return out
}

// DropEmpty sets pointers to structs without any value to nil, in nested structs too. A service may answer with an empty structure,
// and refuses one in a request where a member of it is required. A false and a zero are values.
func DropEmpty[T any](in *T) { dropEmpty(reflect.ValueOf(in).Elem()) }

// dropEmpty reports whether the struct has no value. Structs that it points to are copied, because they may belong to the found state.
func dropEmpty(v reflect.Value) (empty bool) {
	empty = true
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		switch field := v.Field(i); {
		case field.Kind() == reflect.Struct:
			empty = dropEmpty(field) && empty
		case field.Kind() == reflect.Pointer && !field.IsNil() && field.Elem().Kind() == reflect.Struct:
			nested := reflect.New(field.Type().Elem())
			nested.Elem().Set(field.Elem())
			if field.Set(nested); dropEmpty(nested.Elem()) {
				field.SetZero()
			}
			empty = field.IsNil() && empty
		default:
			empty = isAbsent(field) && empty
		}
	}
	return empty
}
