// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// memories hold the engine's memory of each object.
type memories struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*memory
}

type memory struct {
	uid types.UID
	// valid is the generation of the last successful validation of the object.
	valid int64
	engine.Memory
}

func newMemories() *memories { return &memories{all: map[types.NamespacedName]*memory{}} }

// of returns the memory of an object; one of an earlier object of the same name is dropped.
func (m *memories) of(key types.NamespacedName, uid types.UID) *engine.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &m.get(key, uid).Memory
}

// get returns the memory of an object, for callers that hold the lock.
func (m *memories) get(key types.NamespacedName, uid types.UID) *memory {
	if found, ok := m.all[key]; ok && found.uid == uid {
		return found
	}
	m.all[key] = &memory{uid: uid}
	return m.all[key]
}

// isValid reports whether an object was found to be valid at this generation, which stands for its specification.
func (m *memories) isValid(key types.NamespacedName, uid types.UID, generation int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.all[key]
	return ok && found.uid == uid && generation > 0 && found.valid == generation
}

// recordValid notes that an object is valid at a generation.
func (m *memories) recordValid(key types.NamespacedName, uid types.UID, generation int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.get(key, uid).valid = generation
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}
