// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// ReferenceIndex is the cache's index of AWS resource objects by the names of all objects that they refer to.
const ReferenceIndex = "spec.*Ref.name"

// SetupWithManager adds the reconciler to the manager. Workers is how many objects are reconciled at a time.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, secrets *reconciler.SecretWatch, workers int) error {
	if err := indexReferences(mgr, r.Entry); err != nil {
		return err
	}
	if r.IndexResources {
		ctx := context.Background() // only registers a function
		if err := mgr.GetFieldIndexer().IndexField(ctx, r.Entry.New(), ResourceIndex, r.Watcher().indexedBy); err != nil {
			return err
		}
	}
	return r.watch(mgr, secrets, workers)
}

func indexReferences(mgr manager.Manager, e engine.Entry) error {
	ctx := context.Background() // only registers functions
	err := mgr.GetFieldIndexer().IndexField(ctx, e.New(), reconciler.ProviderIndex, func(o client.Object) []string {
		return []string{o.(v1alpha1.Resource).CommonSpec().ProviderRef.Name}
	})
	if err != nil {
		return err
	}
	return mgr.GetFieldIndexer().IndexField(ctx, e.New(), ReferenceIndex, func(o client.Object) []string {
		return namesIn(specOf(o), objectReference)
	})
}

var objectReference = []reflect.Type{reflect.TypeFor[v1alpha1.ObjectReference]()}

func (r *Reconciler) watch(mgr manager.Manager, secrets *reconciler.SecretWatch, workers int) error {
	t := r.triggers()
	b := ctrl.NewControllerManagedBy(mgr).
		For(r.Entry.New(), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, reconciler.AnnotationChanged{}, unmarked{},
			unready{}))).
		Watches(&v1alpha1.AWSProvider{}, handler.EnqueueRequestsFromMapFunc(t.dependents(reconciler.ProviderIndex)),
			builder.WithPredicates(reconciler.ReadyChanged{})).
		Watches(&v1alpha1.AWSProvider{}, handler.EnqueueRequestsFromMapFunc(t.served), builder.WithPredicates(reconciler.ProviderApplied{}))
	b = b.Watches(&nexusv1.NexusAICapability{}, handler.EnqueueRequestsFromMapFunc(t.ofResumed), builder.WithPredicates(reconciler.Resumed{}))
	for _, other := range t.referable() {
		b = b.Watches(other.New(), handler.EnqueueRequestsFromMapFunc(t.dependents(ReferenceIndex)), builder.WithPredicates(identified{}))
	}
	if r.Entry.Meta().Users != kind.NoUsers {
		for _, e := range r.Kinds {
			if engine.MayUse(e.New(), r.Entry.Name()) {
				b = b.Watches(e.New(), handler.EnqueueRequestsFromMapFunc(t.heldObjects), builder.WithPredicates(goneOnly))
			}
		}
	}
	if refersToSecrets(r.Entry.New()) {
		if err := indexSecretReferences(context.Background(), mgr.GetFieldIndexer(), r.Entry.New()); err != nil { // only registers functions
			return err
		}
		r.watchSecrets = secrets.Ensure
		b = b.WatchesRawSource(secrets.Subscribe(t.readersOf))
	}
	b = b.WatchesRawSource(source.Func(r.changes.start))
	options := reconciler.WorkerOptions(workers)
	options.RateLimiter = r.retries
	return b.WithOptions(options).Complete(r.Counted(strings.ToLower(r.Entry.Name()), r))
}

// unmarked passes events that remove the finalizer or the record of creation, or that change or remove the controller.
type unmarked struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (unmarked) Create(event.CreateEvent) bool { return false }

// Update implements predicate.Predicate.
func (unmarked) Update(e event.UpdateEvent) bool {
	_, had := e.ObjectOld.GetAnnotations()[engine.AnnotationHome]
	_, has := e.ObjectNew.GetAnnotations()[engine.AnnotationHome]
	return had && !has || controllerUID(e.ObjectOld) != controllerUID(e.ObjectNew) ||
		len(e.ObjectNew.GetFinalizers()) < len(e.ObjectOld.GetFinalizers())
}

// unready lets the event of a status through that is no longer Ready. Another instance of the operator may have written
// it, from a cache that lagged, and may be stopped by now.
type unready struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (unready) Create(event.CreateEvent) bool { return false }

// Update implements predicate.Predicate.
func (unready) Update(e event.UpdateEvent) bool {
	return reconciler.IsReady(e.ObjectOld) && !reconciler.IsReady(e.ObjectNew)
}

// Delete implements predicate.Predicate.
func (unready) Delete(event.DeleteEvent) bool { return false }

func controllerUID(o client.Object) types.UID {
	if owner := metav1.GetControllerOf(o); owner != nil {
		return owner.UID
	}
	return ""
}

// Delete implements predicate.Predicate.
func (unmarked) Delete(event.DeleteEvent) bool { return false }

// identified passes events that make a reference to the object resolvable, or its target ready.
type identified struct{ reconciler.ReadyChanged }

// Update implements predicate.Predicate.
func (p identified) Update(e event.UpdateEvent) bool {
	was, okWas := e.ObjectOld.(v1alpha1.Resource)
	is, okIs := e.ObjectNew.(v1alpha1.Resource)
	gained := okWas && okIs && !engine.Published(was) && engine.Published(is)
	return gained || p.ReadyChanged.Update(e)
}
