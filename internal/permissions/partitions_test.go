// SPDX-License-Identifier: Apache-2.0

package permissions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// The lives of all kinds show in the partition aws that their policies are enough and not too much. Those of the other partitions are
// the same with other names.
func TestOperator_PoliciesOfPartitionsDifferInNamesOnly(t *testing.T) {
	for _, e := range catalog.Kinds() {
		for _, adopt := range []bool{false, true} {
			want := statementsIn(t, "aws", adopt, e.Meta())
			for _, partition := range []string{"aws-cn", "aws-us-gov", "aws-eusc"} {
				if got := statementsIn(t, partition, adopt, e.Meta()); !slices.Equal(got, want) {
					t.Errorf("%s in %s, adopting %t:\n%s\nin aws:\n%s", e.Name(), partition, adopt, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
}

// statementsIn returns the statements for a kind in a partition, sorted, without the names of the partition.
func statementsIn(t *testing.T, partition string, adopt bool, of kind.Meta) (out []string) {
	t.Helper()
	documents, _, err := permissions.Operator([]kind.Meta{of},
		permissions.Scope{Partition: partition, Region: "r", Account: "123456789012", NamePrefix: "team-", Adopt: adopt})
	if err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer("arn:"+partition+":", "arn:PARTITION:", "amazonaws.com.cn", "SUFFIX", "amazonaws.eu", "SUFFIX",
		"amazonaws.com", "SUFFIX")
	for _, d := range documents {
		for _, s := range d.Statement {
			text, err := iampolicy.Document{Version: d.Version, Statement: []iampolicy.Statement{s}}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, names.Replace(text))
		}
	}
	if len(out) == 0 {
		t.Fatal("no statement")
	}
	slices.Sort(out)
	return out
}
