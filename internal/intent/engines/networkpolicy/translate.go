// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"cmp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// Name is the engine's.
const Name = "NetworkPolicy"

// New returns the engine of Kubernetes' own NetworkPolicies. Whether they have an effect is up to the
// cluster's network plugin.
func New() intent.Engine { return engine{limits: defaultLimits()} }

type engine struct{ limits limits }

// Name implements intent.Engine.
func (engine) Name() string { return Name }

// Requires implements intent.Engine: the kind is Kubernetes' own.
func (engine) Requires() []schema.GroupVersionKind { return nil }

// Makes implements intent.Engine.
func (engine) Makes() []schema.GroupVersionKind { return []schema.GroupVersionKind{kind()} }

func kind() schema.GroupVersionKind { return networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy") }

// Translate implements intent.Engine. It computes the division of the namespace among all its policies, unless the facts hold it already,
// and returns the part of p.
func (e engine) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	divided, ok := f.Divided[Name].(*namespace)
	if !ok {
		divided = e.divide(append([]intent.Policy{p}, siblingsOf(p, f)...), f)
	}
	var t intent.Translation
	for _, r := range p.Rules {
		i, c := divided.demand(p, r, f)
		if c != nil {
			t.Claims = append(t.Claims, *c)
			continue
		}
		t.Objects = append(t.Objects, objects(p, divided.demands[i], divided.ingress.of(i), divided.egress.of(i))...)
		t.Claims = append(t.Claims, enforcedBy(f.Enforcer, r, claim(divided.demands, i, divided.ingress, divided.egress)))
	}
	return t
}

// Divide implements intent.Divider.
func (e engine) Divide(policies []intent.Policy, f intent.Facts) any { return e.divide(policies, f) }

// namespace holds the division of a namespace among all its policies. It is read-only once made.
type namespace struct {
	demands         []demand
	ingress, egress allocation
	// at finds a demand by the name of its policy and the id of its rule.
	at map[[2]string]int
}

// divide orders the policies by priority, those of cluster bindings first, and divides the pods among them.
func (e engine) divide(policies []intent.Policy, f intent.Facts) *namespace {
	policies = slices.Clone(policies)
	slices.SortStableFunc(policies, func(a, b intent.Policy) int {
		if a.FromCluster != b.FromCluster {
			return map[bool]int{true: -1, false: 1}[a.FromCluster]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	n := &namespace{at: map[[2]string]int{}}
	for _, p := range policies {
		for _, r := range p.Rules {
			if d, no := readDemand(p, r, f); no == nil {
				n.at[[2]string{p.Name, r.ID}] = len(n.demands)
				n.demands = append(n.demands, d)
			} else if d, ok := namesDemand(p, r, f); ok {
				n.demands = append(n.demands, d)
			}
		}
	}
	n.ingress, n.egress = e.allocate(n.demands, f, intent.Ingress), e.allocate(n.demands, f, intent.Egress)
	return n
}

// demand finds the demand of a rule, or says why there is none.
func (n *namespace) demand(p intent.Policy, r intent.Rule, f intent.Facts) (int, *intent.Claim) {
	if _, no := readDemand(p, r, f); no != nil {
		return 0, no
	}
	i, ok := n.at[[2]string{p.Name, r.ID}]
	if !ok {
		c := intent.Not(r, intent.ReasonNotLive, "the policy is not among those of its namespace yet")
		return 0, &c
	}
	return i, nil
}

func siblingsOf(p intent.Policy, f intent.Facts) []intent.Policy {
	return slices.DeleteFunc(slices.Clone(f.Siblings), func(s intent.Policy) bool { return s.Namespace != p.Namespace || s.Name == p.Name })
}

// allocation holds the division among all demands in one direction.
type allocation struct {
	direction intent.Direction
	limits    limits
	claimants []claimant
	shares    []share
	foreign   []foreignPolicy
	// opening are another owner's policies that open the direction and restrict nothing.
	opening []foreignPolicy
	// claimant finds the claimant of a demand.
	claimant map[int]int
}

func (e engine) allocate(demands []demand, f intent.Facts, direction intent.Direction) allocation {
	s := allocation{direction: direction, limits: e.limits, foreign: isolatingPolicies(f, direction), claimant: map[int]int{}}
	s.opening = otherPolicies(f, func(o intent.OtherPolicy) bool { return o.Opens&direction != 0 })
	for i, d := range demands {
		// A selector that contradicts itself selects no pod, and has no claimants.
		if allowed := d.in(direction); allowed != nil && d.pods != nil {
			s.claimant[i] = len(s.claimants)
			s.claimants = append(s.claimants, claimant{demand: i, pods: d.pods, allowed: *allowed})
		}
	}
	s.shares = divideClaimants(s.claimants, s.foreign, e.limits)
	return s
}

// of are the allotments of a demand.
func (s allocation) of(demand int) []allotment {
	if me, ok := s.claimant[demand]; ok {
		return s.shares[me].allotments
	}
	return nil
}
