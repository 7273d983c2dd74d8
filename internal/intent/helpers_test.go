// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// fatal holds the methods that *testing.T and *rapid.T have in common.
type fatal interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

type known map[string]*v1alpha1.SecurityIntent

func securityIntent(name, id string, action v1alpha1.Action, params v1alpha1.Params) *v1alpha1.SecurityIntent {
	i := &v1alpha1.SecurityIntent{}
	i.Name = name
	i.Spec.Intent = v1alpha1.Intent{ID: id, Action: action, Description: "of " + name, Severity: "5", Tags: []string{name}, Params: params}
	return i
}

// intents are SecurityIntents given as name, id pairs; each blocks.
func intents(pairs ...string) known {
	out := known{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = securityIntent(pairs[i], pairs[i+1], v1alpha1.Block, nil)
	}
	return out
}

func bind(names ...string) intent.Binding {
	return intent.Binding{Kind: intent.KindBinding, Namespace: "shop", Name: "web", Intents: names}
}

func bindCluster(match []string, exclude []string, names ...string) intent.Binding {
	return intent.Binding{
		Kind: intent.KindClusterBinding, Name: "all", Intents: names,
		Namespaces: v1alpha1.NamespaceSelector{MatchNames: namespaceNames(match), ExcludeNames: namespaceNames(exclude)},
	}
}

func namespaceNames(names []string) []v1alpha1.NamespaceName {
	var out []v1alpha1.NamespaceName
	for _, n := range names {
		out = append(out, v1alpha1.NamespaceName(n))
	}
	return out
}

func namespaces(names ...string) []intent.Namespace {
	out := make([]intent.Namespace, len(names))
	for i, n := range names {
		out[i] = intent.Namespace{Name: n}
	}
	return out
}

func resolve(b intent.Binding, known known, names ...string) intent.Resolution {
	return intent.Resolve(b, known, namespaces(names...), intent.Options{OperatorNamespace: "nexus-system"})
}

// only is the one policy of a resolution without problems.
func only(t fatal, r intent.Resolution) intent.Policy {
	t.Helper()
	if len(r.Policies) != 1 || len(r.Problems) > 0 {
		t.Fatalf("there are %d policies, and problems %+v", len(r.Policies), r.Problems)
	}
	return r.Policies[0]
}

// nothing returns the only problem of a resolution, which makes it select nothing.
func nothing(t fatal, r intent.Resolution) intent.Problem {
	t.Helper()
	if len(r.Policies) > 0 || r.Cluster != nil {
		t.Fatalf("something is selected: %+v", r)
	}
	if len(r.Problems) != 1 || !r.Problems[0].Fatal {
		t.Fatalf("there should be one fatal problem: %+v", r.Problems)
	}
	return r.Problems[0]
}

func refusedAt(t fatal, r intent.Resolution, field string) intent.Problem {
	t.Helper()
	p := nothing(t, r)
	if p.Field != field || p.Reason != status.ReasonInvalidSpec || p.Condition != "" {
		t.Errorf("the problem is %+v, not an invalid %s", p, field)
	}
	return p
}

func equal(t fatal, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// selects evaluates a selector as Kubernetes does.
func selects(t fatal, s intent.Selector, pod map[string]string) bool {
	t.Helper()
	sel, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: s.Labels, MatchExpressions: s.Expressions})
	if err != nil {
		t.Fatalf("Kubernetes refuses the selector: %v", err)
	}
	return sel.Matches(labels.Set(pod))
}

func requirement(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
}

func ids(rules []intent.Rule) []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.ID)
	}
	return out
}

var _ fatal = (*testing.T)(nil)
