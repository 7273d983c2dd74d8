// SPDX-License-Identifier: Apache-2.0

package crd

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// definitions reads the CustomResourceDefinitions of the operator.
func definitions(t *testing.T) []apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := fs.Glob(Bases, "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	out := make([]apiextensionsv1.CustomResourceDefinition, len(files))
	for i, f := range files {
		raw, err := fs.ReadFile(Bases, f)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(raw, &out[i]); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	return out
}

// kubectl takes any of these words for a kind, so that no two kinds of ours, nor one of Kubernetes, may share one.
func TestNames_EveryKindHasAShortNameOfItsOwn(t *testing.T) {
	taken := map[string]string{}
	for _, builtIn := range []string{"cm", "cs", "csr", "deploy", "ds", "ep", "ev", "hpa", "ing", "limits", "netpol", "no", "ns", "pc", "pdb",
		"po", "pv", "pvc", "quota", "rc",
		"role", "roles", "rs", "sa", "sc", "secret", "secrets", "sts", "svc", "cert", "certs"} {
		taken[builtIn] = "Kubernetes"
	}
	for _, d := range definitions(t) {
		n := d.Spec.Names
		if len(n.ShortNames) == 0 {
			t.Errorf("%s has no short name", n.Kind)
		}
		for _, word := range slices.Concat([]string{n.Plural, n.Singular}, n.ShortNames) {
			if other, ok := taken[word]; ok && other != n.Kind {
				t.Errorf("%s and %s are both named %s", n.Kind, other, word)
			}
			taken[word] = n.Kind
		}
	}
}

func TestColumns_ShowWhatStopsAnObject(t *testing.T) {
	want := map[string]string{"NexusAICapability": "Paused", "AWSProvider": "InUse"}
	for _, d := range definitions(t) {
		column := want[d.Spec.Names.Kind]
		delete(want, d.Spec.Names.Kind)
		shows := func(c apiextensionsv1.CustomResourceColumnDefinition) bool {
			return c.Name == column && c.Priority == 0 && strings.Contains(c.JSONPath, `"`+column+`"`)
		}
		if column != "" && !slices.ContainsFunc(d.Spec.Versions[0].AdditionalPrinterColumns, shows) {
			t.Errorf("kubectl get does not show %s of %s", column, d.Spec.Names.Kind)
		}
	}
	if len(want) > 0 {
		t.Errorf("no definition of %v", want)
	}
}
