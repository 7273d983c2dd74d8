// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// TestNoWriteOfATransitionOpensAFlow goes from the objects of some policies to those of others, policy by policy in any order, each with
// its objects first and its deletions last; policies that are gone lose their objects at any time. After every single write, flows that a
// rule closed before and closes afterwards are closed.
func TestNoWriteOfATransitionOpensAFlow(t *testing.T) {
	writes := 0
	rapid.Check(t, func(t *rapid.T) {
		before := anyScenario().Draw(t, "before")
		before.cluster.policies = nil
		after := before
		after.policies = anyPolicies().Draw(t, "after")
		old, err := before.ask(New())
		if err != nil {
			t.Fatal(err)
		}
		next, err := after.ask(New())
		if err != nil {
			t.Fatal(err)
		}
		live := slices.Clone(old.objects)
		w := &transition{before: before, after: after}
		for _, name := range rapid.Permutation([]string{"a", "b", "nimbus-ctlr-gen-c"}).Draw(t, "order") {
			want := next.of(name)
			for _, o := range want {
				live = slices.DeleteFunc(live, func(l networkingv1.NetworkPolicy) bool { return l.Name == o.Name })
				live = append(live, o)
				writes++
				if err := w.judge(live); err != nil {
					t.Fatalf("%s was written: %v\n%v\n%v", o.Name, err, before, after)
				}
			}
			for _, l := range slices.Clone(live) {
				if strings.HasPrefix(l.Name, name+"-") &&
					!slices.ContainsFunc(want, func(o networkingv1.NetworkPolicy) bool { return o.Name == l.Name }) {
					live = slices.DeleteFunc(live, func(o networkingv1.NetworkPolicy) bool { return o.Name == l.Name })
					writes++
					if err := w.judge(live); err != nil {
						t.Fatalf("%s was deleted: %v\n%v\n%v", l.Name, err, before, after)
					}
				}
			}
		}
	})
	if writes < 100 {
		t.Errorf("only %d writes were judged", writes)
	}
}

type transition struct{ before, after scenario }

// judge checks that flows stay closed that both the rules before and those after close, for every policy that is in both.
func (w *transition) judge(live []networkingv1.NetworkPolicy) error {
	c := w.before.cluster
	c.policies = live
	flows := c.flows(probes())
	verdicts := c.judge(flows)
	for _, p := range w.before.policies {
		i := slices.IndexFunc(w.after.policies, func(q intent.Policy) bool { return q.Name == p.Name })
		if i < 0 {
			continue
		}
		q := w.after.policies[i]
		for n, f := range flows {
			from, to := c.ends[f.from], c.ends[f.to]
			if verdicts[n].out && closes(p, intent.Egress, from, to, f.port) && closes(q, intent.Egress, from, to, f.port) {
				return fmt.Errorf("%s closes %s → %s on %v, and it is open", p.Name, from.name, to.name, f.port)
			}
			if verdicts[n].in && closes(p, intent.Ingress, to, from, f.port) && closes(q, intent.Ingress, to, from, f.port) {
				return fmt.Errorf("%s closes %s ← %s on %v, and it is open", p.Name, to.name, from.name, f.port)
			}
		}
	}
	return nil
}

// closes reports whether a policy closes a flow at one of its pods.
func closes(p intent.Policy, d intent.Direction, me, other end, port portOf) bool {
	return me.namespace == "shop" && matches(selectorOf(p), me.labels) && slices.ContainsFunc(p.Rules, func(r intent.Rule) bool {
		allowed, restricted := allows(r, d, other, port)
		return restricted && !allowed
	})
}

// TestClaimsAreConfirmedByTheirOwnObjects checks that the objects of the engine suffice for its claims, and that without any one of a
// policy's objects some claim of that policy is taken back, unless the others select its pods too: the division among many policies may
// overlap.
func TestClaimsAreConfirmedByTheirOwnObjects(t *testing.T) {
	missed := 0
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario().Draw(t, "scenario")
		a, err := s.ask(New())
		if err != nil {
			t.Fatal(err)
		}
		e := New().(engine)
		var live []intent.Live
		for i, p := range s.policies {
			f := intent.Facts{NetworkPolicies: s.foreign(), Siblings: siblings(s.policies, i)}
			for _, o := range e.Translate(p, f).Objects {
				live = append(live, intent.Live{Policy: p.Name, Rule: o.GetLabels()[intent.LabelRule], Name: o.GetName(), Parsed: e.Parse(o)})
			}
		}
		for i, p := range s.policies {
			f := intent.Facts{NetworkPolicies: s.foreign(), Siblings: siblings(s.policies, i)}
			if got := e.Confirm(p, f, a.claims[i], live); !slices.Equal(got, a.claims[i]) {
				t.Fatalf("%v became %v\n%v", a.claims[i], got, s)
			}
			for n, l := range live {
				if l.Policy != p.Name {
					continue
				}
				got := e.Confirm(p, f, a.claims[i], slices.Delete(slices.Clone(live), n, n+1))
				at := slices.IndexFunc(got, func(c intent.Claim) bool { return c.Intent == l.Rule })
				if isRedundant(live, n) {
					continue
				}
				if a.claims[i][at].Holds() && got[at].Holds() {
					t.Fatalf("without %s, %s still claims %s\n%v", l.Name, l.Rule, got[at].Level, s)
				}
				missed++
			}
		}
	})
	if missed < 100 {
		t.Errorf("only %d objects were missed", missed)
	}
}

// isRedundant reports whether the other objects of the rule select every pod that an object selects.
func isRedundant(live []intent.Live, n int) bool {
	one := live[n].Parsed.(existing)
	left := []podSet{one.pods}
	for i, l := range live {
		if o := l.Parsed.(existing); i != n && l.Policy == live[n].Policy && l.Rule == live[n].Rule && o.exact {
			left = cutOff(left, o.pods)
		}
	}
	return len(left) == 0
}
