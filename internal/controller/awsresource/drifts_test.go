// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestDrifts_CountsEachDriftOnce(t *testing.T) {
	type pass struct {
		synced, found bool
		fields, left  int
	}
	for name, c := range map[string]struct {
		passes              []pass
		detected, corrected int
	}{
		"no drift":                              {[]pass{{synced: true}, {synced: true}}, 0, 0},
		"corrected in one pass":                 {[]pass{{synced: true, found: true, fields: 2}, {synced: true}}, 1, 1},
		"corrected in the pass after the write": {[]pass{{found: true, fields: 1}, {synced: true}}, 1, 1},
		"a correction that fails for some time": {[]pass{{found: true}, {found: true}, {synced: true, found: true, fields: 1}}, 1, 1},
		"reported and not corrected":            {[]pass{{synced: true, found: true, left: 1}, {synced: true, found: true, left: 1}}, 1, 0},
		"reported and undone by somebody else":  {[]pass{{synced: true, found: true, left: 1}, {synced: true}}, 1, 0},
		"two drifts, each of which is corrected": {[]pass{{synced: true, found: true, fields: 1}, {synced: true},
			{synced: true, found: true, fields: 1}}, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			d, detected, corrected := newDrifts(), 0, 0
			for _, p := range c.passes {
				out := engine.Outcome{Synced: p.synced, Drift: make(kind.Diff, p.left)}
				newly, over := d.observe(types.NamespacedName{Name: "o"}, out, p.found, p.fields > 0)
				if newly {
					detected++
				}
				if over {
					corrected++
				}
			}
			if detected != c.detected || corrected != c.corrected {
				t.Errorf("detected %d, corrected %d; want %d, %d", detected, corrected, c.detected, c.corrected)
			}
		})
	}
}
