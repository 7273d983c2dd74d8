// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/networkpolicy"
)

// Policies of another engine that holds names add up with NetworkPolicies, so these may not open more on the same pods.
func TestNamesHeldElsewhere_NarrowNetworkPolicies(t *testing.T) {
	dns := intent.Rule{ID: "dnsManipulation", Canonical: "dnsManipulation", Action: v1alpha1.Block,
		Params: map[string][]string{"otherEgress": {"allow"}}}
	names := intent.Rule{ID: intent.EgressToNames, Canonical: intent.EgressToNames, Action: v1alpha1.Block,
		Params: map[string][]string{"names": {"api.example.com"}}}
	audited, invalid, labels := names, names, map[string]string{"app": "web"}
	audited.Action = v1alpha1.Audit
	invalid.Params = map[string][]string{"names": {"*"}}
	for name, c := range map[string]struct {
		rule   intent.Rule
		labels map[string]string
		held   bool
		open   bool
	}{
		"held":          {names, labels, true, false},
		"not held":      {names, labels, false, true},
		"audited":       {audited, labels, true, true},
		"invalid":       {invalid, labels, true, true},
		"of other pods": {names, map[string]string{"app": "api"}, true, true},
	} {
		p := intent.Policy{Name: "guard", Namespace: "shop", Selector: intent.Selector{Labels: labels}, Rules: []intent.Rule{dns}}
		other := intent.Policy{Name: "other", Namespace: "shop", Selector: intent.Selector{Labels: c.labels}, Rules: []intent.Rule{c.rule}}
		got := networkpolicy.New().Translate(p, intent.Facts{NamesHeld: c.held, Siblings: []intent.Policy{other}})
		if len(got.Objects) != 1 || !got.Claims[0].Holds() {
			t.Fatalf("%s: %d objects, %+v", name, len(got.Objects), got.Claims)
		}
		if open := strings.Contains(fmt.Sprint(got.Objects[0].Object["spec"]), "65535"); open != c.open {
			t.Errorf("%s: other ports are open: %v, want %v: %v", name, open, c.open, got.Objects[0].Object["spec"])
		}
		mine := networkpolicy.New().Translate(other, intent.Facts{NamesHeld: c.held, Siblings: []intent.Policy{p}})
		if len(mine.Objects) > 0 || mine.Claims[0].Level != v1alpha1.LevelNone {
			t.Errorf("%s: a NetworkPolicy for names: %v %+v", name, mine.Objects, mine.Claims)
		}
	}
}
