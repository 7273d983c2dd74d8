// SPDX-License-Identifier: Apache-2.0

// Command document writes the reference of all kinds from their custom resource definitions: one page for each kind, with
// an example from a file of the examples, and one page of the fields that all kinds of AWS resources have. Run it with `make generate`.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/config/crd"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: document EXAMPLES FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "document:", err)
		os.Exit(1)
	}
}

// generate replaces all pages in a folder.
func generate(examples, folder string) error {
	definitions, err := readDefinitions()
	if err != nil {
		return err
	}
	found, err := findExamples(examples)
	if err != nil {
		return err
	}
	all := commonOf(definitions)
	pages := map[string]string{"README.md": index(definitions), commonPage: all.page(groupOfResources)}
	for _, d := range definitions {
		kind := d.Spec.Names.Kind
		text, err := page(d, found[kind], all)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		pages[fileOf(d)] = text
	}
	return replace(folder, pages)
}

// replace makes the pages the only content of a folder.
func replace(folder string, pages map[string]string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readDefinitions returns the definitions by group, and AWSProvider before the kinds that need it.
func readDefinitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var out []*apiextensionsv1.CustomResourceDefinition
	err := fs.WalkDir(crd.Bases, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(crd.Bases, path)
		if err != nil {
			return err
		}
		o := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, o); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, o)
		return nil
	})
	slices.SortStableFunc(out, func(a, b *apiextensionsv1.CustomResourceDefinition) int {
		return slices.Index(groups, a.Spec.Group) - slices.Index(groups, b.Spec.Group)
	})
	return out, err
}

// groups is the order of the API groups.
var groups = []string{"nexus.ai", groupOfResources, "intent.security.nimbus.com"}

const groupOfResources = "aws-infra-operator.runner.codes"

// example is one document of a file.
type example struct{ file, text string }

// preferred are the files whose example of a kind is shown where several have one.
var preferred = []string{"capability-fields.yaml", "dns-manipulation.yaml", "iamrole.yaml"}

// findExamples returns an example of each kind.
func findExamples(folder string) (map[string]example, error) {
	out := map[string]example{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			o := struct {
				Kind string `json:"kind"`
			}{}
			if err := yaml.Unmarshal([]byte(document), &o); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if _, have := out[o.Kind]; !have || slices.Contains(preferred, filepath.Base(path)) {
				out[o.Kind] = example{filepath.ToSlash(path), strings.TrimSpace(document)}
			}
		}
		return nil
	})
	return out, err
}

// fileOf returns the name of the page of a kind.
func fileOf(d *apiextensionsv1.CustomResourceDefinition) string {
	return strings.ToLower(d.Spec.Names.Kind) + ".md"
}
