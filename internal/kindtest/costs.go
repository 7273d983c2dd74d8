// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"maps"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
)

// Cost holds the requests that it takes to settle an object after a change.
type Cost struct {
	Name string
	// Calls says how often each operation of AWS is called.
	Calls map[string]int
	// Change is nil where the object is only looked at again.
	Change func()
}

// Costs makes one change after the other, settles the object after each, and compares the calls with the wanted ones.
func Costs(t *testing.T, s *Subject, costs ...Cost) {
	t.Helper()
	for _, c := range costs {
		if c.Change != nil {
			c.Change()
		}
		mark := s.Rig.AWS.Mark()
		Settled(t, s)
		if got := Operations(s.Rig.AWS.Since(mark)); !maps.Equal(got, c.Calls) {
			t.Errorf("%s took %v, want %v:\n%s", c.Name, got, c.Calls, s.Rig.AWS.Since(mark))
		}
	}
}

// Settled repeats passes until the resource is as declared, or gone where the object is being deleted.
func Settled(t *testing.T, s *Subject) {
	t.Helper()
	if out, err := s.Settle(t.Context(), nil); err != nil || out.Synced == s.Deleting || out.Gone != s.Deleting {
		t.Fatalf("%v %+v\n%s", err, out, s.Rig.AWS.Calls())
	}
}

// Operations counts calls by their operations.
func Operations(calls emulator.Calls) map[string]int {
	n := map[string]int{}
	for _, c := range calls {
		n[c.Op]++
	}
	return n
}
