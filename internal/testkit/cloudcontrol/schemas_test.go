// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

// A schema that cannot be read would make every test of its type fail.
func TestModels_OfEverySchemaThatAWSPublishes(t *testing.T) {
	all, without := awstypes.Published(t), 0
	for _, name := range all.Names() {
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
