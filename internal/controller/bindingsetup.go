package controller

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// Setup adds the controllers of security intents to the manager.
func (r *Bindings) Setup(mgr manager.Manager, workers int) error {
	declared := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}))
	each := func(f handler.MapFunc) handler.EventHandler { return handler.EnqueueRequestsFromMapFunc(f) }
	b := ctrl.NewControllerManagedBy(mgr).Named("securityintentbinding").
		Watches(&v1alpha1.SecurityIntentBinding{}, each(r.itselfAndNeighbours), declared).
		Watches(&v1alpha1.ClusterSecurityIntentBinding{}, each(r.itselfAndNeighbours), declared).
		Watches(&v1alpha1.SecurityIntent{}, each(r.naming), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Namespace{}, each(r.ofNamespace), builder.WithPredicates(predicate.Or(predicate.LabelChangedPredicate{}, deletionChanged{}))).
		WatchesRawSource(source.Channel(r.kinds.changed, each(r.everyBinding)))
	for _, kind := range []client.Object{&v1alpha1.NimbusPolicy{}, &v1alpha1.ClusterNimbusPolicy{}, &networkingv1.NetworkPolicy{}} {
		b = b.WatchesRawSource(source.Kind(r.kinds.derived, kind, each(r.ownerOfDerived), derivedChanged{}))
	}
	c, err := b.WithOptions(workerOptions(workers)).Build(r)
	if err != nil {
		return err
	}
	r.kinds.watch = func(o client.Object) error {
		return c.Watch(named{source.Kind(r.kinds.derived, o, each(r.ownerOfDerived), derivedChanged{})})
	}
	r.kinds.foreign = func() error {
		return c.Watch(named{source.Kind[client.Object](mgr.GetCache(), &networkingv1.NetworkPolicy{}, each(r.besideForeign), predicate.GenerationChangedPredicate{})})
	}
	err = ctrl.NewControllerManagedBy(mgr).Named("policyengines").
		Watches(&apiextensionsv1.CustomResourceDefinition{}, each(anyDefinition), builder.WithPredicates(predicate.NewPredicateFuncs(r.kinds.concerns))).
		Complete(r.kinds)
	if err != nil {
		return err
	}
	return setupIntents(mgr, r.Environment)
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

// itselfAndNeighbours maps a binding to itself and, when it restricts the network, to the others of its
// namespaces that do: what an engine makes of one depends on the other.
func (r *Bindings) itselfAndNeighbours(ctx context.Context, o client.Object) []reconcile.Request {
	out := []reconcile.Request{requestOf(o)}
	intents, err := intentsOf(ctx, r.Client)
	if err != nil || bindingOf(o).Restricts(intents) == 0 {
		return out
	}
	return append(out, r.neighbours(ctx, o.GetNamespace(), o.GetUID())...)
}

// neighbours are the bindings that restrict the network in a namespace, or in any when it is empty.
func (r *Bindings) neighbours(ctx context.Context, namespace string, but types.UID) []reconcile.Request {
	bindings, err := r.bindings(ctx, namespace)
	if err != nil {
		return nil
	}
	intents, err := intentsOf(ctx, r.Client)
	if err != nil {
		return nil
	}
	var out []reconcile.Request
	for _, b := range bindings {
		if b.GetUID() != but && bindingOf(b).Restricts(intents) != 0 {
			out = append(out, requestOf(b))
		}
	}
	return out
}

// naming maps an intent to the bindings that name it, and their neighbours: an edit may make an intent
// restrict the network, or no longer.
func (r *Bindings) naming(ctx context.Context, o client.Object) []reconcile.Request {
	bindings, err := r.bindings(ctx, metav1.NamespaceAll)
	if err != nil {
		return nil
	}
	var out []reconcile.Request
	namespaces := map[string]bool{}
	for _, b := range bindings {
		if slices.Contains(bindingOf(b).Intents, o.GetName()) {
			out = append(out, requestOf(b))
			namespaces[b.GetNamespace()] = true
		}
	}
	for ns := range namespaces {
		out = append(out, r.neighbours(ctx, ns, "")...)
	}
	return out
}

// ofNamespace maps a namespace to the bindings that may select it, or read its labels.
func (r *Bindings) ofNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return r.requests(ctx, o.GetName())
}

func (r *Bindings) everyBinding(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.requests(ctx, metav1.NamespaceAll)
}

func (r *Bindings) requests(ctx context.Context, namespace string) []reconcile.Request {
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

// besideForeign maps somebody's NetworkPolicy to the bindings that restrict the network in its namespace.
func (r *Bindings) besideForeign(ctx context.Context, o client.Object) []reconcile.Request {
	if derived(o) {
		return nil
	}
	return r.neighbours(ctx, o.GetNamespace(), "")
}

// ownerOfDerived maps a policy, or an engine's object through its policy, to the binding.
func (r *Bindings) ownerOfDerived(ctx context.Context, o client.Object) []reconcile.Request {
	c := metav1.GetControllerOf(o)
	if c == nil {
		return nil
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

// derivedChanged lets through what somebody may have done to a derived object, and not its status.
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
