// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"hash/maphash"
	"sync"
)

// mostOwnWrites bounds how many request IDs are remembered. CloudTrail delivers most events within five minutes; the writes of many
// more minutes at AWS's usual rates fit in.
const mostOwnWrites = 1 << 14

// ownWrites remembers the IDs of the last requests that changed something, as hashes: an ID is as long as eight of them.
type ownWrites struct {
	seed maphash.Seed

	mu    sync.Mutex
	known map[uint64]bool
	// order holds the hashes in their order of arrival; next is the place of the next one once it is full.
	order []uint64
	next  int
}

func newOwnWrites() *ownWrites {
	return &ownWrites{seed: maphash.MakeSeed(), known: map[uint64]bool{}}
}

func (w *ownWrites) add(requestID string) {
	if requestID == "" {
		return
	}
	hash := maphash.String(w.seed, requestID)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[hash] {
		return
	}
	w.known[hash] = true
	if len(w.order) < mostOwnWrites {
		w.order = append(w.order, hash)
		return
	}
	delete(w.known, w.order[w.next])
	w.order[w.next] = hash
	w.next = (w.next + 1) % mostOwnWrites
}

func (w *ownWrites) has(requestID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return requestID != "" && w.known[maphash.String(w.seed, requestID)]
}

// IsOwnWrite reports whether one of the sessions made the request of this ID, which AWS chose, and whether it may have changed something.
// The last 16,384 of them are remembered.
func (s *Sessions) IsOwnWrite(requestID string) bool {
	return s.calls != nil && s.calls.writes.has(requestID)
}
