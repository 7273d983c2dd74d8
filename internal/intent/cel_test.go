// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const (
	isIn     = metav1.LabelSelectorOpIn
	isNotIn  = metav1.LabelSelectorOpNotIn
	isThere  = metav1.LabelSelectorOpExists
	isAbsent = metav1.LabelSelectorOpDoesNotExist
)

func withCEL(expressions ...string) intent.Resolution {
	b := bind("a")
	b.CEL = expressions
	return resolve(b, intents("a", "pkgMgrs"))
}

func TestEqualitiesBecomeLabels(t *testing.T) {
	for _, expression := range []string{
		`labels["app"] == "web"`,
		`labels['app'] == 'web'`,
		`labels.app == "web"`,
		`"web" == labels.app`,
		`object.metadata.labels["app"] == "web"`,
		`object.metadata.labels.app == "web"`,
		`(labels.app == "web")`,
		`!(labels.app != "web")`,
		`!!(labels.app == "web")`,
		`!(!(labels.app == "web"))`,
		`!(!(labels.app == "web" && true))`,
		`labels.app in ["web"]`,
		`labels.app in ["web", "web"]`,
		`labels.app in ["web", "api"] && labels.app != "api"`,
		`labels.app in ["web", "api"] && labels.app in ["db", "web"]`,
		`labels.app == "web" && has(labels.app) && labels.app != "api" && !false`,
		"labels.`app` == \"web\"",
	} {
		p := only(t, withCEL(expression))
		equal(t, expression, p.Selector, intent.Selector{Labels: map[string]string{"app": "web"}})
	}
}

func TestAKeyWithSlashesAndDotsIsALabel(t *testing.T) {
	p := only(t, withCEL(`labels["app.kubernetes.io/name"] == "web" && "app.kubernetes.io/part-of" in labels`))
	equal(t, "labels", p.Selector.Labels, map[string]string{"app.kubernetes.io/name": "web"})
	equal(t, "expressions", p.Selector.Expressions, []metav1.LabelSelectorRequirement{requirement("app.kubernetes.io/part-of", isThere)})
}

func TestOtherConditionsBecomeExpressions(t *testing.T) {
	for expression, want := range map[string]metav1.LabelSelectorRequirement{
		`labels["app"] != "web"`:                       requirement("app", isNotIn, "web"),
		`"web" != labels.app`:                          requirement("app", isNotIn, "web"),
		`!(labels.app == "web")`:                       requirement("app", isNotIn, "web"),
		`labels.app in ["web", "api", "web"]`:          requirement("app", isIn, "api", "web"),
		`!(labels.app in ["web", "api"])`:              requirement("app", isNotIn, "api", "web"),
		`labels.app != "web" && labels.app != "api"`:   requirement("app", isNotIn, "api", "web"),
		`"app" in labels`:                              requirement("app", isThere),
		`"app" in object.metadata.labels`:              requirement("app", isThere),
		`has(labels.app)`:                              requirement("app", isThere),
		`has(object.metadata.labels.app)`:              requirement("app", isThere),
		`has(labels.app) && "app" in labels`:           requirement("app", isThere),
		`!has(labels.app)`:                             requirement("app", isAbsent),
		`!("app" in labels)`:                           requirement("app", isAbsent),
		`!has(labels.app) && labels.app != "web"`:      requirement("app", isAbsent),
		`!!has(labels.app)`:                            requirement("app", isThere),
		`labels.app in ["", "web"] && has(labels.app)`: requirement("app", isIn, "", "web"),
	} {
		p := only(t, withCEL(expression))
		equal(t, expression, p.Selector, intent.Selector{Expressions: []metav1.LabelSelectorRequirement{want}})
	}
}

func TestExpressionsAreOrderedByKeyHoweverTheyAreWritten(t *testing.T) {
	want := []metav1.LabelSelectorRequirement{
		requirement("a", isThere), requirement("a", isNotIn, "1"), requirement("b", isAbsent), requirement("c", isIn, "1", "2"),
	}
	for _, expressions := range [][]string{
		{`labels.c in ["2", "1"]`, `!has(labels.b)`, `labels.a != "1" && has(labels.a)`},
		{`has(labels.a) && !has(labels.b) && labels.c in ["1", "2"] && labels.a != "1"`},
	} {
		equal(t, "expressions", only(t, withCEL(expressions...)).Selector.Expressions, want)
	}
}

func TestTrueSelectsEveryPod(t *testing.T) {
	equal(t, "true", only(t, withCEL(`true`, `!false`)).Selector, intent.Selector{})
}

func TestALabelThatIsNotThereDiffersFromEveryValue(t *testing.T) {
	p := only(t, withCEL(`labels.app != "web"`))
	for name, tc := range map[string]struct {
		pod  map[string]string
		want bool
	}{"another": {map[string]string{"app": "api"}, true}, "the same": {map[string]string{"app": "web"}, false}, "none": {nil, true}} {
		if got := selects(t, p.Selector, tc.pod); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatCannotBeTranslatedSelectsNothingAndSaysWhichPart(t *testing.T) {
	for expression, says := range map[string]string{
		`labels.app == "web" || labels.app == "api"`:              "in a selector",
		`has(labels.x) && (labels.app == "web" || has(labels.y))`: `labels.app == "web" || has(labels.y)`,
		`!(labels.app == "web" && labels.tier == "x")`:            "negated as a whole",
		`!(labels.app == "web" || labels.tier == "x")`:            "in a selector",
		`has(labels.x) && labels.app.startsWith("web")`:           "`labels.app.startsWith(\"web\")` is not one of",
		`labels.app.matches("web.*")`:                             "matches",
		`labels.exists(k, k == "app")`:                            "exists",
		`size(labels) == 0`:                                       "size(labels)",
		`labels.size() == 0`:                                      "labels.size()",
		`pod.metadata.labels.app == "web"`:                        "pod.metadata",
		`metadata.labels.app == "web"`:                            "metadata",
		`x.object.metadata.labels.app == "web"`:                   "x.object",
		`.labels.app == "web"`:                                    "labels.app",
		`object.metadata.annotations.app == "web"`:                "annotations",
		`object.metadata.name == "web"`:                           "name",
		`object.metadata["labels"].app == "web"`:                  "labels",
		`has(object.metadata.labels)`:                             "has(object.metadata.labels)",
		`has(labels)`:                                             "",
		`labels`:                                                  "`labels` cannot be translated, and nothing is selected: it is not one of",
		`labels.app`:                                              "labels.app",
		`labels == "web"`:                                         "labels",
		`labels.app.kubernetes == "web"`:                          "labels.app.kubernetes",
		`labels.app == 1`:                                         "1",
		`labels.app == true`:                                      "true",
		`labels.app == null`:                                      "null",
		`labels.app == b"web"`:                                    "web",
		`labels[1] == "web"`:                                      "labels[1]",
		`labels[labels.app] == "web"`:                             "labels[labels.app]",
		`labels.app == labels.tier`:                               "labels.tier",
		`"web" == "web"`:                                          "web",
		`labels.app == "we" + "b"`:                                "+",
		`labels.app in []`:                                        "[]",
		`labels.app in ["web", 1]`:                                "1",
		`labels.app in [labels.tier]`:                             "labels.tier",
		`labels.app in labels`:                                    "labels.app in labels",
		`labels.app in "web"`:                                     "web",
		`"app" in ["app"]`:                                        "app",
		`"app" in object.metadata`:                                "object.metadata",
		`labels.app > "web"`:                                      ">",
		`labels.app == "web" ? true : false`:                      "?",
		`(labels.app == "web") == true`:                           "true",
		`{"app": "web"} == labels`:                                "labels",
		`labels.app in {"web": true}`:                             "web",
		`has(labels.app) == "web"`:                                "has(labels.app)",
		`has(object.metadata).labels.app == "web"`:                "has(object.metadata)",
		`labels.has("app")`:                                       "labels.has",
		`has(labels.app) == true`:                                 "has(labels.app)",
		`dyn(labels.app) == "web"`:                                "dyn",
		`false`:                                                   "never holds",
		`!true`:                                                   "never holds",
		`labels.app == "web" && false`:                            "never holds",
		`"true"`:                                                  "true",
		`1`:                                                       "1",
		``:                                                        "column",
		` `:                                                       "column",
		`labels.app == `:                                          "column 15",
		`labels.app = "web"`:                                      "column 12",
		`labels.app == "web`:                                      "column",
		`labels[?"app"] == "web"`:                                 "unsupported syntax",
		`labels.?app == "web"`:                                    "unsupported syntax",
		strings.Repeat("(", 40) + "true" + strings.Repeat(")", 40):       "recursion",
		`labels` + strings.Repeat(".a", 60) + ` == "web"`:                "recursion",
		`labels.app == "` + strings.Repeat("x", 1100) + `"`:              "limit",
		`"` + strings.Repeat("ü", 300) + `" == "` + `" || labels.app.b`:  "…",
		`labels.app in [` + strings.Repeat(`"a",`, 200) + `labels.tier]`: "…",
	} {
		p := nothing(t, withCEL(`has(labels.fine)`, expression))
		if p.Condition != v1alpha1.ConditionSelectorUnsupported || p.Reason != intent.ReasonSelectorUnsupported || p.Field != "spec.cel[1]" {
			t.Errorf("%s: the problem is %+v", expression, p)
		}
		if !strings.Contains(p.Message, says) {
			t.Errorf("%s: %q is not in %q", expression, says, p.Message)
		}
		if quoted := strings.Trim(expression, `"`); len(expression) < 60 && !strings.Contains(p.Message, quoted) {
			t.Errorf("%s is not quoted in %q", expression, p.Message)
		}
		if len(p.Message) > 1200 {
			t.Errorf("%s: the message has %d bytes", expression, len(p.Message))
		}
	}
}

func TestABadExpressionOfTheSelectorNamesItsPlace(t *testing.T) {
	b := bind("a")
	b.SelectorCEL = []string{`true`, `labels.app.size() == 1`}
	if p := nothing(t, resolve(b, intents("a", "pkgMgrs"))); p.Field != "spec.selector.cel[1]" {
		t.Errorf("the problem is %+v", p)
	}
}

func TestNothingThatFitsIntoAnExpressionTakesLong(t *testing.T) {
	for _, expression := range []string{
		strings.Repeat("(", 1024),
		strings.Repeat("[", 1024),
		strings.Repeat("{", 1024),
		strings.Repeat("!", 1023) + "x",
		strings.Repeat("-", 1024),
		strings.Repeat("a(", 512),
		strings.Repeat("a?", 512),
		strings.Repeat("a.", 512),
		strings.Repeat("a[", 512),
		strings.Repeat(`"`, 1023),
		strings.Repeat("a&&", 341) + "a",
		strings.Repeat("a||", 341) + "a",
		strings.Repeat("a==", 341) + "a",
		strings.Repeat("has(", 256),
		strings.Repeat("&|", 512),
	} {
		start := time.Now()
		nothing(t, withCEL(expression))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%.10s… took %v", expression, took)
		}
	}
}
