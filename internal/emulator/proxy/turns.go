// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"slices"
	"sync"
)

// turns has a lock for each service that answers operations one after the other.
type turns struct {
	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

// take waits until it is the turn of an exchange, and returns the function that ends the turn.
func (t *turns) take(x *Exchange) (end func()) {
	if !slices.Contains(x.facts().Writes.InTurn, x.Op) {
		return func() {}
	}
	lock := t.of(x.Service)
	lock.Lock()
	return lock.Unlock
}

func (t *turns) of(service string) *sync.Mutex {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.locks == nil {
		t.locks = map[string]*sync.Mutex{}
	}
	if t.locks[service] == nil {
		t.locks[service] = &sync.Mutex{}
	}
	return t.locks[service]
}
