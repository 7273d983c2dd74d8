// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

type documented struct {
	Properties *kind.Document
}

// rulesOf returns rules by the path, its names joined by dots.
func rulesOf(rules map[string]kind.DocumentRule) func([]string) kind.DocumentRule {
	return func(at []string) kind.DocumentRule { return rules[strings.Join(at, ".")] }
}

var sampleRules = rulesOf(map[string]kind.DocumentRule{
	"Arn": {Skip: true}, "Name": {Mode: kind.Immutable}, "Password": {Mode: kind.Secret}, "Login.Password": {Mode: kind.Secret},
	"Set": {Unordered: true}, "Groups.*.Members": {Unordered: true}, "Left": {Skip: true, Ignored: true},
	"O.Left":     {Skip: true, Ignored: true},
	"Set.*.Left": {Skip: true, Ignored: true}, "LeftPassword": {Skip: true, Ignored: true, Mode: kind.Secret},
	"A": {Omitted: isDefault}, "B.C": {Omitted: isDefault}, "Set.*.K": {Omitted: isDefault},
})

func isDefault(want any) bool { return want == "default" }

func parsed(t *testing.T, text string) *kind.Document {
	t.Helper()
	d := &kind.Document{Rule: sampleRules}
	if err := json.Unmarshal([]byte(text), &d.Value); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocument_IsComparedByItsRules(t *testing.T) {
	for _, c := range []struct {
		name, want, have string
		paths            []string
	}{
		{"what AWS adds is not managed", `{"A": 1, "B": {"C": 1}}`, `{"A": 1, "B": {"C": 1, "D": 2}, "E": 3}`, nil},
		{"the deepest path differs", `{"B": {"C": 1, "D": {"E": 2}}}`, `{"B": {"C": 1, "D": {"E": 3}}}`, []string{"Properties.B.D.E"}},
		{"a missing object differs as a whole", `{"B": {"C": {"D": 1}}}`, `{"B": {}}`, []string{"Properties.B.C"}},
		{"an empty list and text may be missing", `{"C": "", "L": [], "O": {"C": ""}}`, `{"O": {}}`, nil},
		{"an empty object is a choice", `{"B": {}, "O": {"Block": {}}}`, `{"O": {"Allow": {}}}`, []string{"Properties.B", "Properties.O.Block"}},
		{"an empty object in an element", `{"Set": [{"K": {"Block": {}}}], "L": [{"K": {"Block": {}}}]}`,
			`{"Set": [{"K": {"Allow": {}}}], "L": [{"K": {}}]}`, []string{"Properties.L", "Properties.Set"}},
		{"an object of empty values", `{"B": {"C": "", "D": []}}`, `{}`, []string{"Properties.B"}},
		{"an empty text is another than one that is not", `{"C": ""}`, `{"C": "c"}`, []string{"Properties.C"}},
		{"a default may be missing", `{"A": "default", "B": {"C": "default"}, "Set": [{"K": "default"}]}`, `{"B": {}, "Set": [{"X": 1}]}`, nil},
		{"an object of defaults is a choice, too", `{"B": {"C": "default"}}`, `{}`, []string{"Properties.B"}},
		{"an object without a member that is to be shown", `{"B": {"C": null}, "M": {"N": {"C": null}}}`, `{}`, nil},
		{"a name with an empty object is missing", `{"M": {"a": {}}, "B": {"D": {"E": {}}}}`, `{}`, []string{"Properties.B", "Properties.M"}},
		{"a default is another than what is shown", `{"A": "default", "B": {"C": "default"}}`, `{"A": "b", "B": {"C": ""}}`,
			[]string{"Properties.A", "Properties.B.C"}},
		{"null removes", `{"A": null, "B": {"C": null}, "D": null}`, `{"A": 1, "B": {"C": 2}}`, []string{"Properties.A", "Properties.B.C"}},
		{"zero and false are values", `{"A": 0, "B": false}`, `{}`, []string{"Properties.A", "Properties.B"}},
		{"read only", `{"Arn": "a"}`, `{"Arn": "b"}`, nil},
		{"a list in another order", `{"L": [1, 2], "Set": [1, 2]}`, `{"L": [2, 1], "Set": [2, 1]}`, []string{"Properties.L"}},
		{"elements that AWS completes", `{"Set": [{"K": "a"}, {"K": "b"}]}`, `{"Set": [{"K": "b", "X": 1}, {"K": "a", "X": 1}]}`, nil},
		{"an element for each", `{"Set": [{"K": "a"}, {"K": "a", "X": 1}]}`, `{"Set": [{"K": "a", "X": 1}, {"K": "a"}]}`, nil},
		{"one element is not two", `{"Set": [{"K": "a"}, {"K": "a"}]}`, `{"Set": [{"K": "a"}, {"K": "b"}]}`, []string{"Properties.Set"}},
		{"a set within a list", `{"Groups": [{"Members": ["a", "b"]}]}`, `{"Groups": [{"Members": ["b", "a"]}]}`, nil},
		{"another kind of value", `{"A": {"B": 1}, "C": [1]}`, `{"A": "x", "C": {"D": 1}}`, []string{"Properties.A", "Properties.C"}},
		{"a name with brackets", `{"M": {"a]b\\": 1}}`, `{"M": {"a]b\\": 2}}`, []string{`Properties.M[a\]b\\]`}},
		{"names that are no words", `{"M": {"a.b/c": 1}}`, `{"M": {"a.b/c": 2}}`, []string{"Properties.M[a.b/c]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, d := range Compare(documented{parsed(t, c.want)}, documented{parsed(t, c.have)}, nil, nil) {
				paths = append(paths, d.Path)
			}
			if !slices.Equal(paths, c.paths) {
				t.Errorf("got %q, want %q", paths, c.paths)
			}
		})
	}
}

// An ignored member is no difference, also if AWS does not show it, and a plan shows its value in AWS.
func TestDocument_IgnoredMembersAreShownAndNotCompared(t *testing.T) {
	want := parsed(t, `{"Left": 1, "O": {"Left": {"A": 1, "B": 2}}, "P": {"A": 1}, "Set": [{"K": "a", "Left": 1}]}`)
	want.Value["LeftPassword"] = kind.NewWriteOnly("uid", "p")
	have := parsed(t, `{"Left": 2, "P": {"A": 1}, "Set": [{"K": "a", "Left": 2}]}`)
	if diff := Compare(documented{want}, documented{have}, nil, nil); len(diff) > 0 {
		t.Errorf("%v", diff)
	}
	var shown []string
	for _, c := range ignoredIn(documented{want}, documented{have}, nil) {
		shown = append(shown, c.Path+": "+c.Have)
	}
	if !slices.Equal(shown, []string{"Properties.Left: 2", "Properties.LeftPassword: ***", "Properties.O.Left: (unset)"}) {
		t.Errorf("%q", shown)
	}
	have.Value["O"] = map[string]any{"Left": map[string]any{"A": 1.0, "B": 3.0}}
	if got := ignoredIn(documented{want}, documented{have}, nil); len(got) != 3 || got[2].Path != "Properties.O.Left.B" {
		t.Errorf("%v", got)
	}
}

func TestDocument_ModesAndSecrets(t *testing.T) {
	want := documented{parsed(t, `{"Name": "a", "Password": "hush", "Login": {"User": "u", "Password": "hush"}}`)}
	diff := Compare(want, documented{parsed(t, `{"Name": "b", "Password": "old"}`)}, nil, nil)
	if len(diff) != 3 || diff[0].Path != "Properties.Login" || diff[1].Mode != kind.Immutable || diff[2].Mode != kind.Secret {
		t.Fatalf("%+v", diff)
	}
	for _, c := range diff {
		if strings.Contains(c.Want+c.Have, "hush") || strings.Contains(c.Want+c.Have, "old") {
			t.Errorf("a secret is printed: %+v", c)
		}
	}
	if diff := Compare(want, documented{}, nil, nil); len(diff) != 3 {
		t.Errorf("a document that AWS does not show: %+v", diff)
	}
	if diff := Compare(documented{}, want, nil, nil); len(diff) != 0 {
		t.Errorf("a document that is not declared: %+v", diff)
	}
}

// AWS shows some values in another form. Who knows the form is asked with the object that has the value, and only where it differs.
func TestDocument_AnotherFormOfAValueIsNoDifference(t *testing.T) {
	asked := 0
	inCapitals := func(within map[string]any, want, have any) bool {
		asked++
		if text, ok := want.(string); ok {
			return have == strings.ToUpper(text) && within["Free"] == nil
		}
		return len(want.(map[string]any)) == 1
	}
	rules := map[string]kind.DocumentRule{
		"Name": {Same: inCapitals}, "Part.Name": {Same: inCapitals, Mode: kind.Immutable}, "Parts.*.Name": {Same: inCapitals},
		"Parts":    {Unordered: true},
		"Password": {Same: inCapitals, Mode: kind.Secret}, "Whole": {Same: inCapitals},
	}
	for _, c := range []struct {
		want, have string
		paths      []string
		asked      int
	}{
		{`{"Name": "a"}`, `{"Name": "A"}`, nil, 1},
		{`{"Name": "a", "Free": true}`, `{"Name": "A", "Free": true}`, []string{"Properties.Name"}, 1},
		{`{"Name": "a", "Other": "a"}`, `{"Name": "B", "Other": "A"}`, []string{"Properties.Name", "Properties.Other"}, 1},
		{`{"Name": "a"}`, `{"Name": "a"}`, nil, 0},
		{`{"Name": "a"}`, `{}`, []string{"Properties.Name"}, 0},
		{`{"Name": null}`, `{"Name": "A"}`, []string{"Properties.Name"}, 0},
		{`{"Part": {"Name": "a"}}`, `{"Part": {"Name": "A"}}`, nil, 1},
		{`{"Parts": [{"Name": "a"}, {"Name": "b", "Free": true}]}`, `{"Parts": [{"Name": "b", "Free": true}, {"Name": "A"}]}`, nil, 2},
		{`{"Parts": [{"Name": "a"}, {"Name": "b", "Free": true}]}`, `{"Parts": [{"Name": "B", "Free": true}, {"Name": "A"}]}`,
			[]string{"Properties.Parts"}, 4},
		{`{"Password": "a"}`, `{"Password": "A"}`, []string{"Properties.Password"}, 0},
		{`{"Whole": {"A": {"B": 1}}}`, `{"Whole": {"A": {"B": 2}}}`, nil, 1},
	} {
		want := parsed(t, c.want)
		asked, want.Rule = 0, rulesOf(rules)
		var paths []string
		for _, d := range Compare(documented{want}, documented{parsed(t, c.have)}, nil, nil) {
			paths = append(paths, d.Path)
		}
		if !slices.Equal(paths, c.paths) || asked != c.asked {
			t.Errorf("%s, %s: got %q, asked %d times", c.want, c.have, paths, asked)
		}
	}
}

func TestDocument_WriteOnlyValuesAreComparedByVersion(t *testing.T) {
	state := func(version string) documented {
		secret := func() *kind.WriteOnly { return &kind.WriteOnly{Version: version} }
		return documented{&kind.Document{Value: map[string]any{"A": map[string]any{"Key": secret()},
			"L": []any{map[string]any{"Key": secret()}}}}}
	}
	shown := documented{&kind.Document{Value: map[string]any{"A": map[string]any{}, "L": []any{map[string]any{}}}}}
	written := writeOnlyVersions(state("1"))
	if want := map[string]string{"Properties.A.Key": "1", "Properties.L[0].Key": "1"}; !maps.Equal(written, want) {
		t.Fatalf("%v", written)
	}
	if diff := Compare(state("1"), shown, nil, written); len(diff) != 0 {
		t.Errorf("what was written differs: %+v", diff)
	}
	diff := Compare(state("2"), shown, nil, written)
	if len(diff) != 2 || diff[0].Path != "Properties.A.Key" || diff[0].Mode != kind.Secret || diff[1].Path != "Properties.L" {
		t.Errorf("%+v", diff)
	}
	if other := Compare(state("3"), shown, nil, written); other[1].Sum == diff[1].Sum {
		t.Error("another version has the same hash")
	}
}

// A value that AWS never shows, and that is fixed at the creation, is no difference of an object that did not write it. Once it is
// recorded, an edit is refused as that of a fixed value, without the value.
func TestDocument_FixedWriteOnlyValuesAreTakenForWhatIsDeclared(t *testing.T) {
	for _, mode := range []kind.Mode{kind.Immutable, kind.Conditional} {
		state := func(version string) documented {
			rules := func(at []string) kind.DocumentRule {
				return kind.DocumentRule{Mode: kind.Either(at[0] == "Source", mode, kind.Mutable)}
			}
			return documented{&kind.Document{Rule: rules,
				Value: map[string]any{"Source": map[string]any{"From": &kind.WriteOnly{Version: version}}, "Key": &kind.WriteOnly{Version: version}}}}
		}
		shown := documented{&kind.Document{Value: map[string]any{}}}
		if diff := Compare(state("1"), shown, nil, nil); len(diff) != 1 || diff[0].Path != "Properties.Key" {
			t.Errorf("%s, nothing recorded: %+v", mode, diff)
		}
		written := writeOnlyVersions(state("1"))
		diff := Compare(state("2"), shown, nil, written)
		if len(diff) != 2 || diff[1].Path != "Properties.Source.From" || diff[1].Mode != mode || diff[1].Want != "***" || diff[1].Have != "***" {
			t.Errorf("%s, an edit: %+v", mode, diff)
		}
		if kept := fixedVersions(state("2"), written); !maps.Equal(kept, map[string]string{"Properties.Source.From": "1"}) {
			t.Errorf("%s, after a failed update: %v", mode, kept)
		}
	}
}

// anyJSON draws a value of JSON.
func anyJSON(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Map(rapid.SampledFrom([]string{"", "a", "b"}), func(s string) any { return s }),
		rapid.Map(rapid.IntRange(0, 2), func(n int) any { return float64(n) }), rapid.Map(rapid.Bool(), func(b bool) any { return b }))
	if depth == 0 {
		return leaf
	}
	below := anyJSON(depth - 1)
	names := rapid.SampledFrom([]string{"A", "B", "Set", "Groups", "Members"})
	return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(below, 0, 3), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(names, below, 0, 3), func(m map[string]any) any { return m }))
}

func TestDocument_ShownAsWantedDiffersNowhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]any{"A": anyJSON(3).Draw(t, "value"), "Set": rapid.SliceOfN(anyJSON(2), 0, 4).Draw(t, "set")}
		want := &kind.Document{Value: value, Rule: sampleRules}
		shown := maps.Clone(value)
		shown["Set"] = rapid.Permutation(value["Set"].([]any)).Draw(t, "order")
		if diff := Compare(documented{want}, documented{&kind.Document{Value: shown}}, nil, nil); len(diff) != 0 {
			t.Fatalf("%v: %+v", value, diff)
		}
	})
}

// AWS does not show an object if it hides every member. The values of such an object are written when they change, and not at each look.
func TestDocument_AnObjectOfHiddenValuesIsComparedByTheirVersions(t *testing.T) {
	want := parsed(t, `{"Name": "a"}`)
	hidden := kind.NewWriteOnly("uid", "archive.zip")
	want.Value["Code"] = map[string]any{"S3Key": hidden, "S3Bucket": kind.NewWriteOnly("uid", "code")}
	have := documented{parsed(t, `{"Name": "a"}`)}
	written := map[string]string{}
	addVersions(place{path: "Properties"}, want.Value, written)
	if diff := Compare(documented{want}, have, nil, written); len(diff) > 0 {
		t.Errorf("at rest: %v", diff)
	}
	written["Properties.Code.S3Key"] = "of another value"
	if diff := Compare(documented{want}, have, nil, written); len(diff) != 1 || diff[0].Path != "Properties.Code.S3Key" {
		t.Errorf("after an edit: %v", diff)
	}
}
