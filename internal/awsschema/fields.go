// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"maps"
	"slices"
)

// Field is a property, or a member of one.
type Field struct {
	// Path names the property and the member, such as Rules[*].Id.
	Path string
	// Type is its type, such as string, integer, []object and map[string]string.
	Type string
	// Required is true if the parent must have the member.
	Required bool
	// Choices are the values that the schema allows; empty where it lists none.
	Choices []string
	Rule
}

// Fields returns the properties in the order of their names, those that AWS assigns last, and each with its members down to a depth; 0
// is that of the properties themselves.
func (t *Type) Fields(depth int) []Field {
	l := &lister{depth: depth}
	l.members(t.At())
	slices.SortStableFunc(l.found, func(a, b Field) int {
		return boolOrder(a.ReadOnly) - boolOrder(b.ReadOnly)
	})
	return l.found
}

func boolOrder(last bool) int {
	if last {
		return 1
	}
	return 0
}

// lister collects fields.
type lister struct {
	depth int
	found []Field
}

// members collects the members of the objects at a place.
func (l *lister) members(of Place) {
	names := map[string]bool{}
	for _, schema := range of.schemas() {
		properties, _ := schema["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		l.field(of.below(name))
	}
}

// field collects a field and its members. A type of AWS may contain itself, which the depth ends.
func (l *lister) field(p Place) {
	l.found = append(l.found, Field{Path: Text(p.at), Type: p.doc.typeOf(p.at, maxDepth), Required: p.IsRequired(), Choices: p.choices(),
		Rule: p.Rule()})
	for range maxDepth {
		elements := p.below(Every)
		if !elements.Exists() {
			break
		}
		p = elements
	}
	if names := len(slices.DeleteFunc(slices.Clone(p.at), func(key string) bool { return key == Every })); names <= l.depth {
		l.members(p)
	}
}
