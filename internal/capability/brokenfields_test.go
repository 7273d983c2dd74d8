// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// brokenField is a field with a value that it cannot have.
type brokenField struct {
	// path leads to the field by names and indexes.
	path  []any
	value any
}

// String is the path as the API server writes it.
func (b brokenField) String() string {
	out := "spec"
	for _, step := range b.path {
		if i, ok := step.(int); ok {
			out += fmt.Sprintf("[%d]", i)
		} else {
			out += fmt.Sprintf(".%s", step)
		}
	}
	return out
}

// breakEach returns every field below a path with values that no field of its kind can have: another type, a text that is too
// long and has signs that are nowhere legal, and a number below all.
func breakEach(path []any, value any) []brokenField {
	broken := func(wrong ...any) (out []brokenField) {
		for _, w := range wrong {
			out = append(out, brokenField{path, w})
		}
		return out
	}
	below := func(step any) []any { return append(slices.Clone(path), step) }
	switch v := value.(type) {
	case map[string]any:
		out := broken("text")
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, breakEach(below(k), v[k])...)
		}
		return out
	case []any:
		out := broken("text")
		for i := range v {
			out = append(out, breakEach(below(i), v[i])...)
		}
		return out
	case string:
		return broken(true, strings.Repeat("é !", 2000))
	case int64:
		return broken("text", int64(-9))
	default:
		return broken("text")
	}
}

// setAt returns a copy of a value with another value at a path.
func setAt(value any, path []any, to any) any {
	if len(path) == 0 {
		return to
	}
	if k, ok := path[0].(string); ok {
		m := maps.Clone(value.(map[string]any))
		m[k] = setAt(m[k], path[1:], to)
		return m
	}
	i, l := path[0].(int), slices.Clone(value.([]any))
	l[i] = setAt(l[i], path[1:], to)
	return l
}

// TestFullReference_EachFieldBrokenIsNamed breaks every field of the example in turn, and those that need an administrator.
func TestFullReference_EachFieldBrokenIsNamed(t *testing.T) {
	s := newAdmission(t)
	c := example(t, "full-reference.yaml")
	c.Spec.DataServices.Bedrock = example(t, "capability-with-bedrock.yaml").Spec.DataServices.Bedrock
	c.Spec.Budget = example(t, "capability-with-budget.yaml").Spec.Budget
	c.Spec.Budget.Currency, c.Spec.Budget.Thresholds = "USD", []nexusv1.BudgetThreshold{{Percent: 80, Costs: nexusv1.CostsActual}}
	m := manifest(t, c)
	spec, n := m.Object["spec"], 0
	for _, b := range breakEach(nil, spec) {
		n++
		m.Object["spec"] = setAt(spec, b.path, b.value)
		if refusal := refusalOf(t, s, m); !strings.Contains(refusal, b.String()) {
			t.Errorf("%s = %.40v: the refusal does not name the field: %.300s", b, b.value, refusal)
		}
	}
	if n < 300 {
		t.Errorf("only %d fields were broken", n)
	}
}
