// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/nexus-operator/nexus-operator/internal/kind"

// planAbsent decides on a resource that does not exist.
func (d decider[CR, S]) planAbsent() (Plan, error) {
	switch {
	case d.o.Deleting:
		return Plan{Cause: Gone, Reason: kind.Either(d.o.OnlyOwn, NothingOwn, "absent")}, nil
	case d.o.Import != "": // the spec names one resource: no other may take its place
		return Plan{Cause: Lost}, nil
	case d.isLost():
		return Plan{Cause: Lost}, nil
	default:
		if err := d.o.checkEarlier(false); err != nil {
			return Plan{}, err
		}
		return Plan{Cause: New, Steps: d.k.Converge(d.want, d.absent(), nil), Later: d.afterCreate(), sets: d.diff()}, nil
	}
}

// isLost reports whether a store existed, is absent, and is not to be created again, empty.
func (d decider[CR, S]) isLost() bool {
	return d.o.Record.Known && !d.seen.Exists && !d.o.Policy.RecreateOnLoss && d.holdsData()
}

// holdsData reports whether data is lost with the resource.
func (d decider[CR, S]) holdsData() bool {
	if s, ok := d.k.(kind.Store[S]); ok {
		return s.HoldsData(d.want)
	}
	return d.k.Meta().HoldsData
}

// absent returns the result of the look, changed to that of a resource that does not exist.
func (d decider[CR, S]) absent() kind.Seen[S] {
	seen := d.seen
	seen.Exists = false
	return seen
}
