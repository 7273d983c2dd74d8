// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// changesMade remember what the passes of a rollout changed: a pass whose status is refused, or which
// sees the status of the pass before last, must not lose what another pass did.
type changesMade struct {
	mu  sync.Mutex
	all map[types.UID]changesOf
}

type changesOf struct {
	generation int64
	changes    []nexusv1.RolloutChange
}

func newChangesMade() *changesMade {
	return &changesMade{all: map[types.UID]changesOf{}}
}

// add records what a pass changed and returns everything that was changed for this generation. A
// capability without a rollout under way is forgotten: what is restored in it is drift, not an edit.
func (m *changesMade) add(c *nexusv1.NexusAICapability, changes []nexusv1.RolloutChange) []nexusv1.RolloutChange {
	m.mu.Lock()
	defer m.mu.Unlock()
	done := c.Status.Rollout == nil || c.Status.Rollout.State == nexusv1.RolloutComplete
	if c.Status.ObservedGeneration == c.Generation && done {
		delete(m.all, c.UID)
		return changes
	}
	last := m.all[c.UID]
	if last.generation == c.Generation {
		changes = capability.MergeChanges(slices.Clone(last.changes), changes)
	}
	m.all[c.UID] = changesOf{generation: c.Generation, changes: changes}
	return changes
}

// forget drops a capability that is being deleted.
func (m *changesMade) forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, uid)
}
