// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// changesMade remember the changes by the passes of a rollout: a pass with a refused status, or one that sees the status of the pass before
// last, must not lose the changes of another pass.
type changesMade struct {
	generation int64
	changes    []nexusv1.RolloutChange
}

// add records the changes of a pass and returns all changes for this generation. Without a rollout under way, all is forgotten: a field
// that is restored then is drift, not an edit.
func (m *changesMade) add(c *nexusv1.NexusAICapability, changes []nexusv1.RolloutChange) []nexusv1.RolloutChange {
	done := c.Status.Rollout == nil || c.Status.Rollout.State == nexusv1.RolloutComplete
	if c.Status.ObservedGeneration == c.Generation && done {
		*m = changesMade{}
		return changes
	}
	if m.generation == c.Generation {
		changes = capability.MergeChanges(slices.Clone(m.changes), changes)
	}
	*m = changesMade{generation: c.Generation, changes: changes}
	return changes
}

// addChanges records the changes of a pass and returns all changes for this generation.
func (m *memories) addChanges(c *nexusv1.NexusAICapability, changes []nexusv1.RolloutChange) (all []nexusv1.RolloutChange) {
	m.use(c, func(of *memory) { all = of.changes.add(c, changes) })
	return all
}
