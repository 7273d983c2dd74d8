// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// everyPod are all pods that the generators' selectors can tell apart: each key with each of its values, with
// another, and without.
func everyPod() []map[string]string {
	pods := []map[string]string{{}}
	for _, k := range []string{"app", "tier", "team"} {
		var next []map[string]string
		for _, p := range pods {
			next = append(next, p)
			for _, v := range append(valuesOf(k), "another") {
				q := map[string]string{k: v}
				for key, value := range p {
					q[key] = value
				}
				next = append(next, q)
			}
		}
		pods = next
	}
	return pods
}

func anyBox(t *rapid.T, name string) (podSet, *metav1.LabelSelector) {
	for {
		s := anySelector().Draw(t, name)
		l := &metav1.LabelSelector{MatchLabels: s.Labels, MatchExpressions: s.Expressions}
		if b, exact, some := podSetOf(l); some && exact {
			return b, l
		}
	}
}

func TestBoxesHoldWhatTheirSelectorsSelect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, inA := anyBox(t, "a")
		b, inB := anyBox(t, "b")
		both, some := a.and(b)
		if some != a.meets(b) {
			t.Fatal("meets and and differ")
		}
		shared, said, outside := both.selector(), a.selector(), a.minus(b, cutOrder([]podSet{b}))
		either, one := a.or(b)
		joined := either.selector()
		within := true
		for _, pod := range everyPod() {
			isA, isB := matches(inA, pod), matches(inB, pod)
			within = within && (!isA || isB)
			if isA != matches(&said, pod) {
				t.Fatalf("%v is written %v", inA, said)
			}
			if some && matches(&shared, pod) != (isA && isB) || !some && isA && isB {
				t.Fatalf("%v and %v is not %v: %v", inA, inB, shared, pod)
			}
			if one && matches(&joined, pod) != (isA || isB) {
				t.Fatalf("%v or %v is not %v: %v", inA, inB, joined, pod)
			}
			in := 0
			for _, o := range outside {
				if s := o.selector(); matches(&s, pod) {
					in++
				}
			}
			if want := map[bool]int{true: 1}[isA && !isB]; in != want {
				t.Fatalf("%v is in %d of %v minus %v: %v", pod, in, inA, inB, outside)
			}
		}
		if within != a.within(b) {
			t.Fatalf("%v within %v: %v", inA, inB, !within)
		}
		if a.equal(b) != (a.within(b) && b.within(a)) {
			t.Fatalf("%v equals %v", inA, inB)
		}
	})
}

func TestBoxesThatDifferUnderOneKeyAreOne(t *testing.T) {
	got := join([]podSet{podsWith("app", values{listed: []string{"a"}}),
		{{"app", values{listed: []string{"c"}}}, {"tier", values{listed: []string{"x"}}}}}, podsWith("app", values{listed: []string{"b"}}))
	if len(got) != 2 || !got[1].equal(podsWith("app", values{listed: []string{"a", "b"}})) {
		t.Errorf("%v", got)
	}
	if got = join([]podSet{podsWith("app", values{absent: true, others: true, listed: []string{"a"}})},
		podsWith("app", values{listed: []string{"a"}})); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("all pods became %v", got)
	}
	if got = join([]podSet{podsWith("app", values{absent: true})}, podsWith("app", values{listed: []string{"a"}})); len(got) != 2 {
		t.Errorf("no selector says %v", got)
	}
}

func TestWithoutAKeyOrWithSomeValuesTakesTwoSelectors(t *testing.T) {
	exclusion := podsWith("app", values{others: true, listed: []string{"web"}}) // exists and is not web
	got := podSet{}.minus(exclusion, cutOrder([]podSet{exclusion}))
	if len(got) != 2 || !got[0].equal(podsWith("app", values{absent: true})) ||
		!got[1].equal(podsWith("app", values{listed: []string{"web"}})) {
		t.Errorf("%v", got)
	}
}

func anyFlows() *rapid.Generator[flows] {
	return rapid.Custom(func(t *rapid.T) flows {
		var out flows
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			out = append(out, allowance{
				peers: rapid.SliceOfN(rapid.SampledFrom([]peer{
					{kind: everybody}, {kind: podPeer}, dnsPods(intent.ClusterDNS{})[0], {kind: podPeer, namespaces: namespacesNamed("front", "shop")},
					{kind: podPeer, namespaces: namespacesNamed("shop")},
					{kind: podPeer, pods: podsWith("k8s-app", values{absent: true, others: true, listed: []string{"kube-dns"}})},
					{kind: networkPeer, network: netip.MustParsePrefix("10.0.0.0/8")}, {kind: networkPeer, network: netip.MustParsePrefix("10.1.0.0/16")},
					{kind: networkPeer, network: netip.MustParsePrefix("8.8.8.8/32")}, {kind: networkPeer, network: netip.MustParsePrefix("::/0")},
				}), 1, 3).Draw(t, "peers"),
				ports: rapid.SampledFrom([]ports{
					nil, dnsPorts(), {{corev1.ProtocolTCP, 1, 52}, {corev1.ProtocolTCP, 54, 65535}}, {{corev1.ProtocolUDP, 50, 8080}},
					{{corev1.ProtocolTCP, 53, 53}}, {{corev1.ProtocolTCP, 52, 54}},
				}).Draw(t, "ports"),
			})
		}
		return out
	})
}

func TestTheIntersectionOfFlowsIsWhatBothAllow(t *testing.T) {
	c := cluster{namespaces: map[string]map[string]string{}}
	for _, n := range []string{"kube-system", "shop", "front"} {
		c.namespaces[n] = map[string]string{namespaceName: n}
		for _, l := range []map[string]string{{}, {"k8s-app": "kube-dns"}} {
			c.ends = append(c.ends, end{name: n, namespace: n, labels: l})
		}
	}
	for _, a := range []string{"8.8.8.8", "9.9.9.9", "10.1.1.1", "10.2.2.2", "2001:db8::1"} {
		c.ends = append(c.ends, end{name: a, address: netip.MustParseAddr(a)})
	}
	// allowed is the evaluator's word for every end and port.
	allowed := func(f flows) (out []bool) {
		for _, e := range c.ends {
			for _, p := range probes() {
				out = append(out, slices.ContainsFunc(f.ingress(), func(r networkingv1.NetworkPolicyIngressRule) bool {
					return c.peers(r.From, "shop", e) && onPorts(r.Ports, p)
				}))
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		f, g := anyFlows().Draw(t, "f"), anyFlows().Draw(t, "g")
		inF, inG, inBoth := allowed(f), allowed(g), allowed(f.and(g))
		wider := true
		for i := range inF {
			if inBoth[i] != (inF[i] && inG[i]) {
				t.Fatalf("%v and %v gave %v", f, g, f.and(g))
			}
			wider = wider && (inF[i] || !inG[i])
		}
		if f.allow(g) && !wider {
			t.Fatalf("%v was said to allow all of %v", f, g)
		}
		if both := f.and(g); !f.allow(both) || !g.allow(both) || !f.allow(f) {
			t.Fatalf("%v, %v or itself was not seen to allow what both allow", f, g)
		}
	})
}

func TestRangesThatTogetherCoverARangeAreSeen(t *testing.T) {
	tcp := func(from, to int32) portRange { return portRange{corev1.ProtocolTCP, from, to} }
	for _, c := range []struct {
		inner, outer ports
		want         bool
	}{
		{ports{tcp(1, 100)}, ports{tcp(50, 100), tcp(1, 49)}, true},
		{ports{tcp(1, 100)}, ports{tcp(51, 100), tcp(1, 49)}, false},
		{ports{tcp(1, 100)}, ports{tcp(1, 60), tcp(2, 10), tcp(40, 200)}, true},
		{ports{tcp(1, 100)}, ports{{corev1.ProtocolUDP, 1, 100}}, false},
		{nil, ports{tcp(1, 65535)}, false},
		{ports{tcp(1, 2)}, nil, true},
		{nil, nil, true},
	} {
		if got := c.inner.within(c.outer); got != c.want {
			t.Errorf("%v within %v: %v", c.inner, c.outer, got)
		}
	}
}
