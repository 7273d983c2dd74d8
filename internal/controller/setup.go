package controller

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Indexes of the cache over AWS resource objects.
const (
	// ProviderIndex holds spec.providerRef.name.
	ProviderIndex = "spec.providerRef.name"
	// ReferenceIndex holds the names of all objects that an object refers to.
	ReferenceIndex = "spec.*Ref.name"
)

// Setup adds the controllers of every AWS kind, and of AWSProvider, to the manager. Workers says how
// many objects of a kind are reconciled at a time.
func Setup(mgr manager.Manager, providers *Providers, vouch Voucher, workers func(kind string) int) error {
	for _, e := range providers.Entries {
		if err := index(mgr, e); err != nil {
			return err
		}
		if err := setupResource(mgr, NewResource(providers.Environment, e, providers, vouch), workers(e.Name())); err != nil {
			return fmt.Errorf("setting up %s: %w", e.Name(), err)
		}
	}
	return setupProvider(mgr, providers, workers("AWSProvider"))
}

func index(mgr manager.Manager, e engine.Entry) error {
	ctx := context.Background() // only registers functions
	err := mgr.GetFieldIndexer().IndexField(ctx, e.New(), ProviderIndex, func(o client.Object) []string {
		return []string{o.(v1alpha1.Resource).CommonSpec().ProviderRef.Name}
	})
	if err != nil {
		return err
	}
	return mgr.GetFieldIndexer().IndexField(ctx, e.New(), ReferenceIndex, func(o client.Object) []string {
		return references(reflect.ValueOf(o).Elem().FieldByName("Spec"))
	})
}

var objectReference = reflect.TypeFor[v1alpha1.ObjectReference]()

// references collects the names in every ObjectReference of a spec.
func references(v reflect.Value) []string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return references(v.Elem())
	case reflect.Struct:
		if v.Type() == objectReference {
			return []string{v.FieldByName("Name").String()}
		}
		var out []string
		for i := range v.NumField() {
			out = append(out, references(v.Field(i))...)
		}
		return out
	case reflect.Slice:
		var out []string
		for i := range v.Len() {
			out = append(out, references(v.Index(i))...)
		}
		return out
	default:
		return nil
	}
}

func setupResource(mgr manager.Manager, r *Resource, workers int) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(r.Entry.New(), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, asked{}))).
		Watches(&v1alpha1.AWSProvider{}, handler.EnqueueRequestsFromMapFunc(r.dependents(ProviderIndex)), builder.WithPredicates(readyChanged{}))
	b = b.Watches(&nexusv1.NexusAICapability{}, handler.EnqueueRequestsFromMapFunc(r.ofResumed), builder.WithPredicates(resumed{}))
	for _, other := range r.Providers.Entries {
		b = b.Watches(other.New(), handler.EnqueueRequestsFromMapFunc(r.dependents(ReferenceIndex)), builder.WithPredicates(readyChanged{}))
	}
	return b.WithOptions(workerOptions(workers)).Complete(r)
}

func workerOptions(workers int) ctrlcontroller.Options {
	return ctrlcontroller.Options{MaxConcurrentReconciles: workers}
}

// dependents maps an object to those of the reconciler's kind that name it and are not ready.
func (r *Resource) dependents(field string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		list := newList(r.Client, r.Entry)
		if err := r.Client.List(ctx, list, client.InNamespace(o.GetNamespace()), client.MatchingFields{field: o.GetName()}); err != nil {
			return nil // the periodic retry of what waits comes all the same
		}
		var out []reconcile.Request
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			obj := item.(v1alpha1.Resource)
			if !status.ReadyAt(obj.CommonStatus().Conditions, obj.GetGeneration()) || obj.GetDeletionTimestamp() != nil {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
			}
			return nil
		})
		return out
	}
}

func setupProvider(mgr manager.Manager, providers *Providers, workers int) error {
	entries := make([]engine.Entry, 0, len(providers.Entries))
	for _, e := range providers.Entries {
		entries = append(entries, e)
	}
	changed := make(chan event.GenericEvent, 64)
	secrets := newSecretWatch(providers.Environment, mgr.GetConfig(), changed)
	count := CountDependents(mgr.GetClient(), entries, func(e engine.Entry) client.ObjectList { return newList(mgr.GetClient(), e) })
	r := NewProvider(providers, count, secrets.ensure)
	if err := mgr.Add(secrets); err != nil {
		return err
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.AWSProvider{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, asked{}))).
		WatchesRawSource(source.Channel(changed, &handler.EnqueueRequestForObject{}))
	for _, e := range entries {
		b = b.Watches(e.New(), handler.EnqueueRequestsFromMapFunc(providerOf), builder.WithPredicates(onlyDeletes{}))
	}
	return b.WithOptions(workerOptions(workers)).Complete(r)
}

// providerOf maps an object to its provider.
func providerOf(_ context.Context, o client.Object) []reconcile.Request {
	name := o.(v1alpha1.Resource).CommonSpec().ProviderRef.Name
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}

// asked lets events through that change what an annotation asks for.
type asked struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (asked) Update(e event.UpdateEvent) bool {
	a, b := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
	return slices.ContainsFunc([]string{engine.AnnotationPaused, engine.AnnotationReconcileAt, AnnotationAbandon}, func(k string) bool { return a[k] != b[k] })
}

// readyChanged lets events through after which a dependent may go on, or must stop.
type readyChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (readyChanged) Update(e event.UpdateEvent) bool {
	return isReady(e.ObjectOld) != isReady(e.ObjectNew)
}

// Delete implements predicate.Predicate.
func (readyChanged) Delete(event.DeleteEvent) bool { return false }

func isReady(o client.Object) bool {
	switch o := o.(type) {
	case *v1alpha1.AWSProvider:
		return status.ReadyAt(o.Status.Conditions, o.Generation)
	case v1alpha1.Resource:
		return status.ReadyAt(o.CommonStatus().Conditions, o.GetGeneration())
	default:
		return false
	}
}

func newList(c client.Client, e engine.Entry) client.ObjectList {
	obj, err := c.Scheme().New(v1alpha1.GroupVersion.WithKind(e.Name() + "List"))
	if err != nil {
		panic(fmt.Sprintf("%sList is not registered: %v", e.Name(), err)) // wrong wiring, seen at start
	}
	return obj.(client.ObjectList)
}

func lenOf(l client.ObjectList) int { return meta.LenList(l) }

// onlyDeletes lets nothing through but deletions.
type onlyDeletes struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (onlyDeletes) Create(event.CreateEvent) bool { return false }

// Update implements predicate.Predicate.
func (onlyDeletes) Update(event.UpdateEvent) bool { return false }
