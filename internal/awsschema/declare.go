// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"maps"
	"slices"
)

// Declarable returns the properties of a resource that AWS shows as a person would declare them: without those that AWS assigns, those that
// have the default of the schema, and the tags.
func (t *Type) Declarable(shown map[string]any) map[string]any {
	out := t.declarable(nil, shown)
	delete(out, t.TagProperty())
	return out
}

func (t *Type) declarable(at []string, object map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range object {
		below := append(slices.Clone(at), name)
		if value == nil || t.RuleAt(below...).ReadOnly || !t.IsRequired(below...) && t.IsDefault(value, below...) {
			continue
		}
		members, isObject := value.(map[string]any)
		declared := t.declarableValue(below, value)
		if left, _ := declared.(map[string]any); isObject && len(left) == 0 && len(members) > 0 && !t.IsRequired(below...) {
			continue // only defaults and values that AWS assigns
		}
		out[name] = declared
	}
	return out
}

// declarableValue returns a value as it would be declared. Elements of lists are compared as a whole, and keep their defaults.
func (t *Type) declarableValue(at []string, value any) any {
	if object, ok := value.(map[string]any); ok {
		return t.declarable(at, object)
	}
	return t.withoutAssigned(at, value)
}

// withoutAssigned returns a value without the members that AWS assigns.
func (t *Type) withoutAssigned(at []string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			if below := append(slices.Clone(at), name); member != nil && !t.RuleAt(below...).ReadOnly {
				out[name] = t.withoutAssigned(below, member)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = t.withoutAssigned(append(slices.Clone(at), Every), element)
		}
		return out
	default:
		return value
	}
}

// RequiredHidden returns the properties that AWS requires, never shows, and that properties do not have, in order: a declaration of an
// existing resource does without them.
func (t *Type) RequiredHidden(properties map[string]any) []string {
	var out []string
	for _, p := range t.Problems(properties, nil) {
		if p.unseen != "" {
			out = append(out, p.unseen)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// OfExisting leaves out of the problems of a declaration those of an existing resource that only its creation has: a required property that
// AWS never shows, also where it is required in one of several forms, or with another property.
func (t *Type) OfExisting(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.unseen != "" })
}

// NeverShown returns the paths of the properties that AWS never shows, and of such members of others, in the order of the schema.
func (t *Type) NeverShown() [][]string {
	out := make([][]string, len(t.write))
	for i, p := range t.write {
		out[i] = p
	}
	return out
}

// Hidden returns the names of the properties that AWS never shows, in order.
func (t *Type) Hidden() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.properties())), func(name string) bool { return !t.RuleAt(name).WriteOnly })
}
