// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"maps"
	"slices"
	"strings"
)

// definitionOfReferences names the definition of the references that may replace a value.
const definitionOfReferences = "nexusReference"

// ForEditors returns a JSON schema of draft 7 for properties as an AWSResource declares them, with the definitions that have to be at the
// root of the document: without tags and the properties that AWS assigns, with references in place of values, and with null for members to
// be removed.
func (t *Type) ForEditors() (properties, definitions map[string]any) {
	definitions, _ = forEditors(t.doc.root["definitions"], true).(map[string]any)
	if definitions == nil {
		definitions = map[string]any{}
	}
	definitions[definitionOfReferences] = references
	definitions["properties"] = forEditors(t.doc.root["properties"], true) // some references lead to properties
	properties = map[string]any{"type": "object", "additionalProperties": false}
	for _, word := range []string{"allOf", "anyOf", "oneOf", "required", "description", "dependencies"} {
		if of, has := t.doc.root[word]; has {
			properties[word] = forEditors(of, false)
		}
	}
	members := map[string]any{}
	for name, of := range t.doc.properties() {
		if !t.At(name).isAssigned() && name != t.Tags.Property() {
			members[name] = orReference(forEditors(of, false))
		}
	}
	properties["properties"] = members
	if required, has := properties["required"].([]any); has {
		properties["required"] = slices.DeleteFunc(required, func(name any) bool { return members[textOf(name)] == nil })
	}
	return properties, definitions
}

// references are the objects that stand for a value of another object, or of a Secret.
var references = map[string]any{"anyOf": []any{
	closed(map[string]any{"$ref": map[string]any{"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*/[a-z0-9][-a-z0-9.]*$"},
		"field": map[string]any{"type": "string", "pattern": `^status\.`}}),
	closed(map[string]any{"$secret": map[string]any{"type": "string"}, "key": map[string]any{"type": "string"}}),
	map[string]any{"type": "null"},
}}

// closed describes an object that has exactly these members.
func closed(members map[string]any) map[string]any {
	required := []any{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		required = append(required, name)
	}
	return map[string]any{"type": "object", "additionalProperties": false, "required": required, "properties": members}
}

func orReference(schema any) any {
	return map[string]any{"anyOf": []any{schema, map[string]any{"$ref": "#/definitions/" + definitionOfReferences}}}
}

// forEditors copies a part of a schema. The keys of named parts are names of members and no words of JSON schema.
func forEditors(value any, named bool) any {
	switch value := value.(type) {
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = forEditors(value[i], false)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for word, of := range value {
			if named {
				out[word] = forEditors(of, false)
			} else {
				out[word] = wordForEditors(word, of)
			}
		}
		return out
	default:
		return value
	}
}

// wordForEditors copies the value of a keyword of JSON schema.
func wordForEditors(word string, of any) any {
	switch word {
	case "properties", "patternProperties":
		return membersForEditors(of)
	case "items":
		return orReference(forEditors(of, false))
	case "$ref":
		return strings.Replace(textOf(of), "#/properties/", "#/definitions/properties/", 1)
	case "enum", "const", "default":
		return of
	default:
		return forEditors(of, word == "definitions" || word == "dependencies")
	}
}

func membersForEditors(value any) any {
	members, _ := value.(map[string]any)
	out := make(map[string]any, len(members))
	for name, of := range members {
		out[name] = orReference(forEditors(of, false))
	}
	return out
}
