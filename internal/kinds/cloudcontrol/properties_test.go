// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestMembersOf_SplitsPathsOfDifferences(t *testing.T) {
	for path, want := range map[string][]string{
		"Properties.Name": {"Name"}, "Properties.A.B": {"A", "B"}, "Properties.A[b.c/d].E": {"A", "b.c/d", "E"}, "Properties[x y]": {"x y"},
		"Tags[team]": nil,
	} {
		if got := membersOf(path); !slices.Equal(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// A patch is as deep as AWS shows objects, and repeats what AWS never shows.
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
			map[string]any{"A": 1.0, "P": hidden(`"p"`), "O": map[string]any{"Q": hidden(`"q"`), "R": 1.0}, "L": []any{map[string]any{"S": hidden(`{"t":1}`)}}},
			map[string]any{"A": 0.0, "O": map[string]any{"R": 1.0}, "L": []any{map[string]any{}}},
			[]kind.Change{{Path: "Properties.A"}},
			`[{"op":"add","path":"/A","value":1},{"op":"add","path":"/L","value":[{"S":{"t":1}}]},{"op":"add","path":"/O/Q","value":"q"},{"op":"add","path":"/P","value":"p"}]`,
		},
		"a write-only value in an object that AWS does not show": {
			map[string]any{"O": map[string]any{"Q": hidden(`"q"`), "R": hidden(`"r"`)}}, map[string]any{},
			[]kind.Change{{Path: "Properties.O.Q"}}, `[{"op":"add","path":"/O","value":{"Q":"q","R":"r"}}]`,
		},
	} {
		want := State{Properties: &kind.Document{Value: c.want}}
		seen := kind.Seen[State]{State: State{Properties: &kind.Document{Value: c.have}}}
		text, err := json.Marshal(patchOf(want, seen, c.diff))
		must(t, err)
		if string(text) != c.patch {
			t.Errorf("%s:\n got %s\nwant %s", name, text, c.patch)
		}
	}
}

func TestStatus_HoldsNoMoreThanItCan(t *testing.T) {
	published := publishedProperties(map[string]any{"Arn": "arn:aws:a", "Text": strings.Repeat("x", maxPublished), "Url": "https://example.com"})
	if got := string(published.Raw); got != `{"Arn":"arn:aws:a","Url":"https://example.com"}` {
		t.Error(got)
	}
	if publishedProperties(nil) != nil {
		t.Error("nothing is published as an empty object")
	}
}

func TestARN_IsFoundAmongTheProperties(t *testing.T) {
	for want, f := range map[string]*found{
		"arn:aws:kinesis:r:1:stream/events": {"events", map[string]any{"Arn": "arn:aws:kinesis:r:1:stream/events", "KeyArn": "arn:aws:kms:r:1:key/2"}},
		"arn:aws:ec2:r:1:prefix-list/pl-1":  {"pl-1", map[string]any{"PrefixListArn": "arn:aws:ec2:r:1:prefix-list/pl-1", "KeyArn": "arn:aws:kms:r:1:key/2"}},
		"arn:aws:sns:r:1:topic":             {"arn:aws:sns:r:1:topic", nil},
		"":                                  {"shop|errors", map[string]any{"RoleArn": "arn:aws:iam::1:role/x"}},
	} {
		if got := arnOf(f); got != want {
			t.Errorf("%+v: %q", f, got)
		}
	}
}
