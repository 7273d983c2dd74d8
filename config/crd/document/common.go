// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// commonPage is the page of what all kinds of AWS resources have.
const commonPage = "common.md"

// parts are the parts of an object that have tables.
var parts = []string{"spec", "status"}

// section is one part of a kind: the rules of the part as a whole, and its fields.
type section struct {
	rules  []string
	fields []field
}

// field is a field of a part, with the rows and the rules of everything below it.
type field struct {
	name string
	walker
}

func sectionOf(s schemaProps) section {
	whole := &walker{}
	whole.collect("", s)
	out := section{rules: whole.rules}
	for _, name := range namesOf(s) {
		f := field{name: name}
		f.field(name, s.Properties[name], slices.Contains(s.Required, name))
		out.fields = append(out.fields, f)
	}
	return out
}

// tables prints the fields and the rules of a section.
func (s section) tables() string {
	w := &walker{rules: slices.Clone(s.rules)}
	for _, f := range s.fields {
		w.rows = append(w.rows, f.rows...)
		w.rules = append(w.rules, f.rules...)
	}
	return w.tables()
}

// has reports whether a section has a field with the same rows and rules.
func (s section) has(f field) bool {
	return slices.ContainsFunc(s.fields, func(other field) bool { return reflect.DeepEqual(f, other) })
}

// shared returns what two sections have in common.
func (s section) shared(other section) section {
	return section{
		rules:  slices.DeleteFunc(slices.Clone(s.rules), func(rule string) bool { return !slices.Contains(other.rules, rule) }),
		fields: slices.DeleteFunc(slices.Clone(s.fields), func(f field) bool { return !other.has(f) }),
	}
}

// without returns a section without what another one has.
func (s section) without(other section) section {
	return section{
		rules:  slices.DeleteFunc(slices.Clone(s.rules), func(rule string) bool { return slices.Contains(other.rules, rule) }),
		fields: slices.DeleteFunc(slices.Clone(s.fields), other.has),
	}
}

func (s section) names() []string {
	var out []string
	for _, f := range s.fields {
		out = append(out, f.name)
	}
	return out
}

// common holds, for each part, what all kinds of AWS resources have.
type common map[string]section

// isResource reports whether the objects of a kind stand for resources in AWS: these have policies about them.
func isResource(d *apiextensionsv1.CustomResourceDefinition) bool {
	_, ok := schemaOf(d).Properties["spec"].Properties["managementPolicy"]
	return ok
}

func schemaOf(d *apiextensionsv1.CustomResourceDefinition) *schemaProps {
	return d.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// commonOf finds the fields and rules that are the same, to the letter, in all kinds of AWS resources.
func commonOf(definitions []*apiextensionsv1.CustomResourceDefinition) common {
	out := common{}
	for _, d := range definitions {
		if !isResource(d) {
			continue
		}
		for _, part := range parts {
			own := sectionOf(schemaOf(d).Properties[part])
			if before, ok := out[part]; ok {
				own = before.shared(own)
			}
			out[part] = own
		}
	}
	return out
}

// tables prints a part of a kind: what only this kind has, after a link to what all kinds of AWS resources have.
func (c common) tables(d *apiextensionsv1.CustomResourceDefinition, part string) string {
	own := sectionOf(schemaOf(d).Properties[part])
	if !isResource(d) {
		return own.tables()
	}
	link := fmt.Sprintf("Like all kinds of AWS resources, it has the [common fields](%s#%s): %s.\n\n", commonPage, part, code(c[part].names()))
	return link + own.without(c[part]).tables()
}

// page is the page of what all kinds of AWS resources have.
func (c common) page(group string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `%s# Common fields

Every kind of the group %s has these fields, except AWSProvider, with the same limits
and rules. The page of each kind shows its other fields. [How to read the tables](README.md#how-to-read-the-tables) explains the tables.

`, generated, code([]string{group}))
	for _, part := range parts {
		fmt.Fprintf(&b, "## %s\n\n%s", title(part), c[part].tables())
	}
	return b.String()
}

func title(part string) string { return strings.ToUpper(part[:1]) + part[1:] }
