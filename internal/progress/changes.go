// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/console"
)

// APIVersion is that of a change as JSON.
const APIVersion = "monitor.nexus.ai/v1alpha1"

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
	ResultReached  = "Reached"
	ResultFailed   = "Failed"
	ResultTimedOut = "TimedOut"
)

// lastEvents is the number of events from before the start that monitor shows, and the number of events in its table.
const lastEvents = 5

// Change is one thing that monitor saw, a line of its output.
type Change struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Time has the time of monitor's observation, or of an event.
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

// Recorder turns the observed states of a capability into changes, and measures the steps.
type Recorder struct {
	Began, looked time.Time
	last          Progress
	begun         map[string]time.Time
	took          map[string]time.Duration
	events        map[string]bool
}

// NewRecorder returns a recorder that has seen nothing yet.
func NewRecorder(now time.Time) *Recorder {
	return &Recorder{Began: now, begun: map[string]time.Time{}, took: map[string]time.Duration{}}
}

// Observe returns the changes since the last look, and completes the durations of the steps.
func (r *Recorder) Observe(p *Progress, now time.Time) []Change {
	r.measure(p, now)
	var out []Change
	add := func(c Change) {
		c.APIVersion, c.Kind, c.Namespace, c.Name = APIVersion, "Change", p.Namespace, p.Name
		c.Time, c.ElapsedSeconds = cmp.Or(c.Time, now).UTC(), console.Seconds(now.Sub(r.Began))
		out = append(out, c)
	}
	if p.Exists && (p.Phase != r.last.Phase || p.Message != r.last.Message) {
		add(Change{Type: changedPhase, State: p.Phase, Detail: p.Message})
	}
	r.stepChanges(p, add)
	for _, w := range p.workloads {
		if !slices.Contains(r.last.workloads, w) {
			add(Change{Type: changedWorkload, Subject: w.name, State: w.state(), Detail: fmt.Sprintf("%d of %d available", w.Current, w.Desired)})
		}
	}
	if p.address != r.last.address {
		add(Change{Type: changedAddress, Detail: p.address})
	}
	for _, e := range r.newEvents(p.events) {
		add(Change{Type: happenedEvent, Time: e.at, Subject: e.subject, State: e.reason, Warning: e.warning, Detail: e.note})
	}
	r.last, r.looked = *p, now
	return out
}

// Result is the last change.
func (r *Recorder) Result(p Progress, now time.Time, state, text string) Change {
	return Change{APIVersion: APIVersion, Kind: "Change", Time: now.UTC(), ElapsedSeconds: console.Seconds(now.Sub(r.Began)),
		Namespace: p.Namespace, Name: p.Name,
		Type: happenedResult, State: state, Detail: text}
}

func (r *Recorder) stepChanges(p *Progress, add func(Change)) {
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
		c := Change{Type: changedStep, Number: s.number, Subject: s.name, State: string(s.state), Detail: s.detail}
		if s.state == stepDone && s.took >= 0 {
			c.DurationSeconds = new(console.Seconds(s.took))
		}
		add(c)
	}
}

// measure notes when steps begin, and completes how long they took. A step that is in progress at the first look began with the capability
// if that is new, otherwise at an unknown time, as one that is done by then.
func (r *Recorder) measure(p *Progress, now time.Time) {
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
func (r *Recorder) measureChange(s stepProgress, before stepState, now time.Time) {
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
func (r *Recorder) newEvents(events []eventLine) []eventLine {
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

func (w Workload) state() string {
	if w.Settled {
		return "available"
	}
	return "in progress"
}
