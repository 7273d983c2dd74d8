// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestNeededToRecord(t *testing.T) {
	many := make([]string, mostNeeded)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, tc := range map[string]struct {
		keeps    bool
		names    []string
		refs     map[string]kind.Target
		cause    Cause
		recorded []string
		want     []string
	}{
		"the first key": {names: []string{"a"}, cause: New, want: []string{"a"}},
		"a reference": {refs: map[string]kind.Target{"KMSKey/k": {ARN: "a"}, "IAMRole/r": {ARN: "r"}}, cause: New,
			want: []string{"a"}},
		"none":                          {cause: InSync},
		"another, before it is written": {names: []string{"b"}, cause: Edited, recorded: []string{"a"}, want: []string{"b", "a"}},
		"another, that AWS shows":       {names: []string{"b"}, cause: InSync, recorded: []string{"b", "a"}, want: []string{"b"}},
		"another, of a kind that keeps earlier": {keeps: true, names: []string{"b"}, cause: InSync, recorded: []string{"b", "a"},
			want: []string{"b", "a"}},
		"one that is no longer declared": {cause: InSync, recorded: []string{"a"}, want: []string{"a"}},
		"more than fit": {keeps: true, names: []string{"b"}, cause: InSync, recorded: many,
			want: append([]string{"b"}, many[:mostNeeded-1]...)},
	} {
		a := advance{o: Owner{KeyNames: tc.names}, h: &host{refs: tc.refs}}
		if tc.keeps {
			a.meta.Facts.EarlierKeys.Kept = "messages stay encrypted with the key that they were sent with"
		}
		if got := a.neededToRecord(tc.recorded, Plan{Cause: tc.cause}); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
