// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// Each property that a field says and that AWS's resource schemas say to be shown in another form is in the catalog of rewrites, or
// decided about in the facts of its kind.
func TestTransforms_AreInTheCatalogOrDecided(t *testing.T) {
	schemas, err := awsmodels.ReadHandlers()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range catalog.Kinds() {
		facts, met := e.Meta().Facts.Schemas, map[string]bool{}
		for _, property := range schemas.Transforms {
			name, path, _ := strings.Cut(property, "/")
			first, _, _ := strings.Cut(path, "/")
			if !slices.Contains(facts.Types, name) || !isDeclared(e, first, decisionOn(facts.Properties[name], first)) {
				continue
			}
			n++
			met[path] = true
			switch decided := decisionOn(facts.Rewritten, path); {
			case decided == "":
				t.Errorf("%s: AWS shows %s in another form than it was sent: add it to the catalog of package emulator, or decide", e.Name(), property)
			case decided == kind.InCatalog && !isInCatalog(e.Name(), first):
				t.Errorf("%s: the catalog of package emulator has no %s", e.Name(), first)
			}
		}
		for paths := range facts.Rewritten {
			for _, path := range strings.Fields(paths) {
				if !met[path] {
					t.Errorf("%s: %s needs no decision", e.Name(), path)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d properties: run make awsmodels", n)
	}
}

// isDeclared reports whether a field of a kind says a property, by its name or by another one.
func isDeclared(e engine.Entry, property, decided string) bool {
	fields := map[string]bool{}
	spec, _ := reflect.TypeOf(e.New()).Elem().FieldByName("Spec")
	fieldNames(spec.Type, fields, map[reflect.Type]bool{})
	alias, isAlias := strings.CutPrefix(decided, "as ")
	return fields[strings.ToLower(property)] || isAlias && fields[strings.ToLower(alias)]
}

func isInCatalog(kindName, field string) bool {
	return slices.ContainsFunc(emulator.Rewrites(), func(r emulator.Rewrite) bool {
		return r.Kind == kindName && strings.EqualFold(r.Field, field)
	})
}
