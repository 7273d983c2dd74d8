// SPDX-License-Identifier: Apache-2.0

package securityintent

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Reconciler says of each SecurityIntent whether the catalog knows it and its parameters are valid.
type Reconciler struct{ reconciler.Environment }

// SetupWithManager adds the reconciler to the manager.
func (r *Reconciler) SetupWithManager(mgr manager.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.SecurityIntent{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(reconciler.WorkerOptions(1)).Complete(r.Counted("securityintent", r))
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	i := &v1alpha1.SecurityIntent{}
	if err := r.Client.Get(ctx, req.NamespacedName, i); err != nil || i.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	was := i.DeepCopy()
	err := intent.CheckIntent(i)
	i.Status.ID, i.Status.Action, i.Status.Status = i.Spec.Intent.ID, string(i.Spec.Intent.Action), v1alpha1.StatusCreated
	i.Status.ObservedGeneration = i.Generation
	status.Summarize(&i.Status.Conditions, status.Result{Err: err, Generation: i.Generation, Now: r.Clock.Now()})
	if s, ok := status.AsStalled(err); ok && !reconciler.StalledFor(was.Status.Conditions, s.Reason) {
		r.Events.Warning(i, s.Reason, "Reconcile", s.Error())
	}
	if equality.Semantic.DeepEqual(i.Status, was.Status) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(r.Client.Status().Patch(ctx, i, client.MergeFrom(was)))
}
