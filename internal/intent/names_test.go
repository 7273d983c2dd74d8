// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestAWildcardStandsForOneLabel(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a.example.com", "a.example.com", true},
		{"a.example.com", "b.example.com", false},
		{"*.example.com", "a.example.com", true},
		{"*.example.com", "a.b.example.com", false},
		{"*.example.com", "example.com", false},
		{"*.example.com", "*.example.com", true},
		{"a.example.com", "*.example.com", false},
		{"*.b.example.com", "*.example.com", false},
	} {
		if got := intent.NameMatches(c.pattern, c.name); got != c.want {
			t.Errorf("%s for %s: %v", c.pattern, c.name, got)
		}
	}
}

func TestSelectorsMeetWhereAPodCanBeInBoth(t *testing.T) {
	with := func(labels map[string]string, e ...metav1.LabelSelectorRequirement) intent.Selector {
		return intent.Selector{Labels: labels, Expressions: e}
	}
	where := func(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	web := with(map[string]string{"app": "web"})
	for name, c := range map[string]struct {
		a, b intent.Selector
		want bool
	}{
		"everything":          {with(nil), web, true},
		"the same":            {web, web, true},
		"another value":       {web, with(map[string]string{"app": "api"}), false},
		"another label":       {web, with(map[string]string{"tier": "back"}), true},
		"among":               {web, with(nil, where("app", metav1.LabelSelectorOpIn, "api", "web")), true},
		"not among":           {web, with(nil, where("app", metav1.LabelSelectorOpIn, "api")), false},
		"excluded":            {web, with(nil, where("app", metav1.LabelSelectorOpNotIn, "web")), false},
		"without the label":   {web, with(nil, where("app", metav1.LabelSelectorOpDoesNotExist)), false},
		"with the label":      {web, with(nil, where("app", metav1.LabelSelectorOpExists)), true},
		"what cannot be read": {web, with(nil, where("app", "Gt", "1")), true},
		"what itself contradicts": {with(nil, where("a", metav1.LabelSelectorOpExists), where("a", metav1.LabelSelectorOpDoesNotExist)),
			with(nil), false},
	} {
		if c.a.Meets(c.b) != c.want || c.b.Meets(c.a) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}

func TestNamesOutward_AuditsAndClusterPoliciesHaveNoObject(t *testing.T) {
	r := intent.Rule{ID: intent.EgressToNames, Canonical: intent.EgressToNames, Action: v1alpha1.Block,
		Params: map[string][]string{"names": {"api.example.com"}}}
	audit := r
	audit.Action = v1alpha1.Audit
	for want, c := range map[string]struct {
		p intent.Policy
		r intent.Rule
	}{
		intent.ReasonElsewhere:        {intent.Policy{Name: "p"}, r},
		intent.ReasonAuditUnsupported: {intent.Policy{Name: "p", Namespace: "n"}, audit},
		intent.ReasonNotCovered:       {intent.Policy{Name: "p", Namespace: "nexus-system"}, r},
	} {
		if _, no := intent.ReadNamesOutward("Cilium", c.p, c.r, intent.Facts{OperatorNamespace: "nexus-system"}); no == nil || no.Reason != want {
			t.Errorf("want %s, got %+v", want, no)
		}
	}
}
