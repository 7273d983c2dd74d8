// SPDX-License-Identifier: Apache-2.0

package planrequest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// lifetime is the age of a request when it is deleted, answered or not.
	lifetime = 10 * time.Minute
	// planTimeout bounds one plan.
	planTimeout = time.Minute
	// workers limits the requests that are answered at a time. One namespace has one of two workers at most.
	workers = 2
	// mostOfNamespace limits the requests of a namespace that are planned while they exist, the oldest first.
	mostOfNamespace = 16
	// maxManifests bounds the manifests of a request together, in bytes.
	maxManifests = 256 << 10
	// maxPlan bounds status.plan in bytes, as its schema does in characters.
	maxPlan = 512 << 10
)

// Reconciler answers PlanRequests. A request is planned once: its spec is immutable. The cache has only the metadata of requests, which may
// be large and many.
type Reconciler struct {
	reconciler.Environment
	contents Contents

	retries *reconciler.Backoff
	// timeout bounds one plan.
	timeout time.Duration
}

// New prepares the reconciler.
func New(env reconciler.Environment, contents Contents) *Reconciler {
	return &Reconciler{Environment: env, contents: contents, retries: reconciler.NewBackoff(env.Intervals, env.Clock), timeout: planTimeout}
}

// SetupWithManager adds the reconciler to the manager.
func (r *Reconciler) SetupWithManager(mgr manager.Manager) error {
	options := reconciler.WorkerOptions(workers)
	options.RateLimiter = r.retries
	return ctrl.NewControllerManagedBy(mgr).Named("planrequest").
		For(&nexusv1.PlanRequest{}, builder.OnlyMetadata, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(options).Complete(r.Counted("planrequest", r))
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	q := &nexusv1.PlanRequest{}
	if err := r.Live.Get(ctx, req.NamespacedName, q); err != nil || q.DeletionTimestamp != nil {
		r.retries.Drop(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	left := lifetime - r.Clock.Since(q.CreationTimestamp.Time)
	if left <= 0 {
		err := r.Client.Delete(ctx, q, client.Preconditions{UID: &q.UID})
		return r.retries.Failed(req.NamespacedName, err)
	}
	if q.Status.ObservedGeneration == q.Generation {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	was := q.DeepCopy()
	err := r.answer(ctx, q)
	r.report(req.NamespacedName, q, err)
	if werr := r.Client.Status().Patch(ctx, q, client.MergeFrom(was)); werr != nil {
		return r.retries.Failed(req.NamespacedName, werr)
	}
	if reconciler.IsTransient(err) {
		return r.retries.Result(req.NamespacedName, err)
	}
	return reconcile.Result{RequeueAfter: left}, nil
}

// checkLoad refuses a request that is too large, or one of too many of its namespace.
func (r *Reconciler) checkLoad(ctx context.Context, q *nexusv1.PlanRequest) error {
	size := 0
	for _, m := range q.Spec.Manifests {
		size += len(m)
	}
	if size > maxManifests {
		return status.Invalid("spec.manifests", "has %d bytes, and at most %d are planned at a time: divide them among several requests", size,
			maxManifests)
	}
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(nexusv1.GroupVersion.WithKind("PlanRequestList"))
	if err := r.Client.List(ctx, all, client.InNamespace(q.Namespace)); err != nil {
		return err
	}
	older := 0
	for i := range all.Items {
		if o := &all.Items[i]; cmp.Or(o.CreationTimestamp.Compare(q.CreationTimestamp.Time), cmp.Compare(o.Name, q.Name)) < 0 {
			older++
		}
	}
	if older >= mostOfNamespace {
		return &status.Stalled{Reason: status.ReasonLimitExceeded, Message: fmt.Sprintf(
			"too many requests: namespace %s has %d older PlanRequests, and %d are planned: delete those that are answered, then create this one again", q.Namespace, older, mostOfNamespace)}
	}
	return nil
}

// answer puts the plan into the status, in memory. It returns a *status.Stalled for a request that is not valid.
func (r *Reconciler) answer(ctx context.Context, q *nexusv1.PlanRequest) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if err := r.checkLoad(ctx, q); err != nil {
		return err
	}
	p := r.contents.Planner(r.Environment)
	found, err := r.planned(ctx, p, q)
	if apierrors.IsForbidden(err) {
		return &status.Stalled{Reason: status.ReasonAccessDenied, Cause: err,
			Message: fmt.Sprintf("the operator may not read what the plan depends on: %v; apply this version's config/rbac", err)}
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) { // it would take as long again
		return &status.Stalled{Reason: status.ReasonLimitExceeded, Cause: err, Message: fmt.Sprintf(
			"the plan was not finished in %s: plan fewer objects in a request, or without --server, with AWS credentials of your own", r.timeout)}
	}
	if err != nil {
		return err
	}
	text, leftOut, err := bounded(limitTo(q, found), maxPlan)
	q.Status.Plan, q.Status.ItemsLeftOut = text, leftOut
	return err
}

// report puts the conditions into the status, in memory. A request that failed for a passing reason is planned again.
func (r *Reconciler) report(key types.NamespacedName, q *nexusv1.PlanRequest, err error) {
	since := r.retries.Observe(key, err)
	if !reconciler.IsTransient(err) {
		q.Status.ObservedGeneration = q.Generation
	}
	message := "the plan is in status.plan"
	if q.Status.ItemsLeftOut > 0 {
		message += fmt.Sprintf("; it is too long for its last %d items", q.Status.ItemsLeftOut)
	}
	status.Summarize(&q.Status.Conditions,
		status.Result{Err: err, ReadyMessage: message, Generation: q.Generation, Now: r.Clock.Now(), FailingSince: since})
}

// bounded encodes a plan in at most so many bytes, and returns how many items at its end are left out for that. The summary counts
// all of them.
func bounded(p plan.Plan, limit int) (text string, leftOut int32, err error) {
	all := p.Items
	for n := len(all); ; n = n * 3 / 4 {
		p.Items = all[:n]
		b, err := json.Marshal(p)
		if err != nil {
			return "", 0, err
		}
		if len(b) <= limit || n == 0 {
			return string(b), int32(len(all) - n), nil
		}
	}
}
