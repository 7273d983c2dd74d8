// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"regexp"
	"slices"
	"strings"
)

// Every stands for each element of a list, and for each member of a map, in a path.
const Every = "*"

// path leads from the properties to one of them, by the names of members and Every.
type path []string

// pathsOf reads the pointers of a schema, such as /properties/Rules/*/Id. Some have the structure of the schema in them, as in
// /properties/Rules/items/properties/Id.
func pathsOf(pointers []string) []path {
	var out []path
	for _, pointer := range pointers {
		var p path
		for key := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(pointer, "/properties"), "/"), "/") {
			switch key {
			case "properties":
			case "items", "patternProperties":
				p = append(p, Every)
			default:
				p = append(p, unescape.Replace(key))
			}
		}
		out = append(out, p)
	}
	return out
}

// pointerPath reads a JSON pointer to a property: https://www.rfc-editor.org/rfc/rfc6901
func pointerPath(pointer string) path {
	p := path(strings.Split(strings.TrimPrefix(pointer, "/"), "/"))
	for i := range p {
		p[i] = unescape.Replace(p[i])
	}
	return p
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// contains reports whether the property at a path is the one at p or lies below it. Pointers may leave out the elements of lists.
func (p path) contains(at []string) bool {
	i := 0
	for _, key := range at {
		switch {
		case i == len(p):
			return true
		case p[i] == key || p[i] == Every:
			i++
		case key == Every: // the pointer leaves it out
		default:
			return false
		}
	}
	return i == len(p)
}

// anyContains reports whether one of the paths contains at.
func anyContains(paths []path, at []string) bool {
	return slices.ContainsFunc(paths, func(p path) bool { return p.contains(at) })
}

// element matches the index of an element of a list in a text of a path.
var element = regexp.MustCompile(`\[[0-9]+\]`)

// PathOf returns the path of a property from a text with indexes for elements of lists, such as Rules[0].Id.
func PathOf(text string) []string {
	return strings.Split(element.ReplaceAllString(text, "."+Every), ".")
}

// Text returns the path of a property as messages have it: Rules[*].Id.
func Text(at []string) string {
	var b strings.Builder
	for i, key := range at {
		switch {
		case key == Every:
			b.WriteString("[*]")
		case i > 0:
			b.WriteString("." + key)
		default:
			b.WriteString(key)
		}
	}
	return b.String()
}
