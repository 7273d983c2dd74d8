// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"maps"
	"reflect"
	"slices"
)

// Place is a property that a path leads to, or the properties as a whole, with all that the schema says of it.
type Place struct {
	doc      document
	marks    *marks
	typeName string
	at       []string
}

// At returns the place that a path leads to. Elements of lists and members of maps are Every, or their name.
func (t *Type) At(at ...string) Place {
	return Place{doc: t.doc, marks: t.marks, typeName: t.Name, at: at}
}

// below returns the place of a member, or that of the elements.
func (p Place) below(key string) Place {
	p.at = append(slices.Clone(p.at), key)
	return p
}

// schemas returns the schemas of the property: more than one where the schema offers alternatives.
func (p Place) schemas() []map[string]any { return p.doc.schemasAt(p.at) }

// Rule says how a property is treated.
type Rule struct {
	// ReadOnly is true for a property that AWS assigns: it is refused in a declaration and not compared.
	ReadOnly bool
	// WriteOnly is true for a property that AWS never shows.
	WriteOnly bool
	// CreateOnly is true for a property that cannot be changed. Conditionally is true where AWS decides by the values.
	CreateOnly, Conditionally bool
	// Deprecated is true for a property that AWS will remove.
	Deprecated bool
	// Unordered is true for a list without a meaningful order.
	Unordered bool
}

// Rule returns the rule of the property.
func (p Place) Rule() Rule {
	return Rule{
		ReadOnly: p.isAssigned(), WriteOnly: anyContains(p.marks.write, p.at), CreateOnly: anyContains(p.marks.createOnly, p.at),
		Conditionally: anyContains(p.marks.conditionally, p.at), Deprecated: p.isDeprecated(), Unordered: p.isUnordered(),
	}
}

// isAssigned reports whether AWS assigns the property.
func (p Place) isAssigned() bool { return anyContains(p.marks.readOnly, p.at) }

// isDeprecated reports whether AWS will remove the property.
func (p Place) isDeprecated() bool { return anyContains(p.marks.ended, p.at) }

// isUnordered reports whether the property is a list that AWS may show in another order: one with insertionOrder false, or with
// uniqueItems and no insertionOrder.
func (p Place) isUnordered() bool {
	unordered := false
	for _, schema := range p.schemas() {
		keeps, says := schema["insertionOrder"].(bool)
		if says && keeps {
			return false
		}
		unordered = unordered || says || schema["uniqueItems"] == true
	}
	return unordered
}

// Exists reports whether the schema knows the property.
func (p Place) Exists() bool { return p.doc.has(p.at...) }

// IsDefault reports whether the schema gives the property this value where none is declared. A default beside a reference is that of the
// property, whatever the definition says that others refer to, too.
func (p Place) IsDefault(value any) bool {
	if value == nil || len(p.at) == 0 {
		return false
	}
	for _, member := range p.doc.unresolvedAt(p.at) {
		if own, _ := member.(map[string]any); own["default"] != nil {
			return reflect.DeepEqual(own["default"], value)
		}
	}
	return slices.ContainsFunc(p.schemas(), func(schema map[string]any) bool { return reflect.DeepEqual(schema["default"], value) })
}

// IsMap reports whether the property is an object with names that a person chooses, so that one without members says nothing.
func (p Place) IsMap() bool {
	schemas := p.schemas()
	chosen := func(schema map[string]any) bool {
		_, fixed := schema["properties"]
		_, any := schema["additionalProperties"].(map[string]any)
		return !fixed && (any || schema["patternProperties"] != nil)
	}
	return len(schemas) > 0 && !slices.ContainsFunc(schemas, func(schema map[string]any) bool { return !chosen(schema) })
}

// SaysNothing reports whether AWS does the same without a value of the property: the default, or an empty map.
func (p Place) SaysNothing(value any) bool {
	object, isObject := value.(map[string]any)
	return p.IsDefault(value) || isObject && len(object) == 0 && p.IsMap()
}

// IsChoice reports whether the schema lists the values of the property.
func (p Place) IsChoice() bool {
	return slices.ContainsFunc(p.schemas(), func(schema map[string]any) bool { return schema["enum"] != nil })
}

// choices returns the values that the schema lists; empty where it lists none.
func (p Place) choices() []string {
	var out []string
	for _, schema := range p.schemas() {
		choices, _ := schema["enum"].([]any)
		for _, choice := range choices {
			if text := textOf(choice); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// relationFlaws holds relations with a wrong type in the schema, and the type that the property takes.
var relationFlaws = map[string]string{
	"AWS::Redshift::Cluster VpcSecurityGroupIds[*]": "AWS::EC2::SecurityGroup", // says AWS::EC2::VPC
}

// Related returns the names of the types of the resources that the property names, in order; none where the schema does not say it.
func (p Place) Related() []string {
	if flaw := relationFlaws[p.typeName+" "+Text(p.at)]; flaw != "" {
		return []string{flaw}
	}
	var out []string
	for _, schema := range p.schemas() {
		relation, _ := schema["relationshipRef"].(map[string]any)
		if name, _ := relation["typeName"].(string); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsRequired reports whether the parent must have the property, in every form that the schema offers.
func (p Place) IsRequired() bool {
	parent, name := p.at[:len(p.at)-1], p.at[len(p.at)-1]
	return p.Exists() &&
		slices.ContainsFunc(p.doc.unresolvedAt(parent), func(schema any) bool { return p.doc.requires(schema, name, maxDepth) })
}

// assignedIn returns the first path that has a value, the place's own or one below it, and that AWS assigns; empty for none.
func (p Place) assignedIn(value any) string {
	if len(p.at) > 0 && p.isAssigned() {
		return Text(p.at)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if found := p.below(name).assignedIn(value[name]); found != "" {
				return found
			}
		}
	case []any:
		for _, element := range value {
			if found := p.below(Every).assignedIn(element); found != "" {
				return found
			}
		}
	}
	return ""
}
