// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Wrote remembers that an object was written by other means than Apply, such as its status, so that it is
// not taken from a cache that has not caught up.
func (a *Applier) Wrote(ref Ref, version string) { a.memory.recordWrite(ref, version) }

// Forget drops the memory of an object that is gone.
func (a *Applier) Forget(ref Ref) { a.memory.forget(ref) }

// Lags reports whether a version of an object, from a cache, is older than our last write of it.
func (a *Applier) Lags(ref Ref, version string) bool { return a.memory.lags(ref, version) }

// memory holds the facts worth remembering about our writes. Its maps are small at rest, and losing them costs no more than a write without
// effect.
type memory struct {
	mu sync.Mutex
	// written holds the resourceVersion of our last write until the cache has caught up with it.
	written map[Ref]string
	// insisted holds the fingerprint of the differences that an apply could not settle, because a webhook or the server insists on other
	// values. Until it changes there is no point in applying again.
	insisted map[Ref]string
	// met holds the objects that a create of ours met. The cache does not show those of others.
	met map[Ref]bool
	// inserted holds the fields that the API server or a webhook inserted again when we took them out.
	inserted map[Ref]map[string]bool
	// namespaced holds whether a kind is namespaced, for the kinds that were looked up.
	namespaced map[schema.GroupVersionKind]bool
}

// scopeOf reports whether a kind is namespaced, if that is known.
func (m *memory) scopeOf(k schema.GroupVersionKind) (namespaced, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	namespaced, known = m.namespaced[k]
	return namespaced, known
}

func (m *memory) recordScope(k schema.GroupVersionKind, namespaced bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.namespaced == nil {
		m.namespaced = map[schema.GroupVersionKind]bool{}
	}
	m.namespaced[k] = namespaced
}

// recordSeen remembers that a create found an object in its place.
func (m *memory) recordSeen(ref Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.met == nil {
		m.met = map[Ref]bool{}
	}
	m.met[ref] = true
}

// hasSeen reports whether there may be an object although the cache has none.
func (m *memory) hasSeen(ref Ref) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, wrote := m.written[ref]
	return wrote || m.met[ref]
}

func (m *memory) recordWrite(ref Ref, version string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.written == nil {
		m.written = map[Ref]string{}
	}
	m.written[ref] = version
}

// lags reports whether a cached object is older than our last write of it.
func (m *memory) lags(ref Ref, version string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	written, ok := m.written[ref]
	if !ok {
		return false
	}
	if order, err := resourceversion.CompareResourceVersion(version, written); err == nil && order < 0 {
		return true
	}
	delete(m.written, ref)
	return false
}

func (m *memory) recordContested(ref Ref, insists bool, fingerprint string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !insists {
		delete(m.insisted, ref)
		return
	}
	if m.insisted == nil {
		m.insisted = map[Ref]string{}
	}
	m.insisted[ref] = fingerprint
}

func (m *memory) isContested(ref Ref, fingerprint string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fingerprint != "" && m.insisted[ref] == fingerprint
}

// recordInserted remembers the fields that were inserted again when we took them out.
func (m *memory) recordInserted(ref Ref, paths []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.inserted, ref)
	if len(paths) == 0 {
		return
	}
	if m.inserted == nil {
		m.inserted = map[Ref]map[string]bool{}
	}
	m.inserted[ref] = map[string]bool{}
	for _, p := range paths {
		m.inserted[ref][p] = true
	}
}

// insertedIn returns a map that no one writes to.
func (m *memory) insertedIn(ref Ref) map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inserted[ref]
}

func (m *memory) forget(ref Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.written, ref)
	delete(m.insisted, ref)
	delete(m.met, ref)
	delete(m.inserted, ref)
}
