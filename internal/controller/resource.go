package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Environment is what every controller of this package shares.
type Environment struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server itself: for what is not cached, and before a write that must not
	// rest on a stale read.
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	// ClusterID marks our resources in AWS; PreviousClusterIDs are clusters we may inherit from.
	ClusterID          string
	PreviousClusterIDs []string
	// TrustAttempts is for endpoints whose creates drop tags; see engine.Owner.
	TrustAttempts bool
	// Issuer answers with the cluster's OIDC issuer URL, empty while unknown.
	Issuer func(ctx context.Context) string
	// Pace is how fast failures are retried and how often AWS is looked at.
	Pace Pace
}

// Resource reconciles the objects of one AWS kind: fetch, gather, let the engine decide and do, summarise.
type Resource struct {
	Environment
	Entry     engine.Entry
	Providers *Providers
	Vouch     Voucher

	checks *schedule
	pauses *pauses
	// refusals holds since when AWS has refused each object for a role that it does not know yet.
	refusals *schedule
}

// NewResource prepares a reconciler of one kind.
func NewResource(env Environment, entry engine.Entry, providers *Providers, vouch Voucher) *Resource {
	return &Resource{Environment: env, Entry: entry, Providers: providers, Vouch: vouch, checks: newSchedule(), refusals: newSchedule(), pauses: newPauses(env.Pace, env.Clock)}
}

// Finalizer keeps an object of the kind until its AWS resource is dealt with.
func Finalizer(kind string) string {
	return v1alpha1.GroupName + "/" + strings.ToLower(kind) + "-finalizer"
}

// Reconcile implements reconcile.Reconciler.
func (r *Resource) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	obj := r.Entry.New()
	if err := r.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		r.checks.forget(req.NamespacedName)
		r.pauses.forget(req.NamespacedName)
		r.refusals.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if paused(obj) {
		return reconcile.Result{}, newPass(r, obj).pause(ctx)
	}
	if abandoned(obj) {
		return r.abandon(ctx, obj)
	}
	if wait := r.rest(obj); wait > 0 {
		return atRest(wait), nil
	}
	if held, err := r.suspended(ctx, obj); held || err != nil {
		return reconcile.Result{}, err
	}
	ctx = awsclient.WithObject(ctx, r.Entry.Name(), obj.GetNamespace(), obj.GetName())
	p := newPass(r, obj)
	out, err := p.advance(ctx)
	p.settled()
	if apierrors.IsConflict(err) {
		// Somebody wrote the object since it was cached. The event of that write brings it back.
		return reconcile.Result{RequeueAfter: r.pauses.after(req.NamespacedName, err)}, nil
	}
	return p.finish(ctx, out, err)
}

// rest is how long an object that is as declared is left alone: nothing changed since AWS was last seen
// to be right, and the next check is not due. After a restart the first check falls at a random moment
// of an interval, so that a thousand objects do not ask at once.
func (r *Resource) rest(obj v1alpha1.Resource) time.Duration {
	st := obj.CommonStatus()
	fresh := obj.GetDeletionTimestamp() == nil && meta.FindStatusCondition(st.Conditions, conditionPaused) == nil && status.ReadyAt(st.Conditions, obj.GetGeneration()) &&
		st.LastHandledReconcileAt == reconcileAt(obj)
	if !fresh {
		return 0
	}
	key := client.ObjectKeyFromObject(obj)
	due, ok := r.checks.due(key)
	if !ok {
		due = r.Clock.Now().Add(time.Duration(rand.Int64N(int64(r.interval()))))
		r.checks.set(key, due)
	}
	return max(0, due.Sub(r.Clock.Now()))
}

func (r *Resource) interval() time.Duration {
	if d, ok := r.Pace.CheckEveryOf[r.Entry.Name()]; ok {
		return d
	}
	if p := r.Entry.Meta().Poll; p > 0 {
		return p
	}
	return r.Pace.CheckEvery
}

// atRest asks to be woken behind everything that is new or was edited.
func atRest(after time.Duration) reconcile.Result {
	low := handler.LowPriority
	return reconcile.Result{RequeueAfter: after, Priority: &low}
}

// conditionPaused says that an object is frozen: neither written, nor deleted, nor looked at.
const conditionPaused = "Paused"

// pause says so and leaves what was last known to be true.
func (p *pass) pause(ctx context.Context) error {
	status.Set(&p.obj.CommonStatus().Conditions, p.obj.GetGeneration(), p.r.Clock.Now(), metav1.Condition{Type: conditionPaused, Status: metav1.ConditionTrue,
		Reason: status.ReasonPaused, Message: "remove annotation " + engine.AnnotationPaused + " to go on"})
	return client.IgnoreNotFound(p.patchStatus(ctx))
}

func paused(obj client.Object) bool { return obj.GetAnnotations()[engine.AnnotationPaused] == "true" }

// finish writes down what the pass came to: nothing when nothing changed, one status patch otherwise,
// or the end of the finalizer.
func (p *pass) finish(ctx context.Context, out engine.Outcome, err error) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(p.obj)
	if out.Gone && err == nil {
		p.r.checks.forget(key)
		if err := p.release(ctx, out); apierrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: p.r.pauses.after(key, err)}, nil
		} else if err != nil {
			return reconcile.Result{}, err
		}
		p.r.pauses.forget(key)
		return reconcile.Result{}, nil
	}
	p.summarise(out, err)
	if werr := p.patchStatus(ctx); werr != nil {
		return reconcile.Result{}, client.IgnoreNotFound(werr)
	}
	if err != nil {
		return reconcile.Result{RequeueAfter: p.r.pauses.after(key, err)}, nil
	}
	p.r.pauses.forget(key)
	after := p.r.Pace.jitter(p.r.interval())
	p.r.checks.set(key, p.r.Clock.Now().Add(after))
	return atRest(after), nil
}

// release drops the finalizer; the object is gone with it.
func (p *pass) release(ctx context.Context, out engine.Outcome) error {
	base := p.obj.DeepCopyObject().(client.Object)
	if !controllerutil.RemoveFinalizer(p.obj, Finalizer(p.r.Entry.Name())) {
		return nil
	}
	if out.Plan.Reason != "" && out.Plan.Exists {
		p.event("Normal", status.ReasonDeleting, "Delete", "the AWS resource stays: "+out.Plan.Reason)
	}
	err := p.r.Client.Patch(ctx, p.obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}
