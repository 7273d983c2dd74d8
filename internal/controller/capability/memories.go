// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// memories hold the process's memory of each capability. All of it may be lost: it saves work, or reports more than the status.
type memories struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*memory
}

// memory is of one capability: another one of the name begins with an empty memory.
type memory struct {
	uid types.UID
	// compilation is the last one; nil for none.
	compilation *compilation
	// applied are the children that were found to be as desired, or were made so, by the IDs of their nodes.
	applied map[string]appliedChild
	changes changesMade
	steps   stepTimes
	// doomed is true for a capability in deletion if its objects are deleted and not kept.
	doomed bool
	// refused says why the API server did not evict a pod, and evicted are the UIDs of the pods that it did evict.
	refused refusal
	evicted []string
	// withoutGateways is true for a capability that has no object of the Gateway API.
	withoutGateways bool
}

func newMemories() *memories { return &memories{all: map[types.NamespacedName]*memory{}} }

// use calls do with the memory of a capability, under the lock.
func (m *memories) use(c *nexusv1.NexusAICapability, do func(*memory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(c)
	of := m.all[key]
	if of == nil || of.uid != c.UID {
		of = &memory{uid: c.UID}
		m.all[key] = of
	}
	do(of)
}

// forget drops a capability that is gone.
func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}

// isDoomed reports whether a capability in deletion was found to delete its objects, so that a pass need not ask the API server for the owner
// references again. The decision is final: the API server adds no finalizer to an object in deletion, neither by an update nor
// by another request to delete it, in Store.Delete of k8s.io/apiserver/pkg/registry/generic/registry.
func (m *memories) isDoomed(c *nexusv1.NexusAICapability) (is bool) {
	m.use(c, func(of *memory) { is = of.doomed })
	return is
}

func (m *memories) doom(c *nexusv1.NexusAICapability) {
	m.use(c, func(of *memory) { of.doomed = true })
}

// stopApplying drops the memory for applying children and for reporting a rollout: no child of a capability in deletion is applied any
// more.
func (m *memories) stopApplying(c *nexusv1.NexusAICapability) {
	m.use(c, func(of *memory) { of.applied, of.changes, of.steps = nil, changesMade{}, stepTimes{} })
}
