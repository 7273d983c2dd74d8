// SPDX-License-Identifier: Apache-2.0

package capability

import (
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/policies"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// UsesExisting reports whether a capability uses stores that exist already.
func UsesExisting(c *nexusv1.NexusAICapability) bool { return len(parts.All.ExistingIn(&c.Spec)) > 0 }

// WithOwners marks the proof of an existing store as Neighbor if an object of the capability's namespace owns the store.
func WithOwners(c *nexusv1.NexusAICapability, proofs map[string]part.Proof, owners map[string]bool) map[string]part.Proof {
	for _, e := range parts.All.ExistingIn(&c.Spec) {
		id := e.Kind + "/" + e.Object(part.NamesOf(c))
		if proof, is := proofs[id]; is && owners[proof.ARN] {
			proof.Neighbor = true
			proofs[id] = proof
		}
	}
	return proofs
}

// WithheldFrom returns why the workloads get no rights on the existing store that an object observes, with the remedy. It is empty for
// every other object, and while the reason is not known.
func WithheldFrom(f part.Facts, c *nexusv1.NexusAICapability, kind, name string) string {
	e, is := parts.All.ExistingOf(c, kind, name)
	if !is || c.DeletionTimestamp != nil {
		return ""
	}
	return f.WhyExternal(c, e, f.Owned[kind+"/"+name])
}

// IsExternalPattern reports whether a text is a pattern that allowedExternalARNs of an AWSProvider may have. Of other texts nothing
// follows.
func IsExternalPattern(pattern string) bool { return iampolicy.IsStorePattern(pattern, false) }

// Objection returns why an object of a capability will not be fit for use although it can be created as declared: rights on an existing
// store are withheld, or the spec contradicts itself. It is nil if there is no such reason.
func Objection(f part.Facts, c *nexusv1.NexusAICapability, n graph.Node) *status.Stalled {
	if why := WithheldFrom(f, c, n.Object.GetKind(), n.Object.GetName()); why != "" {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Message: why}
	}
	return policies.Contradiction(parts.All, f, c, n)
}
