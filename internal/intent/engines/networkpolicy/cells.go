package networkpolicy

import (
	"cmp"
	"maps"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// limits bound the work and, what matters more, what people have to read.
type limits struct {
	// overlapping is how many rules may restrict one direction of the same pod.
	overlapping int
	// objects is how many a rule may have in one direction.
	objects int
}

func usual() limits { return limits{overlapping: 4, objects: 16} }

// side is what a demand is in one direction.
type side struct {
	demand  int // its place among all demands
	pods    box
	allowed flows
}

// foreign is somebody else's policy that isolates pods in the direction.
type foreign struct {
	name string
	pods box
}

// isolating are the policies that isolate a direction. Without policyTypes a policy isolates ingress, and
// egress when it has rules for it.
func isolating(policies []networkingv1.NetworkPolicy, direction intent.Direction) []foreign {
	wanted := policyType(direction)
	var out []foreign
	for _, np := range policies {
		types := np.Spec.PolicyTypes
		if len(types) == 0 {
			types = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
			if len(np.Spec.Egress) > 0 {
				types = append(types, networkingv1.PolicyTypeEgress)
			}
		}
		// A requirement that cannot be read is taken to hold: better to leave too many pods alone.
		if pods, _, some := boxOf(&np.Spec.PodSelector); some && slices.Contains(types, wanted) {
			out = append(out, foreign{np.Name, pods})
		}
	}
	slices.SortStableFunc(out, func(a, b foreign) int { return cmp.Compare(a.name, b.name) })
	return out
}

// piece is a set of pods that get their flows, in the direction, from one side's object. Boxes of one
// direction never meet.
type piece struct {
	side    int
	pods    []box
	allowed flows
}

// division divides the pods of a namespace among the sides of one direction, which are ordered by policy
// and rule.
type division struct {
	sides   []side
	foreign []foreign
	limits  limits
	// meet[i][j]: some pod may be of both. wider[i][j]: what j allows, i allows too.
	meet, wider [][]bool
}

func divide(sides []side, isolated []foreign, l limits) division {
	d := division{sides: sides, foreign: isolated, limits: l}
	for _, a := range sides {
		meet, wider := make([]bool, len(sides)), make([]bool, len(sides))
		for j, b := range sides {
			meet[j] = a.pods.meets(b.pods)
			wider[j] = meet[j] && a.allowed.allow(b.allowed)
		}
		d.meet, d.wider = append(d.meet, meet), append(d.wider, wider)
	}
	return d
}

// settle finds the pieces, and the sides left out because with them it would be too much. Earlier sides
// stay: each side is tried with those before it that did.
func (d division) settle() (pieces []piece, out []int) {
	var all, kept []int
	for i := range d.sides {
		all = append(all, i)
	}
	if pieces, ok := d.pieces(all); ok {
		return pieces, nil
	}
	for i := range d.sides {
		trial := append(slices.Clone(kept), i)
		if more, ok := d.pieces(trial); ok {
			kept, pieces = trial, more
			continue
		}
		out = append(out, i)
	}
	return pieces, out
}

// pieces divides the pods of these sides, unless it takes too much.
func (d division) pieces(of []int) ([]piece, bool) {
	of = d.uncovered(of)
	mixes, ok := d.mixes(of)
	if !ok {
		return nil, false
	}
	var out []piece
	add := func(i int, pods box, others []int, allowed flows) bool {
		boxes, ok := d.outside(pods, others)
		same := slices.IndexFunc(out, func(p piece) bool {
			return p.side == i && p.allowed.allow(allowed) && allowed.allow(p.allowed)
		})
		if same < 0 {
			same, out = len(out), append(out, piece{side: i, allowed: allowed})
		}
		for _, b := range boxes {
			out[same].pods = join(out[same].pods, b)
		}
		return ok
	}
	for _, i := range of {
		if !add(i, d.sides[i].pods, d.stronger(i, of), d.sides[i].allowed) {
			return nil, false
		}
	}
	for _, m := range mixes {
		if !add(m.members[0], m.pods, without(of, m.members), d.common(m.members)) {
			return nil, false
		}
	}
	return out, d.few(out)
}

// few says that no side has more objects than it may.
func (d division) few(pieces []piece) bool {
	objects := make([]int, len(d.sides))
	for _, p := range pieces {
		objects[p.side] += len(p.pods)
	}
	return slices.Max(append(objects, 0)) <= d.limits.objects
}

// uncovered leaves out the sides all of whose pods another side allows no more, so that they need nothing
// of their own. Of two that are equal the first stays.
func (d division) uncovered(of []int) []int {
	covers := func(i, j int) bool {
		return i != j && d.wider[j][i] && d.sides[j].pods.within(d.sides[i].pods)
	}
	return slices.DeleteFunc(slices.Clone(of), func(j int) bool {
		return slices.ContainsFunc(of, func(i int) bool { return covers(i, j) && (i < j || !covers(j, i)) })
	})
}

// stronger are the sides on whose pods i's own flows are not what is emitted, or not by i: those that forbid
// some of them, and of those that allow the same the ones before.
func (d division) stronger(i int, of []int) []int {
	return slices.DeleteFunc(slices.Clone(of), func(j int) bool {
		return i == j || !d.meet[i][j] || d.wider[j][i] && (i < j || !d.wider[i][j])
	})
}

// mix is some sides, and the pods that they share.
type mix struct {
	members []int
	pods    box
}

// mixes are the sides that share pods and allow in common what none of them says alone: the first of them says
// it. There are none to be had when more sides share pods than may.
func (d division) mixes(of []int) ([]mix, bool) {
	var out []mix
	fits := true
	var grow func(m mix, more []int)
	grow = func(m mix, more []int) {
		more = slices.DeleteFunc(slices.Clone(more), func(i int) bool { return !d.sides[i].pods.meets(m.pods) })
		if !fits || d.ordered(slices.Concat(m.members, more)) {
			return
		}
		if fits = len(m.members) <= d.limits.overlapping; !fits {
			return
		}
		if len(m.members) > 1 && !d.narrowest(m.members) {
			out = append(out, m)
		}
		for n, next := range more {
			both, _ := m.pods.and(d.sides[next].pods)
			grow(mix{append(slices.Clone(m.members), next), both}, more[n+1:])
		}
	}
	grow(mix{pods: box{}}, of)
	return out, fits
}

// ordered says that of any of these sides that share pods one is the narrowest, so that nothing is mixed.
func (d division) ordered(of []int) bool {
	for n, i := range of {
		for _, j := range of[n+1:] {
			if d.meet[i][j] && !d.wider[i][j] && !d.wider[j][i] {
				return false
			}
		}
	}
	return true
}

// narrowest says whether one of the sides allows only what all allow.
func (d division) narrowest(members []int) bool {
	return slices.ContainsFunc(members, func(i int) bool {
		return !slices.ContainsFunc(members, func(j int) bool { return !d.wider[j][i] })
	})
}

func (d division) common(members []int) flows {
	shared := d.sides[members[0]].allowed
	for _, i := range members[1:] {
		shared = shared.and(d.sides[i].allowed)
	}
	return shared
}

// outside is what is left of the pods without those of other sides and those that somebody else isolates,
// unless that takes too many boxes.
func (d division) outside(pods box, others []int) ([]box, bool) {
	var holes []box
	for _, f := range d.foreign {
		holes = append(holes, f.pods)
	}
	for _, j := range others {
		holes = append(holes, d.sides[j].pods)
	}
	holes = slices.DeleteFunc(holes, func(hole box) bool { return !hole.meets(pods) })
	// Holes with few conditions first: they leave fewer boxes for the others to cut.
	slices.SortStableFunc(holes, func(a, b box) int { return cmp.Compare(len(a), len(b)) })
	keys := cuts(holes)
	left := []box{pods}
	for _, hole := range holes {
		var next []box
		for _, b := range left {
			next = append(next, b.minus(hole, keys)...)
		}
		// What is cut off may be cut away later, so the way may be longer than the end.
		if left = next; len(left) > 4*d.limits.objects {
			return nil, false
		}
	}
	return left, true
}

// cuts is the order of keys in which holes are cut: first those that many holes agree on. What is outside there
// is outside of all of them, and need not be cut again.
func cuts(holes []box) []string {
	said := map[string][]values{}
	for _, hole := range holes {
		for k, v := range hole {
			if !slices.ContainsFunc(said[k], v.equal) {
				said[k] = append(said[k], v)
			}
		}
	}
	keys := slices.Sorted(maps.Keys(said))
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(len(said[a]), len(said[b])) })
	return keys
}

func policyType(direction intent.Direction) networkingv1.PolicyType {
	if direction == intent.Ingress {
		return networkingv1.PolicyTypeIngress
	}
	return networkingv1.PolicyTypeEgress
}
