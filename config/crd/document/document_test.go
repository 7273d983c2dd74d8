// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
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
		_, err := page(d, example{}, common{})
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
			"a": {Type: "string", Pattern: "^(x|y)$", MaxLength: &length, Description: "A | b <c> `<d>`.",
				Default: &apiextensionsv1.JSON{Raw: []byte(`"x"`)}},
			"b": {Type: "array", MinItems: &least, MaxItems: &most, XListType: &set,
				Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{
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

// fieldNames returns the paths of the fields in the first column of all tables of one part of a page.
func fieldNames(text, part string) []string {
	_, text, _ = strings.Cut(text, "\n## "+part+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var out []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// Each field and each rule of each kind stands on its page, or on the page of common fields to which that page links; none stands on both.
func TestPages_DocumentEveryFieldOnce(t *testing.T) {
	definitions, err := readDefinitions()
	if err != nil || len(definitions) < 40 {
		t.Fatalf("%d definitions, %v", len(definitions), err)
	}
	folder := "../../../" + pagesFolder + "/"
	for _, d := range definitions {
		own := read(t, folder+fileOf(d))
		for _, part := range parts {
			text, documented := own, fieldNames(own, title(part))
			if strings.Contains(own, "[common fields]("+commonPage+"#"+part+")") {
				everywhere := read(t, folder+commonPage)
				text += everywhere
				documented = append(documented, fieldNames(everywhere, title(part))...)
			}
			w := &walker{}
			w.object("", schemaOf(d).Properties[part])
			for _, line := range slices.Concat(w.rows, w.rules) {
				if n := strings.Count(text, "\n"+line); n != 1 && part == "spec" || n == 0 {
					t.Errorf("%s: %d times: %s", d.Spec.Names.Kind, n, line)
				}
			}
			slices.Sort(documented)
			if len(documented) != len(w.rows) || len(slices.Compact(documented)) != len(w.rows) {
				t.Errorf("%s: %d fields of the %s are documented, it has %d", d.Spec.Names.Kind, len(documented), part, len(w.rows))
			}
		}
	}
}

// What a single kind says in another way is not common, and stays on the pages.
func TestCommonOf_KeepsWhatIsTheSameInAllKindsOfResources(t *testing.T) {
	definition := func(description string, more ...string) *apiextensionsv1.CustomResourceDefinition {
		spec := schemaProps{Properties: map[string]schemaProps{"tags": {Type: "object", Description: description}}}
		for _, name := range more {
			spec.Properties[name] = schemaProps{Type: "string"}
		}
		schema := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schemaProps{Properties: map[string]schemaProps{"spec": spec}}}
		d := &apiextensionsv1.CustomResourceDefinition{}
		d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Schema: schema}}
		return d
	}
	one, two := definition("T.", "managementPolicy", "own"), definition("T.", "managementPolicy")
	notAResource := definition("Other.")
	all := commonOf([]*apiextensionsv1.CustomResourceDefinition{one, two, notAResource})
	if got := all["spec"].names(); !slices.Equal(got, []string{"managementPolicy", "tags"}) {
		t.Errorf("common: %q", got)
	}
	link := "Like all kinds of AWS resources, it has the [common fields](common.md#spec): `managementPolicy`, `tags`.\n\n| Field |"
	if got := all.tables(one, "spec"); !strings.HasPrefix(got, link) ||
		strings.Contains(got, "| `tags` |") || !strings.Contains(got, "| `own` |") {
		t.Errorf("the page of a resource has\n%s", got)
	}
	if got := all.tables(notAResource, "spec"); strings.Contains(got, commonPage) || !strings.Contains(got, "| `tags` |") {
		t.Errorf("the page of another kind has\n%s", got)
	}
	all = commonOf([]*apiextensionsv1.CustomResourceDefinition{one, definition("Another text.", "managementPolicy")})
	if got := all["spec"].names(); !slices.Equal(got, []string{"managementPolicy"}) {
		t.Errorf("common with another text of tags: %q", got)
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
