// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

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

// RuleAt returns the rule of the property that a path leads to. Elements of lists and members of maps are Every, or their name.
func (t *Type) RuleAt(at ...string) Rule {
	return Rule{
		ReadOnly: anyContains(t.readOnly, at), WriteOnly: anyContains(t.write, at), CreateOnly: anyContains(t.createOnly, at),
		Conditionally: anyContains(t.conditionally, at), Deprecated: anyContains(t.ended, at), Unordered: t.isUnordered(at),
	}
}

// isUnordered reports whether a path leads to a list that AWS may show in another order: one with insertionOrder false, or with uniqueItems
// and no insertionOrder.
func (t *Type) isUnordered(at []string) bool {
	unordered := false
	for _, schema := range t.schemasAt(at) {
		keeps, says := schema["insertionOrder"].(bool)
		if says && keeps {
			return false
		}
		unordered = unordered || says || schema["uniqueItems"] == true
	}
	return unordered
}

// IsDefault reports whether the schema gives a property this value where none is declared. A default beside a reference is that of the
// property, whatever the definition says that others refer to, too.
func (t *Type) IsDefault(value any, at ...string) bool {
	if value == nil || len(at) == 0 {
		return false
	}
	last := len(at) - 1
	for _, parent := range t.schemasAt(at[:last]) {
		for _, member := range membersOf(parent, at[last]) {
			if own, _ := member.(map[string]any); own["default"] != nil {
				return reflect.DeepEqual(own["default"], value)
			}
		}
	}
	return slices.ContainsFunc(t.schemasAt(at), func(schema map[string]any) bool { return reflect.DeepEqual(schema["default"], value) })
}

// IsMap reports whether a property is an object with names that a person chooses, so that one without members says nothing.
func (t *Type) IsMap(at ...string) bool {
	schemas := t.schemasAt(at)
	chosen := func(schema map[string]any) bool {
		_, fixed := schema["properties"]
		_, any := schema["additionalProperties"].(map[string]any)
		return !fixed && (any || schema["patternProperties"] != nil)
	}
	return len(schemas) > 0 && !slices.ContainsFunc(schemas, func(schema map[string]any) bool { return !chosen(schema) })
}

// SaysNothing reports whether AWS does the same without a value of a property: the default, or an empty map.
func (t *Type) SaysNothing(value any, at ...string) bool {
	object, isObject := value.(map[string]any)
	return t.IsDefault(value, at...) || isObject && len(object) == 0 && t.IsMap(at...)
}

// RequiredUnseen returns the properties that AWS requires, never shows and does not allow to be changed, in order. An update of a type
// that has some can neither leave them out nor repeat them: github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2205.
func (t *Type) RequiredUnseen() []string {
	unseen := slices.DeleteFunc(slices.Clone(t.required), func(name string) bool {
		rule := t.RuleAt(name)
		return !rule.WriteOnly || !rule.CreateOnly
	})
	slices.Sort(unseen)
	return unseen
}

// IsChoice reports whether the schema lists the values of the property that a path leads to.
func (t *Type) IsChoice(at ...string) bool {
	return slices.ContainsFunc(t.schemasAt(at), func(schema map[string]any) bool { return schema["enum"] != nil })
}

// relationFlaws holds relations with a wrong type in the schema, and the type that the property takes.
var relationFlaws = map[string]string{
	"AWS::Redshift::Cluster VpcSecurityGroupIds[*]": "AWS::EC2::SecurityGroup", // says AWS::EC2::VPC
}

// Related returns the names of the types of the resources that a property names, in order; none where the schema does not say it.
func (t *Type) Related(at ...string) []string {
	if flaw := relationFlaws[t.Name+" "+Text(at)]; flaw != "" {
		return []string{flaw}
	}
	var out []string
	for _, schema := range t.schemasAt(at) {
		relation, _ := schema["relationshipRef"].(map[string]any)
		if name, _ := relation["typeName"].(string); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsRequired reports whether the parent must have a property, in every form that the schema offers.
func (t *Type) IsRequired(at ...string) bool {
	parent, name := at[:len(at)-1], at[len(at)-1]
	return t.Has(at...) && slices.ContainsFunc(t.unresolvedAt(parent), func(schema any) bool { return t.requires(schema, name, maxDepth) })
}

// requires reports whether a schema requires a member itself, or in each of its alternatives.
func (t *Type) requires(schema any, name string, depth int) bool {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return false
	}
	if reference, ok := s["$ref"].(string); ok {
		return t.requires(t.referred(reference), name, depth-1)
	}
	required, _ := s["required"].([]any)
	every, _ := s["allOf"].([]any)
	does := func(schema any) bool { return t.requires(schema, name, depth-1) }
	if slices.Contains(required, any(name)) || slices.ContainsFunc(every, does) {
		return true
	}
	return slices.ContainsFunc([]string{"anyOf", "oneOf"}, func(word string) bool {
		some, _ := s[word].([]any)
		return len(some) > 0 && !slices.ContainsFunc(some, func(one any) bool { return !does(one) })
	})
}

// unresolvedAt returns the schemas of the property at a path, as they are written in the schema of its parent.
func (t *Type) unresolvedAt(at []string) []any {
	if len(at) == 0 {
		return []any{t.doc}
	}
	var out []any
	for _, schema := range t.schemasAt(at[:len(at)-1]) {
		out = append(out, membersOf(schema, at[len(at)-1])...)
	}
	return out
}

// Has reports whether the schema knows the property that a path leads to.
func (t *Type) Has(at ...string) bool { return len(t.schemasAt(at)) > 0 }

// declaredReadOnly returns the first path that has a value and is read only; empty for none.
func (t *Type) declaredReadOnly(at []string, value any) string {
	if len(at) > 0 && t.RuleAt(at...).ReadOnly {
		return Text(at)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if found := t.declaredReadOnly(append(slices.Clone(at), name), value[name]); found != "" {
				return found
			}
		}
	case []any:
		for _, element := range value {
			if found := t.declaredReadOnly(append(slices.Clone(at), Every), element); found != "" {
				return found
			}
		}
	}
	return ""
}

// maxDepth bounds the references that are followed: the schemas of some properties contain themselves.
const maxDepth = 16

// schemasAt returns the schemas of the property that a path leads to: more than one where the schema offers alternatives.
func (t *Type) schemasAt(at []string) []map[string]any {
	found := []map[string]any{t.doc}
	for _, key := range at {
		var next []map[string]any
		for _, schema := range found {
			next = append(next, t.below(schema, key)...)
		}
		found = next
	}
	return found
}

// below returns the schemas of a member of the object that a schema describes.
func (t *Type) below(schema map[string]any, key string) []map[string]any {
	var out []map[string]any
	for _, member := range membersOf(schema, key) {
		out = append(out, t.resolve(member, maxDepth)...)
	}
	return out
}

// membersOf returns the schemas of a member as a schema writes them: the schema of the name, or all that may apply if there is none.
func membersOf(schema map[string]any, key string) []any {
	if members, ok := schema["properties"].(map[string]any); ok {
		if member, ok := members[key]; ok {
			return []any{member}
		}
	}
	var out []any
	if items, ok := schema["items"]; ok && key == Every {
		out = append(out, items)
	}
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, member := range patterns {
		out = append(out, member)
	}
	return append(out, schema["additionalProperties"])
}

// resolve follows references and alternatives, and returns the schemas that have members.
func (t *Type) resolve(schema any, depth int) []map[string]any {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return nil
	}
	if reference, ok := s["$ref"].(string); ok {
		return t.resolve(t.referred(reference), depth-1)
	}
	out := []map[string]any{s}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		alternatives, _ := s[word].([]any)
		for _, alternative := range alternatives {
			out = append(out, t.resolve(alternative, depth-1)...)
		}
	}
	return out
}

// referred returns the part of the schema that a reference within it names.
func (t *Type) referred(reference string) any {
	_, pointer, _ := strings.Cut(reference, "#/")
	var at any = t.doc
	for key := range strings.SplitSeq(pointer, "/") {
		parent, _ := at.(map[string]any)
		at = parent[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]
	}
	return at
}

// IsNamed reports whether a declaration can contain the whole primary identifier; AWS assigns that of other types.
func (t *Type) IsNamed() bool {
	for _, p := range t.identifier {
		if anyContains(t.readOnly, p) || !t.Has(p...) {
			return false
		}
	}
	return len(t.identifier) > 0
}

// Identifies reports whether a property is, or lies in, a part of the primary identifier.
func (t *Type) Identifies(at ...string) bool { return anyContains(t.identifier, at) }

// Identify returns the primary identifier that properties have, its parts joined by |; empty while a part is missing.
// https://docs.aws.amazon.com/cloudcontrolapi/latest/userguide/resource-identifier.html
func (t *Type) Identify(properties map[string]any) string {
	parts := make([]string, 0, len(t.identifier))
	for _, p := range t.identifier {
		var at any = properties
		for _, key := range p {
			parent, _ := at.(map[string]any)
			at = parent[key]
		}
		if at == nil || at == "" {
			return ""
		}
		parts = append(parts, fmt.Sprint(at))
	}
	return strings.Join(parts, "|")
}

// IdentifiedBy returns the paths of the parts of the primary identifier, in their order.
func (t *Type) IdentifiedBy() []string {
	out := make([]string, len(t.identifier))
	for i, p := range t.identifier {
		out[i] = Text(p)
	}
	return out
}
