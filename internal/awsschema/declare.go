// SPDX-License-Identifier: Apache-2.0

package awsschema

import "slices"

// Declarable returns the properties of a resource that AWS shows as a person would declare them: without those that AWS assigns, those that
// have the default of the schema, and the tags.
func (t *Type) Declarable(shown map[string]any) map[string]any {
	out := t.At().declarable(shown)
	delete(out, t.Tags.Property())
	return out
}

// declarable returns an object without the members that AWS assigns, and those that have the default.
func (p Place) declarable(object map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range object {
		below := p.below(name)
		if value == nil || below.isAssigned() || !below.IsRequired() && below.IsDefault(value) {
			continue
		}
		members, isObject := value.(map[string]any)
		declared := below.declarableValue(value)
		if left, _ := declared.(map[string]any); isObject && len(left) == 0 && len(members) > 0 && !below.IsRequired() {
			continue // only defaults and values that AWS assigns
		}
		out[name] = declared
	}
	return out
}

// declarableValue returns a value as it would be declared. Elements of lists are compared as a whole, and keep their defaults.
func (p Place) declarableValue(value any) any {
	if object, ok := value.(map[string]any); ok {
		return p.declarable(object)
	}
	return p.withoutAssigned(value)
}

// withoutAssigned returns a value without the members that AWS assigns.
func (p Place) withoutAssigned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			if below := p.below(name); member != nil && !below.isAssigned() {
				out[name] = below.withoutAssigned(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = p.below(Every).withoutAssigned(element)
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
func OfExisting(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.unseen != "" })
}

// NeverShown returns the paths of the properties that AWS never shows, and of such members of others, in the order of the schema.
func (t *Type) NeverShown() [][]string {
	out := make([][]string, len(t.marks.write))
	for i, p := range t.marks.write {
		out[i] = p
	}
	return out
}

// Hidden returns the names of the properties that AWS never shows, in order.
func (t *Type) Hidden() []string {
	return slices.DeleteFunc(t.Properties(), func(name string) bool { return !anyContains(t.marks.write, path{name}) })
}

// HiddenProperties returns the names of the properties that AWS does not show, or not all of.
func (t *Type) HiddenProperties() (out []string) {
	for _, p := range t.marks.write {
		out = append(out, p[0])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// RequiredUnseen returns the properties that AWS requires, never shows and does not allow to be changed, in order. An update of a type
// that has some can neither leave them out nor repeat them: github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2205.
func (t *Type) RequiredUnseen() []string {
	unseen := slices.DeleteFunc(slices.Clone(t.required), func(name string) bool {
		rule := t.At(name).Rule()
		return !rule.WriteOnly || !rule.CreateOnly
	})
	slices.Sort(unseen)
	return unseen
}
