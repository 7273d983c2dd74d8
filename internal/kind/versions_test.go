// SPDX-License-Identifier: Apache-2.0

package kind

import "testing"

func TestVersionsAreComparedPartByPart(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"16.4", "16.10", -1}, {"16", "16.4", 0}, {"8.4.1", "8.0.36", 1}, {"19.0.0.0.ru-2024-01", "19.0.0.0.ru-2023-10", 1}} {
		if got := CompareVersions(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %d", c.a, c.b, got)
		}
	}
}
