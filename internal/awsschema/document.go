// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"slices"
	"strings"
)

// document is the JSON schema of a type: a tree with parts that refer to other parts.
type document struct{ root map[string]any }

// properties returns the schemas of the properties, by their names.
func (d document) properties() map[string]any {
	properties, _ := d.root["properties"].(map[string]any)
	return properties
}

// has reports whether the schema knows the property that a path leads to.
func (d document) has(at ...string) bool { return len(d.schemasAt(at)) > 0 }

// maxDepth bounds the references that are followed: the schemas of some properties contain themselves.
const maxDepth = 16

// schemasAt returns the schemas of the property that a path leads to: more than one where the schema offers alternatives.
func (d document) schemasAt(at []string) []map[string]any {
	found := []map[string]any{d.root}
	for _, key := range at {
		var next []map[string]any
		for _, schema := range found {
			next = append(next, d.below(schema, key)...)
		}
		found = next
	}
	return found
}

// unresolvedAt returns the schemas of the property at a path, as they are written in the schema of its parent.
func (d document) unresolvedAt(at []string) []any {
	if len(at) == 0 {
		return []any{d.root}
	}
	var out []any
	for _, schema := range d.schemasAt(at[:len(at)-1]) {
		out = append(out, membersOf(schema, at[len(at)-1])...)
	}
	return out
}

// below returns the schemas of a member of the object that a schema describes.
func (d document) below(schema map[string]any, key string) []map[string]any {
	var out []map[string]any
	for _, member := range membersOf(schema, key) {
		out = append(out, d.resolve(member, maxDepth)...)
	}
	return out
}

// membersOf returns the schemas of a member as a schema writes them: the schema of the name, or all that may apply if there is none.
func membersOf(schema map[string]any, key string) []any {
	if members, ok := schema["properties"].(map[string]any); ok {
		if member, ok := members[key]; ok {
			return []any{member}
		}
	}
	var out []any
	if items, ok := schema["items"]; ok && key == Every {
		out = append(out, items)
	}
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, member := range patterns {
		out = append(out, member)
	}
	return append(out, schema["additionalProperties"])
}

// resolve follows references and alternatives, and returns the schemas that have members.
func (d document) resolve(schema any, depth int) []map[string]any {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return nil
	}
	if reference, ok := s["$ref"].(string); ok {
		return d.resolve(d.referred(reference), depth-1)
	}
	out := []map[string]any{s}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		alternatives, _ := s[word].([]any)
		for _, alternative := range alternatives {
			out = append(out, d.resolve(alternative, depth-1)...)
		}
	}
	return out
}

// referred returns the part of the schema that a reference within it names.
func (d document) referred(reference string) any {
	_, pointer, _ := strings.Cut(reference, "#/")
	var at any = d.root
	for key := range strings.SplitSeq(pointer, "/") {
		parent, _ := at.(map[string]any)
		at = parent[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]
	}
	return at
}

// requires reports whether a schema requires a member itself, or in each of its alternatives.
func (d document) requires(schema any, name string, depth int) bool {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return false
	}
	if reference, ok := s["$ref"].(string); ok {
		return d.requires(d.referred(reference), name, depth-1)
	}
	required, _ := s["required"].([]any)
	every, _ := s["allOf"].([]any)
	does := func(schema any) bool { return d.requires(schema, name, depth-1) }
	if slices.Contains(required, any(name)) || slices.ContainsFunc(every, does) {
		return true
	}
	return slices.ContainsFunc([]string{"anyOf", "oneOf"}, func(word string) bool {
		some, _ := s[word].([]any)
		return len(some) > 0 && !slices.ContainsFunc(some, func(one any) bool { return !does(one) })
	})
}

// typeOf returns the type of the property at a path, with that of its elements down to a depth; any if the schema has none.
func (d document) typeOf(at []string, depth int) string {
	var out []string
	for _, schema := range d.schemasAt(at) {
		for _, name := range typesOf(schema) {
			if text := d.typeText(at, schema, name, depth); !slices.Contains(out, text) {
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
func (d document) typeText(at []string, schema map[string]any, name string, depth int) string {
	_, named := schema["properties"]
	_, patterns := schema["patternProperties"]
	_, isSchema := schema["additionalProperties"].(map[string]any)
	switch {
	case depth == 0:
		return name
	case name == "array":
		return "[]" + d.typeOf(append(slices.Clone(at), Every), depth-1)
	case name == "object" && !named && (patterns || isSchema):
		return "map[string]" + d.typeOf(append(slices.Clone(at), Every), depth-1)
	default:
		return name
	}
}
