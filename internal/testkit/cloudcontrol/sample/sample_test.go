// SPDX-License-Identifier: Apache-2.0

package sample

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestProperties_AreValidForMostTypes(t *testing.T) {
	all, err := awstypes.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	names := all.Names()
	step, made, failed := extent.Size(t, 40, 1), 0, map[string]int{}
	for i := 0; i < len(names); i += step {
		schema, err := all.Schema(names[i])
		if err != nil {
			t.Fatal(err)
		}
		of, err := New(schema)
		if err != nil {
			t.Fatal(err)
		}
		one, err := of.Properties(1)
		if err != nil {
			failed[fmt.Sprintf("%.80s", err.Error())]++
			t.Logf("%s: %.300v", names[i], err)
			continue
		}
		if again, err := of.Properties(1); err != nil || !reflect.DeepEqual(one, again) {
			t.Errorf("%s: the same seed makes %v and %v", names[i], one, again)
		}
		if !of.IsValid(one) {
			t.Errorf("%s: %v", names[i], one)
		}
		made++
	}
	t.Logf("%d of %d", made, (len(names)+step-1)/step)
	if made*10 < (len(names)+step-1)/step*9 {
		t.Errorf("properties of %d types", made)
	}
}
