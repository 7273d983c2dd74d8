// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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
		if err := mgr.GetFieldIndexer().IndexField(ctx, r.Entry.New(), ResourceIndex, r.indexedBy); err != nil {
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
	b := ctrl.NewControllerManagedBy(mgr).
		For(r.Entry.New(), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, reconciler.AnnotationChanged{}, unmarked{},
			unready{}))).
		Watches(&v1alpha1.AWSProvider{}, handler.EnqueueRequestsFromMapFunc(r.dependents(reconciler.ProviderIndex)),
			builder.WithPredicates(reconciler.ReadyChanged{})).
		Watches(&v1alpha1.AWSProvider{}, handler.EnqueueRequestsFromMapFunc(r.served), builder.WithPredicates(reconciler.ProviderApplied{}))
	b = b.Watches(&nexusv1.NexusAICapability{}, handler.EnqueueRequestsFromMapFunc(r.ofResumed), builder.WithPredicates(reconciler.Resumed{}))
	for _, other := range r.referable() {
		b = b.Watches(other.New(), handler.EnqueueRequestsFromMapFunc(r.dependents(ReferenceIndex)), builder.WithPredicates(identified{}))
	}
	if r.Entry.Meta().Users != kind.NoUsers {
		for _, e := range r.Kinds {
			if engine.MayUse(e.New(), r.Entry.Name()) {
				b = b.Watches(e.New(), handler.EnqueueRequestsFromMapFunc(r.heldObjects), builder.WithPredicates(goneOnly))
			}
		}
	}
	if refersToSecrets(r.Entry.New()) {
		if err := indexSecretReferences(context.Background(), mgr.GetFieldIndexer(), r.Entry.New()); err != nil { // only registers functions
			return err
		}
		r.watchSecrets = secrets.Ensure
		b = b.WatchesRawSource(secrets.Subscribe(r.readersOf))
	}
	b = b.WatchesRawSource(source.Func(r.changes.start))
	options := reconciler.WorkerOptions(workers)
	options.RateLimiter = r.retries
	return b.WithOptions(options).Complete(r.Counted(strings.ToLower(r.Entry.Name()), r))
}

// referable returns the kinds that objects of the reconciler's kind can refer to, without those that --kinds leaves out.
func (r *Reconciler) referable() []engine.Entry {
	var out []engine.Entry
	names := r.Entry.Meta().References
	for _, name := range slices.Sorted(maps.Keys(r.Kinds)) {
		if slices.Contains(names, name) || slices.Contains(names, kind.AnyKind) {
			out = append(out, r.Kinds[name])
		}
	}
	return out
}

// dependents maps an object to those of the reconciler's kind that name it and are not ready. If a provider is broken, nothing can
// be said of any of its objects: all of them are looked at.
func (r *Reconciler) dependents(field string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		list := reconciler.NewList(r.Client, r.Entry)
		if err := r.Client.List(ctx, list, client.InNamespace(o.GetNamespace()), client.MatchingFields{field: o.GetName()}); err != nil {
			return nil // the periodic retry of what waits comes all the same
		}
		_, isProvider := o.(*v1alpha1.AWSProvider)
		blind := isProvider && reconciler.IsBroken(o)
		var out []reconcile.Request
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			obj := item.(v1alpha1.Resource)
			key := client.ObjectKeyFromObject(obj)
			ready := reconciler.IsReady(obj) && obj.GetDeletionTimestamp() == nil
			if ready && blind {
				r.checks.Request(key, r.Clock.Now())
			}
			if !ready || blind {
				out = append(out, reconcile.Request{NamespacedName: key})
			}
			return nil
		})
		return out
	}
}

// served maps a provider that was edited to all of its objects, and asks for a check of each: the edit may change the desired state in AWS,
// such as tags. The queue and the limits of AWS calls spread them.
func (r *Reconciler) served(ctx context.Context, provider client.Object) []reconcile.Request {
	list := reconciler.NewList(r.Client, r.Entry)
	if err := r.Client.List(ctx, list, client.InNamespace(provider.GetNamespace()),
		client.MatchingFields{reconciler.ProviderIndex: provider.GetName()}); err != nil {
		return nil // the periodic check comes all the same
	}
	var out []reconcile.Request
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		key := client.ObjectKeyFromObject(item.(v1alpha1.Resource))
		r.checks.Request(key, r.Clock.Now())
		out = append(out, reconcile.Request{NamespacedName: key})
		return nil
	})
	return out
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
