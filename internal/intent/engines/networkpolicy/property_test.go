// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// Generators. Everything is drawn from few values, so that things meet.

func valuesOf(key string) []string {
	return map[string][]string{"app": {"web", "db", "job"}, "tier": {"front", "back"}, "team": {"x", "y"}}[key]
}

func anyLabels() *rapid.Generator[map[string]string] {
	return rapid.Custom(func(t *rapid.T) map[string]string {
		out := map[string]string{}
		for _, k := range []string{"app", "tier", "team"} {
			if v := rapid.SampledFrom(append(valuesOf(k), "")).Draw(t, k); v != "" {
				out[k] = v
			}
		}
		return out
	})
}

func anySelector() *rapid.Generator[intent.Selector] {
	return rapid.Custom(func(t *rapid.T) intent.Selector {
		var s intent.Selector
		for range rapid.IntRange(0, 2).Draw(t, "conditions") {
			k := rapid.SampledFrom([]string{"app", "tier", "team"}).Draw(t, "key")
			v := rapid.SampledFrom(valuesOf(k)).Draw(t, "value")
			op := rapid.SampledFrom([]metav1.LabelSelectorOperator{"", "", "", "In", "NotIn", "NotIn", "Exists", "DoesNotExist"}).Draw(t, "operator")
			e := metav1.LabelSelectorRequirement{Key: k, Operator: op}
			switch op {
			case "":
				if s.Labels == nil {
					s.Labels = map[string]string{}
				}
				s.Labels[k] = v
				continue
			case "In", "NotIn":
				e.Values = slices.Compact(slices.Sorted(slices.Values([]string{v, rapid.SampledFrom(valuesOf(k)).Draw(t, "second")})))
			}
			s.Expressions = append(s.Expressions, e)
		}
		return s
	})
}

func some(values ...string) *rapid.Generator[[]string] {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(values), 0, 2, rapid.ID[string])
}

func anyRule() *rapid.Generator[intent.Rule] {
	return rapid.Custom(func(t *rapid.T) intent.Rule {
		given := params{}
		set := func(name string, g *rapid.Generator[[]string]) {
			if v := g.Draw(t, name); len(v) > 0 {
				given[name] = v
			}
		}
		id := rapid.SampledFrom([]string{"dnsManipulation", "denyExternalNetworkAccess", "networkSegmentation"}).Draw(t, "intent")
		switch id {
		case "dnsManipulation":
			set("otherEgress", rapid.SampledFrom([][]string{nil, {"deny"}, {"allow"}, {"allow"}}))
			set("dnsPeers", some("169.254.20.10/32", "10.0.0.0/8", "8.8.8.8/32"))
		case "denyExternalNetworkAccess":
			set("allowCIDRs", some("203.0.113.0/24", "203.0.113.128/25", "8.8.8.8/32", "2001:db8::/32", "10.1.0.0/16", "0.0.0.0/0"))
		default:
			set("fromNamespaces", some("front", "kube-system", "shop"))
			set("fromServiceAccounts", rapid.OneOf(rapid.Just[[]string](nil), some("front/a", "front/b", "shop/c")))
			set("ports", some("8080", "53", "65535"))
		}
		r := rule(id, given)
		if rapid.IntRange(0, 7).Draw(t, "audit") == 0 {
			r = audit(r)
		}
		return r
	})
}

// anyPolicies are up to three intents in up to three policies.
func anyPolicies() *rapid.Generator[[]intent.Policy] {
	return rapid.Custom(func(t *rapid.T) []intent.Policy {
		out := []intent.Policy{}
		for _, name := range []string{"a", "b", "nimbus-ctlr-gen-c"} {
			p := policy(name, anySelector().Draw(t, "selector of "+name))
			p.FromCluster = len(name) > 1
			out = append(out, p)
		}
		for range rapid.IntRange(1, 3).Draw(t, "intents") {
			r := anyRule().Draw(t, "rule")
			for i, at := 0, rapid.IntRange(0, 2).Draw(t, "policy"); i < 3; i++ {
				p := &out[(at+i)%3]
				if !slices.ContainsFunc(p.Rules, func(o intent.Rule) bool { return o.ID == r.ID }) {
					p.Rules = append(p.Rules, r)
					break
				}
			}
		}
		return slices.DeleteFunc(out, func(p intent.Policy) bool { return len(p.Rules) == 0 })
	})
}

func anyPeer() *rapid.Generator[networkingv1.NetworkPolicyPeer] {
	return rapid.Custom(func(t *rapid.T) networkingv1.NetworkPolicyPeer {
		namespaces := metav1.LabelSelector{MatchLabels: map[string]string{"team": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "team")}}
		s := anySelector().Draw(t, "peers")
		pods := metav1.LabelSelector{MatchLabels: s.Labels, MatchExpressions: s.Expressions}
		return rapid.SampledFrom([]networkingv1.NetworkPolicyPeer{
			{PodSelector: &pods}, {NamespaceSelector: &namespaces}, {NamespaceSelector: &metav1.LabelSelector{}, PodSelector: &pods},
			{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{"8.8.8.0/24"}}}, {IPBlock: &networkingv1.IPBlock{CIDR: "::/0"}},
		}).Draw(t, "peer")
	})
}

func anyForeign(namespace, name string) *rapid.Generator[networkingv1.NetworkPolicy] {
	return rapid.Custom(func(t *rapid.T) networkingv1.NetworkPolicy {
		np := isolated(name, anySelector().Draw(t, "pods"), rapid.SampledFrom([][]networkingv1.PolicyType{
			nil, nil, {"Ingress"}, {"Egress"}, {"Egress"}, {"Ingress", "Egress"},
		}).Draw(t, "types")...)
		np.Namespace = namespace
		udp, dnsPort, end := corev1.ProtocolUDP, intstr.FromInt32(53), int32(9000)
		ports := rapid.SampledFrom([][]networkingv1.NetworkPolicyPort{nil, {{}}, {{Protocol: &udp, Port: &dnsPort}},
			{{Port: &dnsPort, EndPort: &end}}})
		peers := rapid.SliceOfN(anyPeer(), 0, 2)
		for range rapid.IntRange(0, 1).Draw(t, "ingress") {
			np.Spec.Ingress = append(np.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{From: peers.Draw(t, "from"), Ports: ports.Draw(t, "on")})
		}
		for range rapid.IntRange(0, 1).Draw(t, "egress") {
			np.Spec.Egress = append(np.Spec.Egress, networkingv1.NetworkPolicyEgressRule{To: peers.Draw(t, "to"), Ports: ports.Draw(t, "on")})
		}
		return np
	})
}

func anyScenario() *rapid.Generator[scenario] {
	return rapid.Custom(func(t *rapid.T) scenario {
		c := cluster{namespaces: map[string]map[string]string{}}
		for _, n := range []string{"kube-system", "shop", "front"} {
			c.namespaces[n] = map[string]string{"kubernetes.io/metadata.name": n,
				"team": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "team of "+n)}
		}
		c.ends = []end{
			{name: "dns", namespace: "kube-system", labels: map[string]string{"k8s-app": "kube-dns"}},
			{name: "proxy", namespace: "kube-system", labels: map[string]string{"k8s-app": "kube-proxy"}},
			{name: "false-dns", namespace: "front", labels: map[string]string{"k8s-app": "kube-dns", "app": "web"}},
		}
		for i := range 4 {
			c.ends = append(c.ends, end{name: fmt.Sprint("pod-", i), namespace: "shop", labels: anyLabels().Draw(t, "labels")})
		}
		for _, a := range []string{"8.8.8.8", "203.0.113.5", "203.0.113.200", "2001:db8::1", "10.1.2.3", "192.168.7.7", "172.32.0.1",
			"100.127.0.1", "fd00::1", "169.254.20.10"} {
			c.ends = append(c.ends, end{name: a, address: netip.MustParseAddr(a)})
		}
		for i := range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "foreign") {
			c.policies = append(c.policies, anyForeign("shop", fmt.Sprint("foreign-", i)).Draw(t, "foreign"))
		}
		for range rapid.IntRange(0, 1).Draw(t, "elsewhere") {
			c.policies = append(c.policies, anyForeign("front", "elsewhere").Draw(t, "elsewhere"))
		}
		return scenario{cluster: c, policies: anyPolicies().Draw(t, "policies")}
	})
}

func TestIntents_NeverOpenAndClaimOnlyWhatHolds(t *testing.T) {
	judged, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario().Draw(t, "scenario")
		if err := check(New(), s); err != nil {
			t.Fatalf("%v\n%v", err, s)
		}
		a, err := s.ask(New())
		if err != nil {
			t.Fatal(err)
		}
		if judged++; s.leftAlone(a) {
			left++
		}
	})
	// And always the same ones, which are those that find the planted faults.
	for seed := range 1000 {
		if s := anyScenario().Example(seed); check(New(), s) != nil {
			t.Fatalf("scenario %d: %v\n%v", seed, check(New(), s), s)
		}
	}
	if left*20 > judged {
		t.Errorf("the usual bounds were too low in %d of %d scenarios: the test looks past what it is for", left, judged)
	}
}

func TestBeyondItsBoundsTheEngineOpensNothingAndSaysSo(t *testing.T) {
	left := 0
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario().Draw(t, "scenario")
		s.tight = true
		e := tight(rapid.IntRange(1, 2).Draw(t, "overlapping"), rapid.IntRange(1, 2).Draw(t, "objects"))
		if err := check(e, s); err != nil {
			t.Fatalf("%v\n%v", err, s)
		}
		if a, err := s.ask(e); err == nil && s.leftAlone(a) {
			left++
		}
	})
	if left == 0 {
		t.Error("no scenario was beyond the bounds")
	}
}

func tight(overlapping, objects int) engine {
	l := defaultLimits()
	l.overlapping, l.objects = overlapping, objects
	return engine{limits: l}
}

func TestTranslatingIsTheSameEveryTimeAndChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario().Draw(t, "scenario")
		before := s.String()
		first, err := s.ask(New())
		if err != nil {
			t.Fatal(err)
		}
		turned := s
		turned.policies = slices.Clone(s.policies)
		slices.Reverse(turned.policies)
		again, err := turned.ask(New())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := sorted(first.objects), sorted(again.objects); a != b {
			t.Fatalf("the order in which policies are translated matters:\n%s\n%s", a, b)
		}
		if after := s.String(); after != before {
			t.Fatalf("translating changed its input:\n%s\n%s", before, after)
		}
	})
}

func sorted(objects []networkingv1.NetworkPolicy) string {
	var out []string
	for _, o := range objects {
		out = append(out, fmt.Sprintf("%s %v", o.Name, toUnstructured(&o.Spec)))
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}

// mutant is the engine with a fault.
type mutant struct {
	engine
	translate func(e intent.Engine, p intent.Policy, f intent.Facts) intent.Translation
}

func (m mutant) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	return m.translate(m.engine, p, f)
}

// input plants a fault in the input of the engine.
func input(edit func(p *intent.Policy, f *intent.Facts)) func(intent.Engine, intent.Policy, intent.Facts) intent.Translation {
	return func(e intent.Engine, p intent.Policy, f intent.Facts) intent.Translation {
		edit(&p, &f)
		return e.Translate(p, f)
	}
}

// output plants one in the objects; an object without a spec is taken away.
func output(edit func(p intent.Policy, s *networkingv1.NetworkPolicySpec) bool) func(intent.Engine, intent.Policy,
	intent.Facts) intent.Translation {
	return func(e intent.Engine, p intent.Policy, f intent.Facts) intent.Translation {
		t := e.Translate(p, f)
		t.Objects = slices.DeleteFunc(t.Objects, func(o *unstructured.Unstructured) bool {
			np := decode(o)
			keep := edit(p, &np.Spec)
			o.Object["spec"] = toUnstructured(&np.Spec)
			return !keep
		})
		return t
	}
}

func mutants() map[string]func(intent.Engine, intent.Policy, intent.Facts) intent.Translation {
	isEmpty := func(s *networkingv1.NetworkPolicySpec, d networkingv1.PolicyType) bool {
		return slices.Contains(s.PolicyTypes, d) && (d == "Ingress" && len(s.Ingress) == 0 || d == "Egress" && len(s.Egress) == 0)
	}
	return map[string]func(intent.Engine, intent.Policy, intent.Facts) intent.Translation{
		"siblings are ignored": input(func(_ *intent.Policy, f *intent.Facts) { f.Siblings = nil }),
		"only earlier siblings are looked at": input(func(p *intent.Policy, f *intent.Facts) {
			f.Siblings = slices.DeleteFunc(slices.Clone(f.Siblings), func(s intent.Policy) bool { return s.Name > p.Name })
		}),
		"foreign policies are ignored": input(func(_ *intent.Policy, f *intent.Facts) { f.NetworkPolicies = nil }),
		"foreign policies without types are ignored": input(func(_ *intent.Policy, f *intent.Facts) {
			f.NetworkPolicies = slices.DeleteFunc(slices.Clone(f.NetworkPolicies),
				func(np networkingv1.NetworkPolicy) bool { return len(np.Spec.PolicyTypes) == 0 })
		}),
		"foreign policies without types are taken for ingress only": input(func(_ *intent.Policy, f *intent.Facts) {
			f.NetworkPolicies = slices.Clone(f.NetworkPolicies)
			for i := range f.NetworkPolicies {
				if np := &f.NetworkPolicies[i]; len(np.Spec.PolicyTypes) == 0 {
					np.Spec.PolicyTypes = []networkingv1.PolicyType{"Ingress"}
				}
			}
		}),
		"audit blocks": input(func(p *intent.Policy, _ *intent.Facts) {
			p.Rules = slices.Clone(p.Rules)
			for i := range p.Rules {
				p.Rules[i].Action = v1alpha1.Block
			}
		}),
		"rules of a policy add up": func(e intent.Engine, p intent.Policy, f intent.Facts) (t intent.Translation) {
			for _, r := range p.Rules {
				one := p
				one.Rules = []intent.Rule{r}
				alone := e.Translate(one, f)
				t.Objects, t.Claims = append(t.Objects, alone.Objects...), append(t.Claims, alone.Claims...)
			}
			return t
		},
		"nothing is carved out": output(func(p intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			s.PodSelector = *selectorOf(p)
			return true
		}),
		"a negated condition wants the key": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			for _, e := range s.PodSelector.MatchExpressions {
				if e.Operator == metav1.LabelSelectorOpNotIn {
					s.PodSelector.MatchExpressions = append(s.PodSelector.MatchExpressions,
						metav1.LabelSelectorRequirement{Key: e.Key, Operator: metav1.LabelSelectorOpExists})
				}
			}
			return true
		}),
		"labels alone are negated": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			s.PodSelector.MatchExpressions = nil
			return true
		}),
		"an empty intersection is left out": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			return !isEmpty(s, "Ingress") && !isEmpty(s, "Egress")
		}),
		"an empty intersection allows all": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			if isEmpty(s, "Ingress") {
				s.Ingress = []networkingv1.NetworkPolicyIngressRule{{}}
			}
			return true
		}),
		"both selectors of a peer are peers": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			for i, r := range s.Egress {
				for j, p := range r.To {
					if p.PodSelector != nil {
						s.Egress[i].To = append(s.Egress[i].To, networkingv1.NetworkPolicyPeer{PodSelector: p.PodSelector})
						s.Egress[i].To[j].PodSelector = nil
					}
				}
			}
			return true
		}),
		"ranges of ports lose their end": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			for _, r := range s.Egress {
				for i := range r.Ports {
					r.Ports[i].EndPort = nil
				}
			}
			return true
		}),
		"ports are forgotten": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			for i := range s.Egress {
				s.Egress[i].Ports = nil
			}
			return true
		}),
		"everything is closed": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			s.Ingress, s.Egress = nil, nil
			return true
		}),
		"one direction is forgotten": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			s.PolicyTypes = s.PolicyTypes[:1]
			return true
		}),
		"networks are forgotten": output(func(_ intent.Policy, s *networkingv1.NetworkPolicySpec) bool {
			for i := range s.Egress {
				s.Egress[i].To = slices.DeleteFunc(s.Egress[i].To, func(p networkingv1.NetworkPolicyPeer) bool { return p.IPBlock != nil })
			}
			return true
		}),
		"nothing is done": func(e intent.Engine, p intent.Policy, f intent.Facts) (t intent.Translation) {
			for _, r := range p.Rules {
				t.Claims = append(t.Claims, intent.Not(r, intent.ReasonAlreadyIsolated, "somebody else will do it"))
			}
			return t
		},
		"everything is claimed": func(e intent.Engine, p intent.Policy, f intent.Facts) intent.Translation {
			t := e.Translate(p, f)
			for i, r := range p.Rules {
				if !r.Audit() {
					t.Claims[i] = intent.Enforces(r)
				}
			}
			return t
		},
		"objects are there and denied": func(e intent.Engine, p intent.Policy, f intent.Facts) intent.Translation {
			t := e.Translate(p, f)
			for i, c := range t.Claims {
				if c.Level == v1alpha1.LevelPartial {
					t.Claims[i].Level = v1alpha1.LevelNone
				}
			}
			return t
		},
	}
}

func TestEveryPlantedFaultIsFound(t *testing.T) {
	scenarios := anyScenario()
	for name, fault := range mutants() {
		t.Run(name, func(t *testing.T) {
			m := mutant{engine{limits: defaultLimits()}, fault}
			for seed := range 3000 {
				if err := check(m, scenarios.Example(seed)); err != nil {
					t.Logf("found by scenario %d: %v", seed, err)
					return
				}
			}
			t.Error("no scenario showed it")
		})
	}
}
