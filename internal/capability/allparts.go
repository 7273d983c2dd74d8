// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"sync"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

var (
	makeParts  sync.Once
	partsInUse []part
)

// allParts returns the parts of a capability in the order in which they add their objects. The list is not a variable with a value,
// because functions of the parts look at it.
func allParts() []part {
	makeParts.Do(func() { partsInUse = listParts() })
	return partsInUse
}

func listParts() []part {
	return []part{
		identifiersPart(), regionPart(), providerPart(), keyPart(), tablesPart(), bucketsPart(), gluePart(), queuesPart(), topicsPart(), resourcesPart(), aiPart(),
		bedrockPart(), signInPart(), parametersPart(), secretsPart(), identityPart(), namespacePart(), policiesPart(), accountsPart(),
		workloadsPart(), trafficPart(), budgetPart(), existingPart(), rightsPart(),
	}
}

// identifiersPart holds the fields that name a capability and say where it is.
func identifiersPart() part {
	return part{check: turn[checking]{0, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) { checkIdentity(v, c) }}}
}

// regionPart is spec.region.
func regionPart() part {
	return part{check: turn[checking]{2, func(v *verdict, c *nexusv1.NexusAICapability, f Facts) { checkRegion(v, c.Spec.Region, f) }}}
}

// existingPart checks the stores of all parts that exist already.
func existingPart() part { return part{check: turn[checking]{95, checkExisting}} }

// rightsPart is spec.identity.
func rightsPart() part {
	return part{check: turn[checking]{120, func(v *verdict, c *nexusv1.NexusAICapability, f Facts) { checkRights(v, c.Spec.Identity, f) }}}
}
