// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// defaultTagProperty has the tags unless the schema names another property.
const defaultTagProperty = "/properties/Tags"

// taggingOf reads where the tags of a type are. A schema without a word about tags has them where the property exists.
func taggingOf(d published) tagging {
	out := tagging{}
	switch {
	case d.Tagging != nil:
		out = *d.Tagging
	case d.Taggable != nil:
		out.Taggable = d.Taggable
	}
	if out.TagProperty == "" {
		out.TagProperty = defaultTagProperty
	}
	return out
}

// Tags are the place of the tags in the properties of a type, and its form.
type Tags struct {
	declared tagging
	doc      document
	marks    *marks
	// isUpdated is true if the type has a handler for updates.
	isUpdated bool
}

// Property returns the name of the property that has the tags; empty for a type if Cloud Control does not set and show tags of its
// resources, or if they cannot name an owner.
func (t Tags) Property() string {
	name := strings.TrimPrefix(t.declared.TagProperty, "/properties/")
	switch {
	case !says(t.declared.Taggable) || !t.doc.has(name) || t.form(name) == noTags:
		return ""
	case !says(t.declared.TagOnCreate) && !t.changes(name):
		return ""
	case anyContains(t.marks.readOnly, path{name}) || anyContains(t.marks.write, path{name}) || !t.allowsKey(name):
		return ""
	default:
		return name
	}
}

// says returns a word of a schema, which is true where the schema does not have it.
func says(word *bool) bool { return word == nil || *word }

// AreFixed reports whether the tags are those that the create gave: no update changes them.
func (t Tags) AreFixed() bool {
	name := t.Property()
	return name != "" && !t.changes(name)
}

// changes reports whether an update can change the property that has the tags. Of some types a schema says so, and lists the
// property, or its members, among those that are fixed.
func (t Tags) changes(name string) bool {
	isFixed := slices.ContainsFunc(t.marks.createOnly, func(p path) bool { return p[0] == name })
	return says(t.declared.TagUpdatable) && !isFixed && t.isUpdated
}

// keyOfOwner has the form of the keys of tags that name an owner.
const keyOfOwner = "example.com/owner-uid"

// allowsKey reports whether a key of a tag may be a name under a domain. Types that do not allow it have no tags of the owner.
func (t Tags) allowsKey(name string) bool {
	matches := func(pattern string) bool {
		re, err := compilePattern(pattern)
		return err == nil && re.MatchString(keyOfOwner)
	}
	if key, _ := t.members(name); key != "" {
		return !slices.ContainsFunc(t.doc.schemasAt([]string{name, Every, key}), func(schema map[string]any) bool {
			pattern, has := schema["pattern"].(string)
			return has && !matches(pattern)
		})
	}
	return !slices.ContainsFunc(t.doc.schemasAt([]string{name}), func(schema map[string]any) bool {
		patterns, _ := schema["patternProperties"].(map[string]any)
		return schema["additionalProperties"] == false && !slices.ContainsFunc(slices.Collect(maps.Keys(patterns)), matches)
	})
}

// OnCreate reports whether a create sets the tags.
func (t Tags) OnCreate() bool {
	return t.Property() != "" && says(t.declared.TagOnCreate)
}

// form distinguishes the forms of tags in a property.
type form int

const (
	noTags form = iota
	// tagList is a list of objects with a Key and a Value.
	tagList
	// tagMap is an object with the keys as members.
	tagMap
)

// form returns the form of the property of a name.
func (t Tags) form(name string) form {
	if key, value := t.members(name); key != "" && value != "" {
		return tagList
	}
	for _, schema := range t.doc.schemasAt([]string{name}) {
		_, patterns := schema["patternProperties"]
		_, members := schema["properties"]
		if !members && (patterns || schema["type"] == "object") {
			return tagMap
		}
	}
	return noTags
}

// members returns the names of the members of an element that have the key and the value of a tag.
func (t Tags) members(name string) (key, value string) {
	for _, pair := range [][2]string{{"Key", "Value"}, {"key", "value"}, {"TagKey", "TagValue"}} {
		if t.doc.has(name, Every, pair[0]) && t.doc.has(name, Every, pair[1]) && t.isList(name) {
			return pair[0], pair[1]
		}
	}
	return "", ""
}

func (t Tags) isList(name string) bool {
	return slices.ContainsFunc(t.doc.schemasAt([]string{name}), func(schema map[string]any) bool { return schema["items"] != nil })
}

// Read returns the tags that properties have; nil for none.
func (t Tags) Read(properties map[string]any) map[string]string {
	name := t.Property()
	out := map[string]string{}
	switch tags := properties[name].(type) {
	case []any:
		key, value := t.members(name)
		for _, element := range tags {
			if tag, ok := element.(map[string]any); ok {
				out[textOf(tag[key])] = textOf(tag[value])
			}
		}
	case map[string]any:
		for key, value := range tags {
			out[key] = textOf(value)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Write returns the value of the property that has the tags: a list in the order of the keys, or an object.
func (t Tags) Write(tags map[string]string) any {
	name := t.Property()
	if t.form(name) == tagMap {
		out := map[string]any{}
		for key, value := range tags {
			out[key] = value
		}
		return out
	}
	key, value := t.members(name)
	out := []any{}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		element := map[string]any{key: tag, value: tags[tag]}
		for _, flag := range t.flags(name) {
			element[flag] = false
		}
		out = append(out, element)
	}
	return out
}

// flags returns the members that are true or false and that a tag must have, such as whether a group of instances gives it to them.
func (t Tags) flags(name string) []string {
	var out []string
	for _, schema := range t.doc.schemasAt([]string{name, Every}) {
		required, _ := schema["required"].([]any)
		for _, member := range required {
			flag := textOf(member)
			if slices.ContainsFunc(t.doc.schemasAt([]string{name, Every, flag}), func(s map[string]any) bool { return s["type"] == "boolean" }) {
				out = append(out, flag)
			}
		}
	}
	return out
}

func textOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
