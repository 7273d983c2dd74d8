// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"fmt"
	"strings"
)

// Identity is the primary identifier of a type.
// https://docs.aws.amazon.com/cloudcontrolapi/latest/userguide/resource-identifier.html
type Identity struct {
	// IsNamed is true if a declaration can contain the whole identifier; AWS assigns that of other types.
	IsNamed bool
	parts   []path
}

// identityOf returns the identity of a type with these parts of the identifier.
func identityOf(parts []path, doc document, readOnly []path) Identity {
	out := Identity{parts: parts, IsNamed: len(parts) > 0}
	for _, p := range parts {
		if anyContains(readOnly, p) || !doc.has(p...) {
			out.IsNamed = false
		}
	}
	return out
}

// Contains reports whether a property is, or lies in, a part of the identifier.
func (i Identity) Contains(at ...string) bool { return anyContains(i.parts, at) }

// Of returns the identifier that properties have, its parts joined by |; empty while a part is missing.
func (i Identity) Of(properties map[string]any) string {
	parts := make([]string, 0, len(i.parts))
	for _, p := range i.parts {
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

// Parts returns the paths of the parts of the identifier, in their order.
func (i Identity) Parts() []string {
	out := make([]string, len(i.parts))
	for n, p := range i.parts {
		out[n] = Text(p)
	}
	return out
}

// another names the properties that must differ so that two resources can exist side by side; empty if AWS assigns the identifier.
func (i Identity) another() string {
	if !i.IsNamed {
		return ""
	}
	return " with another " + strings.Join(i.Parts(), " or ")
}
