// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/console"
)

// monitorAPIVersion is that of a change as JSON.
const monitorAPIVersion = "monitor.nexus.ai/v1alpha1"

// The types of a change.
const (
	changedPhase    = "Phase"
	changedStep     = "Step"
	changedWorkload = "Workload"
	changedAddress  = "Address"
	happenedEvent   = "Event"
	happenedResult  = "Result"
)

// The states of a result.
const (
	resultReached  = "Reached"
	resultFailed   = "Failed"
	resultTimedOut = "TimedOut"
)

// lastEvents is the number of events from before the start that monitor shows, and the number of events in its table.
const lastEvents = 5

// change is one thing that monitor saw, a line of its output.
type change struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Time is the time at which monitor saw it, or when an event happened.
	Time      time.Time `json:"time"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	// ElapsedSeconds is the time since monitor began.
	ElapsedSeconds float64 `json:"elapsedSeconds"`
	// Type is Phase, Step, Workload, Address, Event or Result.
	Type string `json:"type"`
	// Number is that of a step; absent for a service that the steps do not count.
	Number int `json:"number,omitempty"`
	// Subject is the step, the Deployment, or the object that an event is about.
	Subject string `json:"subject,omitempty"`
	// State is the new phase, the state of a step, the reason of an event, or the result.
	State   string `json:"state,omitempty"`
	Warning bool   `json:"warning,omitempty"`
	Detail  string `json:"detail,omitempty"`
	// DurationSeconds is the duration of a step that is done; absent when monitor did not see it begin.
	DurationSeconds *float64 `json:"durationSeconds,omitempty"`
}

// recorder turns what is seen of a capability into changes, and measures the steps.
type recorder struct {
	began, looked time.Time
	last          progress
	begun         map[string]time.Time
	took          map[string]time.Duration
	events        map[string]bool
}

func newRecorder(now time.Time) *recorder {
	return &recorder{began: now, begun: map[string]time.Time{}, took: map[string]time.Duration{}}
}

// observe returns what changed since the last look, and completes the durations of the steps.
func (r *recorder) observe(p *progress, now time.Time) []change {
	r.measure(p, now)
	var out []change
	add := func(c change) {
		c.APIVersion, c.Kind, c.Namespace, c.Name = monitorAPIVersion, "Change", p.namespace, p.name
		c.Time, c.ElapsedSeconds = cmp.Or(c.Time, now).UTC(), console.Seconds(now.Sub(r.began))
		out = append(out, c)
	}
	if p.exists && (p.phase != r.last.phase || p.message != r.last.message) {
		add(change{Type: changedPhase, State: p.phase, Detail: p.message})
	}
	r.stepChanges(p, add)
	for _, w := range p.workloads {
		if !slices.Contains(r.last.workloads, w) {
			add(change{Type: changedWorkload, Subject: w.name, State: w.state(), Detail: fmt.Sprintf("%d of %d available", w.current, w.desired)})
		}
	}
	if p.address != r.last.address {
		add(change{Type: changedAddress, Detail: p.address})
	}
	for _, e := range r.newEvents(p.events) {
		add(change{Type: happenedEvent, Time: e.at, Subject: e.subject, State: e.reason, Warning: e.warning, Detail: e.note})
	}
	r.last, r.looked = *p, now
	return out
}

// result is the last change.
func (r *recorder) result(p progress, now time.Time, state, text string) change {
	return change{APIVersion: monitorAPIVersion, Kind: "Change", Time: now.UTC(), ElapsedSeconds: console.Seconds(now.Sub(r.began)), Namespace: p.namespace, Name: p.name,
		Type: happenedResult, State: state, Detail: text}
}

func (r *recorder) stepChanges(p *progress, add func(change)) {
	for i, s := range p.steps {
		if !s.isShown() {
			continue
		}
		if i < len(r.last.steps) && r.last.steps[i].state == s.state && r.last.steps[i].detail == s.detail {
			continue
		}
		if s.state == stepWaiting && (i >= len(r.last.steps) || r.last.steps[i].state == stepWaiting) {
			continue // it has not begun
		}
		c := change{Type: changedStep, Number: s.number, Subject: s.name, State: string(s.state), Detail: s.detail}
		if s.state == stepDone && s.took >= 0 {
			c.DurationSeconds = new(console.Seconds(s.took))
		}
		add(c)
	}
}

// measure notes when steps begin, and completes how long they took. A step that is in progress at the first look began
// with the capability if that is new, else at an unknown time, as one that is done by then.
func (r *recorder) measure(p *progress, now time.Time) {
	for i := range p.steps {
		s := &p.steps[i]
		if i < len(r.last.steps) {
			r.measureChange(*s, r.last.steps[i].state, now)
		} else if !p.created.IsZero() && (s.state == stepInProgress || s.state == stepFailed) {
			r.begun[s.name] = p.created
		}
		if took, known := r.took[s.name]; known && s.state == stepDone {
			s.took = took
		} else if began, running := r.begun[s.name]; running && s.state != stepDone {
			s.took = now.Sub(began)
		}
	}
}

// measureChange notes that a step has another state than before.
func (r *recorder) measureChange(s stepProgress, before stepState, now time.Time) {
	began, measured := r.begun[s.name]
	switch {
	case before == s.state || s.state == stepSkipped:
	case before == stepWaiting && s.state == stepDone:
		r.took[s.name] = now.Sub(r.looked)
	case before == stepWaiting || before == stepDone || before == stepSkipped:
		r.begun[s.name] = now
		delete(r.took, s.name)
	case s.state == stepDone && measured:
		r.took[s.name] = now.Sub(began)
		delete(r.begun, s.name)
	}
}

// newEvents returns the events not seen before. Of the events before the start only the last are new.
func (r *recorder) newEvents(events []eventLine) []eventLine {
	first := r.events == nil
	if first {
		r.events = map[string]bool{}
	}
	var out []eventLine
	for _, e := range events {
		if !r.events[e.key] {
			out = append(out, e)
		}
		r.events[e.key] = true
	}
	if first {
		out = out[max(0, len(out)-lastEvents):]
	}
	return out
}

func (w workloadProgress) state() string {
	if w.settled {
		return "available"
	}
	return "in progress"
}
