// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"strings"
	"testing"
)

func TestOf_GivesTheSameShardInEveryVersion(t *testing.T) {
	for namespace, want := range map[string][4]int{ // of 2, 3, 5 and 16
		"default": {1, 2, 2, 12}, "team-a": {1, 1, 1, 1}, "team-b": {0, 0, 4, 15}, "nexus-system": {0, 0, 0, 0}, "": {1, 2, 2, 5},
	} {
		if got := [4]int{Of(namespace, 2), Of(namespace, 3), Of(namespace, 5), Of(namespace, 16)}; got != want {
			t.Errorf("%q: got %v, want %v", namespace, got, want)
		}
	}
}

func TestOf_SpreadsNamespacesEvenly(t *testing.T) {
	const namespaces = 10_000
	for shards := 1; shards <= Most; shards++ {
		count := make([]int, shards)
		for i := range namespaces {
			count[Of(fmt.Sprint("team-", i), shards)]++
		}
		mean := namespaces / shards
		for i, n := range count {
			if n < mean*85/100 || n > mean*115/100 {
				t.Errorf("shard %d/%d has %d of %d namespaces, the mean is %d", i, shards, n, namespaces, mean)
			}
		}
	}
}

func TestOf_MovesOnlyToTheNewShard(t *testing.T) {
	const namespaces = 10_000
	for shards := 1; shards < Most; shards++ {
		moved := 0
		for i := range namespaces {
			namespace := fmt.Sprint("team-", i)
			before, after := Of(namespace, shards), Of(namespace, shards+1)
			if before != after {
				moved++
			}
			if before != after && after != shards {
				t.Fatalf("%s moves from shard %d to shard %d when shard %d is added", namespace, before, after, shards)
			}
		}
		if fair := namespaces / (shards + 1); moved > fair*115/100 {
			t.Errorf("from %d to %d shards %d of %d namespaces move, want about %d", shards, shards+1, moved, namespaces, fair)
		}
	}
}

func TestOwns_ExactlyOneShardOwnsANamespace(t *testing.T) {
	for shards := 1; shards <= Most; shards++ {
		for _, namespace := range []string{"", "default", "team-a", "team-b", strings.Repeat("x", 63)} {
			owners := 0
			for i := range shards {
				if (Shard{Index: i, Count: shards}).Owns(namespace) {
					owners++
				}
			}
			if owners != 1 {
				t.Errorf("%d of %d shards own %q", owners, shards, namespace)
			}
		}
	}
	if whole := (Shard{}); !whole.Owns("team-a") || !whole.IsFirst() || whole.Shards() != 1 {
		t.Errorf("the zero value is %s", whole)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Shard{
		"0/1": {0, 1}, "0/2": {0, 2}, "1/2": {1, 2}, "15/16": {15, 16},
		"2/2": {0, 2}, "5/3": {2, 3}, // ordinals of standbys
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "/2", "1/", "a/2", "-1/2", "0/0", "0/17", "0/-2", "1/2/3", "$(POD_INDEX)/2", "0.5/2", "+1/2"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q was accepted as %s", text, got)
		}
	}
}

func TestLeases_HaveDifferentNames(t *testing.T) {
	names := map[string]bool{}
	for i, name := range Leases() {
		if names[name] || name != (Shard{Index: i, Count: Most}).Lease() {
			t.Errorf("lease %d is %s", i, name)
		}
		names[name] = true
	}
	if (Shard{}).Lease() != (Shard{Index: 0, Count: 2}).Lease() {
		t.Error("operators with and without shards could lead at the same time")
	}
}
