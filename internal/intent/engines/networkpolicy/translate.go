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
func New() intent.Engine { return engine{limits: usual()} }

type engine struct{ limits limits }

// Name implements intent.Engine.
func (engine) Name() string { return Name }

// Requires implements intent.Engine: the kind is Kubernetes' own.
func (engine) Requires() []schema.GroupVersionKind { return nil }

// Makes implements intent.Engine.
func (engine) Makes() []schema.GroupVersionKind { return []schema.GroupVersionKind{kind()} }

func kind() schema.GroupVersionKind { return networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy") }

// Translate implements intent.Engine. It works out what all policies of the namespace come to and returns
// what of it is p's, so that each policy can be translated by itself and the results fit.
func (e engine) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	demands, refused := e.demands(p, f)
	ingress := e.settle(demands, f, intent.Ingress)
	egress := e.settle(demands, f, intent.Egress)
	var t intent.Translation
	for _, r := range p.Rules {
		if c, ok := refused[r.ID]; ok {
			t.Claims = append(t.Claims, c)
			continue
		}
		i := slices.IndexFunc(demands, func(d demand) bool { return d.policy == p.Name && d.rule.ID == r.ID })
		t.Objects = append(t.Objects, objects(p, demands[i], ingress.of(i), egress.of(i))...)
		t.Claims = append(t.Claims, claim(demands, i, ingress, egress))
	}
	return t
}

// demands are those of all policies, ordered by policy and rule, and the claims for p's rules that are none.
func (e engine) demands(p intent.Policy, f intent.Facts) ([]demand, map[string]intent.Claim) {
	policies := []intent.Policy{p}
	for _, s := range f.Siblings {
		if s.Namespace == p.Namespace && s.Name != p.Name {
			policies = append(policies, s)
		}
	}
	slices.SortStableFunc(policies, func(a, b intent.Policy) int { return cmp.Compare(a.Name, b.Name) })
	var out []demand
	refused := map[string]intent.Claim{}
	for _, from := range policies {
		for _, r := range from.Rules {
			d, no := examine(from, r, f)
			if no == nil {
				out = append(out, d)
			} else if from.Name == p.Name {
				refused[r.ID] = *no
			}
		}
	}
	return out, refused
}

// settled is what all demands come to in one direction.
type settled struct {
	division
	direction intent.Direction
	pieces    []piece
	// out are the sides that were too much.
	out []int
}

func (e engine) settle(demands []demand, f intent.Facts, direction intent.Direction) settled {
	var sides []side
	for i, d := range demands {
		// A selector that contradicts itself selects no pod, and has no sides.
		if allowed := d.in(direction); allowed != nil && d.pods != nil {
			sides = append(sides, side{demand: i, pods: d.pods, allowed: *allowed})
		}
	}
	s := settled{division: divide(sides, isolating(f.NetworkPolicies, direction), e.limits), direction: direction}
	s.pieces, s.out = s.settle()
	return s
}

// of are the pieces of a demand.
func (s settled) of(demand int) []piece {
	return slices.DeleteFunc(slices.Clone(s.pieces), func(p piece) bool { return s.sides[p.side].demand != demand })
}
