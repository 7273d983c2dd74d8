package controller

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Setup adds the controller to the manager, with a watch on every kind it compiles to.
func (r *Capability) Setup(mgr manager.Manager, entries []engine.Entry, workers int) error {
	ctx := context.Background() // only registers functions
	for field, index := range map[string]client.IndexerFunc{NameIndex: indexName, IntentIndex: indexIntents} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &nexusv1.NexusAICapability{}, field, index); err != nil {
			return err
		}
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(&nexusv1.NexusAICapability{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, asked{}))).
		Owns(&v1alpha1.AWSProvider{})
	for _, e := range entries {
		b = b.Owns(e.New())
	}
	for _, o := range []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}, &corev1.Namespace{},
		&networkingv1.Ingress{}, &policyv1.PodDisruptionBudget{}, &intentv1alpha1.SecurityIntentBinding{},
	} {
		b = b.Watches(o, handler.EnqueueRequestsFromMapFunc(ofCapability))
	}
	// A named provider belongs to nobody, and the elder of a name's two capabilities may go.
	b = b.Watches(&v1alpha1.AWSProvider{}, handler.EnqueueRequestsFromMapFunc(r.usersOf), builder.WithPredicates(readyChanged{}))
	b = b.Watches(&nexusv1.NexusAICapability{}, handler.EnqueueRequestsFromMapFunc(r.rivals), builder.WithPredicates(onlyDeletes{}))
	b = b.Watches(&networkingv1.IngressClass{}, handler.EnqueueRequestsFromMapFunc(r.unready), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	b = b.Watches(&intentv1alpha1.SecurityIntent{}, handler.EnqueueRequestsFromMapFunc(r.boundTo), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	return b.WithOptions(workerOptions(workers)).Complete(r)
}

// ofCapability maps a workload object to its capability: by controller in the same namespace, by
// annotation in another.
func ofCapability(_ context.Context, o client.Object) []reconcile.Request {
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "NexusAICapability" {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: owner.Name}}}
	}
	namespace, name, ok := strings.Cut(o.GetAnnotations()[capability.AnnotationCapability], "/")
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

func (r *Capability) usersOf(ctx context.Context, p client.Object) []reconcile.Request {
	return r.those(ctx, func(c *nexusv1.NexusAICapability) bool {
		return c.Namespace == p.GetNamespace() && capability.ProviderName(c) == p.GetName()
	})
}

func (r *Capability) rivals(ctx context.Context, gone client.Object) []reconcile.Request {
	return r.those(ctx, func(c *nexusv1.NexusAICapability) bool { return indexName(c)[0] == indexName(gone)[0] })
}

func (r *Capability) unready(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.those(ctx, func(c *nexusv1.NexusAICapability) bool { return !c.Status.Ready })
}

func (r *Capability) those(ctx context.Context, keep func(*nexusv1.NexusAICapability) bool) []reconcile.Request {
	list := &nexusv1.NexusAICapabilityList{}
	if err := r.Client.List(ctx, list); err != nil {
		return nil // what waits is looked at again all the same
	}
	var out []reconcile.Request
	for i := range list.Items {
		if keep(&list.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

// report turns what was seen into the capability's status, in memory.
func (r *Capability) report(c *nexusv1.NexusAICapability, observed capability.Observed, err error) {
	observed.Capability, observed.Err = c, err
	wasStalled := meta.IsStatusConditionTrue(c.Status.Conditions, status.Stall)
	report := capability.Summarise(observed)
	report.WriteTo(&c.Status, c.Generation, r.Clock.Now())
	c.Status.LastHandledReconcileAt = reconcileAt(c)
	if s := meta.FindStatusCondition(c.Status.Conditions, status.Stall); s != nil && s.Status == metav1.ConditionTrue && !wasStalled {
		r.Events.Eventf(c, nil, "Warning", s.Reason, "Reconcile", "%s", status.Bound(s.Message, maxNote))
	}
}

func (r *Capability) patchStatus(ctx context.Context, c, was *nexusv1.NexusAICapability) error {
	c.Status.LastSyncTime = was.Status.LastSyncTime
	if equality.Semantic.DeepEqual(c.Status, was.Status) {
		return nil
	}
	if c.Status.Phase != was.Status.Phase && c.Status.Phase == nexusv1.PhaseRunning {
		r.Events.Eventf(c, nil, "Normal", string(c.Status.Phase), "Reconcile", "%s", status.Bound(c.Status.Message, maxNote))
	}
	now := metav1.NewTime(r.Clock.Now())
	c.Status.LastSyncTime = &now
	return r.Client.Status().Patch(ctx, c, client.MergeFrom(was))
}
