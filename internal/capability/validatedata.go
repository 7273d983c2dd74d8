// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sortedKeys makes the first field at fault the same one every time.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// distinct requires legal names, each once.
func (v *verdict) distinct(at string, names []string, most int) {
	v.require(len(names) <= maxList, at, "at most %d", maxList)
	seen := map[string]bool{}
	for i, n := range names {
		field := fmt.Sprintf("%s[%d].name", at, i)
		v.matches(field, n, most, namePattern)
		v.require(!seen[n], field, "%q is there twice", n)
		seen[n] = true
	}
}

func namesIn[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = name(item)
	}
	return out
}

// local requires that an ARN is of a region and of the provider's account, as far as those are known. It ignores a
// text that is no ARN, which a pattern refuses.
func (v *verdict) local(at, noun, arn, region string, f Facts) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return
	}
	if region != "" {
		v.require(parts[3] == region, at, "the %s is in region %s and the capability in %s: name a %s of %s", noun, parts[3], region, noun, region)
	}
	v.require(f.Account == "" || parts[4] == f.Account, at, "the %s belongs to account %s and the capability to %s: name a %s of that account", noun, parts[4], f.Account, noun)
}
