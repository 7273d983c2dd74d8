// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

func TestInputsAreTheSameInAnyOrder(t *testing.T) {
	var a, b, c inputHash
	for i := range 100 {
		a.add(i)
		b.add(99 - i)
		c.add(i + 1)
	}
	if a != b || a == c {
		t.Errorf("%v %v %v", a, b, c)
	}
}

// Edits of several objects at the same time never cancel each other: where they did, each pass over a binding met another declaration than
// the others, for as long as nothing else changed.
func TestInputs_EditsAtTheSameTimeChangeThem(t *testing.T) {
	for range 1000 {
		a, b := &metav1.ObjectMeta{UID: uuid.NewUUID(), Generation: 1}, &metav1.ObjectMeta{UID: uuid.NewUUID(), Generation: 1}
		sum := func() (h inputHash) {
			h.addObject(a)
			h.addObject(b)
			return h
		}
		seen := map[inputHash]bool{sum(): true}
		for range 4 {
			a.Generation++
			b.Generation++
			seen[sum()] = true
		}
		if len(seen) != 5 {
			t.Fatalf("five declarations of %s and %s have %d hashes", a.UID, b.UID, len(seen))
		}
	}
}
