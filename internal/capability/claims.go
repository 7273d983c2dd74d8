// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// claim ranks the claim of a capability to its names against another of the same capabilityName and environment.
type claim int

const (
	// cannotRun: it has created nothing in AWS, and it is suspended, being deleted, or stalled for its own reason.
	cannotRun claim = iota
	// mayRun: it has created nothing in AWS yet.
	mayRun
	// holds: something in AWS carries its names.
	holds
)

// claimOf reads a capability's claim from its spec and from its status, which only the operator writes.
func claimOf(c *nexusv1.NexusAICapability) claim {
	ran := slices.ContainsFunc(c.Status.History, func(h nexusv1.PhaseChange) bool { return h.Phase == nexusv1.PhaseRunning })
	if ran || slices.ContainsFunc(c.Status.Resources, func(r nexusv1.ResourceStatus) bool { return r.ARN != "" }) {
		return holds
	}
	stalled := meta.FindStatusCondition(c.Status.Conditions, status.Stall)
	failed := stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason != status.ReasonNameConflict &&
		stalled.ObservedGeneration == c.Generation
	if c.Spec.Suspend || c.DeletionTimestamp != nil || failed {
		return cannotRun
	}
	return mayRun
}

// CanRun reports whether a capability holds its names or can acquire them.
func CanRun(c *nexusv1.NexusAICapability) bool { return claimOf(c) != cannotRun }

// HasSameClaim reports whether two capabilities claim their names equally strongly.
func HasSameClaim(a, b *nexusv1.NexusAICapability) bool { return claimOf(a) == claimOf(b) }

// ClaimsBefore reports whether a's claim on the names is stronger than b's: the stronger claim wins, then the older
// object. Creation times have a resolution of one second; namespace and name break ties, so that each of the two
// capabilities gets the same result.
func ClaimsBefore(a, b *nexusv1.NexusAICapability) bool {
	if x, y := claimOf(a), claimOf(b); x != y {
		return x > y
	}
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name)) < 0
}

// HolderOfNames returns the first of the others that has c's names and a stronger claim on them; nil when there is none.
func HolderOfNames(c *nexusv1.NexusAICapability, others []nexusv1.NexusAICapability) *nexusv1.NexusAICapability {
	prefix := part.NamesOf(c).Prefix()
	for i := range others {
		if o := &others[i]; o.UID != c.UID && part.NamesOf(o).Prefix() == prefix && ClaimsBefore(o, c) {
			return o
		}
	}
	return nil
}

// NameConflict returns the *status.Stalled for a capability c with names that the holder already has. It does not name a holder in another
// namespace, which people who can see c may not be allowed to see.
func NameConflict(c, holder *nexusv1.NexusAICapability) error {
	rival := "a NexusAICapability of another namespace"
	if holder.Namespace == c.Namespace {
		rival = "NexusAICapability " + holder.Name
	}
	return &status.Stalled{Reason: status.ReasonNameConflict, Field: "spec.capabilityName", Message: fmt.Sprintf(
		"%s already has the names %s-…; choose another capabilityName or environment", rival, part.NamesOf(c).Prefix())}
}
