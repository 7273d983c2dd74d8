// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// selected returns what is listed, or where nothing is listed an element for each default name, by name.
func selected[T any](listed []T, defaults []string, name func(*T) *string) []T {
	out := slices.Clone(listed)
	if len(out) == 0 {
		out = make([]T, len(defaults))
		for i, d := range defaults {
			*name(&out[i]) = d
		}
	}
	return byName(out, func(t T) string { return *name(&t) })
}

// byName sorts a list, in which a name counts once.
func byName[T any](list []T, name func(T) string) []T {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return name(a) == name(b) })
}

func boolOr(b *bool, other bool) bool {
	if b != nil {
		return *b
	}
	return other
}

// dataOf returns the declared data services; none when the spec names none.
func dataOf(s *nexusv1.NexusAICapabilitySpec) nexusv1.DataServicesSpec {
	return *cmp.Or(s.DataServices, &nexusv1.DataServicesSpec{})
}

func int32Or(n *int32, other int32) int32 {
	if n != nil {
		return *n
	}
	return other
}
