// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Habit changes how the handlers of all types treat values that a client left out or that say nothing. No schema says it, and each is on
// public record.
type Habit int

const (
	// StoresEmpty stores and shows an empty list or text where one was left out, also where the schema does not allow it to be empty. AWS
	// refuses every update of such a resource unless it removes the value: github.com/hashicorp/terraform-provider-awscc/issues/3186 and
	// 2969, github.com/pulumi/pulumi-aws-native/issues/415.
	StoresEmpty Habit = iota + 1
	// OmitsDefaults does not show a member with the default value of the schema: github.com/hashicorp/terraform-provider-awscc/issues/3310.
	OmitsDefaults
	// OmitsEmpty shows neither empty texts nor empty lists and objects.
	OmitsEmpty
)

// SetHabit gives a habit to the handlers of all types; zero takes it from them.
func (d *Double) SetHabit(h Habit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.habits.current = h
}

// fixed is a property that the handlers of a type refuse to change.
type fixed struct {
	typeName, pointer string
	failure           Failure
}

// Fix lets the requests fail that change the property of a type at a pointer, such as /properties/DomainName. Handlers refuse so the
// properties that the schema lists in conditionalCreateOnlyProperties, by the state of the resource or by the value.
func (d *Double) Fix(typeName, pointer string, f Failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.habits.fixed = append(d.habits.fixed, fixed{typeName, pointer, f})
}

// habits holds how the handlers treat values.
type habits struct {
	current   Habit // of all types; zero for none
	fixed     []fixed
	returning map[string]map[string]any // the values of properties that an update removes, by type
}

// refusedChange returns the failure of an update that changes a fixed property; nil for none.
func (h habits) refusedChange(typeName string, before, after map[string]any) *Failure {
	for _, f := range h.fixed {
		if f.typeName == typeName && len(differing(before, after, []string{f.pointer})) > 0 {
			return &f.failure
		}
	}
	return nil
}

// reset gives properties that an update removes the values that they get then.
func (h habits) reset(typeName string, wanted map[string]any) {
	for name, value := range h.returning[typeName] {
		if _, has := wanted[name]; !has {
			wanted[name] = value
		}
	}
}

// stored returns properties as the handlers store them.
func (h habits) stored(m *model, properties map[string]any) map[string]any {
	out := clone(properties)
	if h.current == StoresEmpty {
		m.eachObject(m.doc, out, func(schema, object map[string]any) {
			for name := range membersOf(schema) {
				if _, has := object[name]; !has {
					m.storeEmpty(schema, object, name)
				}
			}
		})
		for _, pointer := range slices.Concat(m.CreateOnly, m.WriteOnly) { // no update could remove them
			m.keep(out, properties, path(pointer))
		}
	}
	return out
}

// keep gives a property back as a client declared it. Below the first name, it only removes empty values.
func (m *model) keep(out, declared map[string]any, keys []string) {
	switch value, has := declared[keys[0]]; {
	case len(keys) > 1:
		visit(out, keys, func(parent map[string]any, key string) {
			if parent[key] = withoutEmpty(parent[key]); isEmpty(parent[key]) {
				delete(parent, key)
			}
		})
	case has:
		out[keys[0]] = clone(map[string]any{"": value})[""]
	default:
		delete(out, keys[0])
	}
}

// withoutEmpty returns a value without the empty members of the objects in it.
func withoutEmpty(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			if v[name] = withoutEmpty(v[name]); isEmpty(v[name]) {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
	}
	return value
}

// storeEmpty gives an object an empty member that it may lack, and that must not be empty.
func (m *model) storeEmpty(schema, object map[string]any, name string) {
	required, _ := schema["required"].([]any)
	if slices.Contains(required, any(name)) || schema["oneOf"] != nil || schema["anyOf"] != nil || m.identifies(name) {
		return
	}
	of := m.definition(membersOf(schema)[name])
	least := func(word string) bool { n, _ := of[word].(float64); return n > 0 }
	pattern, _ := of["pattern"].(string)
	re, err := compilePattern(pattern)
	switch {
	case of["type"] == "array" && least("minItems"):
		object[name] = []any{}
	case of["type"] == "string" && of["enum"] == nil && (least("minLength") || err == nil && !re.MatchString("")):
		object[name] = ""
	}
}

// answered returns properties as the handlers show them.
func (h habits) answered(m *model, properties map[string]any) map[string]any {
	out := clone(properties)
	if h.current == 0 {
		return out
	}
	m.eachObject(m.doc, out, func(schema, object map[string]any) {
		required, _ := schema["required"].([]any)
		for name, of := range membersOf(schema) {
			value, has := object[name]
			if !has || slices.Contains(required, any(name)) || m.identifies(name) {
				continue
			}
			own, _ := of.(map[string]any)
			otherwise, known := own["default"]
			if !known {
				otherwise, known = m.definition(of)["default"]
			}
			if h.current == OmitsDefaults && known && reflect.DeepEqual(value, otherwise) || h.current == OmitsEmpty && isEmpty(value) {
				delete(object, name)
			}
		}
	})
	if m.validate(out) != "" && m.validate(properties) == "" { // the contract tests of handlers allow no answer that their schema refuses
		return clone(properties)
	}
	return out
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

// identifies reports whether a part of the identifier has the name, at any depth.
func (m *model) identifies(name string) bool {
	return slices.ContainsFunc(m.PrimaryIdentifier, func(pointer string) bool { return strings.HasSuffix(pointer, "/"+name) })
}

// eachObject calls do for each object in a value, the inner ones first, with each schema of its members.
func (m *model) eachObject(schema, value any, do func(schema, object map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		for _, form := range m.formsOf(schema, v) {
			members := membersOf(form)
			for name, member := range v {
				if of, ok := members[name]; ok {
					m.eachObject(of, member, do)
				}
			}
			do(form, v)
		}
	case []any:
		for _, element := range v {
			m.eachObject(m.definition(schema)["items"], element, do)
		}
	}
}

// formsOf returns the schemas with members that an object has: its own, and of the alternatives those that have all of its members.
func (m *model) formsOf(schema any, object map[string]any) []map[string]any {
	definition := m.definition(schema)
	out := []map[string]any{definition}
	for _, word := range []string{"oneOf", "anyOf"} {
		alternatives, _ := definition[word].([]any)
		for _, alternative := range alternatives {
			form := m.definition(alternative)
			if len(membersOf(form)) > 0 &&
				!slices.ContainsFunc(slices.Collect(maps.Keys(object)), func(name string) bool { return membersOf(form)[name] == nil }) {
				out = append(out, form)
			}
		}
	}
	return out
}

func membersOf(schema map[string]any) map[string]any {
	members, _ := schema["properties"].(map[string]any)
	return members
}
