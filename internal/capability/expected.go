// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"maps"
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// Expect returns the facts as they will be once every child exists, for a plan: a role gets rights only on what its
// capability owns, and the policy that it will have depends on what is created before it. Of the children whose IDs
// are disputed nothing is expected.
func Expect(f Facts, c *nexusv1.NexusAICapability, disputed func(id string) bool) Facts {
	k := newCompiler(allParts(), c, f)
	k.expected = map[string]Proof{}
	k.appStatements()
	owned := maps.Clone(f.Owned)
	if owned == nil {
		owned = map[string]Proof{}
	}
	for id, proof := range k.expected {
		if disputed(id) {
			continue
		}
		now := owned[id]
		owned[id] = Proof{ARN: cmp.Or(now.ARN, proof.ARN), UID: cmp.Or(now.UID, proof.UID), Names: proof.Names, Values: now.Values, Settled: now.Settled, Foreign: now.Foreign, Neighbor: now.Neighbor}
	}
	f.Owned = owned
	return f
}

// expect records what a child will own.
func (k *compiler) expect(id string, p Proof) Proof {
	p.UID = placeholderFor(id)
	k.expected[id] = p
	return p
}

// expectParameters records that every declared parameter will exist.
func (k *compiler) expectParameters(id string, values map[string]string) Proof {
	return k.expect(id, Proof{ARN: placeholderFor(id), Names: slices.Sorted(maps.Keys(values))})
}
