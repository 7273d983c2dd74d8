// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestAllPartsOfASelectorMustHold(t *testing.T) {
	b := bind("a")
	b.WorkloadLabels = map[string]string{"one": "1", "app": "web"}
	b.MatchLabels = map[string]string{"two": "2", "app": "web"}
	b.SelectorCEL = []string{`labels.three == "3"`, `has(labels.four)`}
	b.CEL = []string{`labels.five in ["5", "V"] && labels.app == "web"`}
	p := only(t, resolve(b, intents("a", "pkgMgrs")))
	equal(t, "labels", p.Selector.Labels, map[string]string{"one": "1", "two": "2", "three": "3", "app": "web"})
	equal(t, "expressions", p.Selector.Expressions, []metav1.LabelSelectorRequirement{
		requirement("five", metav1.LabelSelectorOpIn, "5", "V"),
		requirement("four", metav1.LabelSelectorOpExists),
	})
}

func TestAContradictionSelectsNothingAndNamesTheField(t *testing.T) {
	const workload, match = "spec.selector.workloadSelector.matchLabels", "spec.selector.matchLabels"
	for name, tc := range map[string]struct {
		workload, match string
		selectorCEL     string
		cel             string
		field, other    string
	}{
		"labels":                   {workload: "web", match: "api", field: match, other: workload},
		"a label and CEL":          {match: "web", cel: `labels.app == "api"`, field: "spec.cel[0]", other: match},
		"a label and its negation": {workload: "web", selectorCEL: `labels.app != "web"`, field: "spec.selector.cel[0]", other: workload},
		"a label and its absence":  {match: "web", cel: `!has(labels.app)`, field: "spec.cel[0]", other: match},
		"presence and absence": {selectorCEL: `has(labels.app)`, cel: `!("app" in labels)`, field: "spec.cel[0]",
			other: "spec.selector.cel[0]"},
		"two values in one expression": {cel: `labels.app == "a" && labels["app"] == "b"`, field: "spec.cel[0]"},
		"disjoint lists": {selectorCEL: `labels.app in ["a","b"]`, cel: `labels.app in ["c"]`, field: "spec.cel[0]",
			other: "spec.selector.cel[0]"},
		"everything is excluded": {cel: `labels.app in ["a","b"] && !(labels.app in ["b","a"])`, field: "spec.cel[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			b := bind("a")
			for to, value := range map[*map[string]string]string{&b.WorkloadLabels: tc.workload, &b.MatchLabels: tc.match} {
				if value != "" {
					*to = map[string]string{"app": value}
				}
			}
			for to, value := range map[*[]string]string{&b.SelectorCEL: tc.selectorCEL, &b.CEL: tc.cel} {
				if value != "" {
					*to = []string{value}
				}
			}
			p := refusedAt(t, resolve(b, intents("a", "pkgMgrs")), tc.field)
			if !strings.Contains(p.Message, `"app"`) || !strings.Contains(p.Message, tc.other) {
				t.Errorf("the message names neither the label nor %s: %s", tc.other, p.Message)
			}
		})
	}
}

func TestWhatIsNotALabelSelectsNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*intent.Binding)
		field string
	}{
		"a key": {func(b *intent.Binding) { b.MatchLabels = map[string]string{"no key": "x"} }, "spec.selector.matchLabels"},
		"a value": {func(b *intent.Binding) { b.WorkloadLabels = map[string]string{"app": "a b"} },
			"spec.selector.workloadSelector.matchLabels"},
		"an empty key":      {func(b *intent.Binding) { b.MatchLabels = map[string]string{"": "x"} }, "spec.selector.matchLabels"},
		"a key in CEL":      {func(b *intent.Binding) { b.CEL = []string{`true`, `"no key" in labels`} }, "spec.cel[1]"},
		"a value in CEL":    {func(b *intent.Binding) { b.SelectorCEL = []string{`labels.app in ["ok", "not ok"]`} }, "spec.selector.cel[0]"},
		"an excluded value": {func(b *intent.Binding) { b.CEL = []string{`labels.app != "not ok"`} }, "spec.cel[0]"},
		"a long value": {func(b *intent.Binding) { b.MatchLabels = map[string]string{"app": strings.Repeat("a", 64)} },
			"spec.selector.matchLabels"},
	} {
		t.Run(name, func(t *testing.T) {
			b := bind("a")
			tc.spoil(&b)
			refusedAt(t, resolve(b, intents("a", "pkgMgrs")), tc.field)
		})
	}
}

func TestEveryProblemOfASelectorIsReportedOnceAndInOrder(t *testing.T) {
	b := bind("a")
	b.WorkloadLabels = map[string]string{"z": "1", "y": "no value"}
	b.MatchLabels = map[string]string{"z": "2"}
	b.SelectorCEL = []string{`a || b`, `labels.z == "3"`}
	b.CEL = []string{`(`, `labels.x == "1"`}
	for range 20 {
		r := resolve(b, intents("a", "pkgMgrs"))
		var fields []string
		for _, p := range r.Problems {
			fields = append(fields, p.Field)
		}
		equal(t, "fields", fields,
			[]string{"spec.selector.workloadSelector.matchLabels", "spec.selector.matchLabels", "spec.selector.cel[0]", "spec.cel[0]"})
		if len(r.Policies) > 0 {
			t.Errorf("something is selected: %+v", r.Policies)
		}
	}
}

func TestASelectorThatAPolicyCannotHoldSelectsNothing(t *testing.T) {
	wide := func(labels, expressions int) intent.Binding {
		b := bind("a")
		for i := range max(labels, expressions) {
			if i < labels {
				b.CEL = append(b.CEL, fmt.Sprintf(`labels.l%d == "x"`, i))
			}
			if i < expressions {
				b.CEL = append(b.CEL, fmt.Sprintf(`has(labels.e%d)`, i))
			}
		}
		return b
	}
	k := intents("a", "pkgMgrs")
	p := only(t, resolve(wide(64, 64), k))
	equal(t, "labels and expressions", []int{len(p.Selector.Labels), len(p.Selector.Expressions)}, []int{64, 64})
	refusedAt(t, resolve(wide(65, 0), k), "spec.selector")
	refusedAt(t, resolve(wide(0, 65), k), "spec.selector")
}
