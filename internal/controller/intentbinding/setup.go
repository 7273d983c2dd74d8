// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// SetupWithManager adds the controllers of security intents to the manager.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr manager.Manager, workers int) error {
	r.informers = mgr.GetCache()
	declared := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}))
	each := func(f handler.MapFunc) handler.EventHandler { return handler.EnqueueRequestsFromMapFunc(f) }
	b := ctrl.NewControllerManagedBy(mgr).Named("securityintentbinding").
		Watches(&v1alpha1.SecurityIntentBinding{}, each(r.itselfAndNeighborhood), declared).
		Watches(&v1alpha1.ClusterSecurityIntentBinding{}, each(r.itselfAndNeighborhood), declared).
		Watches(&v1alpha1.SecurityIntent{}, each(r.bindingsNaming), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Namespace{}, each(r.ofNamespace), builder.WithPredicates(predicate.Or(predicate.LabelChangedPredicate{}, deletionChanged{}))).
		Watches(&corev1.Pod{}, each(r.ofAssessment), builder.WithPredicates(assessed{})).
		WatchesRawSource(source.Channel(r.kinds.changed, each(r.everyBinding))).
		WatchesRawSource(source.Channel(r.neighborEvents, each(enqueueItself)))
	for _, kind := range []client.Object{&v1alpha1.NimbusPolicy{}, &v1alpha1.ClusterNimbusPolicy{}, &networkingv1.NetworkPolicy{}} {
		if err := r.kinds.derived.IndexField(ctx, kind, ownerIndex, ownerUID); err != nil {
			return err
		}
		b = b.WatchesRawSource(source.Kind(r.kinds.derived, kind, each(r.ownerOfDerived), derivedChanged{}))
	}
	queue := reconciler.WorkerOptions(workers)
	queue.RateLimiter = r.retries
	c, err := b.WithOptions(queue).Build(r.Counted("securityintentbinding", r))
	if err != nil {
		return err
	}
	r.kinds.watch = func(o client.Object) error {
		return c.Watch(named{source.Kind(r.kinds.derived, o, each(r.ownerOfDerived), derivedChanged{})})
	}
	r.kinds.foreign = func(ctx context.Context) error {
		src := source.Kind[client.Object](mgr.GetCache(), &networkingv1.NetworkPolicy{}, noting{each(r.besideForeign), r.spaces.networkPolicyChanged})
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
	if err := mgr.Add(manager.RunnableFunc(r.followCluster)); err != nil {
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

// itselfAndNeighborhood maps a binding to itself and to the namespaces that are divided among it and others.
func (r *Reconciler) itselfAndNeighborhood(_ context.Context, o client.Object) []reconcile.Request {
	r.declarations.Add(1)
	return append(r.neighborhoods(o.GetNamespace()), requestOf(o))
}

// neighborhoods are requests, without a name, that divide a namespace again, or every one when it is empty. Where
// no policy restricts the network there is nothing to divide.
func (r *Reconciler) neighborhoods(namespace string) []reconcile.Request {
	var out []reconcile.Request
	for _, ns := range r.spaces.names() {
		if namespace == metav1.NamespaceAll || namespace == ns {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: ns}})
		}
	}
	return out
}

// bindingsNaming maps an intent to the bindings that name it, and to their namespaces: an edit may make an intent
// restrict the network, or no longer.
func (r *Reconciler) bindingsNaming(ctx context.Context, o client.Object) []reconcile.Request {
	r.declarations.Add(1)
	bindings, err := r.bindings(ctx, metav1.NamespaceAll)
	if err != nil {
		return nil
	}
	var out []reconcile.Request
	namespaces := map[string]bool{}
	for _, b := range bindings {
		if slices.ContainsFunc(intentsOfBinding(b), func(m v1alpha1.MatchIntent) bool { return m.Name == o.GetName() }) {
			out = append(out, requestOf(b))
			namespaces[b.GetNamespace()] = true
		}
	}
	for ns := range namespaces {
		out = append(out, r.neighborhoods(ns)...)
	}
	return out
}

func intentsOfBinding(o client.Object) []v1alpha1.MatchIntent {
	switch b := o.(type) {
	case *v1alpha1.SecurityIntentBinding:
		return b.Spec.Intents
	case *v1alpha1.ClusterSecurityIntentBinding:
		return b.Spec.Intents
	default:
		return nil
	}
}

// ofNamespace maps a namespace to the bindings that may select it, or read its labels.
func (r *Reconciler) ofNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return append(r.neighborhoods(o.GetName()), r.requests(ctx, o.GetName())...)
}

func (r *Reconciler) everyBinding(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.requests(ctx, metav1.NamespaceAll)
}

func (r *Reconciler) requests(ctx context.Context, namespace string) []reconcile.Request {
	bindings, err := r.bindings(ctx, namespace)
	if err != nil {
		return nil
	}
	out := make([]reconcile.Request, len(bindings))
	for i, b := range bindings {
		out[i] = requestOf(b)
	}
	return out
}

// besideForeign maps another owner's NetworkPolicy to its namespace.
func (r *Reconciler) besideForeign(_ context.Context, o client.Object) []reconcile.Request {
	if intentfacts.IsDerived(o) {
		return nil
	}
	return r.neighborhoods(o.GetNamespace())
}

// ownerOfDerived maps a policy, or an engine's object through its policy, to the binding.
func (r *Reconciler) ownerOfDerived(ctx context.Context, o client.Object) []reconcile.Request {
	c := metav1.GetControllerOf(o)
	if c == nil {
		return ownerByName(o)
	}
	var policy client.Object
	switch c.Kind {
	case "SecurityIntentBinding":
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: c.Name}}}
	case "ClusterSecurityIntentBinding":
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: c.Name}}}
	case "NimbusPolicy":
		policy = &v1alpha1.NimbusPolicy{}
	case "ClusterNimbusPolicy":
		policy = &v1alpha1.ClusterNimbusPolicy{}
	default:
		return nil
	}
	if err := r.kinds.derived.Get(ctx, types.NamespacedName{Namespace: o.GetNamespace(), Name: c.Name}, policy); err != nil {
		return nil // the policy's own end wakes its binding
	}
	return r.ownerOfDerived(ctx, policy)
}

// ownerByName maps a policy that has lost its owner reference to the binding that its annotation names.
func ownerByName(o client.Object) []reconcile.Request {
	switch part := strings.Split(o.GetAnnotations()[apply.AnnotationOwner], "/"); {
	case len(part) == 3 && part[0] == "SecurityIntentBinding" && part[1] == o.GetNamespace():
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: part[1], Name: part[2]}}}
	case len(part) == 2 && part[0] == "ClusterSecurityIntentBinding":
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: part[1]}}}
	default:
		return nil
	}
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
