// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"context"
	"slices"

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

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// SetupWithManager adds the reconciler to the manager. Kinds are those of the objects that use providers, and workers is how many providers
// are reconciled at a time.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, kinds []engine.Entry, secrets *reconciler.SecretWatch, workers int) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.AWSProvider{},
			builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, reconciler.AnnotationChanged{}))).
		Watches(&nexusv1.NexusAICapability{}, handler.EnqueueRequestsFromMapFunc(providerOfResumed),
			builder.WithPredicates(reconciler.Resumed{})).
		WatchesRawSource(secrets.Subscribe(providersReading(mgr.GetClient()))).
		WatchesRawSource(source.Func(r.shown.start))
	for _, e := range kinds {
		b = b.Watches(e.New(), leaving())
	}
	options := reconciler.WorkerOptions(workers)
	options.RateLimiter = r.retries
	return b.WithOptions(options).Complete(r.Counted("awsprovider", r))
}

// providerOf maps an object to its provider.
func providerOf(_ context.Context, o client.Object) []reconcile.Request {
	name := o.(v1alpha1.Resource).CommonSpec().ProviderRef.Name
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}

// leaving wakes the provider of an object that uses it no longer: the object was deleted, or names another provider. A provider in deletion
// waits for just that, and looked only after a pause whether the children of a capability that names another one had moved.
func leaving() handler.EventHandler {
	wake := func(ctx context.Context, o client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		for _, r := range providerOf(ctx, o) {
			q.Add(r)
		}
	}
	return handler.Funcs{
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			wake(ctx, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if !slices.Equal(providerOf(ctx, e.ObjectOld), providerOf(ctx, e.ObjectNew)) {
				wake(ctx, e.ObjectOld, q)
			}
		},
	}
}

// providerOfResumed maps a capability that resumes to the provider that it generated.
func providerOfResumed(_ context.Context, o client.Object) []reconcile.Request {
	c := o.(*nexusv1.NexusAICapability)
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: c.Namespace, Name: capability.ProviderName(c)}}}
}
