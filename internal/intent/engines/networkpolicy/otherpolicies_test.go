// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestPoliciesOfOtherKindsCountAsNetworkPoliciesDo(t *testing.T) {
	web := intent.Selector{Labels: map[string]string{"app": "web"}}
	p := intent.Policy{Name: "p", Namespace: "shop", Selector: web,
		Rules: []intent.Rule{{ID: "dnsManipulation", Canonical: "dnsManipulation", Action: v1alpha1.Block}}}
	for name, tc := range map[string]struct {
		other   intent.OtherPolicy
		objects int
		level   v1alpha1.Level
		reason  string
		message string
	}{
		"isolates the pods": {intent.OtherPolicy{Selector: web, Isolates: intent.Egress}, 0, v1alpha1.LevelNone,
			intent.ReasonAlreadyIsolated, "CiliumNetworkPolicy theirs already isolates egress"},
		"isolates all pods": {intent.OtherPolicy{Isolates: intent.Ingress | intent.Egress}, 0, v1alpha1.LevelNone,
			intent.ReasonAlreadyIsolated, "theirs"},
		"isolates some pods": {intent.OtherPolicy{Selector: intent.Selector{Labels: map[string]string{"tier": "x"}}, Isolates: intent.Egress},
			1, v1alpha1.LevelPartial, intent.ReasonAlreadyIsolated, "theirs"},
		"isolates other pods": {intent.OtherPolicy{Selector: intent.Selector{Labels: map[string]string{"app": "db"}}, Isolates: intent.Egress},
			1, v1alpha1.LevelEnforced, "", ""},
		"isolates ingress": {intent.OtherPolicy{Isolates: intent.Ingress}, 1, v1alpha1.LevelEnforced, "", ""},
		"opens egress": {intent.OtherPolicy{Opens: intent.Egress}, 1, v1alpha1.LevelPartial, intent.ReasonOverlaps,
			"CiliumNetworkPolicy theirs opens egress"},
		"opens ingress": {intent.OtherPolicy{Opens: intent.Ingress}, 1, v1alpha1.LevelEnforced, "", ""},
		"opens it to other pods": {intent.OtherPolicy{Selector: intent.Selector{Labels: map[string]string{"app": "db"}}, Opens: intent.Egress}, 1,
			v1alpha1.LevelEnforced, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.other.Kind, tc.other.Name = "CiliumNetworkPolicy", "theirs"
			objects, claims := translate(t, intent.Facts{OtherPolicies: []intent.OtherPolicy{tc.other}}, p)
			if len(objects) != tc.objects {
				t.Errorf("%d objects, want %d", len(objects), tc.objects)
			}
			expectClaim(t, claims[0], tc.level, tc.reason, tc.message)
		})
	}
}
