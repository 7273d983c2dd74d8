// SPDX-License-Identifier: Apache-2.0

// Package manifest describes manifests of custom resources in JSON schema.
package manifest

import "strings"

// Schema turns the schema of a CustomResourceDefinition into a JSON schema of draft 7, for editors and tools that check manifests.
func Schema(schema map[string]any, apiVersion, kind string) map[string]any {
	out, _ := strict(schema).(map[string]any)
	out["$schema"] = "http://json-schema.org/draft-07/schema#"
	out["title"] = kind
	properties, _ := out["properties"].(map[string]any)
	properties["apiVersion"] = map[string]any{"type": "string", "enum": []any{apiVersion}}
	properties["kind"] = map[string]any{"type": "string", "enum": []any{kind}}
	properties["metadata"] = metadataSchema
	required := []any{"apiVersion", "kind", "metadata"}
	if more, ok := out["required"].([]any); ok {
		required = append(required, more...)
	}
	out["required"] = required
	return out
}

var texts = map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}

// metadataSchema describes the fields that people write. All others are allowed.
var metadataSchema = map[string]any{"type": "object", "properties": map[string]any{
	"name": map[string]any{"type": "string", "maxLength": 253}, "generateName": map[string]any{"type": "string"},
	"namespace": map[string]any{"type": "string", "maxLength": 63}, "labels": texts, "annotations": texts,
}}

// strict returns a copy of a schema in the words of JSON schema: without the extensions of Kubernetes and the formats that only it
// knows. An object accepts only the fields that it lists, as the API server does with strict validation, unless it keeps unknown ones.
func strict(value any) any {
	switch of := value.(type) {
	case []any:
		out := make([]any, len(of))
		for i := range of {
			out[i] = strict(of[i])
		}
		return out
	case map[string]any:
		return strictObject(of)
	}
	return value
}

func strictObject(schema map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range schema {
		switch {
		case isKubernetesOnly(key, value):
		case key == "properties":
			fields, _ := value.(map[string]any)
			copied := map[string]any{}
			for name, field := range fields { // a field may have the name of a keyword
				copied[name] = strict(field)
			}
			out[key] = copied
		case key == "default", key == "enum", key == "example":
			out[key] = value
		default:
			out[key] = strict(value)
		}
	}
	if isClosed(schema) {
		out["additionalProperties"] = false
	}
	return out
}

// isKubernetesOnly reports whether a keyword is one that JSON schema does not have.
func isKubernetesOnly(key string, value any) bool {
	return strings.HasPrefix(key, "x-kubernetes-") || key == "format" && (value == "int32" || value == "int64")
}

// isClosed reports whether the API server knows every field of an object.
func isClosed(schema map[string]any) bool {
	_, lists := schema["properties"]
	_, open := schema["additionalProperties"]
	return lists && !open && schema["type"] == "object" && schema["x-kubernetes-preserve-unknown-fields"] != true
}
