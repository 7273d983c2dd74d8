// SPDX-License-Identifier: Apache-2.0

package part

import (
	"cmp"
	"maps"
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// Selected returns the list sorted by name. For an empty list it returns one element for each default name.
func Selected[T any](listed []T, defaults []string, name func(*T) *string) []T {
	out := slices.Clone(listed)
	if len(out) == 0 {
		out = make([]T, len(defaults))
		for i, d := range defaults {
			*name(&out[i]) = d
		}
	}
	return ByName(out, func(t T) string { return *name(&t) })
}

// ByName sorts a list by name and drops repeated names.
func ByName[T any](list []T, name func(T) string) []T {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return name(a) == name(b) })
}

// BoolOr returns the value of a flag, or the default if the flag is absent.
func BoolOr(b *bool, other bool) bool {
	if b != nil {
		return *b
	}
	return other
}

// DataOf returns the declared data services; none when the spec names none.
func DataOf(s *nexusv1.NexusAICapabilitySpec) nexusv1.DataServicesSpec {
	return *cmp.Or(s.DataServices, &nexusv1.DataServicesSpec{})
}

// Int32Or returns the value of a number, or the default if the number is absent.
func Int32Or(n *int32, other int32) int32 {
	if n != nil {
		return *n
	}
	return other
}

// SortedOnce returns a sorted list without repetitions.
func SortedOnce(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// MergeMaps returns a new map of both; the second wins.
func MergeMaps(a, b map[string]string) map[string]string {
	out := make(map[string]string, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// IsEnabled reports whether an optional part is on: absent is off, {} is on.
func IsEnabled[T any](part *T, flag func(*T) *bool) bool {
	if part == nil {
		return false
	}
	on := flag(part)
	return on == nil || *on
}

// SortedKeys makes the first field at fault the same one every time.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// NamesIn returns the names of the elements of a list, in its order.
func NamesIn[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = name(item)
	}
	return out
}
