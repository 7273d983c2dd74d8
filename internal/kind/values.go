package kind

import (
	"maps"
	"slices"
	"strings"
)

// MergeTags returns the whole tag set for APIs that replace it: what is there, less the removed keys
// and AWS's own (which cannot be written), plus what is wanted.
func MergeTags(have, want map[string]string, remove []string) map[string]string {
	out := maps.Clone(want)
	if out == nil {
		out = map[string]string{}
	}
	for k, v := range have {
		if _, ok := out[k]; !ok && !strings.HasPrefix(k, "aws:") {
			out[k] = v
		}
	}
	for _, k := range remove {
		delete(out, k)
	}
	return out
}

// SortedKeys returns a map's keys in order, so that requests and plans are the same every time.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Only returns the entries of m under keys.
func Only[V any](m map[string]V, keys []string) map[string]V {
	out := make(map[string]V, len(keys))
	for _, k := range keys {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	return out
}

// Ptr returns a pointer to a copy of v.
func Ptr[T any](v T) *T { return &v }
