// SPDX-License-Identifier: Apache-2.0

package catalog_test

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// A new kind without an answer would let a key be deleted that encrypts data.
func TestKindsThatNameKeysKeepThemForEarlierData(t *testing.T) {
	for _, e := range catalog.Kinds() {
		name, keys := e.Name(), e.Meta().Facts.EarlierKeys
		switch names := engine.MayUse(e.New(), "KMSKey") || name == "KMSKey"; {
		case names && keys == (kind.EarlierKeys{}):
			t.Errorf("%s names keys: does anything stay encrypted with a key when it gets another one? Answer in EarlierKeys of its facts", name)
		case !names && keys != (kind.EarlierKeys{}):
			t.Errorf("%s names no keys, and its facts have EarlierKeys", name)
		case keys.Kept != "" && keys.NotKept != "":
			t.Errorf("%s has both answers in EarlierKeys", name)
		}
	}
}
