// SPDX-License-Identifier: Apache-2.0

package permissions_test

import (
	"path"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// The rights that AWS's own providers of the same resources need are printed, or there is a reason.
func TestHandlers_EveryRightIsPrintedOrDecided(t *testing.T) {
	handlers, err := awsmodels.ReadHandlers()
	if err != nil {
		t.Fatal(err)
	}
	all, n := printed(t).actions(), 0
	for _, k := range catalog.Kinds() {
		schemas, used := k.Meta().Facts.Schemas, map[string]bool{}
		if (len(schemas.Types) == 0) != (k.Name() == "AWSResource") {
			t.Errorf("%s has types %v of CloudFormation in its facts", k.Name(), schemas.Types)
		}
		for _, name := range schemas.Types {
			for _, action := range handlers.Types[name].All() {
				n++
				if len(all[action]) == 0 && !isUnneeded(schemas, action, used) {
					t.Errorf("%s: the schema of %s needs %s: print it, or write down why not in the kind's facts", k.Name(), name, action)
				}
			}
		}
		for actions, reason := range schemas.Unneeded {
			for pattern := range strings.FieldsSeq(actions) {
				if !used[pattern] {
					t.Errorf("%s: %s (%s) is about nothing", k.Name(), pattern, reason)
				}
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d rights: run make awsmodels", n)
	}
}

// isUnneeded reports whether there is a reason for not printing a right, and notes the patterns that match it.
func isUnneeded(schemas kind.Schemas, action string, used map[string]bool) (found bool) {
	for actions := range schemas.Unneeded {
		for pattern := range strings.FieldsSeq(actions) {
			if ok, err := path.Match(pattern, action); err == nil && ok {
				used[pattern], found = true, true
			}
		}
	}
	return found
}
