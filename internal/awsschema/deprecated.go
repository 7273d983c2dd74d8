// SPDX-License-Identifier: Apache-2.0

package awsschema

import "slices"

// Deprecates reports whether AWS deprecates a property of the type.
func (t *Type) Deprecates() bool { return len(t.marks.ended) > 0 }

// Deprecated returns the paths of the properties that AWS deprecates among those that have a value, in order. A path ends where the
// deprecation begins, and stands for the elements of a list once.
func (t *Type) Deprecated(properties map[string]any) []string {
	found := t.At().deprecatedIn(properties)
	slices.Sort(found)
	return slices.Compact(found)
}

// deprecatedIn returns the paths that have a value, the place's own or those below it, and that AWS deprecates.
func (p Place) deprecatedIn(value any) []string {
	switch {
	case value == nil:
		return nil
	case p.isDeprecated():
		return []string{Text(p.at)}
	}
	var found []string
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			found = append(found, p.below(name).deprecatedIn(member)...)
		}
	case []any:
		for _, element := range value {
			found = append(found, p.below(Every).deprecatedIn(element)...)
		}
	}
	return found
}
