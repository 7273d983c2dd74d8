// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// generateHandlers writes down the rights and the properties that the resource schemas of the kinds' types list, as cfn-lint ships them.
func generateHandlers(cfnlint, version, file string) error {
	schemas := filepath.Join(cfnlint, "data", "schemas")
	var files map[string]string // names of files by type
	if err := readJSON(filepath.Join(schemas, "providers", "us-east-1.json"), &files); err != nil {
		return err
	}
	h := awsmodels.Handlers{Source: "cfn-lint " + version, Date: today(), Types: map[string]awsmodels.Codes{},
		Properties: map[string]awsmodels.Codes{}}
	types, err := schemaTypes()
	if err != nil {
		return err
	}
	for _, name := range types {
		var schema struct {
			Handlers   map[string]struct{ Permissions []string }
			Properties map[string]json.RawMessage
			ReadOnly   []string                   `json:"readOnlyProperties"`
			Transforms map[string]json.RawMessage `json:"propertyTransform"`
		}
		if err := readJSON(filepath.Join(schemas, "resources", files[name]+".json"), &schema); err != nil {
			return err
		}
		var all []string
		for _, handler := range []string{"create", "update", "delete"} {
			all = append(all, schema.Handlers[handler].Permissions...)
		}
		slices.Sort(all)
		h.Types[name] = awsmodels.Codes(strings.Join(slices.Compact(all), " "))
		settings := slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Properties)),
			func(p string) bool { return slices.Contains(schema.ReadOnly, "/properties/"+p) })
		h.Properties[name] = awsmodels.Codes(strings.Join(settings, " "))
		for path := range schema.Transforms {
			h.Transforms = append(h.Transforms, name+strings.TrimPrefix(path, "/properties"))
		}
	}
	slices.Sort(h.Transforms)
	h.Transforms = slices.Compact(h.Transforms) // kinds share types
	return write(file, h)
}

var schemaType = regexp.MustCompile(`"(AWS::\w+::\w+)"`)

// schemaTypes returns the types of CloudFormation that the kinds declare.
func schemaTypes() (types []string, err error) {
	facts, err := filepath.Glob("internal/kinds/*/facts.go")
	for _, file := range facts {
		text, readErr := os.ReadFile(file)
		err = errors.Join(err, readErr)
		for _, m := range schemaType.FindAllStringSubmatch(string(text), -1) {
			types = append(types, m[1])
		}
	}
	return types, err
}

func readJSON(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
