// SPDX-License-Identifier: Apache-2.0

package permissions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// A right in the facts of a kind that names no action of it is a mistake: a pattern with stars would hide one in a name.
func TestRights_OfFactsNameActionsOfTheirKind(t *testing.T) {
	for _, k := range catalog.Kinds() {
		m := k.Meta()
		actions, rights := slices.Concat(m.Reads, m.Writes, m.Optional, m.Judges), m.Facts.Rights
		var lists []string
		for _, right := range rights.Calls {
			lists = append(lists, right.Actions)
		}
		for _, need := range rights.Needs {
			lists = append(lists, need.For)
		}
		for _, pass := range rights.Passes {
			lists = append(lists, pass.For)
		}
		for of := range rights.Encrypts {
			lists = append(lists, of)
		}
		for _, of := range rights.ServiceRoles {
			lists = append(lists, of)
		}
		for _, list := range lists {
			if !slices.ContainsFunc(actions, func(action string) bool { return kind.NamesAction(list, action) }) {
				t.Errorf("%s takes none of the actions %q", k.Name(), list)
			}
		}
	}
}

func TestRights_HaveKnownPlaceholders(t *testing.T) {
	for action, resources := range printed(t).actions() {
		for _, resource := range resources {
			if strings.Contains(resource, "${") {
				t.Errorf("%s: the facts name the unknown placeholder in %s", action, resource)
			}
		}
	}
}
