// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"maps"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
)

// Expect returns the facts as they will be once every child exists, for a plan: a role gets rights only on resources that its capability
// owns, so that its future policy depends on the resources that are created before it. Children with disputed IDs are left out.
func Expect(f part.Facts, c *nexusv1.NexusAICapability, disputed func(id string) bool) part.Facts {
	k := part.NewCompiler(parts.All, c, f)
	k.Expected = map[string]part.Proof{}
	k.AppStatements()
	owned := maps.Clone(f.Owned)
	if owned == nil {
		owned = map[string]part.Proof{}
	}
	for id, proof := range k.Expected {
		if disputed(id) {
			continue
		}
		now := owned[id]
		owned[id] = part.Proof{ARN: cmp.Or(now.ARN, proof.ARN), UID: cmp.Or(now.UID, proof.UID), Names: proof.Names, Values: now.Values,
			Settled: now.Settled, Foreign: now.Foreign, Neighbor: now.Neighbor}
	}
	f.Owned = owned
	return f
}
