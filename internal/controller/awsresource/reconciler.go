// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// Reconciler reconciles the objects of one AWS kind: fetch, gather, let the engine decide and do, summarize.
type Reconciler struct {
	reconciler.Environment
	Entry engine.Entry
	// Kinds are the kinds that objects can refer to, by name.
	Kinds    map[string]engine.Entry
	Sessions *awssession.Directory

	// watchSecrets makes sure that changes of Secrets in a namespace come back as requests; nil for kinds
	// that read none.
	watchSecrets func(ctx context.Context, namespace string)

	checks   *reconciler.Schedule
	retries  *reconciler.Backoff
	memories *memories
	// refusals holds since when AWS has refused each object for a role that it does not know yet.
	refusals *reconciler.Schedule
	// tagged holds when AWS last accepted tags for each object.
	tagged *reconciler.Schedule
	drifts *drifts
	// changes holds the changes that events of CloudTrail reported.
	changes *changes
	// heartbeat shows whether the process was stopped; the other clock has the time of day.
	heartbeat clock.WithTicker
}

// New prepares a reconciler of one kind.
func New(env reconciler.Environment, entry engine.Entry, kinds map[string]engine.Entry, providers *awssession.Directory) *Reconciler {
	return &Reconciler{Environment: env, Entry: entry, Kinds: kinds, Sessions: providers, checks: reconciler.NewSchedule(),
		refusals: reconciler.NewSchedule(), tagged: reconciler.NewSchedule(),
		retries: reconciler.NewBackoff(env.Intervals, env.Clock), memories: newMemories(), drifts: newDrifts(), changes: newChanges(),
		heartbeat: clock.RealClock{}}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	obj := r.Entry.New()
	if err := r.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		r.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if trimmed, full := r.Large.Beyond(r.Entry.Name(), obj); full && obj.GetDeletionTimestamp() == nil {
		return newPass(r, obj).finish(ctx, engine.Outcome{}, reconciler.TooLarge(obj, "Its AWS resource stays as it is"))
	} else if trimmed {
		obj = r.Entry.New()
		if err := r.Live.Get(ctx, req.NamespacedName, obj); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	return r.reconcile(ctx, req, obj)
}

// reconcile brings the AWS resource of an object to the state that the object declares.
func (r *Reconciler) reconcile(ctx context.Context, req reconcile.Request, obj v1alpha1.Resource) (reconcile.Result, error) {
	if reconciler.IsPaused(obj) {
		return reconcile.Result{},
			newSubject(r, obj).pause(ctx, "annotation "+wellknown.AnnotationPaused+" freezes this object; remove it to continue")
	}
	if isAbandoned(obj) {
		return r.abandon(ctx, obj)
	}
	if wait := r.cadence().timeToNextCheck(obj); wait > 0 {
		return reconciler.RequeueAtRest(wait), nil
	}
	if held, err := r.waitForCapability(ctx, obj); held || err != nil {
		return r.retries.Failed(req.NamespacedName, err)
	}
	ctx = awsclient.WithObject(ctx, r.Entry.Name(), obj.GetNamespace(), obj.GetName())
	p := newPass(r, obj)
	p.requested = r.checks.Requested(req.NamespacedName)
	if asked := engine.ReconcileRequestOf(obj); asked != "" && asked != obj.CommonStatus().LastHandledReconcileAt {
		r.memories.of(req.NamespacedName, obj.GetUID()).Retry(asked)
	}
	out, err := p.advance(awsclient.WithFence(awsclient.OnPaced(ctx, p.pacing.call), p.readAt.stillCurrent))
	p.propagation.record()
	if apierrors.IsConflict(err) {
		return r.retries.Conflict(req.NamespacedName), nil
	}
	return p.finish(ctx, out, err)
}

// forget drops the memory of an object that is gone.
func (r *Reconciler) forget(key client.ObjectKey) {
	r.checks.Forget(key)
	r.retries.Drop(key)
	r.refusals.Forget(key)
	r.tagged.Forget(key)
	r.memories.forget(key)
	r.drifts.forget(key)
	r.changes.forget(key)
	r.Large.Forget(r.Entry.Name(), key)
}

// bindKind returns the kind bound to a session, built once for as long as the session lasts.
func (r *Reconciler) bindKind(session *awsclient.Session) engine.Binding {
	return session.Memo(r.Entry.Name(), func() any { return r.Entry.Bind(session.Config) }).(engine.Binding)
}

// finish writes the result of the pass: nothing when nothing changed, one status patch otherwise, or
// the end of the finalizer.
func (p *pass) finish(ctx context.Context, out engine.Outcome, err error) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(p.obj)
	if out.Gone && err == nil {
		if err := p.release(ctx, out); apierrors.IsConflict(err) {
			return p.r.retries.Conflict(key), nil
		} else if err != nil {
			return reconcile.Result{}, err
		}
		p.r.forget(key)
		return reconcile.Result{}, nil
	}
	p.summarize(out, err)
	if werr := p.subject.patchStatus(ctx); werr != nil {
		return reconcile.Result{}, client.IgnoreNotFound(werr)
	}
	if err != nil {
		return p.r.retries.Result(key, err)
	}
	after := p.r.Intervals.Jitter(p.r.cadence().nextLook(p.obj, out.Plan.Notes))
	p.r.checks.Checked(key, p.requested, p.r.Clock.Now().Add(after))
	return reconciler.RequeueAtRest(after), nil
}

// release records the resources that the object leaves in AWS and removes the finalizer; the object is gone with it.
func (p *pass) release(ctx context.Context, out engine.Outcome) error {
	if err := p.usage.recordLeft(ctx, out); err != nil {
		return err
	}
	was, next := p.subject.metadata(), p.subject.metadata()
	if !controllerutil.RemoveFinalizer(next, v1alpha1.FinalizerOf(p.r.Entry.Name())) {
		return nil
	}
	err := p.r.Client.Patch(ctx, next, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	if err == nil { // after a conflict the pass is repeated, and without the object another instance reported
		p.reports.end(out)
	}
	return nil
}
