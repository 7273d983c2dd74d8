// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/config/crd"
)

// patternsOf adds the patterns of a schema, by the path of the first field that has each.
func patternsOf(path string, s *apiextensionsv1.JSONSchemaProps, into map[string]string) {
	if s == nil || path == ".status" { // which only the operator writes
		return
	}
	if _, known := into[s.Pattern]; s.Pattern != "" && !known {
		into[s.Pattern] = path
	}
	for name := range s.Properties {
		patternsOf(path+"."+name, new(s.Properties[name]), into)
	}
	if s.Items != nil {
		patternsOf(path+"[]", s.Items.Schema, into)
	}
	if s.AdditionalProperties != nil {
		patternsOf(path+"{}", s.AdditionalProperties.Schema, into)
	}
	for _, list := range [][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			patternsOf(path, &list[i], into)
		}
	}
}

// A regular expression is no message for a person. To add words for a pattern, add a line to patterns.txt.
func TestEveryPatternHasWords(t *testing.T) {
	paths, err := fs.Glob(crd.Bases, "*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	found := map[string]string{}
	for _, path := range paths {
		b, err := fs.ReadFile(crd.Bases, path)
		if err != nil {
			t.Fatal(err)
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(b, d); err != nil {
			t.Fatal(err)
		}
		patternsOf("", d.Spec.Versions[0].Schema.OpenAPIV3Schema, found)
	}
	words := wordsOfPatterns()
	for _, pattern := range slices.Sorted(maps.Keys(found)) {
		if got := inWords("should match '" + pattern + "'"); !strings.HasPrefix(got, "must be ") {
			t.Errorf("%s: %s has no words", found[pattern], pattern)
		}
	}
	for pattern := range words {
		if found[pattern] == "" {
			t.Errorf("%s has words, and no field has it", pattern)
		}
	}
}

func TestProblems_SayInWordsWhatAPatternAsksFor(t *testing.T) {
	s, err := Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "aws-infra-operator.runner.codes/v1alpha1", "kind": "Subnet",
		"metadata": map[string]any{"name": "a"},
		"spec":     map[string]any{"providerRef": map[string]any{"name": "p"}, "vpcID": "my-vpc", "cidrBlock": "10.0.0.0/16"}}}
	found, err := s.Problems(t.Context(), u)
	if err != nil || len(found) != 1 ||
		!strings.Contains(found[0].Error(), "spec.vpcID: must be the ID of a VPC, such as vpc-0123456789abcdef0") {
		t.Errorf("%v %v", found, err)
	}
}
