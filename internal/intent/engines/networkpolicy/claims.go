// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// standing says how far a demand is held in one direction.
type standing struct {
	// reason is empty when it is held for all of its pods; message may then say that more is closed.
	reason, message string
	// some says, where there is a reason, that it is held for some pods all the same.
	some bool
}

// claim says how far a demand is held.
func claim(demands []demand, i int, directions ...allocation) intent.Claim {
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
		message := joinStandings(d.short, slices.Concat(lacking, held))
		if len(held) > 0 || slices.ContainsFunc(lacking, func(s standing) bool { return s.some }) {
			return intent.Partly(d.rule, lacking[0].reason, message)
		}
		return intent.Not(d.rule, lacking[0].reason, message)
	}
	if d.short != "" {
		return intent.Partly(d.rule, intent.ReasonNotCovered, joinStandings(d.short, held))
	}
	if d.unlocated != "" {
		return intent.Partly(d.rule, intent.ReasonDNSNotFound, joinStandings(d.unlocated, held))
	}
	if d.hidden != "" {
		return intent.Partly(d.rule, intent.ReasonEngineLimit, joinStandings(d.hidden, held))
	}
	c := intent.Enforces(d.rule)
	c.Message = joinStandings(d.note, held)
	return c
}

// enforcedBy lowers a claim where nothing is known to enforce NetworkPolicies: the objects are there, and act once something does.
func enforcedBy(e intent.Enforcer, r intent.Rule, c intent.Claim) intent.Claim {
	if e.Problem == "" || c.Level == v1alpha1.LevelNone {
		return c
	}
	message := joinStandings(e.Problem, []standing{{message: c.Message}})
	if e.Off {
		return intent.Not(r, intent.ReasonNoEnforcer, message)
	}
	return intent.Partly(r, intent.ReasonNoEnforcer, message)
}

// joinStandings is one message, no longer than a status takes.
func joinStandings(first string, standings []standing) string {
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
func (s allocation) standing(demands []demand, i int) standing {
	me, ok := s.claimant[i]
	if !ok {
		return standing{message: "the selector contradicts itself: it selects no pod"}
	}
	pods, share, direction := s.claimants[me].pods, s.shares[me], strings.ToLower(string(policyType(s.direction)))
	var isolated []string
	for _, f := range s.foreign {
		if f.pods.meets(pods) {
			isolated = append(isolated, f.name)
		}
	}
	switch {
	case share.alone:
		return standing{reason: intent.ReasonAlreadyIsolated, message: fmt.Sprintf(
			"%s is left alone: %s isolates it for some of these pods, and the others cannot be selected by %d objects", direction,
			joinNames(isolated), s.limits.objects)}
	case len(isolated) > 0 && countAllotments(share.allotments) == 0:
		return standing{reason: intent.ReasonAlreadyIsolated, message: fmt.Sprintf(
			"%s already isolates %s of all these pods: another one would only add to what it allows", joinNames(isolated), direction)}
	}
	var out standing
	if len(isolated) > 0 {
		out = standing{reason: intent.ReasonAlreadyIsolated, some: true, message: fmt.Sprintf(
			"%s already isolates %s of some of these pods, which are left to it: another one would only add to what it allows", joinNames(isolated),
			direction)}
	}
	if i := slices.IndexFunc(s.opening, func(o foreignPolicy) bool { return o.pods.meets(pods) }); i >= 0 && len(isolated) == 0 {
		out = standing{reason: intent.ReasonOverlaps, some: true, message: fmt.Sprintf(
			"%s opens %s of some of these pods beside what the intent allows, and isolates nothing: delete it, or remove its rules",
			s.opening[i].name, direction)}
	}
	if share.coarse {
		out.message = strings.TrimPrefix(out.message+"; "+s.closesMore(demands, me, direction), "; ")
	}
	return out
}

// closesMore returns the message that a claimant was made coarser, with the names of the other claimants.
func (s allocation) closesMore(demands []demand, me int, direction string) string {
	// Only the first few are listed, and not counted: each more would change the claims of all others.
	var names []string
	for j, o := range s.claimants {
		if j == me || !o.pods.meets(s.claimants[me].pods) {
			continue
		}
		if len(names) == listed {
			names = append(names[:listed-1], names[listed-1]+" and others")
			break
		}
		names = append(names, demands[o.demand].String())
	}
	return fmt.Sprintf("more %s is closed than the intent asks for, only what it and %s all allow is open: dividing the pods exactly takes more than %d rules on a pod, or %d objects; give the bindings the same selector, or selectors that exclude each other",
		direction, strings.Join(names, ", "), s.limits.overlapping, s.limits.objects)
}

// listed sets how many names a message has.
const listed = 3

// joinNames names the first few.
func joinNames(names []string) string {
	if len(names) > listed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:listed], ", "), len(names)-listed)
	}
	return strings.Join(names, ", ")
}
