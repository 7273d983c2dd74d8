// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// condition is an expression with its meaning when a label that is not there equals nothing.
type condition struct {
	cel   string
	holds func(pod map[string]string) bool
}

func keys() []string { return []string{"app", "tier", "x.io/part"} }

func values() []string { return []string{"", "a", "b"} }

// pods are all that can differ in the keys and values above.
func pods() []map[string]string {
	out := []map[string]string{{}}
	for _, k := range keys() {
		for _, pod := range slices.Clone(out) {
			for _, v := range values() {
				more := maps.Clone(pod)
				more[k] = v
				out = append(out, more)
			}
		}
	}
	return out
}

// labelNamed writes a label in one of its ways; only an index can have a slash.
func labelNamed(t *rapid.T, key string) string {
	root := rapid.SampledFrom([]string{"labels", "object.metadata.labels"}).Draw(t, "root")
	if strings.Contains(key, "/") || rapid.Bool().Draw(t, "index") {
		return root + "[" + strconv.Quote(key) + "]"
	}
	return root + "." + key
}

// atom is a condition on one label.
func atom(t *rapid.T) condition {
	key := rapid.SampledFrom(keys()).Draw(t, "key")
	value := rapid.SampledFrom(values()).Draw(t, "value")
	label, quoted := labelNamed(t, key), strconv.Quote(value)
	present := func(pod map[string]string) bool { _, ok := pod[key]; return ok }
	same := func(pod map[string]string) bool { v, ok := pod[key]; return ok && v == value }
	differs := func(pod map[string]string) bool { return !same(pod) }
	switch rapid.IntRange(0, 6).Draw(t, "form") {
	case 0:
		return condition{label + " == " + quoted, same}
	case 1:
		return condition{quoted + " == " + label, same}
	case 2:
		return condition{label + " != " + quoted, differs}
	case 3:
		return condition{quoted + " != " + label, differs}
	case 4:
		list := rapid.SliceOfN(rapid.SampledFrom(values()), 1, 4).Draw(t, "list")
		texts := make([]string, len(list))
		for i, v := range list {
			texts[i] = strconv.Quote(v)
		}
		return condition{label + " in [" + strings.Join(texts, ", ") + "]", func(pod map[string]string) bool {
			v, ok := pod[key]
			return ok && slices.Contains(list, v)
		}}
	case 5:
		return condition{fmt.Sprintf("%q in labels", key), present}
	default:
		if strings.Contains(key, "/") {
			return condition{fmt.Sprintf("%q in object.metadata.labels", key), present}
		}
		return condition{"has(object.metadata.labels." + key + ")", present}
	}
}

func not(c condition) condition {
	return condition{"!(" + c.cel + ")", func(pod map[string]string) bool { return !c.holds(pod) }}
}

func both(a, b condition) condition {
	return condition{a.cel + " && " + b.cel, func(pod map[string]string) bool { return a.holds(pod) && b.holds(pod) }}
}

func either(a, b condition) condition {
	return condition{"(" + a.cel + " || " + b.cel + ")", func(pod map[string]string) bool { return a.holds(pod) || b.holds(pod) }}
}

// supported is a condition that is promised to be translated.
func supported(t *rapid.T, depth int) condition {
	form := rapid.IntRange(0, 5).Draw(t, "shape")
	switch {
	case form == 0:
		return not(atom(t))
	case form == 1:
		return not(not(atom(t)))
	case form == 2 && depth > 0:
		return not(not(supported(t, depth-1)))
	case form == 3 && depth > 0:
		c := both(supported(t, depth-1), supported(t, depth-1))
		return condition{"(" + c.cel + ")", c.holds}
	case form == 4 && depth > 0:
		return both(supported(t, depth-1), supported(t, depth-1))
	default:
		return atom(t)
	}
}

// anyCondition is a condition that may not be supported.
func anyCondition(t *rapid.T, depth int) condition {
	if depth == 0 {
		return atom(t)
	}
	switch rapid.IntRange(0, 4).Draw(t, "shape") {
	case 0:
		return not(anyCondition(t, depth-1))
	case 1:
		return either(anyCondition(t, depth-1), anyCondition(t, depth-1))
	case 2:
		return both(anyCondition(t, depth-1), anyCondition(t, depth-1))
	case 3:
		return condition{`"a".startsWith("b")`, func(map[string]string) bool { return false }}
	default:
		return atom(t)
	}
}

// evaluator runs an expression as CEL does; ok is false where that is an error.
func evaluator(t fatal, expression string) func(pod map[string]string) (holds, ok bool) {
	t.Helper()
	env, err := cel.NewEnv(cel.Variable("labels", cel.MapType(cel.StringType, cel.StringType)), cel.Variable("object", cel.DynType))
	if err != nil {
		t.Fatalf("%v", err)
	}
	checked, issues := env.Compile(expression)
	if issues.Err() != nil {
		t.Fatalf("%s: %v", expression, issues.Err())
	}
	program, err := env.Program(checked)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return func(pod map[string]string) (bool, bool) {
		out, _, err := program.Eval(map[string]any{"labels": pod, "object": map[string]any{"metadata": map[string]any{"labels": pod}}})
		if err != nil {
			return false, false
		}
		holds, ok := out.Value().(bool)
		return holds, ok
	}
}

// selected says which pods a resolution selects; without a policy none.
func selected(t fatal, r intent.Resolution, pod map[string]string) bool {
	t.Helper()
	return len(r.Policies) == 1 && selects(t, r.Policies[0].Selector, pod)
}

// refused says that nothing is selected, and that there is a reason.
func refused(t fatal, r intent.Resolution) {
	t.Helper()
	if len(r.Policies) > 0 || !slices.ContainsFunc(r.Problems, func(p intent.Problem) bool { return p.Fatal }) {
		t.Fatalf("nothing should be selected, for a reason: %+v", r)
	}
}

func TestATranslatedSelectorSelectsExactlyWhatCELSelects(t *testing.T) {
	all := pods()
	if len(all) != 64 {
		t.Fatalf("%d pods", len(all))
	}
	some, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		conditions := make([]condition, rapid.IntRange(1, 3).Draw(t, "expressions"))
		b := bind("a")
		for i := range conditions {
			conditions[i] = supported(t, 3)
			to := rapid.SampledFrom([]*[]string{&b.CEL, &b.SelectorCEL}).Draw(t, "field")
			*to = append(*to, conditions[i].cel)
		}
		b.MatchLabels = rapid.MapOfN(rapid.SampledFrom(keys()), rapid.SampledFrom(values()), 0, 1).Draw(t, "labels")
		whole := condition{"true", func(map[string]string) bool { return true }}
		for _, c := range conditions {
			whole = both(whole, condition{"(" + c.cel + ")", c.holds})
		}
		evaluate := evaluator(t, whole.cel)
		r := resolve(b, intents("a", "pkgMgrs"))
		for _, p := range r.Problems {
			if p.Condition != "" || !strings.HasPrefix(p.Message, "no pod can meet") {
				t.Fatalf("%v: %+v", conditions, p)
			}
		}
		for _, pod := range all {
			labeled := true
			for k, v := range b.MatchLabels {
				has, ok := pod[k]
				labeled = labeled && ok && has == v
			}
			got := selected(t, r, pod)
			if got {
				some++
			} else {
				none++
			}
			if want := labeled && whole.holds(pod); got != want {
				t.Fatalf("%s with %v on %v: selected %v, wanted %v (%+v)", whole.cel, b.MatchLabels, pod, got, want, r)
			}
			if holds, ok := evaluate(pod); ok && got != (labeled && holds) {
				t.Fatalf("%s with %v on %v: selected %v, and CEL says %v", whole.cel, b.MatchLabels, pod, got, holds)
			}
		}
	})
	if some < 100 || none < 100 {
		t.Errorf("%d pods were selected, %d were not: that shows little", some, none)
	}
}

func TestWhateverIsWrittenNothingIsSelectedThatCELDoesNotSelect(t *testing.T) {
	translated, not := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := anyCondition(t, 3)
		evaluate := evaluator(t, c.cel)
		r := withCEL(c.cel)
		if len(r.Policies) == 0 {
			not++
			refused(t, r)
			return
		}
		translated++
		for _, pod := range pods() {
			got := selected(t, r, pod)
			if want := c.holds(pod); got != want {
				t.Fatalf("%s on %v: selected %v, wanted %v", c.cel, pod, got, want)
			}
			if holds, ok := evaluate(pod); ok && got != holds {
				t.Fatalf("%s on %v: selected %v, and CEL says %v", c.cel, pod, got, holds)
			}
		}
	})
	if translated == 0 || not == 0 {
		t.Errorf("%d were translated, %d refused", translated, not)
	}
}

func TestAnyTextIsTranslatedOrRefused(t *testing.T) {
	tokens := []string{"labels", ".app", `["app"]`, `"a"`, "==", "!=", "in", "has(", "(", ")", "[", "]", "{", "}", "&&", "||", "!", "true",
		"1", ",", "`x`", "?", ":", ".", " ", "\n", "\x00", "object.metadata.labels"}
	rapid.Check(t, func(t *rapid.T) {
		expression := strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 20).Draw(t, "tokens"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		if rapid.Bool().Draw(t, "noise") {
			expression += rapid.String().Draw(t, "text")
		}
		r := withCEL(expression)
		if len(r.Policies) == 0 {
			refused(t, r)
			return
		}
		selects(t, only(t, r).Selector, nil)
	})
}
