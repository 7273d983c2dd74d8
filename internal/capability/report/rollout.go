// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The bounds of status.rollout.
const (
	maxChanges = 64
	maxFields  = 8
	maxField   = 256
)

// NewChange describes one changed object within the bounds of the status.
func NewChange(kind, name, action string, fields []string) nexusv1.RolloutChange {
	out := nexusv1.RolloutChange{Kind: kind, Name: name, Action: action}
	for _, f := range fields[:min(len(fields), maxFields)] {
		out.Fields = append(out.Fields, status.Truncate(f, maxField))
	}
	return out
}

// updating reports whether an edit of a capability that has run is not complete yet.
func (s summary) updating() bool {
	c := s.Capability
	if !s.hasRun() || s.Deleting || c.Spec.Suspend {
		return false
	}
	if s.after != nil { // the status may still have the rollout of an earlier look
		return s.after.State != nexusv1.RolloutComplete
	}
	r := c.Status.Rollout
	return c.Status.ObservedGeneration != c.Generation || r != nil && r.Generation == c.Generation && r.State != nexusv1.RolloutComplete
}

// rollout reports the changes of an edit of a capability that has run before. It begins when a new generation is first observed, collects
// the changes of each reconciliation, and no longer changes once it is complete: a later failure is an outage. Nil leaves the status as it
// is.
func (s summary) rollout(err error) *nexusv1.RolloutStatus {
	c := s.Capability
	was := c.Status.Rollout
	continues := was != nil && was.Generation == c.Generation
	if !s.hasRun() || s.Deleting || c.Spec.Suspend || !continues && c.Status.ObservedGeneration == c.Generation {
		return nil
	}
	if continues && was.State == nexusv1.RolloutComplete {
		return was.DeepCopy()
	}
	out := &nexusv1.RolloutStatus{Generation: c.Generation}
	if continues {
		out.Changes = slices.Clone(was.Changes)
	}
	out.Changes = MergeChanges(out.Changes, s.Changes)
	out.State = rolloutState(err)
	return out
}

func rolloutState(err error) nexusv1.RolloutState {
	if _, stalled := status.AsStalled(err); stalled {
		return nexusv1.RolloutFailed
	}
	if err == nil {
		return nexusv1.RolloutComplete
	}
	return nexusv1.RolloutProgressing
}

// MergeChanges adds changes of objects that are not in a list yet, in a stable order.
func MergeChanges(have, more []nexusv1.RolloutChange) []nexusv1.RolloutChange {
	for _, m := range more {
		if !slices.ContainsFunc(have, func(h nexusv1.RolloutChange) bool { return h.Kind == m.Kind && h.Name == m.Name }) {
			have = append(have, m)
		}
	}
	slices.SortFunc(have, func(a, b nexusv1.RolloutChange) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return have[:min(len(have), maxChanges)]
}
