package engine

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Host is what the engine needs of the controller while it advances one object.
type Host interface {
	// Commit persists the finalizer and the intent in one resourceVersion-checked write. Nothing is
	// written to AWS before it succeeded.
	Commit(ctx context.Context, i *Intent) error
	// Store persists an identifier that AWS assigned.
	Store(ctx context.Context, id string) error
	// Explain turns an AWS error into a kind of failure.
	Explain(err error, action string) error
	// AlreadyExists says whether a create failed because the name is taken in this account, so that
	// looking again tells whose it is.
	AlreadyExists(err error) bool
	// Refs are the references that the last decision resolved, by Kind/name.
	Refs() map[string]kind.Target
	// Did is told of every step that AWS accepted.
	Did(p Plan)
	// Now is the clock.
	Now() time.Time
}

// Decider decides for one object under one identity; see Entry.Decide.
type Decider func(ctx context.Context, o Owner) (Plan, error)

// Outcome is where advancing an object led.
type Outcome struct {
	// Plan is the last decision.
	Plan Plan
	// Synced is true when AWS was observed to be as declared.
	Synced bool
	// Gone is true when a deletion is complete: the finalizer may go.
	Gone bool
	// Drift is set when the differences are reported rather than corrected.
	Drift kind.Diff
}

const (
	// rounds bounds how often one pass decides and runs: create, settings, a verifying look, and some
	// pages of a bucket. What is left waits for the next pass.
	rounds = 8
	// soon is when to look again for what AWS has accepted and does not show yet.
	soon = time.Second
	// settleUnknown is how long the effect of a call whose answer nobody heard may be in coming.
	settleUnknown = 10 * time.Second
	// settleTagged is the same where a resource is only found again by searching its tags.
	settleTagged = 30 * time.Second
	// settleToken is how long a lost create may stay invisible before another attempt is made.
	settleToken = 2 * time.Minute
)

// Advance decides and runs until AWS is as declared, something must be waited for, or a step fails.
// What makes Ready true is always a look at AWS after the last write, never the success of a write.
func Advance(ctx context.Context, decide Decider, m kind.Meta, o Owner, h Host) (Outcome, error) {
	a := advance{decide: decide, meta: m, o: o, h: h}
	for range rounds {
		done, err := a.round(ctx)
		if done || err != nil {
			return a.out, err
		}
	}
	return a.out, &status.Waiting{Reason: status.ReasonProgressing, For: "AWS to show the last changes", After: soon}
}

type advance struct {
	decide  Decider
	meta    kind.Meta
	o       Owner
	h       Host
	out     Outcome
	created bool // a create was accepted, or refused because the resource exists
	seen    bool // some look found the resource
	absent  bool // the last look found nothing
}

func (a *advance) round(ctx context.Context) (bool, error) {
	p, err := a.decide(ctx, a.o)
	a.out.Plan = p
	if p.Exists {
		a.seen, a.absent = true, false
	}
	if err != nil {
		return true, a.explain(err, "")
	}
	switch p.Cause {
	case Busy:
		return true, &status.Waiting{Reason: status.ReasonBusy, For: "AWS: " + p.Reason}
	case Gone:
		return a.gone(p)
	case InSync:
		a.out.Synced = true
		return true, a.commit(ctx, p)
	}
	if a.held(p) {
		return true, a.reported(p)
	}
	if err := a.mayCreate(p); err != nil {
		return true, err
	}
	if err := a.commit(ctx, p); err != nil {
		return true, err
	}
	return false, a.run(ctx, p)
}

// held says that the differences are to be reported only.
func (a *advance) held(p Plan) bool {
	behindOurBack := p.Cause == Drifted || p.Cause == New && a.o.Known
	return a.o.Management == v1alpha1.ManageObserve || a.o.Drift == v1alpha1.DriftReport && behindOurBack && !a.o.Deleting
}

// reported ends a pass that only looks: differences are no failure, absence is.
func (a *advance) reported(p Plan) error {
	a.out.Drift, a.out.Synced = p.Diff, p.Exists
	if p.Exists {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonMissing, Message: "the AWS resource does not exist, and the object's policies forbid to make it"}
}

// gone verifies an absence by a second look: one answer may come from a replica that lags.
func (a *advance) gone(p Plan) (bool, error) {
	if p.Exists { // left alone or orphaned: there is nothing to wait for
		a.out.Gone = true
		return true, nil
	}
	if i := a.o.Intent; i != nil && !a.o.Known && !a.seen && !i.At.IsZero() {
		if left := settleUnknown - a.h.Now().Sub(i.At); left > 0 {
			return true, &status.Waiting{Reason: status.ReasonDeleting, For: "a create whose answer may be lost to show", After: left}
		}
	}
	a.out.Gone = a.absent
	done := a.absent
	a.absent = true
	return done, nil
}

// mayCreate holds back a create that could make a second resource.
func (a *advance) mayCreate(p Plan) error {
	if p.Cause != New {
		return nil
	}
	if a.created {
		return &status.Waiting{Reason: status.ReasonProgressing, For: "AWS to show the new resource", After: soon}
	}
	i := a.o.Intent
	if a.meta.Identity != kind.ByTag || i == nil || i.At.IsZero() {
		return nil
	}
	if left := settleTagged - a.h.Now().Sub(i.At); left > 0 {
		return &status.Waiting{Reason: status.ReasonProgressing, For: "the outcome of the last create to show", After: left}
	}
	return nil
}

// commit persists what must be known after a crash, before the first write it matters for.
func (a *advance) commit(ctx context.Context, p Plan) error {
	if a.o.Deleting || a.o.Management == v1alpha1.ManageObserve {
		return nil
	}
	next := a.next(p)
	if next == nil {
		return nil
	}
	if err := a.h.Commit(ctx, next); err != nil {
		return err
	}
	a.o.Intent = next
	return nil
}

// next is the intent to persist, or nil when the persisted one will do. The host adds the home, which
// it knows.
func (a *advance) next(p Plan) *Intent {
	i, creates, refs := a.o.Intent, p.Cause == New, maps.Clone(a.h.Refs())
	switch {
	case i == nil && creates:
		return &Intent{Attempt: 1, At: a.h.Now(), Refs: refs}
	case i == nil:
		return &Intent{Attempt: 1, Refs: refs}
	case creates && i.At.IsZero(), creates && a.o.Known && a.h.Now().Sub(i.At) > settleToken:
		// What the last attempt made is gone: the same token would give the dead resource back.
		return &Intent{Attempt: i.Attempt + 1, At: a.h.Now(), Refs: refs}
	case !maps.Equal(i.Refs, refs):
		return &Intent{Attempt: i.Attempt, At: i.At, Refs: refs}
	default:
		return nil
	}
}

func (a *advance) run(ctx context.Context, p Plan) error {
	err := Run(ctx, a.o, p, a.h.Store)
	if err == nil {
		a.created = a.created || p.creates
		a.h.Did(p)
		return nil
	}
	if p.creates && a.h.AlreadyExists(err) {
		a.created = true
		return nil
	}
	return a.explain(err, action(err))
}

func action(err error) string {
	if s, ok := errors.AsType[*StepError](err); ok {
		return s.Action
	}
	return ""
}

// explain leaves kinds of failure as they are and has the host name the rest.
func (a *advance) explain(err error, action string) error {
	if _, ok := status.AsStalled(err); ok {
		return err
	}
	if _, ok := status.AsWaiting(err); ok {
		return err
	}
	return a.h.Explain(err, action)
}
