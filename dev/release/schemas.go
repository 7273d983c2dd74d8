// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/crdschema/manifest"
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
	entries, err := fs.ReadDir(crd.Bases, ".")
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, entry := range entries {
		text, err := fs.ReadFile(crd.Bases, entry.Name())
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
			schema := manifest.Schema(v.Schema.OpenAPIV3Schema, d.Spec.Group+"/"+v.Name, d.Spec.Names.Kind)
			content, err := json.MarshalIndent(schema, "", " ")
			if err != nil {
				return nil, err
			}
			out[path] = append(content, '\n')
		}
	}
	return out, nil
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
