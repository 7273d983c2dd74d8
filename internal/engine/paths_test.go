// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestPathsOf_NameWhatADocumentDeclares(t *testing.T) {
	want := documented{Properties: &kind.Document{
		Value: map[string]any{"Name": "a", "List": []any{map[string]any{"A": 1.0}}, "Gone": nil, "Arn": "x",
			"In": map[string]any{"Deep": map[string]any{"Key": "b", "a/b~": "c"}, "None": map[string]any{}}},
		Rule: func(at []string) kind.DocumentRule { return kind.DocumentRule{Skip: at[0] == "Arn"} },
	}}
	got := pathsOf(want)
	if !slices.Equal(got, []string{"/Properties/In/Deep/Key", "/Properties/In/Deep/a~1b~0", "/Properties/In/None", "/Properties/List",
		"/Properties/Name"}) {
		t.Errorf("%v", got)
	}
	next := documented{Properties: &kind.Document{Value: map[string]any{"In": map[string]any{"Deep": map[string]any{"Key": "b"}},
		"List": "text"}}}
	declared := next.Properties.Value
	dropped := dropUndeclared(next, got)
	if !slices.Equal(dropped, []string{"Properties.In.Deep[a/b~]", "Properties.In.None", "Properties.Name"}) {
		t.Errorf("%v", dropped)
	}
	if value := next.Properties.Value; fmt.Sprint(value) != "map[In:map[Deep:map[Key:b a/b~:<nil>] None:<nil>] List:text Name:<nil>]" {
		t.Errorf("%v", value)
	}
	if fmt.Sprint(declared) != "map[In:map[Deep:map[Key:b]] List:text]" {
		t.Errorf("the declaration was changed: %v", declared)
	}
	whole := documented{Properties: &kind.Document{Value: map[string]any{}}}
	if dropped := dropUndeclared(whole, got); !slices.Equal(dropped, []string{"Properties.In", "Properties.List", "Properties.Name"}) {
		t.Errorf("an object that is no longer declared is not removed as a whole: %v", dropped)
	}
}

func TestBoundPaths_KeepsWhatContainsTheDeepest(t *testing.T) {
	var paths []string
	for i := range 100 {
		paths = append(paths, fmt.Sprintf("/Properties/Settings/Group%02d/%s", i%10, strings.Repeat("x", 20)+fmt.Sprint(i)))
	}
	slices.Sort(paths)
	before := slices.Clone(paths)
	if got := boundPaths(paths); len(got) != 10 || got[0] != "/Properties/Settings/Group00" {
		t.Errorf("%v", got)
	}
	if !slices.Equal(paths, before) {
		t.Error("the paths that were given are changed")
	}
	var flat []string
	for i := range 100 {
		flat = append(flat, fmt.Sprintf("/Properties/%s%02d", strings.Repeat("y", 30), i))
	}
	if got := boundPaths(flat); sizeOf(got) > maxPaths || len(got) < 40 {
		t.Errorf("%d paths, %d bytes", len(got), sizeOf(got))
	}
}
