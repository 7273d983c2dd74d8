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
func (t *Type) taggingOf(d document) tagging {
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

// TagProperty returns the name of the property that has the tags; empty for a type if Cloud Control does not set and show tags of its
// resources, or if they cannot name an owner.
func (t *Type) TagProperty() string {
	name := strings.TrimPrefix(t.tagging.TagProperty, "/properties/")
	switch {
	case !says(t.tagging.Taggable) || !t.Has(name) || t.tagForm(name) == noTags:
		return ""
	case !says(t.tagging.TagOnCreate) && !t.changesTags(name):
		return ""
	case anyContains(t.readOnly, path{name}) || anyContains(t.write, path{name}) || !t.allowsTagKey(name):
		return ""
	default:
		return name
	}
}

// says returns a word of a schema, which is true where the schema does not have it.
func says(word *bool) bool { return word == nil || *word }

// TagsAreFixed reports whether the tags are those that the create gave: no update changes them.
func (t *Type) TagsAreFixed() bool {
	name := t.TagProperty()
	return name != "" && !t.changesTags(name)
}

// changesTags reports whether an update can change the property that has the tags. Of some types a schema says so, and lists the
// property, or its members, among those that are fixed.
func (t *Type) changesTags(name string) bool {
	isFixed := slices.ContainsFunc(t.createOnly, func(p path) bool { return p[0] == name })
	return says(t.tagging.TagUpdatable) && !isFixed && t.Supports(Update)
}

// keyOfOwner has the form of the keys of tags that name an owner.
const keyOfOwner = "example.com/owner-uid"

// allowsTagKey reports whether a key of a tag may be a name under a domain. Types that do not allow it have no tags of the owner.
func (t *Type) allowsTagKey(name string) bool {
	matches := func(pattern string) bool {
		re, err := compilePattern(pattern)
		return err == nil && re.MatchString(keyOfOwner)
	}
	if key, _ := t.tagMembers(name); key != "" {
		return !slices.ContainsFunc(t.schemasAt([]string{name, Every, key}), func(schema map[string]any) bool {
			pattern, has := schema["pattern"].(string)
			return has && !matches(pattern)
		})
	}
	return !slices.ContainsFunc(t.schemasAt([]string{name}), func(schema map[string]any) bool {
		patterns, _ := schema["patternProperties"].(map[string]any)
		return schema["additionalProperties"] == false && !slices.ContainsFunc(slices.Collect(maps.Keys(patterns)), matches)
	})
}

// TagsOnCreate reports whether a create sets the tags.
func (t *Type) TagsOnCreate() bool {
	return t.TagProperty() != "" && says(t.tagging.TagOnCreate)
}

// TagPermissions returns the IAM actions that reading and writing tags use, in order.
func (t *Type) TagPermissions() []string {
	actions := slices.Clone(t.tagging.Permissions)
	slices.Sort(actions)
	return slices.Compact(actions)
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

// tagForm returns the form of the property of a name.
func (t *Type) tagForm(name string) form {
	if key, value := t.tagMembers(name); key != "" && value != "" {
		return tagList
	}
	for _, schema := range t.schemasAt([]string{name}) {
		_, patterns := schema["patternProperties"]
		_, members := schema["properties"]
		if !members && (patterns || schema["type"] == "object") {
			return tagMap
		}
	}
	return noTags
}

// tagMembers returns the names of the members of an element that have the key and the value of a tag.
func (t *Type) tagMembers(name string) (key, value string) {
	for _, pair := range [][2]string{{"Key", "Value"}, {"key", "value"}, {"TagKey", "TagValue"}} {
		if t.Has(name, Every, pair[0]) && t.Has(name, Every, pair[1]) && t.isList(name) {
			return pair[0], pair[1]
		}
	}
	return "", ""
}

func (t *Type) isList(name string) bool {
	return slices.ContainsFunc(t.schemasAt([]string{name}), func(schema map[string]any) bool { return schema["items"] != nil })
}

// ReadTags returns the tags that properties have; nil for none.
func (t *Type) ReadTags(properties map[string]any) map[string]string {
	name := t.TagProperty()
	out := map[string]string{}
	switch tags := properties[name].(type) {
	case []any:
		key, value := t.tagMembers(name)
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

// WriteTags returns the value of the property that has the tags: a list in the order of the keys, or an object.
func (t *Type) WriteTags(tags map[string]string) any {
	name := t.TagProperty()
	if t.tagForm(name) == tagMap {
		out := map[string]any{}
		for key, value := range tags {
			out[key] = value
		}
		return out
	}
	key, value := t.tagMembers(name)
	out := []any{}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		element := map[string]any{key: tag, value: tags[tag]}
		for _, flag := range t.flagsOfTags(name) {
			element[flag] = false
		}
		out = append(out, element)
	}
	return out
}

// flagsOfTags returns the members that are true or false and that a tag must have, such as whether a group of instances gives it to them.
func (t *Type) flagsOfTags(name string) []string {
	var out []string
	for _, schema := range t.schemasAt([]string{name, Every}) {
		required, _ := schema["required"].([]any)
		for _, member := range required {
			flag := textOf(member)
			if slices.ContainsFunc(t.schemasAt([]string{name, Every, flag}), func(s map[string]any) bool { return s["type"] == "boolean" }) {
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
