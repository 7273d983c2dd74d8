// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const examples = "../../examples/intents"

// example decodes a file strictly.
func example(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// exampleIntents returns the intents of the folder by their names, which are those of their files.
func exampleIntents(t *testing.T) map[string]v1alpha1.SecurityIntent {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]v1alpha1.SecurityIntent{}
	for _, path := range paths {
		file := filepath.Base(path)
		if file == "binding.yaml" || file == "cluster-binding.yaml" {
			continue
		}
		var i v1alpha1.SecurityIntent
		example(t, path, &i)
		if i.Kind != "SecurityIntent" || i.APIVersion != v1alpha1.GroupVersion.String() {
			t.Errorf("%s holds a %s of %s", file, i.Kind, i.APIVersion)
		}
		if i.Name+".yaml" != file {
			t.Errorf("%s holds the intent %s", file, i.Name)
		}
		out[i.Name] = i
	}
	return out
}

func TestEveryExampleIsAnIntentOfTheCatalogWithValidParameters(t *testing.T) {
	for name, i := range exampleIntents(t) {
		spec := i.Spec.Intent
		entry, known := intent.Lookup(spec.ID)
		if !known {
			t.Errorf("%s: %q is not in the catalog", name, spec.ID)
			continue
		}
		params := map[string][]string{}
		for k, v := range spec.Params {
			params[k] = v
		}
		if problem := entry.Check(params); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		if spec.Description == "" || spec.Severity == "" || len(spec.Tags) == 0 {
			t.Errorf("%s lacks a description, a severity or tags", name)
		}
		if !slices.Contains([]v1alpha1.Action{v1alpha1.Block, v1alpha1.Enforce, v1alpha1.Audit}, spec.Action) {
			t.Errorf("%s: action %q", name, spec.Action)
		}
	}
}

func TestEveryEntryOfTheCatalogHasExactlyOneExample(t *testing.T) {
	found := map[string]int{}
	for _, i := range exampleIntents(t) {
		found[i.Spec.Intent.ID]++
	}
	for _, e := range intent.Catalog() {
		if found[e.ID] != 1 {
			t.Errorf("%s has %d examples", e.ID, found[e.ID])
		}
		delete(found, e.ID)
	}
	if len(found) > 0 {
		t.Errorf("examples under other names: %v", found)
	}
}

func TestTheExamplesOfDNSLeaveOtherTrafficOpen(t *testing.T) {
	i := exampleIntents(t)["dns-manipulation"]
	if got := i.Spec.Intent.Params["otherEgress"]; !slices.Equal(got, []string{"allow"}) {
		t.Errorf("otherEgress is %v: whoever tries the example loses all traffic but DNS", got)
	}
}

func TestTheExampleBindingsBindExamples(t *testing.T) {
	var b v1alpha1.SecurityIntentBinding
	example(t, filepath.Join(examples, "binding.yaml"), &b)
	var c v1alpha1.ClusterSecurityIntentBinding
	example(t, filepath.Join(examples, "cluster-binding.yaml"), &c)
	if b.Kind != "SecurityIntentBinding" || c.Kind != "ClusterSecurityIntentBinding" {
		t.Fatalf("they are a %s and a %s", b.Kind, c.Kind)
	}
	known := exampleIntents(t)
	for _, m := range append(slices.Clone(b.Spec.Intents), c.Spec.Intents...) {
		if _, ok := known[m.Name]; !ok {
			t.Errorf("%s is bound and is no example", m.Name)
		}
	}
	if b.Namespace == "" || b.Spec.Selector.WorkloadSelector == nil || len(b.Spec.Intents) == 0 {
		t.Errorf("the binding is for nothing: %+v", b.Spec)
	}
	if s := c.Spec.Selector.NsSelector; (len(s.MatchNames) > 0) == (len(s.ExcludeNames) > 0) || len(c.Spec.Intents) == 0 {
		t.Errorf("the cluster binding is for nothing: %+v", c.Spec)
	}
}
