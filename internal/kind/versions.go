// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"cmp"
	"regexp"
	"strings"
)

// versionPart is a number or a word: 11.22-rds.20240509 has the parts 11, 22, rds and 20240509.
var versionPart = regexp.MustCompile(`[0-9]+|[A-Za-z]+`)

func partsOf(version string) []string { return versionPart.FindAllString(version, -1) }

// CompareVersions compares the parts of two versions in their order, as far as both have them: numbers as numbers of any length,
// words as text, and a number as later than a word.
func CompareVersions(a, b string) int {
	as, bs := partsOf(a), partsOf(b)
	for i := range min(len(as), len(bs)) {
		if c := comparePart(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return 0
}

// IsVersion reports whether a version has all parts of the one that is named, such as 16.4 and 16.4-rds.20240509 those of 16.4.
func IsVersion(version, named string) bool {
	return CompareVersions(version, named) == 0 && len(partsOf(version)) >= len(partsOf(named))
}

func comparePart(a, b string) int {
	aIsNumber, bIsNumber := a[0] <= '9', b[0] <= '9'
	switch {
	case aIsNumber && bIsNumber:
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case aIsNumber:
		return 1
	case bIsNumber:
		return -1
	default:
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	}
}
