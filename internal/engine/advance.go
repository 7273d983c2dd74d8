// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/tracing"
)

// Host provides the controller's part while the engine advances one object.
type Host interface {
	// Commit persists the finalizer and the intent in one resourceVersion-checked write. The engine
	// writes to AWS only after it succeeded.
	Commit(ctx context.Context, i *Intent) error
	// Store persists an identifier that AWS assigned, and a request that it carries out later; see RecordAccepted.
	Store(ctx context.Context, a kind.Accepted) error
	// Explain turns an AWS error into a kind of failure.
	Explain(err error, action string) error
	// AlreadyExists reports whether a create failed because the name is taken in this account, by a resource in use
	// or in its recovery window, so that looking again shows who owns it.
	AlreadyExists(err error) bool
	// HadNoEffect reports whether AWS answered that it did not carry out the call. An error without such
	// an answer, such as a broken connection, says nothing of the effect.
	HadNoEffect(err error) bool
	// MayTakeOver reports whether the object may take over, or delete, a resource that an earlier object of its name left. The error is
	// *status.Waiting while that is open.
	MayTakeOver(ctx context.Context) (bool, error)
	// Refs are the references that the last decision resolved, by Kind/name.
	Refs() map[string]kind.Target
	// Did is called with the plan and with those of its steps that AWS accepted.
	Did(p Plan, done []kind.Step)
	// Running is called before the steps of a plan are sent; left returns how many steps with an action AWS has
	// not accepted yet. Until stop returns, the host may report how far the steps are.
	Running(ctx context.Context, left func(action string) int) (stop func())
	// Home is the place of the resource; see Home.
	Home() string
	// Approve persists that the plan with a hash, which the object's annotation approves, runs; see RecordApproval. The error is
	// *status.Waiting if nothing shows that only people who may approve plans can write the annotation.
	Approve(ctx context.Context, o Owner, hash string) error
	// Memory returns the memory that the process has of the object.
	Memory() *Memory
	// Now is the clock.
	Now() time.Time
}

// Decider decides for one object under one identity; see Binding.Decide.
type Decider func(ctx context.Context, o Owner) (Plan, error)

// Outcome is the result of advancing an object.
type Outcome struct {
	// Plan is the last decision.
	Plan Plan
	// Synced is true when AWS was observed to be as declared.
	Synced bool
	// Gone is true when a deletion is complete and the finalizer may be removed.
	Gone bool
	// Drift is set when the differences are reported rather than corrected.
	Drift kind.Diff
	// Written are the versions of all write-only values that AWS has, when the pass wrote one.
	Written map[string]string
	// Passage is the result of the pass at the gate.
	Passage Passage
}

const (
	// rounds bounds how often one pass decides and runs: create, settings, a verifying look, and some
	// pages of a bucket. The next pass does the rest.
	rounds = 8
	// settleUnknown bounds the time until the effect of a call appears after its answer was lost.
	settleUnknown = 10 * time.Second
	// settleTagged is the same for a resource that is only found again by a search for its tags.
	settleTagged = 30 * time.Second
)

// Advance decides and runs until AWS is as declared, the pass must wait, or a step fails. Ready always rests on a look at AWS after the
// last write, never on the success of a write.
func Advance(ctx context.Context, decide Decider, m kind.Meta, o Owner, h Host) (Outcome, error) {
	a := advance{decide: decide, meta: m, o: o, mem: h.Memory(), h: h}
	if err := a.restoreFinalizer(ctx); err != nil {
		return a.out, err
	}
	for range rounds {
		done, err := a.round(ctx)
		if done || err != nil {
			return a.out, err
		}
	}
	return a.out, &status.Waiting{Reason: status.ReasonProgressing, For: "AWS to show the last changes", After: time.Second}
}

type advance struct {
	decide Decider
	meta   kind.Meta
	o      Owner
	mem    *Memory
	h      Host
	out    Outcome
	seen   bool // some look found the resource
}

func (a *advance) settleTime() time.Duration {
	if a.meta.Settle > 0 {
		return a.meta.Settle
	}
	return settleDefault
}

// restoreFinalizer commits a missing finalizer first: the object may have been copied with the operator's annotations, or its finalizer may
// have been stripped.
func (a *advance) restoreFinalizer(ctx context.Context) error {
	if a.o.HasFinalizer || !a.o.Record.onRecord() || a.readOnly() {
		return nil
	}
	i := a.o.Record.Intent
	if i == nil {
		i = &Intent{Attempt: 1}
	}
	return a.persist(ctx, i)
}

func (a *advance) round(ctx context.Context) (bool, error) {
	p, err := a.observeOwn(ctx)
	a.out.Passage = passageAfter(a.o, err)
	if err != nil {
		return true, a.addElapsed(a.explain(err, ""))
	}
	switch p.Cause {
	case Busy:
		return true, a.addElapsed(&status.Waiting{Reason: status.ReasonBusy, For: "AWS: " + p.Reason, Usable: p.Usable,
			After: pauseUntil(p.LookAt, a.h.Now())})
	case Unowned:
		return true, &status.Waiting{Reason: status.ReasonOwnershipUnknown, For: p.Reason, Usable: true,
			After: nextLook(a.h.Now().Sub(a.mem.untaggedSince))}
	case Gone:
		return a.finishDeletion(p)
	case InSync:
		a.out.Synced = true
		return true, a.commit(ctx, p)
	}
	if err := a.verifyAbsence(p); err != nil {
		return true, err
	}
	if a.o.ReportsOnly(p) {
		return true, a.report(p)
	}
	if err := a.mayCreate(p); err != nil {
		return true, err
	}
	if err := a.awaitApproval(ctx, p); err != nil {
		return true, err
	}
	if err := a.commit(ctx, p); err != nil {
		return true, err
	}
	return a.run(ctx, p)
}

// observeOwn decides. A resource that an earlier object left counts as this object's only if the host allows that.
func (a *advance) observeOwn(ctx context.Context) (Plan, error) {
	p, err := a.observe(ctx)
	if !p.TakesOver || a.o.OnlyOwn {
		return p, err
	}
	allowed, refused := a.h.MayTakeOver(ctx)
	if refused != nil {
		return p, refused
	}
	if allowed {
		return p, err
	}
	a.o.OnlyOwn = true
	return a.observe(ctx)
}

// observe decides with the memory of the process, and stores the findings of the decision in it.
func (a *advance) observe(ctx context.Context) (Plan, error) {
	now := a.h.Now()
	a.o.Recent.Created = a.mem.created(a.settleTime(), now)
	a.o.Recent.CreatedIn = a.mem.createdIn
	a.o.Recent.New = a.o.Recent.Created && a.mem.untouched
	a.o.Recent.Wrote = now.Sub(a.mem.lastWrite()) < wroteFor
	a.o.Recent.Untagged = a.mem.untagged()
	a.o.Recent.Removed = a.mem.removed()
	a.o.Recent.Members = a.mem.members(a.settleTime(), now)
	a.o.Recent.UntaggedSettled = !a.mem.untaggedSince.IsZero() && now.Sub(a.mem.untaggedSince) >= a.settleTime()
	a.o.Recent.NotEmpty = a.mem.notEmpty
	if a.mem.provided != nil {
		a.o.Recent.Provided = *a.mem.provided
	}
	a.o.Recent.Reported = a.mem.reported
	a.o.Recent.First = a.isFirstCreate()
	decision, span := tracing.Span(ctx, "decide")
	p, err := a.decideByCheck(decision)
	span.SetAttributes(attribute.String("decision.cause", string(p.Cause)), attribute.Int("decision.steps", len(p.Steps)))
	tracing.End(span, failureOf(err))
	a.out.Plan = p
	a.seen = a.seen || p.Exists
	if failed, ok := errors.AsType[*kind.FailedRequest](err); ok {
		a.mem.recordFailed(failed, p)
		a.o.Written.Versions, a.out.Written = nil, map[string]string{}
	}
	if !p.Unseen {
		a.mem.recordLook(p, err, a.settleTime(), a.h.Now())
		if p.Cause == InSync && err == nil {
			a.mem.provided = new(a.o.Provided)
		}
	}
	return p, err
}

// decideByCheck decides. A read that is shared with other checks counts only if it confirms that everything is as declared. The engine
// writes or reports a difference, or assumes an absence, only after a look of this object alone.
func (a *advance) decideByCheck(ctx context.Context) (Plan, error) {
	if c := a.o.Check; c != nil && a.mem.lastWrite().Before(c.Since) {
		p, err := a.decide(ctx, a.o)
		if !c.Shared || err == nil && p.Cause == InSync && p.Owned && len(p.Diff)+len(p.Notes)+len(p.Duplicates) == 0 {
			return p, err
		}
	}
	a.o.Check = nil
	return a.decide(ctx, a.o)
}

// isFirstCreate reports whether the create may come before any look: neither the object nor this process knows of an attempt, the object is
// not meant to adopt a resource, and its plans need no approval.
func (a *advance) isFirstCreate() bool {
	o := a.o
	nothing := o.Record.Intent == nil && o.Record.Earlier == nil && !o.Record.Known && !o.HasFinalizer
	return !a.readOnly() && !o.Gate.Closed && nothing && !a.mem.attempted &&
		o.Import == "" && o.Policy.Adoption != v1alpha1.AdoptAlways
}

// readOnly reports whether the engine must write neither to AWS nor to the object's metadata for this object.
func (a *advance) readOnly() bool {
	return a.o.Deleting || a.o.Policy.Management == v1alpha1.ManageObserve
}

// verifyAbsence waits until a resource that existed was observed to be absent twice, apart in time: one answer may come from a replica that
// lags. A store, or a resource to import, is reported as Missing once its absence is certain.
func (a *advance) verifyAbsence(p Plan) error {
	if p.Exists || p.Cause != Lost && (p.Cause != New || !a.o.Record.Known) {
		return nil
	}
	if left := a.timeToVerify(); left > 0 {
		return &status.Waiting{Reason: status.ReasonProgressing, For: "a second look: AWS answered that the resource does not exist",
			After: min(left, absenceGap)}
	}
	if p.Cause == New {
		return nil
	}
	return a.o.ExplainLoss()
}

// ExplainLoss returns the failure of an object with a plan of the cause Lost.
func (o Owner) ExplainLoss() error {
	if o.Import != "" {
		return &status.Stalled{Reason: status.ReasonMissing, Field: "spec.importID", Message: fmt.Sprintf(
			"%s does not exist in the provider's account and region; delete this object and create another that names an existing resource",
			o.Import)}
	}
	return &status.Stalled{Reason: status.ReasonMissing,
		Message: "the AWS resource existed and no longer exists, and its data is lost with it; " +
			"set recreateOnLoss: true to have it created again, empty, or restore it from a backup under the same name"}
}

// timeToVerify returns how much longer a resource that existed must be absent before that is believed: for the
// gap between two looks, and until the last write to it had the time to settle. Where a second create
// would make a second resource, for the whole settle time.
func (a *advance) timeToVerify() time.Duration {
	now := a.h.Now()
	left := absenceGap - now.Sub(a.mem.absentSince)
	if a.meta.Identity == kind.ByTag || a.meta.Identity == kind.ByToken {
		left = settleTagged - now.Sub(a.mem.absentSince)
	}
	last := a.mem.lastWrite()
	if i := a.o.Record.Intent; i != nil && i.At.After(last) && !a.mem.wasRefused(i) {
		last = i.At
	}
	return max(left, a.settleTime()-now.Sub(last))
}

// report ends a pass that only looks: differences are no failure, absence is.
func (a *advance) report(p Plan) error {
	a.out.Drift, a.out.Synced = p.Diff, p.Exists
	if p.Exists {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonMissing,
		Message: "the AWS resource does not exist, and the object's managementPolicy or driftPolicy forbids creating it"}
}

// finishDeletion ends a deletion. After an acknowledged delete one look suffices; otherwise the absence is verified by a second look, and
// the resource of a create gets the time to appear if the answer was lost.
func (a *advance) finishDeletion(p Plan) (bool, error) {
	if p.Exists || !a.mem.deletedAt.IsZero() || a.o.ProvesNothing { // left alone, orphaned, deleted by an acknowledged call, or not looked for
		a.out.Gone = true
		return true, nil
	}
	if a.mem.createFailed(a.o.Record.Intent) && !a.o.Record.Known {
		a.out.Gone = true
		return true, nil
	}
	now := a.h.Now()
	left := absenceGap - now.Sub(a.mem.absentSince)
	if i := a.o.Record.Intent; i != nil && !i.At.IsZero() && !a.o.Record.Known && !a.seen {
		left = max(left, a.lostAnswerWait()-now.Sub(i.At))
	}
	if left > 0 {
		return true, &status.Waiting{Reason: status.ReasonDeleting, For: "a second look: AWS answered that the resource does not exist",
			After: left}
	}
	a.out.Gone = true
	return true, nil
}

// lostAnswerWait returns how long the resource of a create may take to appear after the answer was lost.
func (a *advance) lostAnswerWait() time.Duration {
	if a.meta.Identity == kind.ByTag || a.meta.Identity == kind.ByToken {
		return settleTagged
	}
	return settleUnknown
}

// mayCreate holds back a create that could make a second resource.
func (a *advance) mayCreate(p Plan) error {
	if p.Cause != New {
		return nil
	}
	now := a.h.Now()
	if at := a.mem.mustShow(); !at.IsZero() && now.Sub(at) < a.settleTime() {
		return &status.Waiting{Reason: status.ReasonProgressing, For: "AWS to show the new resource", After: nextLook(now.Sub(at))}
	}
	i := a.o.Record.Intent
	if i == nil || i.At.IsZero() || a.mem.createFailed(i) || a.mem.wasRefused(i) && !a.mem.createOpen || a.repeatable() {
		return nil
	}
	if left := a.lostAnswerWait() - now.Sub(i.At); left > 0 {
		return &status.Waiting{Reason: status.ReasonProgressing, For: "the result of the last create, whose answer was lost, to show",
			After: min(left, nextLook(now.Sub(i.At)))}
	}
	a.mem.createOpen = false // it had the time to show, and did not
	return nil
}

// repeatable reports whether a create may be repeated although an earlier one may have succeeded: by name
// AWS refuses the second, and by token it returns the first, as long as the token stays the same.
func (a *advance) repeatable() bool {
	switch a.meta.Identity {
	case kind.ByTag:
		return false
	case kind.ByToken:
		return !a.needsNewToken(a.o.Record.Intent)
	default:
		return true
	}
}

// needsNewToken reports whether the next create must not repeat the last one's token: it would return a
// resource that no longer exists, or be refused because its parameters differ.
func (a *advance) needsNewToken(i *Intent) bool {
	return !i.At.IsZero() && (a.mem.createFailed(i) || a.o.Record.Known || i.Generation != a.o.Generation)
}

// commit persists the intent that must survive a crash, before the first write that needs it.
func (a *advance) commit(ctx context.Context, p Plan) error {
	if a.readOnly() {
		return nil
	}
	next := a.nextIntent(p)
	if a.o.Record.Intent != nil && sameIntent(a.o.Record.Intent, next) {
		return nil
	}
	return a.persist(ctx, next)
}

func (a *advance) persist(ctx context.Context, i *Intent) error {
	i.UID, i.Cluster = a.o.UID, a.o.Cluster
	if err := a.h.Commit(ctx, i); err != nil {
		return err
	}
	a.o.Record.Intent, a.o.HasFinalizer = i, true
	return nil
}

// nextIntent is the intent that must be persisted before the plan runs. The host adds the home.
func (a *advance) nextIntent(p Plan) *Intent {
	next := &Intent{UID: a.o.UID, Attempt: 1}
	if a.o.Record.Intent != nil {
		copied := *a.o.Record.Intent
		next = &copied
		next.UID = a.o.UID
	}
	next.Refs, next.Identity, next.Refused = maps.Clone(a.h.Refs()), p.Identity, false
	if len(next.Identity) == 0 {
		next.Identity = nil
	}
	if p.Writes() && a.o.mustRecord(p.added) {
		next.Keys, next.KeysGeneration = p.keys, a.o.Generation
	}
	next.Tags, next.Paths = a.o.tagsToRecord(next.Tags, p), a.o.Written.pathsToRecord(next.Paths, p)
	next.Hidden = a.o.Written.hiddenToRecord(next.Hidden, p)
	next.Needed = a.neededToRecord(next.Needed, p)
	if !p.creates() {
		return next
	}
	// Each create is recorded with its time: after a lost answer the waits count from the last create, not from the first.
	if a.needsNewToken(next) {
		next.Attempt++
	}
	now := a.h.Now()
	a.mem.recordAttempt(next.At, now)
	next.At, next.Generation = now, a.o.Generation
	return next
}

// run sends the steps that are due and remembers those that AWS acknowledged.
func (a *advance) run(ctx context.Context, p Plan) (bool, error) {
	steps, pending := a.mem.due(p, a.settleTime(), a.h.Now())
	if len(steps) == 0 && len(pending) > 0 {
		return true, a.mem.unsettled(p, pending, a.h.Now())
	}
	done, err := a.send(ctx, steps)
	a.mem.untouched = err == nil && p.creates() && len(done) == 1
	for _, s := range done {
		a.mem.recordWrite(s, p, a.h.Now())
		a.recordPlace(s)
		a.recordWritten(s, p)
	}
	if len(done) > 0 {
		a.h.Did(p, done)
	}
	if err != nil {
		err = a.endFailed(ctx, err, p)
		return err != nil, err
	}
	a.o.Recent.TagsKnown = a.o.Recent.TagsKnown || len(done) > 0 && done[0].Effect == kind.Creates
	if endedDeletion(done) {
		a.out.Gone, a.out.Plan.Cause, a.out.Plan.Exists = true, Gone, false
		return true, nil
	}
	return false, nil
}

// recordPlace remembers where an acknowledged create was carried out.
func (a *advance) recordPlace(s kind.Step) {
	if s.Effect == kind.Creates && a.o.Record.Intent != nil {
		a.mem.createdIn = a.o.Record.Intent.Home
	}
}

// send runs the steps while the host reports how far they are.
func (a *advance) send(ctx context.Context, steps []kind.Step) ([]kind.Step, error) {
	counted, left := countLeft(steps)
	defer a.h.Running(ctx, left)()
	return Run(ctx, a.o, counted, a.h.Store)
}

// endedDeletion reports whether a step completed the deletion.
func endedDeletion(done []kind.Step) bool {
	return len(done) > 0 && done[len(done)-1].Effect == kind.Ends
}

// recordWritten keeps the versions of write-only values that a step sent.
func (a *advance) recordWritten(s kind.Step, p Plan) {
	for path, version := range p.Written.Versions {
		creates := s.Effect == kind.Creates
		if !creates && !(kind.Diff{{Path: path}}).Under(s.Fixes...) {
			continue
		}
		a.o.Written.Versions = maps.Clone(a.o.Written.Versions)
		if a.o.Written.Versions == nil {
			a.o.Written.Versions = map[string]string{}
		}
		a.o.Written.Versions[path], a.out.Written = version, a.o.Written.Versions
	}
}

// recordExisting remembers the members that existed already when their creates were sent, so that the creates are not sent again while AWS
// may not show the members yet.
func (a *advance) recordExisting(err error, p Plan) {
	for _, s := range stepErrors(err) {
		if s.Creates && a.h.AlreadyExists(s.Err) {
			a.mem.recordEffect(s.Fixes, p, a.h.Now())
		}
	}
}

// endFailed records the findings from a failure of the plan's steps and returns the error that ends the pass; nil when the next look
// decides.
func (a *advance) endFailed(ctx context.Context, err error, p Plan) error {
	a.recordExisting(err, p)
	if err = a.classify(err); err == nil && p.Unseen {
		return a.recordRefusal(ctx)
	}
	return err
}

// recordRefusal persists that the only create that was ever sent made nothing, so that the resource, which
// belongs to another owner or to an earlier object, is not taken for this object's own.
func (a *advance) recordRefusal(ctx context.Context) error {
	i := *a.o.Record.Intent
	i.Refused = true
	return a.persist(ctx, &i)
}

// classify explains the failure of a step. A create that met an existing resource is no failure: the next
// look shows who owns it. Neither is the first delete that met contents: the next look reads them.
func (a *advance) classify(err error) error {
	step, ok := errors.AsType[*StepError](err)
	if !ok {
		return a.explain(err, "")
	}
	if _, refused := errors.AsType[*kind.NotEmptyError](err); refused && !a.mem.notEmpty {
		a.mem.notEmpty = true
		return nil
	}
	if !step.Creates {
		return a.explain(err, step.Action)
	}
	if a.h.AlreadyExists(err) {
		a.mem.existsAt = a.h.Now()
		return nil
	}
	if a.h.HadNoEffect(err) {
		a.mem.refusedAt = a.mem.attemptAt
	} else {
		a.mem.createOpen = true
	}
	return a.explain(err, step.Action)
}

// explain leaves kinds of failure as they are and has the host name the rest.
func (a *advance) explain(err error, action string) error {
	if failed, ok := errors.AsType[*kind.FailedRequest](err); ok {
		action = failed.Action
	}
	if _, ok := status.AsStalled(err); ok {
		return err
	}
	if _, ok := status.AsWaiting(err); ok {
		return err
	}
	return a.h.Explain(err, action)
}
