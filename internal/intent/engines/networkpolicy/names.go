// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// namesDemand returns the demand on NetworkPolicies of a rule of the intent allowEgressToNames, while another engine holds it: objects of
// other rules on the same pods may open no more, since network plugins add up the policies of all kinds. The rule itself has no
// NetworkPolicy; ok is false if no engine holds it.
func namesDemand(p intent.Policy, r intent.Rule, f intent.Facts) (d demand, ok bool) {
	e, _ := intent.Lookup(r.ID)
	if e.ID != intent.EgressToNames || !f.NamesHeld || e.Check(r.Params) != "" || len(p.NodeSelector) > 0 {
		return d, false
	}
	// The flows that siblings close do not matter here: the division takes care of them.
	f.Siblings = nil
	open, no := intent.ReadNamesOutward(Name, intent.Policy{Namespace: p.Namespace, Selector: p.Selector}, r, f)
	if no != nil {
		return d, false
	}
	to := append(clusterDNS(f.DNS), credentials(f.Credentials)...)
	if open.InCluster {
		to = append(to, allowance{peers: []peer{{kind: podPeer}}})
	}
	d = demand{policy: p.Name, rule: r, egress: &to,
		selector: metav1.LabelSelector{MatchLabels: p.Selector.Labels, MatchExpressions: p.Selector.Expressions}}
	d.pods, _, ok = podSetOf(&d.selector)
	return d, ok
}
