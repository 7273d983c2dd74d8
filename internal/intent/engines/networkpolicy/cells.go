// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"cmp"
	"maps"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// limits bound the work and, more importantly, the number of objects that people have to read.
type limits struct {
	// overlapping limits how many rules may restrict one direction of the same pod.
	overlapping int
	// objects limits how many a rule may have in one direction.
	objects int
	// claimants limits how many rules with overlapping pods are divided exactly.
	claimants int
	// steps limits how many combinations of rules one attempt may look at.
	steps int
}

func defaultLimits() limits {
	return limits{overlapping: 4, objects: 16, claimants: 256, steps: 50_000}
}

// claimant is a demand in one direction.
type claimant struct {
	demand  int // its place among all demands
	pods    podSet
	allowed flows
}

// foreignPolicy is another owner's policy that isolates pods in the direction.
type foreignPolicy struct {
	name string
	pods podSet
}

// isolatingPolicies are the policies of others that isolate a direction; those that are NetworkPolicies come first.
func isolatingPolicies(f intent.Facts, direction intent.Direction) []foreignPolicy {
	wanted := policyType(direction)
	var out []foreignPolicy
	for _, np := range f.NetworkPolicies {
		// A requirement that cannot be read is taken to hold: better to leave too many pods alone.
		if pods, _, some := podSetOf(&np.Spec.PodSelector); some && isolates(np, wanted) {
			out = append(out, foreignPolicy{"NetworkPolicy " + np.Name, pods})
		}
	}
	slices.SortStableFunc(out, func(a, b foreignPolicy) int { return cmp.Compare(a.name, b.name) })
	return append(out, otherPolicies(f, func(o intent.OtherPolicy) bool { return o.Isolates&direction != 0 })...)
}

// otherPolicies returns the policies of other kinds that match.
func otherPolicies(f intent.Facts, matches func(intent.OtherPolicy) bool) []foreignPolicy {
	var out []foreignPolicy
	for _, o := range f.OtherPolicies {
		pods, _, some := podSetOf(&metav1.LabelSelector{MatchLabels: o.Selector.Labels, MatchExpressions: o.Selector.Expressions})
		if some && matches(o) {
			out = append(out, foreignPolicy{o.String(), pods})
		}
	}
	return out
}

// allotment is a set of pods that get their flows, in the direction, from one claimant's object. Sets of one
// direction never meet.
type allotment struct {
	claimant int
	pods     []podSet
	allowed  flows
}

// division divides the pods of claimants that overlap, directly or through others. The claimants are ordered by
// priority.
type division struct {
	claimants []claimant
	foreign   []foreignPolicy
	limits    limits
	// meet[i][j]: some pod may be of both. wider[i][j]: i allows all that j allows.
	meet, wider [][]bool
}

func newDivision(claimants []claimant, isolated []foreignPolicy, l limits) division {
	d := division{claimants: slices.Clone(claimants), foreign: isolated, limits: l}
	for i, a := range claimants {
		meet := make([]bool, len(claimants))
		for j, b := range claimants {
			meet[j] = i == j || a.pods.meets(b.pods)
		}
		d.meet, d.wider = append(d.meet, meet), append(d.wider, make([]bool, len(claimants)))
	}
	for i := range claimants {
		d.compare(i)
	}
	return d
}

// compare updates the comparisons of the flows of a claimant with those of the claimants that it meets.
func (d division) compare(i int) {
	for j := range d.claimants {
		if d.meet[i][j] {
			d.wider[i][j] = d.claimants[i].allowed.allow(d.claimants[j].allowed)
			d.wider[j][i] = d.claimants[j].allowed.allow(d.claimants[i].allowed)
		}
	}
}

// limitExceeded reports why pods could not be divided within the limits.
type limitExceeded struct {
	// claimant is the one to make coarser, or -1 when that would not help.
	claimant int
}

// allotments divides the pods, so that each is in one allotment, unless it takes too much.
func (d division) allotments() ([]allotment, *limitExceeded) {
	of := d.uncovered()
	overlaps, much := d.overlaps(of)
	if much != nil {
		return nil, much
	}
	var out []allotment
	add := func(i int, pods podSet, others []int, allowed flows) bool {
		sets, ok := d.outside(pods, others)
		same := slices.IndexFunc(out, func(p allotment) bool { return p.claimant == i && p.allowed.equal(allowed) })
		if same < 0 {
			same, out = len(out), append(out, allotment{claimant: i, allowed: allowed})
		}
		for _, b := range sets {
			out[same].pods = join(out[same].pods, b)
		}
		return ok
	}
	for _, i := range of {
		if !add(i, d.claimants[i].pods, d.stronger(i, of), d.claimants[i].allowed) {
			return nil, &limitExceeded{i}
		}
	}
	for _, m := range overlaps {
		if !add(m.members[0], m.pods, withoutValues(of, m.members), d.common(m.members)) {
			return nil, &limitExceeded{m.members[0]}
		}
	}
	return out, d.crowded(out)
}

// crowded finds a claimant that has more objects than it may.
func (d division) crowded(allotments []allotment) *limitExceeded {
	objects := make([]int, len(d.claimants))
	for _, p := range allotments {
		if objects[p.claimant] += len(p.pods); objects[p.claimant] > d.limits.objects {
			return &limitExceeded{p.claimant}
		}
	}
	return nil
}

// uncovered drops a claimant if another claimant covers all its pods and allows no other flows, so that it needs no allotment. Of two equal
// claimants the first stays.
func (d division) uncovered() []int {
	covers := func(i, j int) bool {
		return i != j && d.wider[j][i] && d.claimants[j].pods.within(d.claimants[i].pods)
	}
	var out []int
	for j := range d.claimants {
		covered := false
		for i := range d.claimants {
			covered = covered || covers(i, j) && (i < j || !covers(j, i))
		}
		if !covered {
			out = append(out, j)
		}
	}
	return out
}

// stronger returns the claimants that take precedence over i on the pods that they share with it: those that forbid some of i's flows, and
// those before i that allow the same flows.
func (d division) stronger(i int, of []int) []int {
	return slices.DeleteFunc(slices.Clone(of), func(j int) bool {
		return i == j || !d.meet[i][j] || d.wider[j][i] && (i < j || !d.wider[i][j])
	})
}

// overlap is some claimants, and the pods that they share.
type overlap struct {
	members []int
	pods    podSet
}

// overlaps returns the sets of claimants that share pods and have common flows that none of them has alone: the first of them emits these
// flows. It fails when more claimants share pods than the limit allows, and names the last of those.
func (d division) overlaps(of []int) ([]overlap, *limitExceeded) {
	var out []overlap
	var much *limitExceeded
	steps := 0
	var grow func(m overlap, more []int)
	grow = func(m overlap, more []int) {
		more = slices.DeleteFunc(slices.Clone(more), func(i int) bool { return !d.claimants[i].pods.meets(m.pods) })
		if much != nil || d.ordered(slices.Concat(m.members, more)) {
			return
		}
		if steps++; steps > d.limits.steps {
			much = &limitExceeded{-1}
			return
		}
		if len(m.members) > d.limits.overlapping {
			much = &limitExceeded{m.members[len(m.members)-1]}
			return
		}
		if len(m.members) > 1 && !d.narrowest(m.members) {
			out = append(out, m)
		}
		for n, next := range more {
			both, _ := m.pods.and(d.claimants[next].pods)
			grow(overlap{append(slices.Clone(m.members), next), both}, more[n+1:])
		}
	}
	grow(overlap{pods: podSet{}}, of)
	return out, much
}

// ordered reports whether one of any two of these claimants that share pods is the narrower one, so that no flows are mixed.
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

// narrowest reports whether one of the claimants allows only flows that all allow.
func (d division) narrowest(members []int) bool {
	return slices.ContainsFunc(members, func(i int) bool {
		return !slices.ContainsFunc(members, func(j int) bool { return !d.wider[j][i] })
	})
}

func (d division) common(members []int) flows {
	shared := d.claimants[members[0]].allowed
	for _, i := range members[1:] {
		shared = shared.and(d.claimants[i].allowed)
	}
	return shared
}

// outside returns the pods without those of other claimants and those that other owners isolate, unless that takes too many sets.
func (d division) outside(pods podSet, others []int) ([]podSet, bool) {
	var exclusions []podSet
	for _, f := range d.foreign {
		exclusions = append(exclusions, f.pods)
	}
	for _, j := range others {
		exclusions = append(exclusions, d.claimants[j].pods)
	}
	exclusions = slices.DeleteFunc(exclusions, func(exclusion podSet) bool { return !exclusion.meets(pods) })
	// Exclusions with few conditions first: they leave fewer sets for the others to cut.
	slices.SortStableFunc(exclusions, func(a, b podSet) int { return cmp.Compare(len(a), len(b)) })
	keys := cutOrder(exclusions)
	left := []podSet{pods}
	for _, exclusion := range exclusions {
		var next []podSet
		for _, b := range left {
			next = append(next, b.minus(exclusion, keys)...)
		}
		// A part may be cut away later, so the way may be longer than the end.
		if left = next; len(left) > 4*d.limits.objects {
			return nil, false
		}
	}
	return left, true
}

// cutOrder returns the order of the keys for cutting exclusions: first those that many exclusions agree on. The pods outside there are
// outside of all of them, and need not be cut again.
func cutOrder(exclusions []podSet) []string {
	said := map[string][]values{}
	for _, exclusion := range exclusions {
		for _, r := range exclusion {
			if !slices.ContainsFunc(said[r.key], r.equal) {
				said[r.key] = append(said[r.key], r.values)
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
