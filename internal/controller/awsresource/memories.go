// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// memories hold what the engine remembers of each object.
type memories struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*memory
}

type memory struct {
	uid types.UID
	engine.Memory
}

func newMemories() *memories { return &memories{all: map[types.NamespacedName]*memory{}} }

// of returns the memory of an object; one of an earlier object of the same name is dropped.
func (m *memories) of(key types.NamespacedName, uid types.UID) *engine.Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.all[key]; ok && found.uid == uid {
		return &found.Memory
	}
	m.all[key] = &memory{uid: uid}
	return &m.all[key].Memory
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}
