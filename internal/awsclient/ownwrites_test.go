// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"fmt"
	"testing"
)

func TestOwnWrites_TheLastOnesAreKnown(t *testing.T) {
	w := newOwnWrites()
	w.add("")
	if w.has("") {
		t.Error("a request without an ID is taken for an own one")
	}
	for i := range mostOwnWrites + 10 {
		w.add(fmt.Sprint("request-", i))
		w.add(fmt.Sprint("request-", i)) // answers may be read twice
	}
	for i, want := range map[int]bool{0: false, 9: false, 10: true, mostOwnWrites + 9: true, mostOwnWrites + 10: false} {
		if got := w.has(fmt.Sprint("request-", i)); got != want {
			t.Errorf("request %d is known: %v", i, got)
		}
	}
	if len(w.known) != mostOwnWrites || len(w.order) != mostOwnWrites {
		t.Errorf("%d hashes and %d places, want %d", len(w.known), len(w.order), mostOwnWrites)
	}
}
