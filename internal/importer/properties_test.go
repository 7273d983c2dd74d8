// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// fieldNames adds the names of the fields of a type and of those below it, in lower case.
func fieldNames(t reflect.Type, into map[string]bool, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		into[strings.ToLower(name)] = true
		fieldNames(t.Field(i).Type, into, seen)
	}
}

// knownNames are the names, in lower case, of everything that a kind declares by a field, or that an import reports where AWS has it.
func knownNames(t *testing.T, e engine.Entry) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	spec, _ := reflect.TypeOf(e.New()).Elem().FieldByName("Spec")
	fieldNames(spec.Type, known, map[reflect.Type]bool{})
	lists, err := filepath.Glob("../kinds/*/testdata/not-declarable-" + strings.ToLower(e.Name()) + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, strings.Fields(string(text))...)
	}
	for _, entry := range e.Meta().Facts.NotSettings {
		if path, _, isDefault := strings.Cut(entry, "="); isDefault {
			paths = append(paths, path)
		}
	}
	for _, r := range e.Meta().ImportReads {
		paths = append(paths, r.Setting)
	}
	for _, path := range paths {
		for _, name := range separators.Split(path, -1) {
			known[strings.ToLower(name)] = true
		}
	}
	return known
}

var separators = regexp.MustCompile(`[][.]+`)

// Each setting that AWS's resource schemas have is declared by a field, or reported by an import, or decided about.
func TestProperties_AreDeclaredReportedOrDecided(t *testing.T) {
	schemas, err := awsmodels.ReadHandlers()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range catalog.Kinds() {
		known := knownNames(t, e)
		for _, name := range e.Meta().Facts.Schemas.Types {
			for _, property := range schemas.Properties[name].All() {
				n++
				decided := decisionOn(e.Meta().Facts.Schemas.Properties[name], property)
				alias, isAlias := strings.CutPrefix(decided, "as ")
				switch {
				case known[strings.ToLower(property)]:
					if decided != "" {
						t.Errorf("%s: %s of %s needs no decision", e.Name(), property, name)
					}
				case decided == "":
					t.Errorf("%s: no field says %s of %s, and no import reports it: decide", e.Name(), property, name)
				case isAlias && !known[strings.ToLower(alias)]:
					t.Errorf("%s: there is no %s, by which %s of %s would be declared or reported", e.Name(), alias, property, name)
				}
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d properties: run make awsmodels", n)
	}
}

// decisionOn returns the decision about a property; "" for none.
func decisionOn(decisions map[string]string, property string) string {
	for properties, decision := range decisions {
		if slices.Contains(strings.Fields(properties), property) {
			return decision
		}
	}
	return ""
}
