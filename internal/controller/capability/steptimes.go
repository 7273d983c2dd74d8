// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"time"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// measureSteps observes the durations of the steps that are done since the pass before.
func (r *Reconciler) measureSteps(c, was *nexusv1.NexusAICapability, observed capability.Observed, began time.Time) {
	observed.Capability = c
	look := stepLook{fresh: was.Status.ObservedGeneration <= 0, states: observed.StepStates(), begin: began, end: r.Clock.Now()}
	var took map[string]time.Duration
	r.memories.use(c, func(of *memory) { took = of.steps.observe(look) })
	for step, d := range took {
		r.Metrics.StepTook(step, d)
	}
}

// stepTimes measures how long the steps of a capability take, from the states that each pass sees.
type stepTimes struct {
	// last are the states that the passes before saw, and begun is when the steps under way began.
	last  map[string]capability.StepState
	begun map[string]time.Time
}

// stepLook holds the states of the steps of a capability in one pass.
type stepLook struct {
	// fresh is true when no pass saw the capability before, not even one of an earlier process.
	fresh      bool
	states     map[string]capability.StepState
	begin, end time.Time
}

// observe notes a look and returns the durations of the steps that are done since. Steps that are under way at the first
// look of this process began at an unknown time, unless the capability is fresh: they are not measured.
func (t *stepTimes) observe(look stepLook) map[string]time.Duration {
	known := t.last != nil
	if !known {
		t.last, t.begun = map[string]capability.StepState{}, map[string]time.Time{}
	}
	out := map[string]time.Duration{}
	for step, state := range look.states {
		last, seen := t.last[step]
		t.last[step] = state
		if last == state || !seen && !known && !look.fresh {
			continue
		}
		if took := t.durationOf(step, last, look); took > 0 {
			out[step] = took
		}
	}
	return out
}

// durationOf notes that a step has another state than last, and returns its duration when it is done and its beginning is known.
func (t *stepTimes) durationOf(step string, last capability.StepState, look stepLook) time.Duration {
	since, measured := t.begun[step]
	switch look.states[step] {
	case capability.StepUnderWay:
		if !measured {
			t.begun[step] = look.begin
		}
	case capability.StepDone:
		delete(t.begun, step)
		if !measured && last == capability.StepIdle {
			since, measured = look.begin, true
		}
		if measured {
			return look.end.Sub(since)
		}
	case capability.StepIdle: // its objects are gone; what has begun goes on
	}
	return 0
}
