// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"cmp"
	"strconv"
	"strings"
)

// CompareVersions compares the parts of two versions, as numbers where they are numbers, as far as both have them.
func CompareVersions(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		c := cmp.Compare(x, y)
		if errX != nil || errY != nil {
			c = strings.Compare(as[i], bs[i])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}
