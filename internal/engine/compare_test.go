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
	Docs    map[string]*string `drift:"json"`
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
		{name: "nil is not ours to manage", have: sample{Zero: ptr(1), Text: ptr("x"), Set: []string{"a"}, List: ptr([]string{"a"}), Tags: map[string]string{"a": "b"}}},
		{name: "zero is a value", want: sample{Zero: ptr(0)}, have: sample{Zero: ptr(5)}, paths: []string{"Zero"}},
		{name: "zero is not the same as absent for numbers", want: sample{Zero: ptr(0)}, paths: []string{"Zero"}},
		{name: "an empty text that is absent is as wanted", want: sample{Text: ptr("")}},
		{name: "an empty text clears", want: sample{Text: ptr("")}, have: sample{Text: ptr("x")}, paths: []string{"Text"}},
		{name: "an empty list that is absent is as wanted", want: sample{List: &[]string{}}},
		{name: "an empty list clears", want: sample{List: &[]string{}}, have: sample{List: &[]string{"a"}}, paths: []string{"List"}},
		{name: "the order of a list matters", want: sample{List: &[]string{"a", "b"}}, have: sample{List: &[]string{"b", "a"}}, paths: []string{"List"}},
		{name: "the order of a set does not", want: sample{Set: []string{"a", "b"}}, have: sample{Set: []string{"b", "a"}}},
		{name: "nested fields have paths", want: sample{Nested: &inner{A: ptr(1), B: "x"}}, have: sample{Nested: &inner{A: ptr(2), B: "y"}}, paths: []string{"Nested.A", "Nested.B"}},
		{name: "a whole part may be absent", want: sample{Nested: &inner{B: "x"}}, paths: []string{"Nested"}},
		{name: "tags are compared key by key", want: sample{Tags: map[string]string{"b": "1", "a": "1"}}, have: sample{Tags: map[string]string{"b": "2", "z": "3"}}, paths: []string{"Tags[a]", "Tags[b]"}},
		{name: "dropped tags are to go, others' stay", dropped: []string{"old", "never"}, want: sample{Tags: map[string]string{}},
			have: sample{Tags: map[string]string{"old": "1", "other": "2"}}, paths: []string{"Tags[old]"}},
		{name: "documents are compared by meaning", want: sample{Doc: ptr(`{"a": [1]}`)}, have: sample{Doc: ptr(`{"a":1}`)}},
		{name: "a nil element shall be absent", want: sample{Docs: map[string]*string{"gone": nil, "never": nil, "same": ptr(`{}`)}},
			have: sample{Docs: map[string]*string{"gone": ptr(`{}`), "same": ptr(`{ }`)}}, paths: []string{"Docs[gone]"}},
		{name: "secrets and immutables", want: sample{Key: "a", Fixed: "a"}, have: sample{Key: "b", Fixed: "b"}, paths: []string{"Fixed", "Key"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, d := range Compare(c.want, c.have, c.dropped) {
				paths = append(paths, d.Path)
			}
			if !slices.Equal(paths, c.paths) {
				t.Errorf("got %q, want %q", paths, c.paths)
			}
		})
	}
}

func TestCompareSaysWhatIsWantedAndNeverASecret(t *testing.T) {
	d := Compare(sample{Key: "hidden", Text: ptr("x"), Nested: &inner{B: "n"}, Fixed: "new"}, sample{Key: "other", Text: ptr("y"), Fixed: "old"}, nil)
	want := kind.Diff{
		{Path: "Fixed", Want: "new", Have: "old", Mode: kind.Immutable},
		{Path: "Key", Want: "***", Have: "***", Mode: kind.Secret},
		{Path: "Text", Want: "x", Have: "y"},
		{Path: "Nested", Want: `{"A":null,"B":"n"}`, Have: "(unset)"},
	}
	if !slices.Equal(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
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
		if d := Compare(s, s, nil); len(d) > 0 {
			t.Fatalf("differs from itself: %+v", d)
		}
	})
}

func TestSameDocument(t *testing.T) {
	const a = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:Get","s3:Put"],"Resource":"x","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Condition":{"Bool":{"aws:SecureTransport":false},"StringLike":{"k":["b","a"]}}}]}`
	for _, c := range []struct {
		name, b string
		same    bool
	}{
		{"white space and order of actions", `{"Statement":[{"Action":["s3:Put","s3:Get"], "Effect":"Allow","Resource":["x"],"Principal":{"AWS":"123456789012"},"Condition":{"StringLike":{"k":["a","b"]},"Bool":{"aws:SecureTransport":"false"}}}],"Version":"2012-10-17"}`, true},
		{"a single statement outside a list", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["s3:Get","s3:Put"],"Resource":"x","Principal":{"AWS":["123456789012"]},"Condition":{"Bool":{"aws:SecureTransport":["false"]},"StringLike":{"k":["b","a"]}}}}`, true},
		{"another effect", `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":["s3:Get","s3:Put"],"Resource":"x"}]}`, false},
		{"one action less", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:Get"],"Resource":"x"}]}`, false},
		{"no JSON", `{`, false},
	} {
		if got := SameDocument(a, c.b); got != c.same {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if !SameDocument("no JSON", "no JSON") {
		t.Error("equal texts are the same")
	}
}
