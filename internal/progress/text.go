// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"cmp"
	"fmt"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/console"
)

// stepLabel begins a message about a step, or about a service that the steps do not count.
func stepLabel(number int) string {
	return map[bool]string{true: "service", false: fmt.Sprintf("step %d", number)}[number == 0]
}

// LineOf is a change for a log.
func LineOf(c Change) string {
	at := fmt.Sprintf("[%6s] ", console.Duration(time.Duration(c.ElapsedSeconds*float64(time.Second))))
	switch c.Type {
	case changedStep:
		took := ""
		if c.DurationSeconds != nil {
			took = " in " + console.Duration(time.Duration(*c.DurationSeconds*float64(time.Second)))
		}
		return fmt.Sprintf("%s%s %s: %s%s (%s)", at, stepLabel(c.Number), c.Subject, c.State, took, cmp.Or(c.Detail, "no details"))
	case changedWorkload:
		return fmt.Sprintf("%sDeployment/%s: %s (%s)", at, c.Subject, c.State, c.Detail)
	case changedAddress:
		return at + "address: " + cmp.Or(c.Detail, "none")
	case happenedEvent:
		word := "event"
		if c.Warning {
			word = "warning"
		}
		return fmt.Sprintf("%s%s %s %s: %s", at, word, c.Subject, c.State, c.Detail)
	case happenedResult:
		return fmt.Sprintf("%s%s: %s", at, resultWords[c.State], c.Detail)
	default:
		return fmt.Sprintf("%sphase %s%s", at, c.State, console.Prefixed(": ", c.Detail))
	}
}

var resultWords = map[string]string{ResultReached: "done", ResultFailed: "failed", ResultTimedOut: "timed out"}

// stepSigns stand before the state of a step; the word follows.
var stepSigns = map[stepState]string{stepWaiting: "·", stepInProgress: "…", stepFailed: "✗", stepDone: "✓", stepSkipped: "-"}

var stepColors = map[stepState]string{stepWaiting: console.Gray, stepInProgress: console.Yellow, stepFailed: console.Red,
	stepDone: console.Green, stepSkipped: console.Gray}

// Table is a capability for a terminal.
func Table(v *console.Canvas, p Progress, elapsed time.Duration) []string {
	out := []string{
		v.Cut(fmt.Sprintf("NexusAICapability %s/%s   %s   %d/%d   %s", p.Namespace, p.Name, p.Phase, p.done, p.declared,
			console.Duration(elapsed))),
		v.Cut(fmt.Sprintf("%2s  %-15s %-14s %7s  %s", "#", "STEP", "STATE", "TIME", "DETAIL")),
	}
	for _, s := range p.steps {
		if !s.isShown() {
			continue
		}
		took := "-"
		if s.took >= 0 {
			took = console.Duration(s.took)
		}
		line := v.Cut(fmt.Sprintf("%2s  %-15s %-14s %7s  %s", s.numberText(), s.name, stepSigns[s.state]+" "+string(s.state), took, s.detail))
		out = append(out, v.Paint(stepColors[s.state], line))
	}
	for _, w := range p.workloads {
		color, sign := console.Yellow, "…"
		if w.Settled {
			color, sign = console.Green, "✓"
		}
		out = append(out, v.Paint(color, v.Cut(fmt.Sprintf("    Deployment/%s %s %d of %d available", w.name, sign, w.Current, w.Desired))))
	}
	if p.wantsAddress {
		out = append(out, v.Cut("    Address "+cmp.Or(p.address, "… waiting")))
	}
	for _, e := range p.events[max(0, len(p.events)-lastEvents):] {
		sign, color := " ", console.Gray
		if e.warning {
			sign, color = "!", console.Yellow
		}
		out = append(out, v.Paint(color, v.Cut(fmt.Sprintf("  %s %s %s: %s", sign, e.subject, e.reason, e.note))))
	}
	return out
}
