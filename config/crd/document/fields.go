// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schemaProps = apiextensionsv1.JSONSchemaProps

// walker collects the fields and the rules of a schema.
type walker struct {
	rows  []string
	rules []string
}

// object adds the fields of an object, required ones first.
func (w *walker) object(at string, s schemaProps) {
	w.collect(at, s)
	for _, name := range namesOf(s) {
		field := name
		if at != "" {
			field = at + "." + name
		}
		w.field(field, s.Properties[name], slices.Contains(s.Required, name))
	}
}

// namesOf returns the names of an object's fields, required ones first.
func namesOf(s schemaProps) []string {
	names := slices.Sorted(maps.Keys(s.Properties))
	slices.SortStableFunc(names, func(a, b string) int {
		return order(slices.Contains(s.Required, a)) - order(slices.Contains(s.Required, b))
	})
	return names
}

func order(required bool) int {
	if required {
		return 0
	}
	return 1
}

// field adds one field and those below it. Conditions are the same everywhere, and have no rows.
func (w *walker) field(at string, s schemaProps, required bool) {
	kind := typeOf(s)
	if required {
		kind += ", required"
	}
	if s.Default != nil {
		kind += fmt.Sprintf(", default `%s`", s.Default.Raw)
	}
	w.rows = append(w.rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", at, kind, strings.Join(limits(s), "; "), cell(s.Description)))
	w.below(at, s)
}

// below adds what a field contains.
func (w *walker) below(at string, s schemaProps) {
	switch {
	case at == "conditions":
	case s.Items != nil && s.Items.Schema != nil:
		w.collect(at, s)
		w.below(at+"[]", *s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		w.collect(at, s)
		w.below(at+".*", *s.AdditionalProperties.Schema)
	case len(s.Properties) > 0:
		w.object(at, s)
	default:
		w.collect(at, s)
	}
}

// collect adds the CEL rules of a schema.
func (w *walker) collect(at string, s schemaProps) {
	for _, v := range s.XValidations {
		where := ""
		if at != "" {
			where = "`" + at + "`: "
		}
		message := v.Message
		if message == "" {
			message = "must hold"
		}
		w.rules = append(w.rules, fmt.Sprintf("- %s%s. `%s`\n", where, escape(strings.TrimSuffix(oneLine(message), ".")), oneLine(v.Rule)))
	}
}

// tables prints what was collected.
func (w *walker) tables() string {
	var b strings.Builder
	if len(w.rows) > 0 {
		b.WriteString("| Field | Type | Limits | Description |\n|---|---|---|---|\n" + strings.Join(w.rows, "") + "\n")
	}
	if len(w.rules) > 0 {
		b.WriteString("### Rules\n\n" + strings.Join(w.rules, "") + "\n")
	}
	return b.String()
}

func typeOf(s schemaProps) string {
	switch {
	case isQuantity(s):
		return "quantity"
	case s.XIntOrString:
		return "integer or string"
	case s.Items != nil && s.Items.Schema != nil:
		return "list of " + plural(typeOf(*s.Items.Schema))
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + plural(typeOf(*s.AdditionalProperties.Schema))
	case s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		return "any"
	case s.Format != "":
		return fmt.Sprintf("%s (%s)", s.Type, s.Format)
	}
	return s.Type
}

// isQuantity reports whether a schema is that of a quantity of Kubernetes, such as 250m or 1Gi.
func isQuantity(s schemaProps) bool {
	return s.XIntOrString && strings.HasPrefix(s.Pattern, `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))`)
}

func plural(kind string) string {
	switch {
	case kind == "quantity":
		return "quantities"
	case kind == "any" || strings.Contains(kind, " "):
		return kind
	}
	return kind + "s"
}

// limits are the checks of a schema beside CEL rules; those of a list's items and of a map's values are included.
func limits(s schemaProps) []string {
	out := slices.Concat(enumOf(s), textLimits(s), numberLimits(s), sizeLimits(s))
	if s.Items != nil && s.Items.Schema != nil {
		out = append(out, each(limits(*s.Items.Schema))...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out = append(out, each(limits(*s.AdditionalProperties.Schema))...)
	}
	return out
}

func each(limits []string) []string {
	for i := range limits {
		limits[i] = "each: " + strings.TrimPrefix(limits[i], "each: ")
	}
	return limits
}

func enumOf(s schemaProps) []string {
	if len(s.Enum) == 0 {
		return nil
	}
	var words []string
	for _, v := range s.Enum {
		words = append(words, "`"+strings.Trim(string(v.Raw), `"`)+"`")
	}
	return []string{"one of " + strings.Join(words, ", ")}
}

func textLimits(s schemaProps) []string {
	out := between(s.MinLength, s.MaxLength, "characters")
	if s.Pattern != "" && !isQuantity(s) {
		out = append(out, "matches "+pattern(s.Pattern))
	}
	return out
}

func numberLimits(s schemaProps) []string {
	switch {
	case s.Minimum != nil && s.Maximum != nil && *s.Minimum == *s.Maximum:
		return []string{"exactly " + number(*s.Minimum)}
	case s.Minimum != nil && s.Maximum != nil:
		return []string{number(*s.Minimum) + " to " + number(*s.Maximum)}
	case s.Minimum != nil:
		return []string{"at least " + number(*s.Minimum)}
	case s.Maximum != nil:
		return []string{"at most " + number(*s.Maximum)}
	}
	return nil
}

func sizeLimits(s schemaProps) []string {
	out := slices.Concat(between(s.MinItems, s.MaxItems, "items"), between(s.MinProperties, s.MaxProperties, "keys"))
	if s.XListType != nil && *s.XListType == "set" {
		out = append(out, "no item twice")
	}
	if len(s.XListMapKeys) > 0 {
		out = append(out, "one item for each "+code(s.XListMapKeys))
	}
	return out
}

func between(least, most *int64, of string) []string {
	switch {
	case least != nil && most != nil && *least == *most:
		return []string{"exactly " + count(*most, of)}
	case least != nil && most != nil && *least > 0:
		return []string{fmt.Sprintf("%d to %s", *least, count(*most, of))}
	case most != nil:
		return []string{"at most " + count(*most, of)}
	case least != nil && *least > 0:
		return []string{"at least " + count(*least, of)}
	}
	return nil
}

// count writes a number of things, of which the word names several.
func count(n int64, of string) string {
	if n == 1 {
		of = strings.TrimSuffix(of, "s")
	}
	return fmt.Sprintf("%d %s", n, of)
}

// number writes a limit with all of its digits.
func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
