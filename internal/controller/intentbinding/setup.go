// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
)

// SetupWithManager adds the controllers of security intents to the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr manager.Manager, workers int) error {
	r.informers = mgr.GetCache()
	t := r.triggers()
	declared := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}))
	each := func(f handler.MapFunc) handler.EventHandler { return handler.EnqueueRequestsFromMapFunc(f) }
	b := ctrl.NewControllerManagedBy(mgr).Named("securityintentbinding").
		Watches(&v1alpha1.SecurityIntentBinding{}, each(t.itselfAndNeighborhood), declared).
		Watches(&v1alpha1.ClusterSecurityIntentBinding{}, each(t.itselfAndNeighborhood), declared).
		Watches(&v1alpha1.SecurityIntent{}, each(t.bindingsNaming), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Namespace{}, each(t.ofNamespace),
			builder.WithPredicates(predicate.Or(predicate.LabelChangedPredicate{}, deletionChanged{}))).
		Watches(&corev1.Pod{}, each(t.ofAssessment), builder.WithPredicates(assessed{})).
		WatchesRawSource(source.Channel(r.kinds.changed, each(t.everyBinding))).
		WatchesRawSource(source.Channel(r.neighborEvents, each(enqueueItself)))
	for _, kind := range []client.Object{&v1alpha1.NimbusPolicy{}, &v1alpha1.ClusterNimbusPolicy{}, &networkingv1.NetworkPolicy{}} {
		if err := r.kinds.derived.IndexField(ctx, kind, ownerIndex, ownerUID); err != nil {
			return err
		}
		b = b.WatchesRawSource(source.Kind(r.kinds.derived, kind, each(t.ownerOfDerived), derivedChanged{}))
	}
	queue := reconciler.WorkerOptions(workers)
	queue.RateLimiter = r.retries
	c, err := b.WithOptions(queue).Build(r.Counted("securityintentbinding", r))
	if err != nil {
		return err
	}
	r.kinds.watch = func(o client.Object) error {
		return c.Watch(named{source.Kind(r.kinds.derived, o, each(t.ownerOfDerived), derivedChanged{})})
	}
	r.kinds.foreign = func(ctx context.Context) error {
		src := source.Kind[client.Object](mgr.GetCache(), &networkingv1.NetworkPolicy{},
			noting{each(t.besideForeign), r.spaces.networkPolicyChanged})
		if err := c.Watch(named{src}); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, syncTimeout)
		defer cancel()
		if err := src.WaitForSync(ctx); err != nil {
			return err
		}
		return ctx.Err() // a source whose wait is canceled says nothing
	}
	if err := mgr.Add(manager.RunnableFunc(t.followCluster)); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("policyengines").
		Watches(&apiextensionsv1.CustomResourceDefinition{}, each(anyDefinition), builder.WithPredicates(predicate.NewPredicateFuncs(r.kinds.concerns))).
		Complete(r.Counted("policyengines", r.kinds))
}

// syncTimeout bounds the time of the first list of a kind.
const syncTimeout = time.Minute

// noting notes every event of an object before it hands on those that change its specification.
type noting struct {
	handler.EventHandler
	note func(client.Object)
}

// Create implements handler.EventHandler.
func (n noting) Create(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	n.note(e.Object)
	n.EventHandler.Create(ctx, e, q)
}

// Update implements handler.EventHandler.
func (n noting) Update(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	n.note(e.ObjectNew)
	if e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() {
		n.EventHandler.Update(ctx, e, q)
	}
}

// Delete implements handler.EventHandler.
func (n noting) Delete(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	n.note(e.Object)
	n.EventHandler.Delete(ctx, e, q)
}

// named is a source that a log can show; a controller that runs already logs the source itself, functions
// and all.
type named struct{ source.SyncingSource }

// MarshalLog implements logr.Marshaler.
func (n named) MarshalLog() any { return fmt.Sprint(n.SyncingSource) }

// LogValue implements slog.LogValuer.
func (n named) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(n.SyncingSource)) }

// anyDefinition makes one request of whichever definitions changed.
func anyDefinition(context.Context, client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "definitions"}}}
}

func requestOf(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}

func enqueueItself(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{requestOf(o)}
}

// derivedChanged passes possible changes of a derived object by other clients, and not those of its status.
type derivedChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (derivedChanged) Update(e event.UpdateEvent) bool {
	a, b := e.ObjectOld, e.ObjectNew
	return a.GetGeneration() != b.GetGeneration() || !equality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels()) ||
		!equality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations()) || !equality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences()) ||
		a.GetGeneration() == 0 && a.GetResourceVersion() != b.GetResourceVersion()
}

// deletionChanged lets through that an object is now being deleted.
type deletionChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (deletionChanged) Update(e event.UpdateEvent) bool {
	return (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
}
