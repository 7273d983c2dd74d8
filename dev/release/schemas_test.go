// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// validators compiles every schema.
func validators(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{}
	compiler := jsonschema.NewCompiler()
	for path, text := range all {
		if err := compiler.AddResource(path, decodeJSON(t, text)); err != nil {
			t.Fatal(err)
		}
		if out[path], err = compiler.Compile(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(out) < 35 {
		t.Errorf("only %d schemas", len(out))
	}
	return out
}

// judge validates a manifest; ok is false where no schema describes it.
func judge(t *testing.T, all map[string]*jsonschema.Schema, manifest string) (ok bool, err error) {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatalf("%v\n%s", err, manifest)
	}
	object, _ := decodeJSON(t, text).(map[string]any)
	group, version, _ := strings.Cut(fmt.Sprint(object["apiVersion"]), "/")
	schema := all[fmt.Sprintf("%s/%s_%s.json", group, strings.ToLower(fmt.Sprint(object["kind"])), version)]
	if schema == nil {
		return false, nil
	}
	return true, schema.Validate(object)
}

func TestSchemas_AcceptEveryExample(t *testing.T) {
	all, checked := validators(t), 0
	err := filepath.WalkDir(filepath.Join(root, "examples"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			ok, err := judge(t, all, document)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if ok {
				checked++
			}
		}
		return nil
	})
	if err != nil || checked < 60 {
		t.Errorf("%d manifests were checked; %v", checked, err)
	}
}

func TestSchemas_RefuseMistakes(t *testing.T) {
	all := validators(t)
	capability := "apiVersion: nexus.ai/v1\nkind: NexusAICapability\nmetadata: {name: a}\nspec: {capabilityName: a, environment: dev, version: '1', backend: {replicas: 1, image: 'b:1'}, %s}\n"
	for _, spec := range []string{"frontend: {replicas: 2, image: 'a:1'}", "frontend: {replicas: 2, image: 'a:1'}, deletionPolicy: Retain"} {
		if ok, err := judge(t, all, fmt.Sprintf(capability, spec)); !ok || err != nil {
			t.Errorf("%s: %v %v", spec, ok, err)
		}
	}
	for _, manifest := range []string{
		fmt.Sprintf(capability, "fronted: {replicas: 2, image: 'a:1'}"),
		fmt.Sprintf(capability, "frontend: {replicas: two, image: 'a:1'}"),
		fmt.Sprintf(capability, "frontend: {replicas: 2, images: 'a:1'}"),
		fmt.Sprintf(capability, "frontend: {replicas: 2, image: 'a:1'}, deletionPolicy: Keep"),
		"apiVersion: nexus.ai/v1\nkind: NexusAICapability\nmetadata: {name: a}\n",
		"apiVersion: nexus.ai/v1\nkind: NexusAICapability\nmetadata: {name: a}\nspecs: {}\nspec: {capabilityName: a, environment: dev, version: '1', backend: {replicas: 1, image: 'b:1'}, frontend: {replicas: 1, image: 'a:1'}}\n",
	} {
		if ok, err := judge(t, all, manifest); !ok || err == nil {
			t.Errorf("accepted:\n%s", manifest)
		}
	}
}

// Editors and kubeconform know JSON schema, not the extensions of Kubernetes.
func TestSchemas_HaveNoExtensions(t *testing.T) {
	all, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range all {
		for _, word := range []string{"x-kubernetes-", `"int32"`, `"int64"`} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s contains %s", path, word)
			}
		}
		if !json.Valid(text) {
			t.Errorf("%s is no JSON", path)
		}
	}
}
