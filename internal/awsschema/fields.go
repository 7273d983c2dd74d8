// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"maps"
	"slices"
	"strings"
)

// Field is a property, or a member of one.
type Field struct {
	// Path names the property and the member, such as Rules[*].Id.
	Path string
	// Type is its type, such as string, integer, []object and map[string]string.
	Type string
	// Required is true if the parent must have the member.
	Required bool
	// Choices are the values that the schema allows; empty where it lists none.
	Choices []string
	Rule
}

// Fields returns the properties in the order of their names, those that AWS assigns last, and each with its members down to a depth; 0
// is that of the properties themselves.
func (t *Type) Fields(depth int) []Field {
	l := &lister{t: t, depth: depth}
	l.members(nil, []map[string]any{t.doc})
	slices.SortStableFunc(l.found, func(a, b Field) int {
		return boolOrder(a.ReadOnly) - boolOrder(b.ReadOnly)
	})
	return l.found
}

func boolOrder(last bool) int {
	if last {
		return 1
	}
	return 0
}

// lister collects fields.
type lister struct {
	t     *Type
	depth int
	found []Field
}

// members collects the members of the objects that the schemas describe.
func (l *lister) members(at []string, schemas []map[string]any) {
	names := map[string]bool{}
	for _, schema := range schemas {
		properties, _ := schema["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		l.field(append(slices.Clone(at), name))
	}
}

// field collects a field and its members. A type of AWS may contain itself, which the depth ends.
func (l *lister) field(at []string) {
	schemas := l.t.schemasAt(at)
	l.found = append(l.found,
		Field{Path: Text(at), Type: l.t.typeAt(at), Required: l.t.IsRequired(at...), Choices: choicesOf(schemas), Rule: l.t.RuleAt(at...)})
	for range maxDepth {
		below := l.t.schemasAt(append(slices.Clone(at), Every))
		if len(below) == 0 {
			break
		}
		at, schemas = append(slices.Clone(at), Every), below
	}
	if names := len(slices.DeleteFunc(slices.Clone(at), func(key string) bool { return key == Every })); names <= l.depth {
		l.members(at, schemas)
	}
}

func choicesOf(schemas []map[string]any) []string {
	var out []string
	for _, schema := range schemas {
		choices, _ := schema["enum"].([]any)
		for _, choice := range choices {
			if text := textOf(choice); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// typeAt returns the type of the property at a path; any if the schema has none.
func (t *Type) typeAt(at []string) string { return t.typeOf(at, maxDepth) }

func (t *Type) typeOf(at []string, depth int) string {
	var out []string
	for _, schema := range t.schemasAt(at) {
		for _, name := range typesOf(schema) {
			if text := t.typeText(at, schema, name, depth); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	if len(out) == 0 {
		return "any"
	}
	return strings.Join(out, " or ")
}

// typesOf returns the types that a schema names.
func typesOf(schema map[string]any) []string {
	switch name := schema["type"].(type) {
	case string:
		return []string{name}
	case []any:
		out := make([]string, len(name))
		for i := range name {
			out[i] = textOf(name[i])
		}
		return out
	default:
		return nil
	}
}

// typeText writes a type with that of its elements.
func (t *Type) typeText(at []string, schema map[string]any, name string, depth int) string {
	_, named := schema["properties"]
	_, patterns := schema["patternProperties"]
	_, isSchema := schema["additionalProperties"].(map[string]any)
	switch {
	case depth == 0:
		return name
	case name == "array":
		return "[]" + t.typeOf(append(slices.Clone(at), Every), depth-1)
	case name == "object" && !named && (patterns || isSchema):
		return "map[string]" + t.typeOf(append(slices.Clone(at), Every), depth-1)
	default:
		return name
	}
}
