// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// translate gives the objects and claims of a policy beside its siblings.
func translate(t *testing.T, f intent.Facts, p intent.Policy, siblings ...intent.Policy) ([]networkingv1.NetworkPolicy, []intent.Claim) {
	t.Helper()
	f.Siblings = siblings
	tr := New().Translate(p, f)
	var out []networkingv1.NetworkPolicy
	for _, o := range tr.Objects {
		out = append(out, decode(o))
	}
	return out, tr.Claims
}

func names(objects []networkingv1.NetworkPolicy) []string {
	out := []string{}
	for _, o := range objects {
		out = append(out, o.Name)
	}
	return out
}

func expectNames(t *testing.T, objects []networkingv1.NetworkPolicy, want ...string) {
	t.Helper()
	if got := names(objects); !slices.Equal(got, want) {
		t.Fatalf("objects %v, not %v", got, want)
	}
}

// expectClaim checks level and reason, and that the message holds every part.
func expectClaim(t *testing.T, c intent.Claim, level v1alpha1.Level, reason string, parts ...string) {
	t.Helper()
	if c.Level != level || c.Reason != reason {
		t.Errorf("%s: %s %q (%s), not %s %q", c.Intent, c.Level, c.Reason, c.Message, level, reason)
	}
	for _, part := range parts {
		if !strings.Contains(c.Message, part) {
			t.Errorf("%s: message %q does not say %q", c.Intent, c.Message, part)
		}
	}
}

func from(namespaces ...string) intent.Rule { return segment(params{"fromNamespaces": namespaces}) }

const enforced, partial, none = v1alpha1.LevelEnforced, v1alpha1.LevelPartial, v1alpha1.LevelNone

func TestTheEngineIsKubernetesOwn(t *testing.T) {
	e := New()
	want := []schema.GroupVersionKind{{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}}
	if e.Name() != "NetworkPolicy" || len(e.Requires()) != 0 || !slices.Equal(e.Makes(), want) {
		t.Errorf("%s requires %v, makes %v", e.Name(), e.Requires(), e.Makes())
	}
}

func TestEveryIntentOfTheCatalogIsCoveredOrSaysWhoDoesIt(t *testing.T) {
	for _, entry := range intent.Catalog() {
		r := rule(entry.ID, nil)
		if entry.ID == "networkSegmentation" {
			r = from("front")
		}
		objects, claims := translate(t, intent.Facts{}, policy("p", intent.Selector{}, r))
		switch {
		case entry.Restricts == 0, entry.ID == intent.EgressToNames:
			expectClaim(t, claims[0], none, intent.ReasonNotCovered, "such as")
		default:
			expectClaim(t, claims[0], enforced, "")
			if len(objects) != 1 {
				t.Errorf("%s has %d objects", entry.ID, len(objects))
				continue
			}
			var direction intent.Direction
			for _, of := range objects[0].Spec.PolicyTypes {
				direction |= map[networkingv1.PolicyType]intent.Direction{"Ingress": intent.Ingress, "Egress": intent.Egress}[of]
			}
			if direction != entry.Restricts {
				t.Errorf("%s restricts %d here and %d in the catalog", entry.ID, direction, entry.Restricts)
			}
		}
	}
}

func TestAnIntentThatIsNotInTheCatalogIsSaidToBeUnknown(t *testing.T) {
	_, claims := translate(t, intent.Facts{}, policy("p", intent.Selector{}, rule("worldPeace", nil)))
	expectClaim(t, claims[0], none, intent.ReasonUnknownIntent, "worldPeace")
}

func TestAnAuditLeavesNoObjectAndDoesNotWeighOnOthers(t *testing.T) {
	objects, claims := translate(t, intent.Facts{}, policy("p", labels("app", "web"), audit(dns(nil)), external(nil)),
		policy("q", labels("app", "web"), audit(from("front"))))
	expectNames(t, objects, "p-denyexternalnetworkaccess")
	expectClaim(t, claims[0], none, intent.ReasonAuditUnsupported)
	expectClaim(t, claims[1], enforced, "")
}

func TestClusterPolicy_HasNoObjectsAndNamesTheNamespaces(t *testing.T) {
	p := policy("p", intent.Selector{}, dns(nil), rule("ensureTLS", nil), audit(external(nil)), segment(nil))
	p.Namespace = ""
	objects, claims := translate(t, intent.Facts{}, p)
	expectNames(t, objects)
	expectClaim(t, claims[0], none, intent.ReasonElsewhere, "namespaces")
	expectClaim(t, claims[1], none, intent.ReasonNotCovered, "mesh")
	expectClaim(t, claims[2], none, intent.ReasonAuditUnsupported)
	expectClaim(t, claims[3], none, intent.ReasonInvalidParams)
}

func TestAPolicyFromAClusterBindingHasItsObjectsInTheNamespace(t *testing.T) {
	p := policy("nimbus-ctlr-gen-c", intent.Selector{}, dns(nil))
	p.FromCluster = true
	objects, claims := translate(t, intent.Facts{}, p)
	expectNames(t, objects, "nimbus-ctlr-gen-c-dnsmanipulation")
	expectClaim(t, claims[0], enforced, "")
}

func TestAnObjectThatStandsAloneSelectsAsThePolicyDoes(t *testing.T) {
	s := intent.Selector{Labels: map[string]string{"app": "web"}, Expressions: []metav1.LabelSelectorRequirement{
		expr("tier", metav1.LabelSelectorOpIn, "z", "a"), expr("app", metav1.LabelSelectorOpExists),
		expr("team", metav1.LabelSelectorOpDoesNotExist)}}
	objects, _ := translate(t, intent.Facts{}, policy("p", s, external(nil)), policy("q", labels("app", "db"), dns(nil)))
	expectNames(t, objects, "p-denyexternalnetworkaccess")
	if got := objects[0].Spec.PodSelector; !reflect.DeepEqual(got,
		metav1.LabelSelector{MatchLabels: s.Labels, MatchExpressions: s.Expressions}) {
		t.Errorf("selects %v", got)
	}
}

func TestOnTheSameSelectorBothObjectsAllowWhatBothRulesAllow(t *testing.T) {
	web := labels("app", "web")
	wide, narrow := policy("a", web, external(nil)), policy("b", web, dns(nil))
	ours, claims := translate(t, intent.Facts{}, wide, narrow)
	expectNames(t, ours, "a-denyexternalnetworkaccess")
	expectClaim(t, claims[0], enforced, "")
	theirs, claims := translate(t, intent.Facts{}, narrow, wide)
	expectNames(t, theirs, "b-dnsmanipulation")
	expectClaim(t, claims[0], enforced, "")
	if a, b := ours[0].Spec.Egress, theirs[0].Spec.Egress; !reflect.DeepEqual(a, b) {
		t.Errorf("egress %v and %v", a, b)
	}
	if types := ours[0].Spec.PolicyTypes; len(types) != 2 {
		t.Errorf("the wider object has types %v", types)
	}
}

func TestAnIntersectionIsSaidByEveryRuleThatHasThePods(t *testing.T) {
	web := labels("app", "web")
	a, b := policy("a", web, external(nil)), policy("b", web, dns(params{"otherEgress": {"allow"}}))
	theirs, _ := translate(t, intent.Facts{}, b, a)
	expectNames(t, theirs, "b-dnsmanipulation")
	ours, _ := translate(t, intent.Facts{}, a, b)
	expectNames(t, ours, "a-denyexternalnetworkaccess")
	if !reflect.DeepEqual(ours[0].Spec.Egress, theirs[0].Spec.Egress) {
		t.Errorf("egress %v and %v", ours[0].Spec.Egress, theirs[0].Spec.Egress)
	}
	for _, r := range ours[0].Spec.Egress {
		if len(r.To) == 0 || len(r.Ports) == 0 {
			t.Errorf("a rule of the intersection has peers %v and ports %v", r.To, r.Ports)
		}
	}
}

func TestWithNothingInCommonThePodsAreClosed(t *testing.T) {
	web := labels("app", "web")
	objects, _ := translate(t, intent.Facts{}, policy("a", web, from("front")), policy("b", web, from("ops")))
	expectNames(t, objects, "a-networksegmentation")
	if s := objects[0].Spec; len(s.Ingress) != 0 || !slices.Equal(s.PolicyTypes, []networkingv1.PolicyType{"Ingress"}) {
		t.Errorf("not closed: %+v", s)
	}
}

func TestAWiderRuleIsNarrowerOnThePodsOfTheNarrowerOneOnly(t *testing.T) {
	all, web := policy("a", intent.Selector{}, from("front", "ops")), policy("b", labels("app", "web", "tier", "x"), from("ops"))
	objects, _ := translate(t, intent.Facts{}, all, web)
	if len(objects) != 3 || objects[0].Name == objects[1].Name {
		t.Fatalf("objects %v", names(objects))
	}
	for _, pod := range []struct {
		labels     map[string]string
		namespaces int
	}{
		{map[string]string{}, 2}, {map[string]string{"app": "web"}, 2}, {map[string]string{"tier": "x"}, 2},
		{map[string]string{"app": "db", "tier": "y"}, 2}, {map[string]string{"app": "web", "tier": "x"}, 1},
	} {
		on := slices.DeleteFunc(slices.Clone(objects),
			func(o networkingv1.NetworkPolicy) bool { return !matches(&o.Spec.PodSelector, pod.labels) })
		if len(on) != 1 {
			t.Fatalf("%v is selected by %v", pod.labels, names(on))
		}
		peer := on[0].Spec.Ingress[0].From[0].NamespaceSelector
		if got := len(peer.MatchLabels) + 2*len(peer.MatchExpressions); got != pod.namespaces {
			t.Errorf("%v may be reached from %v", pod.labels, peer)
		}
	}
	objects, _ = translate(t, intent.Facts{}, web, all)
	expectNames(t, objects, "b-networksegmentation")
}

func TestSelectorsThatExcludeEachOtherAreLeftAsTheyAre(t *testing.T) {
	exists, missing := expressions(expr("app", metav1.LabelSelectorOpExists)), expressions(expr("app", metav1.LabelSelectorOpDoesNotExist))
	cases := map[string][2]intent.Selector{
		"two values":         {labels("app", "web"), labels("app", "db")},
		"a key and none":     {exists, missing},
		"a label and no key": {labels("app", "web"), missing},
		"a value and not it": {labels("app", "web"), expressions(expr("app", metav1.LabelSelectorOpNotIn, "db", "web"))},
		"lists without common": {expressions(expr("app", metav1.LabelSelectorOpIn, "a", "b")),
			expressions(expr("app", metav1.LabelSelectorOpIn, "c"))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			objects, _ := translate(t, intent.Facts{}, policy("a", c[0], from("front")), policy("b", c[1], from("ops")))
			expectNames(t, objects, "a-networksegmentation")
			if !reflect.DeepEqual(objects[0].Spec.PodSelector, *selectorOf(policy("a", c[0]))) {
				t.Errorf("selects %v", objects[0].Spec.PodSelector)
			}
		})
	}
}

func TestSiblingsThatHaveNoObjectsDoNotCount(t *testing.T) {
	web := labels("app", "web")
	nodes := policy("nodes", web, from("ops"))
	nodes.NodeSelector = map[string]string{"disk": "ssd"}
	elsewhere := policy("elsewhere", web, from("ops"))
	elsewhere.Namespace = "other"
	cases := map[string]intent.Policy{
		"audit":          policy("z", web, audit(from("ops"))),
		"bad parameters": policy("z", web, segment(params{"fromNamespaces": {"Not A Name"}})),
		"nobody":         policy("z", web, segment(nil)),
		"unknown":        policy("z", web, rule("networkSegmentations", params{"fromNamespaces": {"ops"}})),
		"bad selector":   policy("z", expressions(expr("app", "Near", "web")), from("ops")),
		"no pod": policy("z",
			intent.Selector{Labels: web.Labels, Expressions: []metav1.LabelSelectorRequirement{expr("app", metav1.LabelSelectorOpDoesNotExist)}},
			from("ops")),
		"node selector":   nodes,
		"other namespace": elsewhere,
	}
	for name, sibling := range cases {
		t.Run(name, func(t *testing.T) {
			objects, claims := translate(t, intent.Facts{}, policy("a", web, from("front")), sibling)
			expectNames(t, objects, "a-networksegmentation")
			if len(objects[0].Spec.Ingress) != 1 {
				t.Errorf("allows %v", objects[0].Spec.Ingress)
			}
			expectClaim(t, claims[0], enforced, "")
		})
	}
}

func TestWhereSomebodyElseIsolatesTheDirectionNothingIsAdded(t *testing.T) {
	web := labels("app", "web")
	withEgress := isolated("theirs", intent.Selector{})
	withEgress.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}}
	cases := map[string]struct {
		foreign networkingv1.NetworkPolicy
		objects []string
		level   v1alpha1.Level
		reason  string
	}{
		"all of egress":            {isolated("theirs", intent.Selector{}, "Egress"), nil, none, intent.ReasonAlreadyIsolated},
		"only ingress":             {isolated("theirs", intent.Selector{}, "Ingress"), []string{"p-dnsmanipulation"}, enforced, ""},
		"no types, no egress rule": {isolated("theirs", intent.Selector{}), []string{"p-dnsmanipulation"}, enforced, ""},
		"no types, an egress rule": {withEgress, nil, none, intent.ReasonAlreadyIsolated},
		"other pods":               {isolated("theirs", labels("app", "db"), "Egress"), []string{"p-dnsmanipulation"}, enforced, ""},
		"some pods": {isolated("theirs", labels("tier", "x"), "Egress"), []string{"p-dnsmanipulation"}, partial,
			intent.ReasonAlreadyIsolated},
		"the same pods": {isolated("theirs", web, "Egress"), nil, none, intent.ReasonAlreadyIsolated},
		"pods it says unintelligibly": {isolated("theirs", expressions(expr("app", "Near", "web")), "Egress"), nil, none,
			intent.ReasonAlreadyIsolated},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			objects, claims := translate(t, intent.Facts{NetworkPolicies: []networkingv1.NetworkPolicy{c.foreign}}, policy("p", web, dns(nil)))
			expectNames(t, objects, c.objects...)
			expectClaim(t, claims[0], c.level, c.reason)
			if c.reason != "" {
				expectClaim(t, claims[0], c.level, c.reason, "theirs", "egress")
			}
		})
	}
}

func TestTheOtherDirectionStaysWhenOneIsIsolated(t *testing.T) {
	objects, claims := translate(t,
		intent.Facts{NetworkPolicies: []networkingv1.NetworkPolicy{isolated("theirs", intent.Selector{}, "Egress")}},
		policy("p", intent.Selector{}, external(nil)))
	expectNames(t, objects, "p-denyexternalnetworkaccess")
	if types := objects[0].Spec.PolicyTypes; !slices.Equal(types, []networkingv1.PolicyType{"Ingress"}) {
		t.Errorf("types %v", types)
	}
	expectClaim(t, claims[0], partial, intent.ReasonAlreadyIsolated, "theirs", "egress of all")
}

func TestForeignPoliciesThatCannotBeCutOutLeaveTheDirectionAlone(t *testing.T) {
	var foreign []networkingv1.NetworkPolicy
	for i := range 6 {
		foreign = append(foreign,
			isolated(fmt.Sprint("theirs-", i), labels(fmt.Sprint("a", i), "1", fmt.Sprint("b", i), "1", fmt.Sprint("c", i), "1"), "Egress"))
	}
	objects, claims := translate(t, intent.Facts{NetworkPolicies: foreign}, policy("p", intent.Selector{}, external(nil), dns(nil)))
	expectNames(t, objects, "p-denyexternalnetworkaccess")
	expectClaim(t, claims[0], partial, intent.ReasonAlreadyIsolated, "egress is left alone", "theirs-0", "and 3 more")
	expectClaim(t, claims[1], none, intent.ReasonAlreadyIsolated, "16 objects")
}

// segments are policies that each ask for another namespace, on selectors that all meet.
func segments(n int) []intent.Policy {
	var out []intent.Policy
	for i := range n {
		out = append(out, policy(fmt.Sprint("p", i), labels(fmt.Sprint("k", i), "v"), from(fmt.Sprint("ns", i))))
	}
	return out
}

// closed checks that no object allows more than the rules of all policies that select one of its pods.
func closed(t *testing.T, e engine, all []intent.Policy) {
	t.Helper()
	shared := map[string]any{Name: e.Divide(all, intent.Facts{})}
	live := []intent.Live{}
	for _, p := range all {
		for _, o := range e.Translate(p, intent.Facts{Divided: shared}).Objects {
			live = append(live, intent.Live{Policy: p.Name, Rule: o.GetLabels()[intent.LabelRule], Name: o.GetName(), Parsed: e.Parse(o)})
		}
	}
	for _, p := range all {
		tr := e.Translate(p, intent.Facts{Divided: shared})
		for i, c := range e.Confirm(p, intent.Facts{Divided: shared}, tr.Claims, live) {
			if c.Level != tr.Claims[i].Level {
				t.Errorf("%s: %s %s", p.Name, c.Level, c.Message)
			}
		}
	}
}

func TestBeyondTheLimitTheResultFailsClosed(t *testing.T) {
	all := append(segments(5), policy("q", labels("k4", "another"), from("front")))
	for i, p := range all {
		objects, claims := translate(t, intent.Facts{}, p, siblings(all, i)...)
		expectClaim(t, claims[0], enforced, "")
		if i == 4 {
			expectNames(t, objects, "p4-networksegmentation")
			expectClaim(t, claims[0], enforced, "", "more ingress is closed", "p0/networkSegmentation", "p2/networkSegmentation and others")
			if len(objects[0].Spec.Ingress) != 0 {
				t.Errorf("allows %v", objects[0].Spec.Ingress)
			}
		}
	}
	closed(t, New().(engine), all)
}

func TestNoNameEvictsAClusterBindingAtTheLimit(t *testing.T) {
	admin := policy("nimbus-ctlr-gen-z", intent.Selector{}, dns(nil))
	admin.FromCluster = true
	all := []intent.Policy{admin}
	for i := range 6 {
		all = append(all, policy(fmt.Sprint("a", i), labels(fmt.Sprint("k", i), "v"),
			dns(params{"otherEgress": {"allow"}, "dnsPeers": {fmt.Sprintf("192.0.2.%d/32", i)}})))
	}
	objects, claims := translate(t, intent.Facts{}, admin, all[1:]...)
	expectClaim(t, claims[0], enforced, "")
	ours := cluster{policies: objects, namespaces: map[string]map[string]string{"shop": {}}}
	pod := end{name: "pod", namespace: "shop", labels: map[string]string{"app": "not selected by any other"}}
	outside := end{name: "outside", address: netip.MustParseAddr("203.0.113.9")}
	if on := ours.on(pod, intent.Egress); len(on) == 0 || ours.permits(on, intent.Egress, outside, portOf{corev1.ProtocolTCP, 443}) {
		t.Errorf("port 443 is open for a pod that only the cluster binding selects: %v", names(on))
	}
	closed(t, New().(engine), all)
}

func TestAThousandOverlappingRulesAreDividedQuickly(t *testing.T) {
	for name, selector := range map[string]func(int) intent.Selector{
		"all on the same pods": func(int) intent.Selector { return labels("app", "web") },
		"all overlapping":      func(i int) intent.Selector { return labels(fmt.Sprint("k", i), "v") },
		"none overlapping":     func(i int) intent.Selector { return labels("app", fmt.Sprint("v", i)) },
		"beside one for all": func(i int) intent.Selector {
			return map[bool]intent.Selector{true: {}, false: labels("app", fmt.Sprint("v", i))}[i == 0]
		},
		"many different places": func(i int) intent.Selector { return labels(fmt.Sprint("k", i%40), fmt.Sprint("v", i%7)) },
	} {
		t.Run(name, func(t *testing.T) {
			var all []intent.Policy
			for i := range 1000 {
				all = append(all, policy(fmt.Sprintf("p%04d", i), selector(i),
					dns(params{"otherEgress": {"allow"}, "dnsPeers": {fmt.Sprintf("10.%d.%d.0/24", i/250, i%250)}})))
			}
			began := time.Now()
			divided := map[string]any{Name: New().(engine).Divide(all, intent.Facts{})}
			for _, p := range all {
				if c := New().Translate(p, intent.Facts{Divided: divided}).Claims[0]; c.Level != enforced {
					t.Fatalf("%s %s", c.Level, c.Message)
				}
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			} else {
				t.Logf("it took %v", took)
			}
		})
	}
}

func TestPodsOfThreeRulesGetWhatAllThreeAllow(t *testing.T) {
	all := []intent.Policy{
		policy("a", labels("a", "v"), from("n1", "n2", "n3")), policy("b", labels("b", "v"), from("n2", "n3", "n4")),
		policy("c", labels("c", "v"), from("n3", "n4", "n1")),
	}
	pod := map[string]string{"a": "v", "b": "v", "c": "v"}
	var on []networkingv1.NetworkPolicy
	for i, p := range all {
		objects, claims := translate(t, intent.Facts{}, p, siblings(all, i)...)
		expectClaim(t, claims[0], enforced, "")
		for _, o := range objects {
			if matches(&o.Spec.PodSelector, pod) {
				on = append(on, o)
			}
		}
	}
	want := []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{namespaceName: "n3"}}}}
	if len(on) != 3 {
		t.Errorf("%v", names(on))
	}
	for _, o := range on {
		if !reflect.DeepEqual(o.Spec.Ingress[0].From, want) {
			t.Errorf("%s allows %v", o.Name, o.Spec.Ingress)
		}
	}
}

func TestARuleHasSixteenObjectsAndNoMore(t *testing.T) {
	many := func(n int) intent.Selector {
		s := labels()
		for i := range n {
			s.Labels[fmt.Sprint("k", i)] = "v"
		}
		return s
	}
	for name, c := range map[string]struct {
		keys    int
		from    []string
		objects int
		coarse  bool
	}{
		"fifteen around a narrower rule, and its pods": {15, []string{"ops"}, 16, false},
		// Sixteen objects, and one that closes all pods: the pods of the narrower rule are left to its object.
		"sixteen around a narrower rule":               {16, []string{"ops"}, 17, false},
		"seventeen around a narrower rule":             {17, []string{"ops"}, 1, true},
		"fifteen around a rule and one for what meets": {15, []string{"ops", "qa"}, 16, false},
		"sixteen and one for what meets":               {16, []string{"ops", "qa"}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := policy("a", intent.Selector{}, from("front", "ops")), policy("b", many(c.keys), from(c.from...))
			objects, claims := translate(t, intent.Facts{}, a, b)
			expectClaim(t, claims[0], enforced, "")
			if len(objects) != c.objects || strings.Contains(claims[0].Message, "more ingress is closed") != c.coarse {
				t.Errorf("%d objects, not %d: %s", len(objects), c.objects, claims[0].Message)
			}
			closed(t, New().(engine), []intent.Policy{a, b})
		})
	}
}

func TestTheLargestHolesAreCutFirst(t *testing.T) {
	// The first exclusion alone would take seventy objects; beside the second it takes none.
	first := labels()
	for i := range 70 {
		first.Labels[fmt.Sprintf("k%02d", i)] = "v"
	}
	second := expressions(expr("k00", metav1.LabelSelectorOpIn, "v", "w"))
	foreign := []networkingv1.NetworkPolicy{isolated("first", first, "Egress"), isolated("second", second, "Egress")}
	objects, claims := translate(t, intent.Facts{NetworkPolicies: foreign}, policy("p", intent.Selector{}, dns(nil)))
	expectNames(t, objects, "p-dnsmanipulation")
	expectClaim(t, claims[0], partial, intent.ReasonAlreadyIsolated, "NetworkPolicy first, NetworkPolicy second")
}

func TestHolesThatAgreeOnALabelAreCutTogether(t *testing.T) {
	var foreign []networkingv1.NetworkPolicy
	for i := range 80 {
		foreign = append(foreign, isolated(fmt.Sprint("theirs-", i), labels("app", fmt.Sprint("v", i), "part-of", "shop"), "Egress"))
	}
	objects, _ := translate(t, intent.Facts{NetworkPolicies: foreign}, policy("p", intent.Selector{}, dns(nil)))
	if len(objects) != 2 {
		t.Errorf("%d objects", len(objects))
	}
}

func TestAnyNumberOfRulesFitsThatAreOneNarrowerThanTheOther(t *testing.T) {
	var all []intent.Policy
	for i := range 12 {
		all = append(all, policy(fmt.Sprintf("p%02d", i), labels(fmt.Sprint("k", i), "v"), dns(nil)))
	}
	for i, p := range all {
		objects, claims := translate(t, intent.Facts{}, p, siblings(all, i)...)
		expectNames(t, objects, p.Name+"-dnsmanipulation")
		expectClaim(t, claims[0], enforced, "")
	}
}

func TestOneRuleForAllPodsBesideManyForSomeTakesFewObjects(t *testing.T) {
	for name, c := range map[string]struct {
		otherEgress string
		objects     int
	}{"narrower": {"deny", 3}, "mixed": {"allow", 3}} {
		t.Run(name, func(t *testing.T) {
			all := []intent.Policy{policy("all", intent.Selector{}, external(nil))}
			for i := range 30 {
				all = append(all, policy(fmt.Sprintf("p%02d", i), labels("app", fmt.Sprint("v", i)), dns(params{"otherEgress": {c.otherEgress}})))
			}
			for i, p := range all {
				objects, claims := translate(t, intent.Facts{}, p, siblings(all, i)...)
				expectClaim(t, claims[0], enforced, "")
				if i == 0 && len(objects) != c.objects {
					t.Errorf("objects %v", objects)
				}
			}
		})
	}
}

func TestAccountsAreKeptApartByNamespaceOnly(t *testing.T) {
	_, claims := translate(t, intent.Facts{}, policy("p", intent.Selector{}, segment(params{"fromServiceAccounts": {"front/web"}})))
	expectClaim(t, claims[0], partial, intent.ReasonNotCovered, "every pod of front", "Istio")
	_, claims = translate(t, intent.Facts{},
		policy("p", intent.Selector{}, segment(params{"fromServiceAccounts": {"front/web"}, "fromNamespaces": {"front"}})))
	expectClaim(t, claims[0], enforced, "")
}

func TestAllowEgressCIDRsOpensEgressOnly(t *testing.T) {
	outside := end{name: "outside", address: netip.MustParseAddr("203.0.113.9")}
	pod, https := end{name: "pod", namespace: "shop", labels: map[string]string{}}, portOf{corev1.ProtocolTCP, 443}
	for param, ingress := range map[string]bool{"allowCIDRs": true, "allowEgressCIDRs": false} {
		objects, _ := translate(t, intent.Facts{}, policy("p", intent.Selector{}, external(params{param: {"203.0.113.0/24"}})))
		c := cluster{policies: objects, namespaces: map[string]map[string]string{"shop": {}}}
		if in := c.permits(c.on(pod, intent.Ingress), intent.Ingress, outside, https); in != ingress {
			t.Errorf("%s: ingress %v", param, in)
		}
		if !c.permits(c.on(pod, intent.Egress), intent.Egress, outside, https) {
			t.Errorf("%s: egress is closed", param)
		}
	}
}

func TestSegmentationFromNobodyIsRefused(t *testing.T) {
	objects, claims := translate(t, intent.Facts{}, policy("p", intent.Selector{}, segment(params{"ports": {"80"}})))
	expectNames(t, objects)
	expectClaim(t, claims[0], none, intent.ReasonInvalidParams, "fromNamespaces")
}

func TestParametersAreCheckedAgain(t *testing.T) {
	for _, r := range []intent.Rule{
		dns(params{"dnsPeers": {"nowhere"}}), dns(params{"dnsPeers": {"::ffff:10.0.0.0/104"}}), dns(params{"otherEgress": {"maybe"}}),
		external(params{"allowCIDRs": {"10.0.0.1/8"}}), segment(params{"fromNamespaces": {"a"}, "ports": {"http"}}),
	} {
		objects, claims := translate(t, intent.Facts{}, policy("p", intent.Selector{}, r))
		expectNames(t, objects)
		expectClaim(t, claims[0], none, intent.ReasonInvalidParams)
	}
}

func TestASelectorThatKubernetesWouldRefuseIsSaidToBeUnsupported(t *testing.T) {
	for _, s := range []intent.Selector{
		labels("app", "not a value"), expressions(expr("app", metav1.LabelSelectorOpIn)),
		expressions(expr("app", metav1.LabelSelectorOpExists, "web")), expressions(expr("app", "Near", "web")),
	} {
		objects, claims := translate(t, intent.Facts{}, policy("p", s, dns(nil)))
		expectNames(t, objects)
		expectClaim(t, claims[0], none, intent.ReasonSelectorUnsupported)
	}
}

func TestASelectorThatContradictsItselfNeedsNoObject(t *testing.T) {
	s := intent.Selector{Labels: map[string]string{"app": "web"},
		Expressions: []metav1.LabelSelectorRequirement{expr("app", metav1.LabelSelectorOpNotIn, "web")}}
	objects, claims := translate(t, intent.Facts{}, policy("p", s, dns(nil)))
	expectNames(t, objects)
	expectClaim(t, claims[0], enforced, "", "selects no pod")
}

func TestANodeSelectorIsRefused(t *testing.T) {
	p := policy("p", intent.Selector{}, dns(nil))
	p.NodeSelector = map[string]string{"disk": "ssd"}
	objects, claims := translate(t, intent.Facts{}, p)
	expectNames(t, objects)
	expectClaim(t, claims[0], none, intent.ReasonNodeSelectorUnsupported)
}

func TestTheOperatorsOwnNamespaceIsNotTouched(t *testing.T) {
	objects, claims := translate(t, intent.Facts{OperatorNamespace: "shop"}, policy("p", intent.Selector{}, dns(nil)))
	expectNames(t, objects)
	expectClaim(t, claims[0], none, intent.ReasonNotCovered, "operator's own namespace")
}

func TestAnObjectKeepsItsNameWhileItsSelectorStays(t *testing.T) {
	all, web := policy("a", intent.Selector{}, from("front", "ops")), policy("b", labels("app", "web", "tier", "x"), from("ops"))
	before, _ := translate(t, intent.Facts{}, all, web)
	after, _ := translate(t, intent.Facts{}, all, web, policy("c", labels("app", "web", "tier", "y"), from("qa")))
	kept := slices.DeleteFunc(slices.Clone(after), func(o networkingv1.NetworkPolicy) bool {
		return !slices.ContainsFunc(before, func(b networkingv1.NetworkPolicy) bool {
			return b.Name == o.Name && reflect.DeepEqual(b.Spec, o.Spec)
		})
	})
	if len(before) != 3 || len(kept) != 2 {
		t.Errorf("%v became %v, of which %v stayed", names(before), names(after), names(kept))
	}
}

func TestAMessageFitsIntoTheStatus(t *testing.T) {
	var foreign []networkingv1.NetworkPolicy
	for i := range 3 {
		foreign = append(foreign, isolated(strings.Repeat(fmt.Sprint(i), 250), intent.Selector{}, "Egress", "Ingress"))
	}
	_, claims := translate(t, intent.Facts{NetworkPolicies: foreign}, policy("p", intent.Selector{}, external(nil)))
	if m := claims[0].Message; len(m) > 512 || !strings.HasSuffix(m, "...") {
		t.Errorf("a message of %d: %s", len(m), m)
	}
}
