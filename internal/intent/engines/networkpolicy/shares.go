// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"encoding/json"
	"fmt"
	"slices"
)

// share holds the allotments of the objects of one claimant in one direction. Together they select all pods of the claimant that no foreign
// policy isolates, so a claimant stays in force when the objects of all other claimants are gone. If pods of several claimants get
// different flows, every claimant emits for its own pods the flows that all of them allow: the union of equal flows opens nothing.
type share struct {
	allotments []allotment
	// coarse is true if the allotments allow less than the claimants on these pods ask for.
	coarse bool
	// alone is true if no object is emitted: the pods that foreign policies isolate cannot be cut out.
	alone bool
}

// maxAttempts sets how many claimants of one overlap are made coarser, one after the other, before all are.
const maxAttempts = 16

// maxShared limits how many peers an intersection of many claimants may have; beyond it nothing is allowed.
const maxShared = 256

// divideClaimants returns the share of each claimant. The claimants are ordered by priority.
func divideClaimants(claimants []claimant, isolated []foreignPolicy, l limits) []share {
	out := make([]share, len(claimants))
	var of []int
	single := division{foreign: isolated, limits: l}
	for i, s := range claimants {
		if _, ok := single.outside(s.pods, nil); !ok {
			out[i].alone = true
			continue
		}
		of = append(of, i)
	}
	for _, group := range overlapping(claimants, of) {
		members := make([]claimant, len(group))
		for n, i := range group {
			members[n] = claimants[i]
		}
		for n, s := range sharesOf(members, isolated, l) {
			out[group[n]] = s
		}
	}
	return out
}

// overlapping groups claimants that share pods, directly or through others. Groups and members are in order.
func overlapping(claimants []claimant, of []int) [][]int {
	group := make([]int, len(claimants)) // a forest: each points to an earlier member, roots to themselves
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	for i := range group {
		group[i] = i
	}
	for n, i := range of {
		for _, j := range of[:n] {
			if a, b := root(i), root(j); a != b && claimants[i].pods.meets(claimants[j].pods) {
				group[max(a, b)] = min(a, b)
			}
		}
	}
	at := map[int]int{}
	var out [][]int
	for _, i := range of {
		r := root(i)
		if _, seen := at[r]; !seen {
			at[r] = len(out)
			out = append(out, nil)
		}
		out[at[r]] = append(out[at[r]], i)
	}
	return out
}

// sharesOf divides the pods of claimants that overlap. If that exceeds the limits, claimants are made coarser: they allow only flows that
// all claimants that they meet allow. No claimant is left out because of its name.
func sharesOf(claimants []claimant, isolated []foreignPolicy, l limits) []share {
	if len(claimants) > l.claimants {
		return divideCoarsely(claimants, isolated, l)
	}
	d := newDivision(claimants, isolated, l)
	out := make([]share, len(claimants))
	for range maxAttempts {
		allotments, much := d.allotments()
		if much == nil {
			for i := range claimants {
				out[i].allotments = d.own(i, allotments)
			}
			return out
		}
		if much.claimant < 0 || out[much.claimant].coarse {
			break
		}
		i := much.claimant
		out[i].coarse = true
		d.claimants[i].allowed = newIntersections(claimants).of(i)
		d.compare(i)
	}
	return divideCoarsely(claimants, isolated, l)
}

// own returns the allotments that a claimant emits for its own pods. When that takes too many objects, the claimant emits only its own part
// of the division, and one allotment that allows no flows: the flows of the other parts then stay open as long as their objects exist, and
// close when those go.
func (d division) own(i int, allotments []allotment) []allotment {
	plain, ok := d.outside(d.claimants[i].pods, d.narrower(i))
	if ok {
		mine := allotmentsByFlows{claimant: i}
		for _, b := range plain {
			mine.add(b, d.claimants[i].allowed)
		}
		for _, p := range allotments {
			for _, b := range p.pods {
				if both, some := b.and(d.claimants[i].pods); some && !slices.ContainsFunc(plain, both.within) {
					mine.add(both, p.allowed)
				}
			}
		}
		if countAllotments(mine.allotments) <= d.limits.objects {
			return mine.allotments
		}
	}
	out := slices.DeleteFunc(slices.Clone(allotments), func(p allotment) bool { return p.claimant != i })
	return append(out, allotment{claimant: i, pods: []podSet{d.claimants[i].pods}, allowed: flows{}})
}

// narrower returns the claimants that forbid flows of a claimant on some of its pods.
func (d division) narrower(i int) []int {
	var out []int
	for j := range d.claimants {
		if j != i && d.meet[i][j] && !d.wider[j][i] {
			out = append(out, j)
		}
	}
	return out
}

// allotmentsByFlows are allotments of one claimant, one for each of its flows.
type allotmentsByFlows struct {
	claimant   int
	allotments []allotment
}

func (g *allotmentsByFlows) add(pods podSet, allowed flows) {
	same := slices.IndexFunc(g.allotments, func(p allotment) bool { return p.allowed.equal(allowed) })
	if same < 0 {
		same, g.allotments = len(g.allotments), append(g.allotments, allotment{claimant: g.claimant, allowed: allowed})
	}
	if p := &g.allotments[same]; !slices.ContainsFunc(p.pods, pods.within) {
		p.pods = join(p.pods, pods)
	}
}

func countAllotments(allotments []allotment) int {
	n := 0
	for _, p := range allotments {
		n += len(p.pods)
	}
	return n
}

// divideCoarsely gives every claimant one allotment, with the flows that all claimants that it meets allow.
func divideCoarsely(claimants []claimant, isolated []foreignPolicy, l limits) []share {
	d := division{foreign: isolated, limits: l}
	shared := newIntersections(claimants)
	out := make([]share, len(claimants))
	for i, s := range claimants {
		pods, ok := d.outside(s.pods, nil)
		out[i] = share{alone: !ok, coarse: ok}
		if ok {
			out[i].allotments = []allotment{{claimant: i, pods: pods, allowed: shared.of(i)}}
		}
	}
	return out
}

// intersections computes the common flows of all claimants that a claimant meets. Sides with the same flows are one class, and the same set
// of classes is intersected once.
type intersections struct {
	claimants []claimant
	class     []int
	classes   []flows
	known     map[string]flows
}

func newIntersections(claimants []claimant) *intersections {
	x := &intersections{claimants: claimants, known: map[string]flows{}}
	at := map[string]int{}
	for _, s := range claimants {
		key := s.allowed.text()
		if _, seen := at[key]; !seen {
			at[key] = len(x.classes)
			x.classes = append(x.classes, s.allowed)
		}
		x.class = append(x.class, at[key])
	}
	return x
}

func (x *intersections) of(i int) flows {
	met := make([]bool, len(x.classes))
	for j, s := range x.claimants {
		met[x.class[j]] = met[x.class[j]] || i == j || s.pods.meets(x.claimants[i].pods)
	}
	key := fmt.Sprint(met)
	if f, ok := x.known[key]; ok {
		return f
	}
	var f flows
	first := true
	for c, is := range met {
		switch {
		case !is:
			continue
		case first:
			f, first = x.classes[c], false
		case f.size()*x.classes[c].size() > maxShared*maxShared:
			f = flows{}
		default:
			f = f.and(x.classes[c])
		}
		if f.size() > maxShared {
			f = flows{}
		}
	}
	x.known[key] = f
	return f
}

// text is the same for flows that are written alike.
func (f flows) text() string {
	b, err := json.Marshal(f.ingress())
	if err != nil {
		panic("flows are plain data: " + err.Error())
	}
	return string(b)
}
