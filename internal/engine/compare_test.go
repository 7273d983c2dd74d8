// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

type inner struct {
	A *int
	B string
}

type sample struct {
	ID      string `drift:"id"`
	Seen    string `drift:"observed"`
	Fixed   string `drift:"immutable"`
	Key     string `drift:"secret"`
	Zero    *int
	Text    *string
	Doc     *string  `drift:"json"`
	Set     []string `drift:"set"`
	List    *[]string
	Nested  *inner
	Tags    map[string]string  `drift:"tags"`
	Docs    map[string]*string `drift:"json,keys"`
	Only    map[string]string  `drift:"exact"`
	private int
}

func ptr[T any](v T) *T { return &v }

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name       string
		want, have sample
		dropped    []string
		paths      []string
	}{
		{name: "what is equal"},
		{name: "identity and what AWS reports are not compared", want: sample{ID: "a", Seen: "b", private: 1}},
		{name: "nil is not ours to manage",
			have: sample{Zero: ptr(1), Text: ptr("x"), Set: []string{"a"}, List: ptr([]string{"a"}), Tags: map[string]string{"a": "b"}}},
		{name: "zero is a value", want: sample{Zero: ptr(0)}, have: sample{Zero: ptr(5)}, paths: []string{"Zero"}},
		{name: "zero is not the same as absent for numbers", want: sample{Zero: ptr(0)}, paths: []string{"Zero"}},
		{name: "an empty text that is absent is as wanted", want: sample{Text: ptr("")}},
		{name: "an empty text clears", want: sample{Text: ptr("")}, have: sample{Text: ptr("x")}, paths: []string{"Text"}},
		{name: "an empty list that is absent is as wanted", want: sample{List: &[]string{}}},
		{name: "an empty list clears", want: sample{List: &[]string{}}, have: sample{List: &[]string{"a"}}, paths: []string{"List"}},
		{name: "the order of a list matters", want: sample{List: &[]string{"a", "b"}}, have: sample{List: &[]string{"b", "a"}},
			paths: []string{"List"}},
		{name: "the order of a set does not", want: sample{Set: []string{"a", "b"}}, have: sample{Set: []string{"b", "a"}}},
		{name: "nested fields have paths", want: sample{Nested: &inner{A: ptr(1), B: "x"}}, have: sample{Nested: &inner{A: ptr(2), B: "y"}},
			paths: []string{"Nested.A", "Nested.B"}},
		{name: "a whole part may be absent", want: sample{Nested: &inner{B: "x"}}, paths: []string{"Nested"}},
		{name: "tags are compared key by key", want: sample{Tags: map[string]string{"b": "1", "a": "1"}},
			have: sample{Tags: map[string]string{"b": "2", "z": "3"}}, paths: []string{"Tags[a]", "Tags[b]"}},
		{name: "dropped tags are to go, others' stay", dropped: []string{"old", "never"}, want: sample{Tags: map[string]string{}},
			have: sample{Tags: map[string]string{"old": "1", "other": "2"}}, paths: []string{"Tags[old]"}},
		{name: "documents are compared by meaning", want: sample{Doc: ptr(`{"Statement": [{"Effect": "Deny", "Action": ["a"]}]}`)},
			have: sample{Doc: ptr(`{"Version":"2008-10-17","Statement":{"Action":"A","Effect":"Deny"}}`)}},
		{name: "a nil element shall be absent", want: sample{Docs: map[string]*string{"gone": nil, "never": nil, "same": ptr(`{}`)}},
			have: sample{Docs: map[string]*string{"gone": ptr(`{}`), "same": ptr(`{ }`)}}, paths: []string{"Docs[gone]"}},
		{name: "an exact map that is nil is not managed", have: sample{Only: map[string]string{"a": "1"}}},
		{name: "other keys of an exact map are to be absent", want: sample{Only: map[string]string{"a": "1", "b": "1"}},
			have:  sample{Only: map[string]string{"a": "1", "z": "1", "y": "1"}},
			paths: []string{"Only[b]", "Only[y]", "Only[z]"}},
		{name: "secrets and immutables", want: sample{Key: "a", Fixed: "a"}, have: sample{Key: "b", Fixed: "b"}, paths: []string{"Fixed", "Key"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, d := range Compare(c.want, c.have, c.dropped, nil) {
				paths = append(paths, d.Path)
			}
			if !slices.Equal(paths, c.paths) {
				t.Errorf("got %q, want %q", paths, c.paths)
			}
		})
	}
}

func TestCompareSaysWhatIsWantedAndNeverASecret(t *testing.T) {
	d := Compare(sample{Key: "hidden", Text: ptr("x"), Nested: &inner{B: "n"}, Fixed: "new"},
		sample{Key: "other", Text: ptr("y"), Fixed: "old"}, nil, nil)
	for i := range d {
		if d[i].Sum == "" {
			t.Errorf("%s has no sum of the wanted value", d[i].Path)
		}
		d[i].Sum = ""
	}
	want := kind.Diff{
		{Path: "Fixed", Want: "new", Have: "old", Mode: kind.Immutable},
		{Path: "Key", Want: "***", Have: "***", Mode: kind.Secret},
		{Path: "Text", Want: "x", Have: "y"},
		{Path: "Nested", Want: `{"B":"n"}`, Have: "(unset)"},
	}
	if !slices.Equal(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
}

func TestCompare_ReportsTheElementsOfASet(t *testing.T) {
	type set struct {
		Rules []inner `drift:"set"`
	}
	d := Compare(set{[]inner{{B: "b"}, {B: "a"}}}, set{[]inner{{B: "c"}}}, nil, nil)
	if len(d) != 1 || d[0].Want != `[{"A":null,"B":"a"},{"A":null,"B":"b"}]` || d[0].Have != `[{"A":null,"B":"c"}]` {
		t.Errorf("got %+v, want the elements as values, in one order", d)
	}
}

func TestKeysOf(t *testing.T) {
	held, added := keysOf(
		sample{Docs: map[string]*string{"new": ptr("{}"), "kept": ptr("{}"), "dropped": nil, "gone": nil}},
		sample{Docs: map[string]*string{"kept": ptr("{}"), "dropped": ptr("{}"), "foreign": ptr("{}")}})
	if want := []string{"dropped", "kept", "new"}; !slices.Equal(held["Docs"], want) {
		t.Errorf("held %q, want %q", held["Docs"], want)
	}
	if want := []string{"new"}; !slices.Equal(added["Docs"], want) {
		t.Errorf("added %q, want %q", added["Docs"], want)
	}
}

func TestKeysAreRecordedUntilTheStatusHasThem(t *testing.T) {
	one, both := Keys{"Docs": {"one"}}, Keys{"Docs": {"one", "two"}}
	recorded := &Intent{Keys: one, KeysGeneration: 2}
	for _, c := range []struct {
		name       string
		intent     *Intent
		synced     int64 // the object is at generation 3
		added      Keys
		unrecorded bool
		record     bool
	}{
		{"nothing is added", nil, 1, Keys{}, false, false},
		{"a first key", nil, 1, one, false, true},
		{"a key that a crashed pass recorded", recorded, 1, one, true, false},
		{"a key beside that of a crashed pass", recorded, 1, both, true, true},
		{"a key whose record the status has taken over", recorded, 2, one, false, true},
		{"a key that drifted at a generation in sync", recorded, 3, one, false, false},
	} {
		o := Owner{Generation: 3, Record: Record{SyncedGeneration: c.synced, Intent: c.intent}}
		if got := o.Record.unrecordedKeys() != nil; got != c.unrecorded {
			t.Errorf("%s: unrecorded %v, want %v", c.name, got, c.unrecorded)
		}
		if got := o.mustRecord(c.added); got != c.record {
			t.Errorf("%s: must record %v, want %v", c.name, got, c.record)
		}
	}
}

func TestAStateIsAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Ptr(rapid.StringN(0, 4, 8), true)
		s := sample{
			Text: text.Draw(t, "text"), Doc: text.Draw(t, "doc"), Zero: rapid.Ptr(rapid.Int(), true).Draw(t, "zero"),
			Set: rapid.SliceOf(rapid.String()).Draw(t, "set"), List: rapid.Ptr(rapid.SliceOf(rapid.String()), true).Draw(t, "list"),
			Tags: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "tags"),
		}
		if d := Compare(s, s, nil, nil); len(d) > 0 {
			t.Fatalf("differs from itself: %+v", d)
		}
	})
}

func TestCompare_PrintsNoSecretOfAMap(t *testing.T) {
	type variables struct {
		Values map[string]string `drift:"exact,secret"`
	}
	diff := Compare(variables{map[string]string{"new": "one", "changed": "two"}},
		variables{map[string]string{"changed": "three", "gone": "four"}}, nil, nil)
	if len(diff) != 3 {
		t.Fatalf("%+v", diff)
	}
	for _, d := range diff {
		if d.Have != "***" || d.Want != "***" && d.Want != unset {
			t.Errorf("%+v", d)
		}
	}
}

// A person reads them in conditions.
func TestValuesInMessagesAreReadable(t *testing.T) {
	type rule struct{ Description *string }
	text := "web"
	for want, v := range map[string]any{`""`: "", "(set)": rule{}, `{"Description":"web"}`: rule{&text}, "(unset)": nil, "x": "x",
		"{}": map[string]string{}, "3": 3} {
		if got := printed(modes{}, v); got != want {
			t.Errorf("%#v is printed as %s, want %s", v, got, want)
		}
	}
}
