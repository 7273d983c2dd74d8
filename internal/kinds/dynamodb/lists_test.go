// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestTable_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewTable),
		kindtest.List{Field: "attributes", Fixed: true},            // DynamoDB defines no others than those of keys
		kindtest.List{Field: "localSecondaryIndexes", Fixed: true}, // immutable
		kindtest.List{Field: "globalSecondaryIndexes", Object: tableOf(onDemand, indexed("ours", "theirs")),
			Edited: tableOf(onDemand, indexed("ours", "theirs"), indexed("more", "theirs")), Add: foreignIndex(nil),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return slices.Contains(indexNames(t, r), "their-index")
			}})
}
