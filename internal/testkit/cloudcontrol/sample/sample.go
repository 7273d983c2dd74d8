// SPDX-License-Identifier: Apache-2.0

// Package sample makes properties that the schema of an AWS resource type allows.
package sample

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

// Type makes properties of one type. It is not safe for concurrent use.
type Type struct {
	doc      map[string]any
	readOnly []string
	validate func(map[string]any) string
	// lean leaves out members that are not required: those of different forms may exclude each other.
	lean bool
}

// New reads a schema.
func New(schema []byte) (*Type, error) {
	t := &Type{}
	if err := json.Unmarshal(schema, &t.doc); err != nil {
		return nil, err
	}
	pointers, _ := t.doc["readOnlyProperties"].([]any)
	for _, pointer := range pointers {
		t.readOnly = append(t.readOnly, strings.ReplaceAll(strings.TrimPrefix(fmt.Sprint(pointer), "/properties"), "/items/", "/*/"))
	}
	var err error
	t.validate, err = cloudcontrol.Validator(schema)
	return t, err
}

// tries limits the values of a property that are tried.
const tries = 12

// Required makes the properties that have to be there. The same seed makes the same properties, and another seed mostly others. An error
// says why no value of a required property was found.
func (t *Type) Required(seed int) (map[string]any, error) {
	all, _ := t.doc["properties"].(map[string]any)
	required := t.required(seed)
	problem := ""
	for try := range tries {
		t.lean = try >= tries/2
		out := map[string]any{}
		for _, name := range required {
			if value, ok := t.value("/"+name, all[name], seed+100*try, 0); ok {
				out[name] = value
			}
		}
		if problem = t.validate(out); problem == "" {
			return out, nil
		}
	}
	return nil, fmt.Errorf("no valid values were found: %s", problem)
}

// Properties makes properties that are valid together: those that are required, and each of the others that leaves them valid.
func (t *Type) Properties(seed int, without ...string) (map[string]any, error) {
	out, err := t.Required(seed)
	if err != nil {
		return nil, err
	}
	all, _ := t.doc["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, has := out[name]; has || slices.Contains(without, name) {
			continue
		}
		t.add(out, name, seed)
	}
	return out, nil
}

// add gives properties one more where a value is valid.
func (t *Type) add(properties map[string]any, name string, seed int) {
	if value, ok := t.Another(properties, name, seed); ok {
		properties[name] = value
	}
}

// Another returns a value of a property that is valid beside others; ok is false where none was found.
func (t *Type) Another(beside map[string]any, name string, seed int) (value any, ok bool) {
	all, _ := t.doc["properties"].(map[string]any)
	for try := range tries {
		t.lean = try >= tries/2
		value, made := t.value("/"+name, all[name], seed+100*try, 0)
		if !made {
			return nil, false
		}
		with := maps.Clone(beside)
		with[name] = value
		if t.validate(with) == "" {
			return value, true
		}
	}
	return nil, false
}

// IsValid reports whether properties are valid together.
func (t *Type) IsValid(properties map[string]any) bool { return t.validate(properties) == "" }

// required returns the properties that must be there, with those of one of the forms that the schema offers.
func (t *Type) required(seed int) []string {
	names := map[string]bool{}
	for _, schema := range t.forms(t.doc, seed, 0) {
		required, _ := schema["required"].([]any)
		for _, name := range required {
			names[fmt.Sprint(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// maxDepth ends schemas that contain themselves.
const maxDepth = 6

// forms returns the schemas that a value has to satisfy together: with references followed and one alternative of each choice.
func (t *Type) forms(schema any, seed, depth int) []map[string]any {
	s, _ := schema.(map[string]any)
	if s == nil || depth > maxDepth {
		return nil
	}
	if reference, ok := s["$ref"].(string); ok {
		var at any = t.doc
		for key := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
			parent, _ := at.(map[string]any)
			at = parent[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]
		}
		return t.forms(at, seed, depth+1)
	}
	out := []map[string]any{s}
	every, _ := s["allOf"].([]any)
	for _, one := range every {
		out = append(out, t.forms(one, seed, depth+1)...)
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		if some, _ := s[word].([]any); len(some) > 0 {
			out = append(out, t.forms(some[seed%len(some)], seed, depth+1)...)
		}
	}
	return out
}

// merged is the combination of several schemas.
type merged map[string]any

func merge(schemas []map[string]any) merged {
	out := merged{}
	properties, required := map[string]any{}, []any{}
	for _, schema := range schemas {
		for word, value := range schema {
			switch word {
			case "properties":
				members, _ := value.(map[string]any)
				for name, member := range members {
					if _, has := properties[name]; !has {
						properties[name] = member
					}
				}
			case "required":
				names, _ := value.([]any)
				required = append(required, names...)
			default:
				if _, has := out[word]; !has || word == "enum" {
					out[word] = value
				}
			}
		}
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	out["required"] = required
	return out
}

func (m merged) number(word string, otherwise float64) float64 {
	if n, ok := m[word].(float64); ok {
		return n
	}
	return otherwise
}

// typeOf returns the type of the value to make.
func (m merged) typeOf() string {
	switch name := m["type"].(type) {
	case string:
		return name
	case []any:
		return fmt.Sprint(name[0])
	}
	_, named := m["properties"]
	_, patterns := m["patternProperties"]
	_, list := m["items"]
	switch {
	case named || patterns || len(m["required"].([]any)) > 0:
		return "object"
	case list:
		return "array"
	default:
		return "string"
	}
}

// value makes a value of a property; ok is false for one that AWS assigns and for one that contains itself too often.
func (t *Type) value(at string, schema any, seed, depth int) (value any, ok bool) {
	forms := t.forms(schema, seed, depth)
	if len(forms) == 0 || slices.Contains(t.readOnly, at) {
		return nil, false
	}
	m := merge(forms)
	if choices, _ := m["enum"].([]any); len(choices) > 0 {
		return choices[seed%len(choices)], true
	}
	if only, has := m["const"]; has {
		return only, true
	}
	switch m.typeOf() {
	case "object":
		return t.object(at, m, seed, depth)
	case "array":
		return t.list(at, m, seed, depth)
	case "boolean":
		return seed%2 == 0, true
	case "integer", "number":
		return number(m, seed), true
	default:
		return text(m, seed), true
	}
}

func number(m merged, seed int) any {
	low := m.number("minimum", 1)
	high := m.number("maximum", low+1000)
	step := m.number("multipleOf", 1)
	n := low + step*float64(seed%int(min(max((high-low)/step, 0)+1, 1000)))
	return min(n, high)
}

func (t *Type) object(at string, m merged, seed, depth int) (any, bool) {
	out := map[string]any{}
	members, _ := m["properties"].(map[string]any)
	required := m["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		isRequired := slices.Contains(required, any(name))
		if !isRequired && (depth > 1 || t.lean) {
			continue
		}
		value, ok := t.value(at+"/"+name, members[name], seed, depth+1)
		if ok {
			out[name] = value
		} else if isRequired && !slices.Contains(t.readOnly, at+"/"+name) {
			return nil, false
		}
	}
	if len(out) == 0 && t.lean && len(members) > 0 { // one member at least
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if value, ok := t.value(at+"/"+name, members[name], seed, depth+1); ok {
				out[name] = value
				break
			}
		}
	}
	if len(out) > 0 || len(members) > 0 {
		return out, true
	}
	return t.mapped(at, m, seed, depth)
}

// mapped makes an object with keys that no schema names.
func (t *Type) mapped(at string, m merged, seed, depth int) (any, bool) {
	out := map[string]any{}
	patterns, _ := m["patternProperties"].(map[string]any)
	if names := slices.Sorted(maps.Keys(patterns)); len(names) > 0 {
		if value, ok := t.value(at+"/*", patterns[names[0]], seed, depth+1); ok {
			out[matching(names[0], seed)] = value
		}
		return out, true
	}
	if value, ok := t.value(at+"/*", m["additionalProperties"], seed, depth+1); ok {
		out[fmt.Sprintf("key%d", seed%100)] = value
	}
	return out, true
}

func (t *Type) list(at string, m merged, seed, depth int) (any, bool) {
	n := int(max(m.number("minItems", 1), 1))
	if n < 2 && m.number("maxItems", 2) >= 2 && depth == 0 {
		n = 2
	}
	out := []any{}
	for i := range n {
		value, ok := t.value(at+"/*", m["items"], seed+i, depth+1)
		if !ok {
			break
		}
		if slices.ContainsFunc(out, func(other any) bool { return fmt.Sprint(other) == fmt.Sprint(value) }) {
			continue
		}
		out = append(out, value)
	}
	return out, float64(len(out)) >= m.number("minItems", 0)
}

// plain are texts that many patterns allow; %d is the seed.
var plain = []string{
	"sample%d", "Sample%d", "sample-%d", "arn:aws:iam::123456789012:role/sample%d",
	"arn:aws:kms:eu-west-1:123456789012:key/12345678-1234-1234-1234-1234567890%02d",
	"arn:aws:s3:::sample%d", "arn:aws:sns:eu-west-1:123456789012:sample%d", "arn:aws:lambda:eu-west-1:123456789012:function:sample%d",
	"https://sample%d.example.com",
	"sample%d.example.com", "sample%d@example.com", "12345678-1234-1234-1234-1234567890%02d", "10.0.%d.0/24", "10.0.0.%d", "%d",
	"1234567890%02d", "SAMPLE%d", "/sample/%d", "s3://sample/%d",
	"sg-0123456789abcde%02d", "subnet-0123456789abcde%02d", "vpc-0123456789abcde%02d", "2026-01-01T00:00:%02dZ", "eu-west-1",
}

// Package regexp writes the number of a character in another way, and refuses repetitions of more than 1000 times.
var (
	characterByNumber = regexp.MustCompile(`\\u([[:xdigit:]]{4})`)
	longRepetition    = regexp.MustCompile(`\{(\d{1,3}),\d{4,}\}`)
)

func text(m merged, seed int) string {
	pattern, _ := m["pattern"].(string)
	low, high := int(m.number("minLength", 0)), int(m.number("maxLength", 256))
	if m["format"] == "date-time" {
		return fmt.Sprintf("2026-01-01T00:00:%02dZ", seed%60)
	}
	pattern = longRepetition.ReplaceAllString(characterByNumber.ReplaceAllString(pattern, `\x{$1}`), `{$1,900}`)
	re, err := regexp.Compile(pattern)
	if err != nil {
		re = regexp.MustCompile("")
	}
	fits := func(s string) bool {
		n := utf8.RuneCountInString(s)
		return n >= low && n <= high && re.MatchString(s)
	}
	for i := range plain {
		s := plain[i]
		if strings.Contains(s, "%") {
			s = fmt.Sprintf(s, seed%90+10)
		}
		if fits(s) {
			return s
		}
	}
	for try := range 20 {
		if s := matching(pattern, seed+try); fits(s) {
			return s
		}
	}
	return strings.Repeat("a", max(low, 1))
}

// matching returns a text that matches a pattern; any text for a pattern that package regexp cannot compile.
func matching(pattern string, seed int) (text string) {
	defer func() {
		if recover() != nil { // the pattern is too rare for random texts
			text = fmt.Sprintf("sample%d", seed)
		}
	}()
	if _, err := regexp.Compile(pattern); err != nil || pattern == "" || pattern == ".*" || pattern == ".+" {
		return fmt.Sprintf("sample%d", seed)
	}
	return rapid.StringMatching(pattern).Example(seed)
}
