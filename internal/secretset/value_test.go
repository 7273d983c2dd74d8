// SPDX-License-Identifier: Apache-2.0

package secretset

import (
	"testing"
)

func TestValueOfLosesOneNewlineOnly(t *testing.T) {
	for text, want := range map[string]string{"a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", " a ": " a "} {
		if got, err := valueOf("key", text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := valueOf("key", "\n"); err == nil {
		t.Error("an empty value is taken")
	}
}
