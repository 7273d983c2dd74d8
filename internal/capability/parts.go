// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"sync"
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
