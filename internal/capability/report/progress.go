// SPDX-License-Identifier: Apache-2.0

package report

import "github.com/nexus-operator/nexus-operator/internal/capability/parts"

// StepState is the progress of a step.
type StepState int

// The states of a step.
const (
	StepIdle StepState = iota
	StepUnderWay
	StepDone
)

// StepStates returns the state of every step that has objects to deal with, by the step's name. It is nil while the
// objects are not known and while the capability is being deleted.
func (o Observed) StepStates() map[string]StepState {
	if o.Deleting || o.Graph == nil {
		return nil
	}
	out := map[string]StepState{}
	s := summary{Observed: o, nodes: o.views()}
	for _, step := range parts.Steps {
		there, done, all := 0, 0, 0
		for _, v := range s.ofStep(step.Name) {
			if v.Skipped {
				continue
			}
			all++
			if v.exists() {
				there++
			}
			if v.isDone() {
				done++
			}
		}
		switch {
		case all == 0:
		case done == all:
			out[step.Name] = StepDone
		case there > 0:
			out[step.Name] = StepUnderWay
		default:
			out[step.Name] = StepIdle
		}
	}
	return out
}

// StepNames returns the names of all steps in their order.
func StepNames() []string {
	out := make([]string, len(parts.Steps))
	for i, s := range parts.Steps {
		out[i] = s.Name
	}
	return out
}
