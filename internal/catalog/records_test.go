// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// Each record of a user of another tool about a form of AWS's answers is in the catalog of rewrites, where the contract suite meets it, or
// cannot matter: the schema refuses the values that AWS would change, or the values that AWS fills in do not have to be declared.
func TestRecords_AreInTheCatalogOrDecided(t *testing.T) {
	records, err := awsmodels.ReadRecords()
	if err != nil {
		t.Fatal(err)
	}
	if len(records.Records) < 80 {
		t.Errorf("only %d records", len(records.Records))
	}
	for _, r := range records.Records {
		field, isRequired, found := fieldOf(specOf(t, r.Kind), r.Field)
		value, isRefused := strings.CutPrefix(r.Decision, awsmodels.Refused)
		switch {
		case !found:
			t.Errorf("%s has no %s", r.Kind, r.Field)
		case r.Source == "" || r.Form == "" || r.Property == "":
			t.Errorf("%s.%s: say what AWS answers, and who wrote it down", r.Kind, r.Field)
		case r.Decision == awsmodels.InCatalog && !inCatalog(r):
			t.Errorf("the catalog of package emulator has no %s.%s: %s", r.Kind, r.Field, r.Form)
		case r.Decision == awsmodels.Undeclared && isRequired:
			t.Errorf("%s.%s must be declared", r.Kind, r.Field)
		case isRefused && takes(t, field, value):
			t.Errorf("%s.%s takes %s, which AWS shows in another form", r.Kind, r.Field, value)
		}
	}
}

// Each entry of the catalog that users' records are the source of has one.
func TestRecords_AreTheSourceOfEachRewriteOfTheirs(t *testing.T) {
	records, err := awsmodels.ReadRecords()
	if err != nil {
		t.Fatal(err)
	}
	for _, rewrite := range emulator.RewritesOfRecords() {
		if !slices.ContainsFunc(records.Records, func(r awsmodels.Record) bool { return r.Kind == rewrite.Kind && r.Field == rewrite.Field }) {
			t.Errorf("no record tells of %s.%s", rewrite.Kind, rewrite.Field)
		}
	}
}

func inCatalog(r awsmodels.Record) bool {
	return slices.ContainsFunc(emulator.Rewrites(), func(c emulator.Rewrite) bool { return c.Kind == r.Kind && c.Field == r.Field })
}

// specOf returns the schema of the spec of a kind.
func specOf(t *testing.T, kindName string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/bases/*_" + strings.ToLower(kindName[:len(kindName)-1]) + "*.yaml") // as plurals begin
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v %v", kindName, files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		if crd.Spec.Names.Kind == kindName {
			return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		}
	}
	t.Fatalf("no CRD of %s", kindName)
	return apiextensionsv1.JSONSchemaProps{}
}

// fieldOf returns the schema of a field by its path, through lists and maps, and whether the last part of the path must be declared.
func fieldOf(schema apiextensionsv1.JSONSchemaProps, path string) (field apiextensionsv1.JSONSchemaProps, isRequired, found bool) {
	for name := range strings.SplitSeq(path, ".") {
		if schema.Items != nil && schema.Items.Schema != nil {
			schema = *schema.Items.Schema
		}
		if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
			schema = *schema.AdditionalProperties.Schema
		}
		isRequired = slices.Contains(schema.Required, name)
		if schema, found = schema.Properties[name]; !found {
			return schema, false, false
		}
	}
	return schema, isRequired, true
}

// takes reports whether a field takes a text, as far as its own pattern and enumeration say.
func takes(t *testing.T, field apiextensionsv1.JSONSchemaProps, value string) bool {
	t.Helper()
	var text string
	if err := json.Unmarshal([]byte(value), &text); err != nil {
		t.Fatal(err)
	}
	if field.Pattern != "" && !regexp.MustCompile(field.Pattern).MatchString(text) {
		return false
	}
	return len(field.Enum) == 0 || slices.ContainsFunc(field.Enum, func(e apiextensionsv1.JSON) bool { return string(e.Raw) == value })
}
