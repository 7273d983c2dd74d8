// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// Repaired returns an object without its values of a wrong type: they become the probable meaning, such as a number for a text of digits,
// or are left out. Mistakes beside them can then be found in the same run.
func (s *Schemas) Repaired(kind string, content map[string]any) (map[string]any, error) {
	c, err := s.compiled(kind)
	if err != nil {
		return nil, err
	}
	repaired, _ := c.repaired(content)
	return repaired, nil
}

// repaired is Repaired, with the paths of the values that are left out.
func (c *compiled) repaired(content map[string]any) (repaired map[string]any, left []string) {
	repaired = runtime.DeepCopyJSON(content)
	delete(repaired, "status")
	for _, path := range c.mistyped(repaired) {
		changeAt(repaired, path, asMeant)
	}
	left = c.mistyped(repaired)
	for _, path := range left {
		changeAt(repaired, path, func(any) any { return nil })
	}
	return repaired, left
}

// mistyped returns the paths of the values of a wrong type.
func (c *compiled) mistyped(content map[string]any) []string {
	var paths []string
	for _, e := range c.breaks(content) {
		if e.Type == field.ErrorTypeTypeInvalid {
			paths = append(paths, e.Field)
		}
	}
	return paths
}

// rulesBeside returns the rules that an object breaks, also one that breaks the schema. The API server looks at the rules only when the
// schema holds, but a person wants to correct all mistakes at once.
func (c *compiled) rulesBeside(ctx context.Context, broken field.ErrorList, content map[string]any) field.ErrorList {
	repaired, left := c.repaired(content)
	found, _ := c.rules().Validate(ctx, nil, c.shape, repaired, nil, celconfig.RuntimeCELCostBudget)
	if len(broken) == 0 {
		return found
	}
	return slices.DeleteFunc(found, func(e *field.Error) bool {
		// A rule that lacks a required field cannot be evaluated, and one above a value that was left out may speak of its absence.
		return strings.Contains(e.Detail, " evaluating rule: ") ||
			slices.ContainsFunc(left, func(path string) bool { return isUnder(path, fieldOf(e)) })
	})
}

// fieldOf returns the path of an error, which is empty for the whole object.
func fieldOf(e *field.Error) string { return strings.TrimPrefix(e.Field, (*field.Path)(nil).String()) }

// valueAt returns the value at a path; nil where there is none.
func valueAt(content map[string]any, path string) (found any) {
	if path == "" {
		return content
	}
	changeAt(content, path, func(v any) any { found = v; return v })
	return found
}

// hasText reports whether a value is, or contains, a text of a kind.
func hasText(v any, is func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return is(v)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), func(part any) bool { return hasText(part, is) })
	case []any:
		return slices.ContainsFunc(v, func(part any) bool { return hasText(part, is) })
	default:
		return false
	}
}

// isUnder reports whether a path is that of a value or of a part of it.
func isUnder(path, of string) bool {
	rest, has := strings.CutPrefix(path, of)
	return has && (of == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// asMeant returns the probable meaning of a value of another type: the value in a text, or the text of any other value.
func asMeant(v any) any {
	text, is := v.(string)
	if !is {
		return fmt.Sprint(v)
	}
	var meant any
	if yaml.Unmarshal([]byte(text), &meant) != nil {
		return v
	}
	if number, is := meant.(float64); is && number == float64(int64(number)) {
		return int64(number)
	}
	return meant
}

// changeAt replaces the value at a path of the API server's library, or removes it where the replacement is nil. The keys of maps may
// contain dots.
func changeAt(v any, path string, change func(any) any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch {
			case path != key && isUnder(path, key):
				changeAt(value, strings.TrimPrefix(path[len(key):], "."), change)
			case path != key:
			default:
				if v[key] = change(value); v[key] == nil {
					delete(v, key)
				}
			}
		}
	case []any:
		for i, value := range v {
			switch at := fmt.Sprintf("[%d]", i); {
			case path == at:
				v[i] = change(value)
			case isUnder(path, at):
				changeAt(value, strings.TrimPrefix(path[len(at):], "."), change)
			}
		}
	}
}
