// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// noSerde stands for the unexported field that every struct of the SDK has.
type noSerde struct{}

var _ = []noSerde{sdkPart{}.noSerde, sdkThing{}.noSerde, sdkTag{}.noSerde}

type sdkTag struct {
	Key, Value *string
	noSerde
}

type sdkName string

type sdkPart struct {
	Size    *int64
	Comment *string
	noSerde
}

type sdkThing struct {
	Name    *string
	Type    sdkName
	On      *bool
	Part    *sdkPart
	Parts   []sdkPart
	Options map[string]string
	Theirs  *string
	noSerde
}

type specPart struct {
	Size    int64
	Comment string
}

type specThing struct {
	Name    string
	Type    string
	On      bool
	Part    *specPart
	Parts   *[]specPart
	Options map[string]sdkName
	Ours    string
}

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		name string
		spec *specThing
		sdk  *sdkThing
	}{
		{"absent", nil, nil},
		{"zero numbers and false are values", &specThing{Part: &specPart{}}, &sdkThing{On: Ptr(false), Part: &sdkPart{Size: Ptr(int64(0))}}},
		{"all fields", &specThing{Name: "n", Type: "t", On: true, Part: &specPart{Size: 1, Comment: "c"},
			Parts: &[]specPart{{Size: 2}, {Size: 3}}, Options: map[string]sdkName{"k": "v"}},
			&sdkThing{Name: Ptr("n"), Type: "t", On: Ptr(true), Part: &sdkPart{Size: Ptr(int64(1)), Comment: Ptr("c")},
				Parts: []sdkPart{{Size: Ptr(int64(2))}, {Size: Ptr(int64(3))}}, Options: map[string]string{"k": "v"}}},
		{"an empty list is a value", &specThing{Parts: &[]specPart{}}, &sdkThing{On: Ptr(false), Parts: []sdkPart{}}},
	} {
		if got := Convert[*sdkThing](c.spec); !reflect.DeepEqual(got, c.sdk) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.sdk)
		}
		if got := Convert[*specThing](c.sdk); !reflect.DeepEqual(got, c.spec) {
			t.Errorf("%s: back %+v, want %+v", c.name, got, c.spec)
		}
	}
}

func TestOverlay_KeepsWhatIsAbsent(t *testing.T) {
	part := &sdkPart{Size: Ptr(int64(1)), Comment: Ptr("kept")}
	to := sdkThing{Name: Ptr("kept"), Theirs: Ptr("kept"), Part: part, Options: map[string]string{"dropped": "1"}}
	Overlay(&to, specThing{Type: "t", Part: &specPart{Size: 2}, Options: map[string]sdkName{"k": "v"}})
	want := sdkThing{Name: Ptr("kept"), Theirs: Ptr("kept"), Type: "t", On: Ptr(false),
		Part: &sdkPart{Size: Ptr(int64(2)), Comment: Ptr("kept")}, Options: map[string]string{"k": "v"}}
	if !reflect.DeepEqual(to, want) {
		t.Errorf("%+v, want %+v", to, want)
	}
	if *part.Size != 1 {
		t.Error("a struct that another value points to was changed")
	}
	Overlay(&to, struct{ Name *string }{new(string)})
	if *to.Name != "" {
		t.Error("a pointer to an empty string is a value")
	}
}

func TestDropEmpty_LeavesOutStructsWithoutAValue(t *testing.T) {
	type flag struct {
		On bool
		noSerde
	}
	_ = flag{}.noSerde
	type thing struct {
		Name       *string
		Empty, Set *sdkPart
		Nested     *struct{ Part *sdkPart }
		Off        *flag
	}
	found := &struct{ Part *sdkPart }{Part: &sdkPart{}}
	got := thing{Name: Ptr("a"), Empty: &sdkPart{}, Set: &sdkPart{Size: Ptr(int64(1))}, Nested: found, Off: &flag{}}
	DropEmpty(&got)
	if got.Name == nil || got.Empty != nil || got.Set == nil || got.Nested != nil || got.Off == nil || found.Part == nil {
		t.Errorf("%+v, found %+v", got, found)
	}
}

func TestOverlay_RefusesTypesThatDoNotCorrespond(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a number was copied into a string")
		}
	}()
	Convert[sdkThing](struct{ Name int }{1})
}

func TestOverlayEach_KeepsMembersOfFoundElements(t *testing.T) {
	same := func(w specPart, h sdkPart) bool { return w.Size == *h.Size }
	found := []sdkPart{{Size: Ptr(int64(1)), Comment: Ptr("kept")}, {Size: Ptr(int64(2)), Comment: Ptr("dropped")}}
	got := OverlayEach([]specPart{{Size: 3}, {Size: 1}}, found, same, func(h *sdkPart, w specPart) { Overlay(h, w) })
	want := []sdkPart{{Size: Ptr(int64(3))}, {Size: Ptr(int64(1)), Comment: Ptr("kept")}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTagsOfTheSDK(t *testing.T) {
	tags := map[string]string{"b": "", "a": "1"}
	list := SDKTags[sdkTag](tags)
	if want := []sdkTag{{Key: Ptr("a"), Value: Ptr("1")}, {Key: Ptr("b"), Value: Ptr("")}}; !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, want %+v", list, want)
	}
	if got := TagMap(append(list, sdkTag{Key: Ptr("c")}, sdkTag{})); !reflect.DeepEqual(got, map[string]string{"a": "1", "b": "", "c": ""}) {
		t.Errorf("%+v", got)
	}
}

func TestCollect(t *testing.T) {
	pages := map[string][]int{"": {1, 2}, "next": {3}}
	next := map[string]*string{"": Ptr("next"), "next": Ptr("")}
	got, err := Collect(func(token *string) ([]int, *string, error) {
		return pages[*NonNil(token)], next[*NonNil(token)], nil
	})
	if err != nil || !reflect.DeepEqual(got, []int{1, 2, 3}) {
		t.Errorf("%v %v", got, err)
	}
	failure := errors.New("throttled")
	if got, err := Collect(func(token *string) ([]int, *string, error) {
		if token != nil {
			return nil, nil, failure
		}
		return []int{1}, Ptr("next"), nil
	}); !errors.Is(err, failure) || got != nil {
		t.Errorf("%v %v: a part of a list was taken for all of it", got, err)
	}
	pages, next = map[string][]int{"": {1}, "a": {2}, "b": {3}}, map[string]*string{"": Ptr("a"), "a": Ptr("b"), "b": Ptr("a")}
	reads := 0
	got, err = Collect(func(token *string) ([]int, *string, error) {
		if reads++; reads > len(pages) {
			return nil, nil, errors.New("read without an end")
		}
		return pages[*NonNil(token)], next[*NonNil(token)], nil
	})
	if got != nil || err == nil || !strings.Contains(err.Error(), "page 3 gives the token of an earlier page again") {
		t.Errorf("%v %v", got, err)
	}
}

func TestPages(t *testing.T) {
	type request struct{ token *string }
	type answer struct {
		items []int
		next  *string
	}
	answers := map[string]*answer{"": {[]int{1, 2}, Ptr("next")}, "next": {[]int{3}, nil}}
	in := &request{}
	list := func(fails string) ([]int, error) {
		call := func(_ context.Context, in *request, _ ...func(*struct{})) (*answer, error) {
			if fails != "" && *NonNil(in.token) == fails {
				return nil, errors.New("throttled")
			}
			return answers[*NonNil(in.token)], nil
		}
		return Pages(t.Context(), call, in, &in.token, func(out *answer) ([]int, *string) { return out.items, out.next })
	}
	if got, err := list(""); err != nil || !reflect.DeepEqual(got, []int{1, 2, 3}) {
		t.Errorf("%v %v", got, err)
	}
	if got, err := list("next"); err == nil || got != nil {
		t.Errorf("%v %v: a part of a list was taken for all of it", got, err)
	}
}

func TestSend(t *testing.T) {
	type input struct{ name string }
	type output struct{}
	type options struct{}
	failure := errors.New("denied")
	var sent []string
	op := func(_ context.Context, in *input, _ ...func(*options)) (*output, error) {
		sent = append(sent, in.name)
		return nil, failure
	}
	do := Send(op, func(want, have string) *input { return &input{want + " over " + have} })
	if err := do(t.Context(), "a", "b"); !errors.Is(err, failure) || !reflect.DeepEqual(sent, []string{"a over b"}) {
		t.Errorf("%v %v", err, sent)
	}
	one := SendKey(op, func(want, have, key string) *input { return &input{want + " over " + have + " of " + key} })
	if err := one(t.Context(), "a", "b", []string{"c"}); !errors.Is(err, failure) || sent[len(sent)-1] != "a over b of c" {
		t.Errorf("%v %v", err, sent)
	}
}

func TestOnlyChanged(t *testing.T) {
	type state struct {
		Size, Port *int
		Groups     []string
	}
	want := state{Size: Ptr(1), Port: Ptr(2), Groups: []string{"a"}}
	diff := Diff{{Path: "Size"}, {Path: "Groups"}}
	if got := OnlyChanged(want, []string{"Size", "Port"}, diff); !reflect.DeepEqual(got, state{Size: want.Size}) {
		t.Errorf("%+v", got)
	}
}
