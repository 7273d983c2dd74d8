// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The examples and the pages, as seen from the root of the tree.
const examplesFolder, pagesFolder = "examples", "docs/reference"

func TestGenerate_WritesThePagesThatAreThere(t *testing.T) {
	t.Chdir("../../..")
	folder := filepath.Join(t.TempDir(), "reference")
	if err := generate(examplesFolder, folder); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadDir(pagesFolder)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != len(have) || len(want) < 17 {
		t.Errorf("%d pages are generated, %d exist: run make generate", len(want), len(have))
	}
	for _, page := range want {
		if read(t, filepath.Join(folder, page.Name())) != read(t, filepath.Join(pagesFolder, page.Name())) {
			t.Errorf("%s is out of date: run make generate", page.Name())
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestGenerate_RemovesPagesOfKindsThatAreGone(t *testing.T) {
	t.Chdir("../../..")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "old.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := generate(examplesFolder, folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "old.md")); !os.IsNotExist(err) {
		t.Errorf("old.md: %v", err)
	}
}

func TestPage_NeedsAnExample(t *testing.T) {
	definitions, err := readDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range definitions {
		_, err := page(d, example{})
		if writtenByOperator := written[d.Spec.Names.Kind] != ""; (err == nil) != writtenByOperator {
			t.Errorf("%s without an example: %v", d.Spec.Names.Kind, err)
		}
	}
}

// Every part of a schema that a user can break is shown.
func TestTables_ShowTypesLimitsDefaultsAndRules(t *testing.T) {
	least, most, length, low, high := int64(1), int64(3), int64(63), 1.0, 1048576.0
	set := "set"
	s := schemaProps{
		Type: "object", Required: []string{"z"},
		Properties: map[string]schemaProps{
			"a": {Type: "string", Pattern: "^(x|y)$", MaxLength: &length, Description: "A | b <c> `<d>`.", Default: &apiextensionsv1.JSON{Raw: []byte(`"x"`)}},
			"b": {Type: "array", MinItems: &least, MaxItems: &most, XListType: &set, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{
				Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"p"`)}, {Raw: []byte(`"q"`)}}}}},
			"c": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &schemaProps{Type: "object",
				Properties: map[string]schemaProps{"d": {Type: "integer", Format: "int32", Minimum: &low, Maximum: &high}}}}},
			"z": {Type: "boolean", XValidations: apiextensionsv1.ValidationRules{{Rule: "self || true", Message: "z is odd"}}},
		},
	}
	w := &walker{}
	w.object("", s)
	want := "| Field | Type | Limits | Description |\n|---|---|---|---|\n" +
		"| `z` | boolean, required |  |  |\n" +
		"| `a` | string, default `\"x\"` | at most 63 characters; matches <code>&#94;&#40;x&#124;y&#41;&#36;</code> | A &#124; b &lt;c> `<d>`. |\n" +
		"| `b` | list of strings | 1 to 3 items; no item twice; each: one of `p`, `q` |  |\n" +
		"| `c` | map of objects |  |  |\n" +
		"| `c.*.d` | integer (int32) | 1 to 1048576 |  |\n" +
		"\n### Rules\n\n- `z`: z is odd. `self || true`\n\n"
	if got := w.tables(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A limit of one is written in the singular, and two equal limits as one.
func TestLimits_AreWordedByTheirNumbers(t *testing.T) {
	size := func(n int64) *int64 { return &n }
	value := func(n float64) *float64 { return &n }
	for want, s := range map[string]schemaProps{
		"exactly 1 item":       {Type: "array", MinItems: size(1), MaxItems: size(1)},
		"exactly 3 characters": {Type: "string", MinLength: size(3), MaxLength: size(3)},
		"exactly 5":            {Type: "integer", Minimum: value(5), Maximum: value(5)},
		"at least 1 character": {Type: "string", MinLength: size(1)},
		"at most 1 key":        {Type: "object", MinProperties: size(0), MaxProperties: size(1)},
		"1 to 2 items":         {Type: "array", MinItems: size(1), MaxItems: size(2)},
		"at most 0 items":      {Type: "array", MaxItems: size(0)},
	} {
		if got := strings.Join(slices.Concat(textLimits(s), numberLimits(s), sizeLimits(s)), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A cell may not hold a vertical bar, or GitHub and the site cut the row there.
func TestPages_KeepFourCellsInEachRowOfFields(t *testing.T) {
	pages, err := filepath.Glob("../../../" + pagesFolder + "/*.md")
	if err != nil || len(pages) < 17 {
		t.Fatalf("found %d pages, %v", len(pages), err)
	}
	for _, path := range pages {
		for line := range strings.Lines(read(t, path)) {
			if strings.HasPrefix(line, "| `") && strings.Count(line, "|") != 5 {
				t.Errorf("%s: %s", filepath.Base(path), line)
			}
		}
	}
}
