// SPDX-License-Identifier: Apache-2.0

package status

import "strconv"

// Counted returns a number and the word for that many, such as "1 object" or "3 objects".
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
