package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Cause says why a plan has the steps it has.
type Cause string

// The causes of a plan.
const (
	New      Cause = "New"
	Edited   Cause = "SpecChanged"
	Drifted  Cause = "Drift"
	InSync   Cause = "InSync"
	Busy     Cause = "Busy"
	Deleting Cause = "Deleting"
	// Gone: deleted, retained or never ours; nothing is left to do in AWS.
	Gone Cause = "Gone"
)

// Plan is a reconcile, decided and not yet done.
type Plan struct {
	Cause Cause
	Diff  kind.Diff
	Steps []kind.Step
	// Reason says what AWS is busy with, or why a resource is left alone while deleting.
	Reason string
	// Exists and Notes are what Observe said.
	Exists bool
	Notes  []kind.Note
	// TagKeys are the tag keys that the resource carries once the plan is done.
	TagKeys []string
	// Publish copies what AWS assigned into an object. Nil when nothing was seen.
	Publish func(v1alpha1.Resource)
	// creates marks a plan whose first step makes the resource.
	creates bool
}

// Writes says whether running the plan changes AWS.
func (p Plan) Writes() bool { return len(p.Steps) > 0 }

// decider carries one decision through its parts, so that each part stays small.
type decider[CR v1alpha1.Resource, S any] struct {
	k    kind.Kind[CR, S]
	sc   kind.Scope
	o    Owner
	want S
	seen kind.Seen[S]
}

// Decide reads AWS and says what it would do. It writes nothing, neither to AWS nor into cr: this is
// plan, and it is drift detection.
func Decide[CR v1alpha1.Resource, S any](ctx context.Context, k kind.Kind[CR, S], sc kind.Scope, o Owner, cr CR) (Plan, error) {
	if i := o.Intent; i != nil {
		if home := Home(sc.Partition, sc.Account, sc.Region); i.Home != home {
			return Plan{}, &status.Stalled{Reason: status.ReasonProviderMoved, Field: "spec.providerRef", Message: fmt.Sprintf(
				"the resource lives in %s and the provider now leads to %s; point the provider back, or delete this object and create another", i.Home, home)}
		}
	}
	want, err := k.Desired(sc, cr)
	if err != nil {
		return Plan{}, err
	}
	d := decider[CR, S]{k: k, sc: sc, o: o, want: want}
	if d.seen, err = k.Observe(ctx, want); err != nil {
		return Plan{}, err
	}
	p, err := d.plan()
	p.Exists = d.seen.Exists
	if s, ok := status.AsStalled(err); d.seen.Exists && p.Cause != Gone && !(ok && s.Reason == status.ReasonConflict) {
		// What is not ours is not published: its ARN in the status would count as ours from then on.
		p.Notes = d.seen.Notes
		p.Publish = func(r v1alpha1.Resource) { k.Publish(r.(CR), d.seen.State) }
	}
	p.TagKeys = sortedKeys(sc.Tags)
	return p, err
}

func (d decider[CR, S]) plan() (Plan, error) {
	observing := d.o.Management == v1alpha1.ManageObserve
	verdict, why := Ours, "" // whose it is does not matter to who only looks
	if !observing {
		verdict, why = Judge(d.o, d.seen.Tags, d.seen.Created)
	}
	switch {
	case !d.seen.Exists:
		return d.absent()
	case d.o.Deleting && observing:
		return Plan{Cause: Gone, Reason: "managementPolicy is Observe"}, nil
	case d.o.Deleting:
		return d.leave(verdict, why)
	case verdict == Foreign:
		return Plan{}, &status.Stalled{Reason: status.ReasonConflict, Message: "the AWS resource is not ours: " + why}
	case d.seen.Busy != "":
		return Plan{Cause: Busy, Reason: d.seen.Busy}, nil
	default:
		return d.converge(verdict)
	}
}

// leave decides on a resource whose object is being deleted.
func (d decider[CR, S]) leave(verdict Verdict, why string) (Plan, error) {
	switch {
	case verdict == Adopt:
		return Plan{Cause: Gone, Reason: "left alone: it was never adopted"}, nil
	case verdict == Foreign:
		return Plan{Cause: Gone, Reason: "left alone: " + why}, nil
	case d.o.Deletion == v1alpha1.DeletionOrphan:
		return d.orphan(), nil
	case d.seen.Busy != "":
		return Plan{Cause: Busy, Reason: d.seen.Busy}, nil
	default:
		return d.remove()
	}
}

func (d decider[CR, S]) absent() (Plan, error) {
	if d.o.Deleting {
		return Plan{Cause: Gone, Reason: "absent"}, nil
	}
	if d.o.Known && d.k.Meta().HoldsData && !d.o.RecreateOnLoss {
		return Plan{}, &status.Stalled{Reason: status.ReasonMissing, Message: "the AWS resource existed and is gone, and its data with it; " +
			"set recreateOnLoss: true to have it made anew, empty, or restore it from a backup under the same name"}
	}
	return Plan{Cause: New, Steps: d.k.Converge(d.want, d.seen, nil), creates: true}, nil
}

func (d decider[CR, S]) remove() (Plan, error) {
	if len(d.seen.Holds) > 0 {
		h := d.seen.Holds[0]
		return Plan{Cause: Deleting}, &status.Waiting{Reason: h.Reason, For: h.Message, After: holdInterval}
	}
	return Plan{Cause: Deleting, Steps: d.k.Remove(d.seen)}, nil
}

// holdInterval is how often a deletion that AWS would refuse is looked at again.
const holdInterval = 30 * time.Second

// orphan takes our tags off and nothing else.
func (d decider[CR, S]) orphan() Plan {
	var diff kind.Diff
	for _, key := range sortedKeys(d.o.OwnerTags()) {
		if v, ok := d.seen.Tags[key]; ok {
			diff = append(diff, kind.Change{Path: "Tags[" + key + "]", Want: unset, Have: v, Gone: true})
		}
	}
	if len(diff) == 0 {
		return Plan{Cause: Gone, Reason: "orphaned"}
	}
	return Plan{Cause: Deleting, Diff: diff, Steps: d.k.Converge(d.want, d.seen, diff)}
}

func (d decider[CR, S]) converge(v Verdict) (Plan, error) {
	p := Plan{Cause: InSync, Diff: Compare(d.want, d.seen.State, d.o.ManagedTagKeys)}
	if len(p.Diff) == 0 {
		return p, nil
	}
	p.Cause = Edited
	if d.o.Generation == d.o.SyncedGeneration && v == Ours {
		p.Cause = Drifted
	}
	for _, c := range p.Diff {
		if c.Mode == kind.Immutable {
			return p, &status.Stalled{Reason: status.ReasonImmutable, Message: fmt.Sprintf(
				"%s cannot be changed in place: want %s, have %s; declare what exists, or delete this object and create another", c.Path, c.Want, c.Have)}
		}
	}
	p.Steps = d.k.Converge(d.want, d.seen, p.Diff)
	return p, covered(p)
}

// covered refuses a plan that leaves a difference to nobody, or to two: such a reconcile would spin for ever.
func covered(p Plan) error {
	for _, c := range p.Diff {
		n := 0
		for _, s := range p.Steps {
			if (kind.Diff{c}).Under(s.Fixes...) {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("%s differs and %d steps settle it: a kind must have exactly one", c.Path, n)
		}
	}
	return nil
}
