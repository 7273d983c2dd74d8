// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// spoilt reports whether something wrong may be drawn: mostly not, so that most bindings select something.
func spoilt(t *rapid.T) bool {
	return rapid.SampledFrom([]bool{false, false, false, true}).Draw(t, "spoilt")
}

func someLabels(t *rapid.T, name string, wrong ...string) map[string]string {
	keys := append([]string{"app", "tier", "x.io/part", "nexus.ai/x"}, wrong...)
	return rapid.MapOfN(rapid.SampledFrom(keys), rapid.SampledFrom([]string{"", "a", "b"}), 0, 2).Draw(t, name)
}

func someNames(t *rapid.T, name string, least int, from ...string) []string {
	return rapid.SliceOfN(rapid.SampledFrom(from), least, 4).Draw(t, name)
}

func someIntents(t *rapid.T) known {
	out := known{}
	for _, name := range someNames(t, "intents that exist", 3, "i1", "i2", "i3", "i4") {
		id := rapid.SampledFrom([]string{"dnsManipulation", "pkgMgrs", "exploitPFA", "preventExecutionFromTempOrLogsFolders",
			"unheardOf"}).Draw(t, "id")
		action := rapid.SampledFrom([]v1alpha1.Action{"", v1alpha1.Block, v1alpha1.Enforce, v1alpha1.Audit}).Draw(t, "action")
		out[name] = securityIntent(name, id, action, v1alpha1.Params{"p": {"1", "2"}})
	}
	return out
}

func someMatches(t *rapid.T) []v1alpha1.MatchIntent {
	var out []v1alpha1.MatchIntent
	for _, n := range someNames(t, "bound intents", 2, "i1", "i2", "i3", "i4", "i5") {
		out = append(out, v1alpha1.MatchIntent{Name: n})
	}
	return out
}

func someBinding(t *rapid.T) *v1alpha1.SecurityIntentBinding {
	b := &v1alpha1.SecurityIntentBinding{}
	b.Namespace = rapid.SampledFrom([]string{"ns1", "ns2", "kube-system", "nexus-system"}).Draw(t, "namespace")
	b.Name = rapid.StringMatching(`[a-z]([-a-z0-9]{0,10}[a-z0-9])?`).Draw(t, "name")
	b.Labels = someLabels(t, "labels")
	b.Spec.Intents = someMatches(t)
	cel := []string{`labels.part == "a"`, `labels.kind in ["a","b"]`, `has(labels.x)`, `labels.app != "c"`, `true`}
	if spoilt(t) {
		cel = append(cel, `a || b`, `(`, `labels.app == "c"`)
	}
	b.Spec.Selector.CEL, b.Spec.CEL = someNames(t, "selector.cel", 0, cel...), someNames(t, "cel", 0, cel...)
	switch rapid.IntRange(0, 3).Draw(t, "labels of pods") {
	case 0:
		b.Spec.Selector.MatchLabels = someLabels(t, "matchLabels", "no key")
		b.Spec.Selector.WorkloadSelector = &v1alpha1.LabelSelector{MatchLabels: someLabels(t, "workload")}
	case 1:
		b.Spec.Selector.MatchLabels = someLabels(t, "matchLabels")
	case 2:
		b.Spec.Selector.WorkloadSelector = &v1alpha1.LabelSelector{MatchLabels: someLabels(t, "workload")}
	}
	return b
}

func someClusterBinding(t *rapid.T) *v1alpha1.ClusterSecurityIntentBinding {
	b := &v1alpha1.ClusterSecurityIntentBinding{}
	b.Name, b.Labels = "all", someLabels(t, "labels")
	b.Spec.Intents = someMatches(t)
	s := &b.Spec.Selector
	s.WorkloadSelector.MatchLabels, s.NodeSelector.MatchLabels = someLabels(t, "workload"), someLabels(t, "nodes")
	names, forms := []string{"ns1", "ns2", "ns3", "later"}, []string{"every", "match", "exclude"}
	if spoilt(t) {
		names, forms = append(names, "*", "ns-*", "kube-system", "nexus-system"), append(forms, "both", "none")
	}
	form := rapid.SampledFrom(forms).Draw(t, "form")
	if form == "every" {
		s.NsSelector.MatchNames = namespaceNames([]string{"*"})
	}
	if form == "match" || form == "both" {
		s.NsSelector.MatchNames = namespaceNames(someNames(t, "matchNames", 1, names...))
	}
	if form == "exclude" || form == "both" {
		s.NsSelector.ExcludeNames = namespaceNames(someNames(t, "excludeNames", 1, names...))
	}
	return b
}

func someNamespaces(t *rapid.T) []intent.Namespace {
	var out []intent.Namespace
	for _, n := range someNames(t, "namespaces", 2, "ns1", "ns2", "ns3", "kube-system", "nexus-system", "other") {
		out = append(out, intent.Namespace{Name: n, Labels: map[string]string{"l": n}, Terminating: spoilt(t)})
	}
	return out
}

func TestABindingNeverReachesAnotherNamespace(t *testing.T) {
	policies := 0
	rapid.Check(t, func(t *rapid.T) {
		b := someBinding(t)
		r := intent.Resolve(intent.OfBinding(b), someIntents(t), someNamespaces(t), intent.Options{OperatorNamespace: "nexus-system"})
		if r.Cluster != nil || len(r.Policies) > 1 {
			t.Fatalf("a binding of a namespace comes to %+v", r)
		}
		for _, p := range r.Policies {
			policies++
			np := intent.NimbusPolicyOf(p)
			if p.Namespace != b.Namespace || np.Namespace != b.Namespace || p.Name != b.Name || p.FromCluster {
				t.Fatalf("a binding in %s makes %+v", b.Namespace, p)
			}
			equal(t, "namespaces", p.Namespaces, intent.Namespaces{})
		}
	})
	if policies == 0 {
		t.Error("no binding came to a policy")
	}
}

func TestAClusterBindingNeverReachesMoreThanItNames(t *testing.T) {
	policies := 0
	rapid.Check(t, func(t *rapid.T) {
		b := someClusterBinding(t)
		all := someNamespaces(t)
		r := intent.Resolve(intent.OfClusterBinding(b), someIntents(t), all, intent.Options{OperatorNamespace: "nexus-system"})
		match, exclude := b.Spec.Selector.NsSelector.MatchNames, b.Spec.Selector.NsSelector.ExcludeNames
		star := slices.Equal(match, []v1alpha1.NamespaceName{"*"})
		var last string
		for _, p := range r.Policies {
			policies++
			name := v1alpha1.NamespaceName(p.Namespace)
			exists := slices.ContainsFunc(all, func(n intent.Namespace) bool { return n.Name == p.Namespace && !n.Terminating })
			named := star && len(exclude) == 0 || slices.Contains(match, name) && len(exclude) == 0 || len(match) == 0 && len(exclude) > 0 &&
				!slices.Contains(exclude, name)
			if name == "kube-system" || name == "nexus-system" || !exists || !named || p.Namespace <= last {
				t.Fatalf("match %v, exclude %v, of %v: %q is selected (after %q)", match, exclude, all, name, last)
			}
			last = p.Namespace
		}
		if r.Cluster == nil && len(r.Policies) > 0 {
			t.Fatalf("there are policies in namespaces without one over the cluster: %+v", r)
		}
	})
	if policies == 0 {
		t.Error("no cluster binding came to a policy")
	}
}

// storage adds the addresses of all maps and slices in a value.
func storage(v reflect.Value, into map[uintptr]string) {
	switch v.Kind() {
	case reflect.Interface:
		storage(v.Elem(), into)
	case reflect.Pointer:
		if !v.IsNil() {
			into[v.Pointer()] = v.Type().String()
			storage(v.Elem(), into)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			storage(v.Field(i), into)
		}
	case reflect.Map:
		if !v.IsNil() {
			into[v.Pointer()] = v.Type().String()
		}
		for it := v.MapRange(); it.Next(); {
			storage(it.Value(), into)
		}
	case reflect.Slice:
		if v.Cap() > 0 {
			into[v.Pointer()] = v.Type().String()
		}
		for i := range v.Len() {
			storage(v.Index(i), into)
		}
	}
}

func apart(t fatal, what string, a, b any) {
	t.Helper()
	of, shared := map[uintptr]string{}, map[uintptr]string{}
	storage(reflect.ValueOf(a), of)
	storage(reflect.ValueOf(b), shared)
	for at, kind := range shared {
		if _, both := of[at]; both {
			t.Errorf("%s share a %s", what, kind)
		}
	}
}

func TestTheSharingOfMapsAndSlicesIsSeen(t *testing.T) {
	m, s := map[string]string{"a": "b"}, []string{"a"}
	for _, pair := range [][2]any{{m, intent.Policy{Labels: m}}, {s, intent.Binding{CEL: s}}, {&s, map[string][]string{"x": s}},
		{[]any{m}, m}} {
		seen := &counter{}
		apart(seen, "they", pair[0], pair[1])
		if seen.errors != 1 {
			t.Errorf("%d sharings were seen in %v", seen.errors, pair)
		}
	}
}

type counter struct{ errors int }

func (c *counter) Helper()               {}
func (c *counter) Errorf(string, ...any) { c.errors++ }
func (c *counter) Fatalf(string, ...any) { c.errors++ }

// clonedIntents is a deep copy.
func clonedIntents(k known) known {
	out := known{}
	for n, i := range k {
		out[n] = i.DeepCopy()
	}
	return out
}

func TestResolveIsDeterministicAndLeavesItsInputAlone(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		k, all, o := someIntents(t), someNamespaces(t), intent.Options{OperatorNamespace: "nexus-system"}
		one, many := someBinding(t), someClusterBinding(t)
		before := []any{clonedIntents(k), slices.Clone(all), one.DeepCopy(), many.DeepCopy()}
		for _, b := range []intent.Binding{intent.OfBinding(one), intent.OfClusterBinding(many)} {
			r := intent.Resolve(b, k, all, o)
			again := intent.Resolve(b, clonedIntents(k), slices.Clone(all), o)
			equal(t, "the second answer", again, r)
			slices.Reverse(all)
			equal(t, "the answer in another order of namespaces", intent.Resolve(b, k, all, o), r)
			slices.Reverse(all)
			apart(t, "input and output", []any{k, all, one, many, b}, r)
			apart(t, "bindings and their forms", []any{one, many}, b)
			compared += sharesNothing(t, r)
		}
		equal(t, "the input", []any{k, all, one, many}, before)
	})
	if compared < 5 {
		t.Errorf("only %d pairs of policies were compared", compared)
	}
}

// sharesNothing says that no two policies share anything, nor their objects with them. It returns how many
// pairs it compared.
func sharesNothing(t fatal, r intent.Resolution) (compared int) {
	t.Helper()
	policies := slices.Clone(r.Policies)
	if r.Cluster != nil {
		apart(t, "policy and object", *r.Cluster, intent.ClusterNimbusPolicyOf(*r.Cluster))
		policies = append(policies, *r.Cluster)
	}
	for i, p := range policies {
		apart(t, "policy and object", p, intent.NimbusPolicyOf(p))
		for _, other := range policies[:i] {
			apart(t, "two policies", p, other)
			compared++
		}
	}
	return compared
}
