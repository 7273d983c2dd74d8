// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// A schema that cannot be read would make every test of its type fail.
func TestModels_OfEverySchemaThatAWSPublishes(t *testing.T) {
	all, err := awstypes.Open("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Close() })
	without := 0
	for _, name := range extent.Sample(t, all.Names(), 100) {
		text, err := all.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := modelOf(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.TypeName != name {
			t.Errorf("%s is the schema of %s", name, m.TypeName)
		}
		if m.provisioning() == "NON_PROVISIONABLE" {
			without++
		}
	}
	t.Logf("%d types have no handlers", without)
}
