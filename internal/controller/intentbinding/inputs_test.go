// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"testing"
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
