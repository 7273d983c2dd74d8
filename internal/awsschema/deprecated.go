// SPDX-License-Identifier: Apache-2.0

package awsschema

import "slices"

// Deprecates reports whether AWS deprecates a property of the type.
func (t *Type) Deprecates() bool { return len(t.ended) > 0 }

// Deprecated returns the paths of the properties that AWS deprecates among those that have a value, in order. A path ends where the
// deprecation begins, and stands for the elements of a list once.
func (t *Type) Deprecated(properties map[string]any) []string {
	found := t.deprecatedIn(nil, properties)
	slices.Sort(found)
	return slices.Compact(found)
}

func (t *Type) deprecatedIn(at []string, value any) []string {
	switch {
	case value == nil:
		return nil
	case anyContains(t.ended, at):
		return []string{Text(at)}
	}
	var found []string
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			found = append(found, t.deprecatedIn(append(slices.Clone(at), name), member)...)
		}
	case []any:
		for _, element := range value {
			found = append(found, t.deprecatedIn(append(slices.Clone(at), Every), element)...)
		}
	}
	return found
}
