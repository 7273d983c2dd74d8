package networkpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// standing is how far a demand is held in one direction.
type standing struct {
	// reason is empty when it is held for all of its pods, and message then says whose objects do it, if no
	// object of its own does.
	reason, message string
	// some says that it is held for some pods.
	some bool
}

// claim says how far a demand is held.
func claim(demands []demand, i int, directions ...settled) intent.Claim {
	d := demands[i]
	var standings []standing
	for _, s := range directions {
		if d.in(s.direction) != nil {
			standings = append(standings, s.standing(demands, i))
		}
	}
	some := slices.ContainsFunc(standings, func(s standing) bool { return s.some })
	worst := slices.IndexFunc(standings, func(s standing) bool { return s.reason != "" })
	var messages []string
	for _, s := range standings {
		if s.message != "" && (worst < 0 || s.reason != "") {
			messages = append(messages, s.message)
		}
	}
	if d.short != "" {
		messages = append([]string{d.short}, messages...)
	}
	message := bounded(strings.Join(messages, "; "))
	switch {
	case worst >= 0 && some:
		return intent.Partly(d.rule, standings[worst].reason, message)
	case worst >= 0:
		return intent.Not(d.rule, standings[worst].reason, message)
	case d.short != "":
		return intent.Partly(d.rule, intent.ReasonNotCovered, message)
	}
	c := intent.Enforces(d.rule)
	c.Message = message
	return c
}

// standing says how far a demand is held in this direction.
func (s settled) standing(demands []demand, i int) standing {
	me := slices.IndexFunc(s.sides, func(o side) bool { return o.demand == i })
	if me < 0 {
		return standing{some: true, message: "the selector contradicts itself: it selects no pod"}
	}
	pods, direction := s.sides[me].pods, strings.ToLower(string(policyType(s.direction)))
	var isolated []string
	for _, f := range s.foreign {
		if f.pods.meets(pods) {
			isolated = append(isolated, f.name)
		}
	}
	holders := s.holders(demands, me)
	switch {
	case slices.Contains(s.out, me):
		return s.leftOut(demands, me, isolated)
	case len(isolated) > 0 && len(holders) == 0:
		return standing{reason: intent.ReasonAlreadyIsolated, message: fmt.Sprintf(
			"NetworkPolicy %s already isolates %s of all these pods: another one would only add to what it allows", list(isolated), direction)}
	case len(isolated) > 0:
		return standing{reason: intent.ReasonAlreadyIsolated, some: true, message: fmt.Sprintf(
			"NetworkPolicy %s already isolates %s of some of these pods, which are left to it: another one would only add to what it allows", list(isolated), direction)}
	case len(holders) > 0 && !slices.Contains(holders, demands[i].String()):
		return standing{some: true, message: fmt.Sprintf("%s is held by the objects of %s, which allow no more", direction, list(holders))}
	}
	return standing{some: true}
}

// holders are the demands by whose objects the pods of a side are held.
func (s settled) holders(demands []demand, me int) []string {
	var out []string
	for _, p := range s.pieces {
		holder := demands[s.sides[p.side].demand].String()
		if slices.ContainsFunc(p.pods, s.sides[me].pods.meets) && !slices.Contains(out, holder) {
			out = append(out, holder)
		}
	}
	return out
}

// leftOut is the standing of a side that was too much.
func (s settled) leftOut(demands []demand, me int, isolated []string) standing {
	direction := strings.ToLower(string(policyType(s.direction)))
	if _, ok := s.division.pieces([]int{me}); !ok {
		return standing{reason: intent.ReasonAlreadyIsolated, message: fmt.Sprintf(
			"%s is left alone: NetworkPolicy %s isolates it for some of these pods, and the others cannot be selected by %d objects", direction, list(isolated), s.limits.objects)}
	}
	var names []string
	for j, o := range s.sides {
		if j != me && s.meet[me][j] {
			names = append(names, demands[o.demand].String())
		}
	}
	return standing{reason: intent.ReasonOverlaps, message: fmt.Sprintf(
		"%s is left alone: together with %s it takes more than %d rules on a pod, or %d objects; give them the same selector, or selectors that exclude each other", direction, list(names), s.limits.overlapping, s.limits.objects)}
}

// list names the first few.
func list(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

// bounded cuts what a status would refuse.
func bounded(message string) string {
	const most = 512
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most-3], "") + "..."
}
