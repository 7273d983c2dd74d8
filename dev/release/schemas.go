// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/config/crd"
)

// definition is the part of a CustomResourceDefinition that is read.
type definition struct {
	Spec struct {
		Group string
		Names struct{ Kind string }
		// Versions are all that the API server accepts.
		Versions []struct {
			Name   string
			Served bool
			Schema struct {
				OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
			}
		}
	}
}

// schemas returns one JSON schema for each kind and version, by paths such as nexus.ai/nexusaicapability_v1.json: the layout of
// https://github.com/datreeio/CRDs-catalog, which kubeconform and editors are set up for.
func schemas() (map[string][]byte, error) {
	entries, err := crd.Bases.ReadDir("bases")
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, entry := range entries {
		text, err := crd.Bases.ReadFile("bases/" + entry.Name())
		if err != nil {
			return nil, err
		}
		var d definition
		if err := yaml.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		for _, v := range d.Spec.Versions {
			if !v.Served {
				continue
			}
			path := fmt.Sprintf("%s/%s_%s.json", d.Spec.Group, strings.ToLower(d.Spec.Names.Kind), v.Name)
			schema := rootSchema(v.Schema.OpenAPIV3Schema, d.Spec.Group+"/"+v.Name, d.Spec.Names.Kind)
			content, err := json.MarshalIndent(schema, "", " ")
			if err != nil {
				return nil, err
			}
			out[path] = append(content, '\n')
		}
	}
	return out, nil
}

// rootSchema turns the schema of a definition into a JSON schema for manifests.
func rootSchema(schema map[string]any, apiVersion, kind string) map[string]any {
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

// addSchemas adds the schemas as files, and all of them as an archive for those who download a release.
func (r *release) addSchemas(context.Context, string) error {
	all, err := schemas()
	if err != nil {
		return err
	}
	var packed []packedFile
	for _, path := range slices.Sorted(maps.Keys(all)) {
		r.files["schemas/"+path] = all[path]
		packed = append(packed, packedFile{"schemas/" + path, 0o644, all[path]})
	}
	r.say("schemas/ of %d kinds", len(all))
	name := "schemas-" + r.version + ".tar.gz"
	archive, err := pack(name, r.time, packed)
	r.file(name, archive)
	return err
}

// writeSchemas writes the schemas below a folder.
func writeSchemas(_, dir string) error {
	all, err := schemas()
	if err != nil {
		return err
	}
	for path, content := range all {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644)); err != nil {
			return err
		}
	}
	return nil
}
