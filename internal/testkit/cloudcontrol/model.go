// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	jsonkind "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// model is a resource type, read from its schema.
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html
type model struct {
	TypeName          string
	PrimaryIdentifier []string
	ReadOnly          []string `json:"readOnlyProperties"`
	CreateOnly        []string `json:"createOnlyProperties"`
	WriteOnly         []string `json:"writeOnlyProperties"`
	Handlers          map[string]handler

	text []byte
	doc  map[string]any
	rule *jsonschema.Schema
}

// handler describes one operation of a schema.
type handler struct {
	Permissions   []string
	HandlerSchema struct{ Required []string }
}

// modelOf reads a schema.
func modelOf(text []byte) (*model, error) {
	m := &model{text: text}
	if err := errors.Join(json.Unmarshal(text, m), json.Unmarshal(text, &m.doc)); err != nil {
		return nil, err
	}
	rules, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if root, ok := rules.(map[string]any); ok {
		delete(root, "$schema") // that of the schema of schemas, which is not at its address
	}
	const location = "https://schema.cloudformation.us-east-1.amazonaws.com/type.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource(location, rules); err != nil {
		return nil, err
	}
	m.rule, err = c.Compile(location)
	return m, err
}

// Package regexp writes the number of a character in another way, and refuses repetitions of more than 1000 times.
var (
	characterByNumber = regexp.MustCompile(`\\u([[:xdigit:]]{4})`)
	longRepetition    = regexp.MustCompile(`\{(\d{1,3}),\d{4,}\}`)
)

// anyText matches every text.
var anyText = regexp.MustCompile(``)

// compilePattern compiles a pattern of JavaScript. Patterns that package regexp cannot express, such as those that look ahead, match
// everything: the double is then more lenient than AWS.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	pattern = characterByNumber.ReplaceAllString(pattern, `\x{$1}`)
	pattern = longRepetition.ReplaceAllString(pattern, `{$1,}`)
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	return anyText, nil
}

// validate returns AWS's message about properties that the schema does not allow; empty where it does.
func (m *model) validate(properties map[string]any) string {
	text, err := json.Marshal(properties)
	if err != nil {
		return err.Error()
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text)) // with the numbers that the validator wants
	if err == nil {
		err = m.rule.Validate(value)
	}
	if err == nil {
		return ""
	}
	return "Model validation failed (" + strings.Join(reasonsOf(err), "\n") + ")"
}

// reasonsOf returns the innermost reasons of a refusal, each with its place.
func reasonsOf(err error) []string {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	if required, ok := invalid.ErrorKind.(*jsonkind.Required); ok { // in the words of AWS
		at := strings.TrimSuffix("#/"+strings.Join(invalid.InstanceLocation, "/"), "/")
		return []string{at + ": required key [" + strings.Join(required.Missing, ", ") + "] not found"}
	}
	if len(invalid.Causes) == 0 {
		_, reason, _ := strings.Cut(invalid.Error(), "': ")
		return []string{"#/" + strings.Join(invalid.InstanceLocation, "/") + ": " + reason}
	}
	var out []string
	for _, cause := range invalid.Causes {
		out = append(out, reasonsOf(cause)...)
	}
	return out
}

// path splits a pointer of a schema, such as /properties/Rules/*/Id, into the keys that lead to the property.
func path(pointer string) []string {
	keys := strings.Split(strings.Trim(pointer, "/"), "/")
	return slices.DeleteFunc(keys, func(key string) bool { return key == "properties" || key == "items" })
}

// visit calls do for each object that has the last key of a path. Lists and, where the key is *, all members are descended into.
func visit(value any, keys []string, do func(parent map[string]any, key string)) {
	switch v := value.(type) {
	case []any:
		if keys[0] == "*" && len(keys) > 1 {
			keys = keys[1:]
		}
		for _, element := range v {
			visit(element, keys, do)
		}
	case map[string]any:
		names := []string{keys[0]}
		if keys[0] == "*" {
			names = slices.Sorted(maps.Keys(v))
		}
		for _, name := range names {
			member, ok := v[name]
			switch {
			case ok && len(keys) == 1:
				do(v, name)
			case ok:
				visit(member, keys[1:], do)
			}
		}
	}
}

// without returns a copy of properties without those at the pointers.
func without(properties map[string]any, pointers []string) map[string]any {
	out := clone(properties)
	for _, pointer := range pointers {
		visit(out, path(pointer), func(parent map[string]any, key string) { delete(parent, key) })
	}
	return out
}

// present returns the pointers to properties with a value.
func present(properties map[string]any, pointers []string) []string {
	var out []string
	for _, pointer := range pointers {
		found := false
		visit(properties, path(pointer), func(map[string]any, string) { found = true })
		if found {
			out = append(out, pointer)
		}
	}
	return out
}

// differing returns the pointers to different values in two sets of properties.
func differing(a, b map[string]any, pointers []string) []string {
	at := func(properties map[string]any, pointer string) (out []any) {
		visit(properties, path(pointer), func(parent map[string]any, key string) { out = append(out, parent[key]) })
		return out
	}
	return slices.DeleteFunc(slices.Clone(pointers), func(pointer string) bool { return reflect.DeepEqual(at(a, pointer), at(b, pointer)) })
}

// clone copies JSON.
func clone(properties map[string]any) map[string]any {
	text, err := json.Marshal(properties)
	out := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("cloudcontrol: copying JSON: %v", err)) // it was read as JSON
	}
	return out
}

// identifier returns the primary identifier of properties, its parts joined by |; empty while one is missing.
// https://docs.aws.amazon.com/cloudcontrolapi/latest/userguide/resource-identifier.html
func (m *model) identifier(properties map[string]any) string {
	var parts []string
	for _, pointer := range m.PrimaryIdentifier {
		visit(properties, path(pointer), func(parent map[string]any, key string) { parts = append(parts, fmt.Sprint(parent[key])) })
	}
	if len(parts) < len(m.PrimaryIdentifier) {
		return ""
	}
	return strings.Join(parts, "|")
}

// definition returns the schema of a property, with references followed.
func (m *model) definition(schema any) map[string]any {
	found, _ := schema.(map[string]any)
	for range 8 {
		reference, ok := found["$ref"].(string)
		if !ok {
			break
		}
		var next any = m.doc
		for key := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
			parent, _ := next.(map[string]any)
			next = parent[key]
		}
		found, _ = next.(map[string]any)
	}
	return found
}

// property returns the schema of the top-level property of a name.
func (m *model) property(name string) map[string]any {
	all, _ := m.doc["properties"].(map[string]any)
	return m.definition(all[name])
}

// fillDefaults gives properties that are missing the default of their schema, unless the schema refuses it.
func (m *model) fillDefaults(properties map[string]any) {
	isValid := m.validate(properties) == ""
	all, _ := m.doc["properties"].(map[string]any)
	for name, schema := range all {
		own, _ := schema.(map[string]any)
		value, ok := own["default"]
		if !ok {
			value, ok = m.property(name)["default"]
		}
		if _, set := properties[name]; ok && value != nil && !set {
			if properties[name] = value; isValid && m.validate(properties) != "" {
				delete(properties, name)
			}
		}
	}
}

// reordered returns properties as AWS may show them: a list without a meaningful order in another order.
func (m *model) reordered(properties map[string]any) map[string]any {
	out := clone(properties)
	for name, value := range out {
		if list, ok := value.([]any); ok && m.property(name)["insertionOrder"] == false {
			slices.Reverse(list)
		}
	}
	return out
}

// provisioning returns the provisioning type of the type.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeType.html
func (m *model) provisioning() string {
	switch {
	case !m.has("create") || !m.has("read") || !m.has("delete"):
		return "NON_PROVISIONABLE"
	case !m.has("update"):
		return "IMMUTABLE"
	default:
		return "FULLY_MUTABLE"
	}
}

func (m *model) has(operation string) bool {
	_, ok := m.Handlers[operation]
	return ok
}

// Validator returns a function that reports why a schema does not allow properties; it returns "" for properties that it allows.
func Validator(schema []byte) (func(properties map[string]any) string, error) {
	m, err := modelOf(schema)
	if err != nil {
		return nil, err
	}
	return m.validate, nil
}
