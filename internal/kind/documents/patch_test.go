// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestMembersOf_SplitsPathsOfDifferences(t *testing.T) {
	for path, want := range map[string][]string{
		"Properties.Name": {"Name"}, "Properties.A.B": {"A", "B"}, "Properties.A[b.c/d].E": {"A", "b.c/d", "E"}, "Properties[x y]": {"x y"},
		"Tags[team]": nil,
	} {
		if got := Members("Properties", path); !slices.Equal(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// A patch is as deep as AWS shows objects, and repeats the values that AWS never shows.
func TestPatch_IsAsDeepAsItCanBe(t *testing.T) {
	hidden := func(value string) *kind.WriteOnly { return kind.NewWriteOnly("uid", value) }
	for name, c := range map[string]struct {
		want, have map[string]any
		diff       []kind.Change
		patch      string
	}{
		"a member of an object": {
			map[string]any{"A": map[string]any{"B": 1.0, "C": 2.0}}, map[string]any{"A": map[string]any{"B": 0.0}},
			[]kind.Change{{Path: "Properties.A.B"}, {Path: "Properties.A.C"}},
			`[{"op":"add","path":"/A/B","value":1},{"op":"add","path":"/A/C","value":2}]`,
		},
		"a member of an object that AWS does not show": {
			map[string]any{"A": map[string]any{"B": 1.0, "C": nil}}, map[string]any{},
			[]kind.Change{{Path: "Properties.A"}}, `[{"op":"add","path":"/A","value":{"B":1}}]`,
		},
		"a name with a slash": {
			map[string]any{"A": map[string]any{"b/c~d": "e"}}, map[string]any{"A": map[string]any{}},
			[]kind.Change{{Path: "Properties.A[b/c~d]"}}, `[{"op":"add","path":"/A/b~1c~0d","value":"e"}]`,
		},
		"a removal": {
			map[string]any{"A": nil}, map[string]any{"A": 1.0},
			[]kind.Change{{Path: "Properties.A", Gone: true}}, `[{"op":"remove","path":"/A"}]`,
		},
		"false, zero and empty": {
			map[string]any{"A": false, "B": 0.0, "C": ""}, map[string]any{"A": true, "B": 1.0, "C": "c"},
			[]kind.Change{{Path: "Properties.A"}, {Path: "Properties.B"}, {Path: "Properties.C"}},
			`[{"op":"add","path":"/A","value":false},{"op":"add","path":"/B","value":0},{"op":"add","path":"/C","value":""}]`,
		},
		"write-only values": {
			map[string]any{"A": 1.0, "P": hidden(`"p"`), "O": map[string]any{"Q": hidden(`"q"`), "R": 1.0},
				"L": []any{map[string]any{"S": hidden(`{"t":1}`)}}},
			map[string]any{"A": 0.0, "O": map[string]any{"R": 1.0}, "L": []any{map[string]any{}}},
			[]kind.Change{{Path: "Properties.A"}},
			`[{"op":"add","path":"/A","value":1},{"op":"add","path":"/L","value":[{"S":{"t":1}}]},{"op":"add","path":"/O/Q","value":"q"},{"op":"add","path":"/P","value":"p"}]`,
		},
		"a write-only value in an object that AWS does not show": {
			map[string]any{"O": map[string]any{"Q": hidden(`"q"`), "R": hidden(`"r"`)}}, map[string]any{},
			[]kind.Change{{Path: "Properties.O.Q"}}, `[{"op":"add","path":"/O","value":{"Q":"q","R":"r"}}]`,
		},
	} {
		text, err := json.Marshal(Patch("Properties", &kind.Document{Value: c.want}, &kind.Document{Value: c.have}, c.diff))
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != c.patch {
			t.Errorf("%s:\n got %s\nwant %s", name, text, c.patch)
		}
	}
}

// AWS refuses a patch with a property that is fixed at the creation, also where it never shows it.
func TestPatch_LeavesOutWriteOnlyValuesThatAreFixed(t *testing.T) {
	hidden := func(value string) *kind.WriteOnly { return kind.NewWriteOnly("uid", value) }
	want := &kind.Document{Value: map[string]any{"A": 1.0, "Fixed": hidden(`"f"`), "List": []any{map[string]any{"S": hidden(`"s"`)}},
		"P": hidden(`"p"`)}, Rule: func(at []string) kind.DocumentRule {
		return kind.DocumentRule{Mode: kind.Either(at[0] == "Fixed" || at[0] == "List", kind.Immutable, kind.Mutable)}
	}}
	text, err := json.Marshal(Patch("Properties", want, &kind.Document{Value: map[string]any{"A": 0.0}},
		[]kind.Change{{Path: "Properties.A"}}))
	if got, patch := string(text), `[{"op":"add","path":"/A","value":1},{"op":"add","path":"/P","value":"p"}]`; err != nil || got != patch {
		t.Errorf("got %s, want %s: %v", got, patch, err)
	}
}

func TestHide_KeepsWriteOnlyValuesForRequests(t *testing.T) {
	declared := map[string]any{"Name": "a", "Password": "p", "Users": []any{map[string]any{"Name": "u", "Password": "q"}}, "Gone": nil}
	hidden := Hide("uid", declared, func(at []string) bool { return at[len(at)-1] == "Password" })
	for _, value := range []any{hidden["Password"], hidden["Users"].([]any)[0].(map[string]any)["Password"]} {
		if _, ok := value.(*kind.WriteOnly); !ok {
			t.Errorf("%v is not hidden", value)
		}
	}
	text, err := json.Marshal(Plain(hidden))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(text), `{"Name":"a","Password":"p","Users":[{"Name":"u","Password":"q"}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
