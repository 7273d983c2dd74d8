// SPDX-License-Identifier: Apache-2.0

// Package shard divides the namespaces of a cluster among several operators. Every namespace belongs to exactly one
// shard, so that a capability, its provider and its resources are always served by the same process.
package shard

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Most is the largest number of shards. RBAC cannot limit rights to a pattern, so the lease of each is named.
const Most = 16

// LabelShards on the lease of a shard holds the number of shards that its holder works with.
const LabelShards = "nexus.ai/shards"

// Shard is one of Count parts. The zero value is the whole.
type Shard struct{ Index, Count int }

// Parse reads i/n. An i of n or more stands for i modulo n: the pods of a StatefulSet are numbered on, and those beyond n
// are standbys.
func Parse(text string) (Shard, error) {
	index, count, found := strings.Cut(text, "/")
	i, badIndex := strconv.ParseUint(index, 10, 16)
	n, badCount := strconv.ParseUint(count, 10, 16)
	if !found || badIndex != nil || badCount != nil {
		return Shard{}, fmt.Errorf("%q is not of the form i/n, such as 0/2 for the first of two shards", text)
	}
	if n < 1 || n > Most {
		return Shard{}, fmt.Errorf("%q: the number of shards must be from 1 to %d", text, Most)
	}
	return Shard{Index: int(i % n), Count: int(n)}, nil
}

// Shards returns the number of shards, at least 1.
func (s Shard) Shards() int { return max(s.Count, 1) }

// String returns i/n.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Shards()) }

// IsFirst reports whether the shard serves the objects that are not divided: the security intents of the whole cluster.
func (s Shard) IsFirst() bool { return s.Index == 0 }

// Owns reports whether the shard serves the objects of a namespace.
func (s Shard) Owns(namespace string) bool { return Of(namespace, s.Shards()) == s.Index }

// Of returns the index of the shard that owns a namespace: the jump consistent hash of
// https://arxiv.org/abs/1406.2294 over the first 64 bits of the name's SHA-256. When n grows by one, one of n+1
// namespaces moves, and only to the new shard. Changing this function moves namespaces between running operators.
func Of(namespace string, shards int) int {
	if shards < 2 {
		return 0
	}
	sum := sha256.Sum256([]byte(namespace))
	key := binary.BigEndian.Uint64(sum[:])
	last, next := 0, 0
	for next < shards {
		last = next
		key = key*2862933555777941757 + 1
		next = int(float64(last+1) * (float64(1<<31) / float64(key>>33+1)))
	}
	return last
}

// Lease returns the name of the shard's lease. That of the first shard is the same as without shards, so that operators with
// and without shards never lead at the same time.
func (s Shard) Lease() string { return leaseOf(s.Index) }

func leaseOf(index int) string {
	if index == 0 {
		return "nexus-operator.nexus.ai"
	}
	return fmt.Sprintf("nexus-operator-%d.nexus.ai", index)
}

// Leases returns the names of the leases of all shards that there may be.
func Leases() []string {
	out := make([]string, Most)
	for i := range out {
		out[i] = leaseOf(i)
	}
	return out
}
