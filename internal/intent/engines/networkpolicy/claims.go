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
	// some says, where there is a reason, that it is held for some pods all the same.
	some bool
}

// claim says how far a demand is held.
func claim(demands []demand, i int, directions ...settled) intent.Claim {
	d := demands[i]
	var lacking, held []standing
	for _, s := range directions {
		if d.in(s.direction) == nil {
			continue
		}
		if o := s.standing(demands, i); o.reason != "" {
			lacking = append(lacking, o)
		} else {
			held = append(held, o)
		}
	}
	if len(lacking) > 0 {
		message := said(d.short, lacking)
		if len(held) > 0 || slices.ContainsFunc(lacking, func(s standing) bool { return s.some }) {
			return intent.Partly(d.rule, lacking[0].reason, message)
		}
		return intent.Not(d.rule, lacking[0].reason, message)
	}
	if d.short != "" {
		return intent.Partly(d.rule, intent.ReasonNotCovered, said(d.short, held))
	}
	c := intent.Enforces(d.rule)
	c.Message = said("", held)
	return c
}

// said is one message, no longer than a status takes.
func said(first string, standings []standing) string {
	messages := []string{first}
	for _, s := range standings {
		messages = append(messages, s.message)
	}
	const most = 512
	message := strings.Join(slices.DeleteFunc(messages, func(m string) bool { return m == "" }), "; ")
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most-3], "") + "..."
}

// standing says how far a demand is held in this direction.
func (s settled) standing(demands []demand, i int) standing {
	me := slices.IndexFunc(s.sides, func(o side) bool { return o.demand == i })
	if me < 0 {
		return standing{message: "the selector contradicts itself: it selects no pod"}
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
		return standing{message: fmt.Sprintf("%s is held by the objects of %s, which allow no more", direction, list(holders))}
	}
	return standing{}
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
