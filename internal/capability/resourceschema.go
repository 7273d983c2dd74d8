// SPDX-License-Identifier: Apache-2.0

package capability

import "strings"

// IsUnknownValue reports whether a text of a compiled object has a value that another object is yet to publish.
func IsUnknownValue(value string) bool { return strings.Contains(value, "<known after ") }
