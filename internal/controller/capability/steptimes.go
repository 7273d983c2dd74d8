// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// measureSteps observes the durations of the steps that are done since the pass before.
func (r *Reconciler) measureSteps(c, was *nexusv1.NexusAICapability, observed capability.Observed, began time.Time) {
	observed.Capability = c
	look := stepLook{uid: c.UID, fresh: was.Status.ObservedGeneration <= 0, states: observed.StepStates(), begin: began, end: r.Clock.Now()}
	for step, took := range r.steps.observe(client.ObjectKeyFromObject(c), look) {
		r.Metrics.StepTook(step, took)
	}
}

// stepTimes measures how long the steps of capabilities take, from what each pass sees of them.
type stepTimes struct {
	mu  sync.Mutex
	all map[types.NamespacedName]*stepsOf
}

type stepsOf struct {
	uid types.UID
	// last are the states that the passes before saw, and begun is when the steps under way began.
	last  map[string]capability.StepState
	begun map[string]time.Time
}

func newStepTimes() *stepTimes { return &stepTimes{all: map[types.NamespacedName]*stepsOf{}} }

// stepLook holds what a pass saw of the steps of a capability.
type stepLook struct {
	uid types.UID
	// fresh is true when no pass saw the capability before, not even one of an earlier process.
	fresh      bool
	states     map[string]capability.StepState
	begin, end time.Time
}

// observe notes a look and returns the durations of the steps that are done since. Steps that are under way at the first
// look of this process began at an unknown time, unless the capability is fresh: they are not measured.
func (t *stepTimes) observe(key types.NamespacedName, look stepLook) map[string]time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	of, known := t.all[key]
	if !known || of.uid != look.uid {
		of, known = &stepsOf{uid: look.uid, last: map[string]capability.StepState{}, begun: map[string]time.Time{}}, false
		t.all[key] = of
	}
	out := map[string]time.Duration{}
	for step, state := range look.states {
		last, seen := of.last[step]
		of.last[step] = state
		if last == state || !seen && !known && !look.fresh {
			continue
		}
		if took := of.durationOf(step, last, look); took > 0 {
			out[step] = took
		}
	}
	return out
}

// durationOf notes that a step has another state than last, and returns its duration when it is done and its beginning is known.
func (of *stepsOf) durationOf(step string, last capability.StepState, look stepLook) time.Duration {
	since, measured := of.begun[step]
	switch look.states[step] {
	case capability.StepUnderWay:
		if !measured {
			of.begun[step] = look.begin
		}
	case capability.StepDone:
		delete(of.begun, step)
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

// forget drops a capability that is gone or being deleted.
func (t *stepTimes) forget(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, key)
}
