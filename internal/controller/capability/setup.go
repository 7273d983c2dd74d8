// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
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
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// SetupWithManager adds the controller to the manager, with a watch on every kind it compiles to.
func (r *Reconciler) SetupWithManager(mgr manager.Manager, entries []engine.Entry, workers int) error {
	ctx := context.Background() // only registers functions
	for field, index := range map[string]client.IndexerFunc{reconciler.NameIndex: reconciler.IndexName, ProviderIndex: indexProvider, IntentIndex: indexIntents} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &nexusv1.NexusAICapability{}, field, index); err != nil {
			return err
		}
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(&nexusv1.NexusAICapability{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, reconciler.AnnotationChanged{})))
	owner := r.spacing.handler(handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &nexusv1.NexusAICapability{}, handler.OnlyControllerOwner()))
	b = b.Watches(&v1alpha1.AWSProvider{}, owner)
	for _, e := range entries {
		b = b.Watches(e.New(), owner, builder.WithPredicates(telling{}))
	}
	for _, o := range []client.Object{
		&appsv1.Deployment{}, &batchv1.Job{}, &batchv1.CronJob{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}, &corev1.Namespace{}, &corev1.ResourceQuota{},
		&networkingv1.Ingress{}, &policyv1.PodDisruptionBudget{}, &autoscalingv2.HorizontalPodAutoscaler{}, &intentv1alpha1.SecurityIntentBinding{},
	} {
		b = b.Watches(o, r.spacing.handler(handler.EnqueueRequestsFromMapFunc(ofCapability)))
	}
	// A named provider has no owner, and the capability that holds a name may go or turn out not to run.
	b = b.Watches(&v1alpha1.AWSProvider{}, handler.EnqueueRequestsFromMapFunc(r.directory.usersOf),
		builder.WithPredicates(predicate.Or(reconciler.ReadyChanged{}, reconciler.ProviderApplied{})))
	b = b.Watches(&nexusv1.NexusAICapability{}, handler.EnqueueRequestsFromMapFunc(r.directory.rivals),
		builder.WithPredicates(reconciler.ClaimChanged{}))
	b = b.Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.directory.livingIn), builder.WithPredicates(gateMoved()))
	b = b.Watches(&networkingv1.IngressClass{}, handler.EnqueueRequestsFromMapFunc(r.directory.reached),
		builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	b = b.Watches(&intentv1alpha1.SecurityIntent{}, handler.EnqueueRequestsFromMapFunc(r.directory.boundTo),
		builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	if r.Facts.Kinds.Serves("Route53HostedZone") {
		b = b.Watches(&v1alpha1.Route53HostedZone{}, handler.EnqueueRequestsFromMapFunc(r.directory.hostedIn))
	}
	o := reconciler.WorkerOptions(workers)
	o.RateLimiter = r.retries
	c, err := b.WithOptions(o).Build(r.Counted("nexusaicapability", r))
	r.gateways.controller, r.gateways.cache, r.gateways.handler = c, mgr.GetCache(), r.spacing.handler(handler.EnqueueRequestsFromMapFunc(ofCapability))
	return err
}

// ofCapability maps a workload object to its capability: by controller in the same namespace, by
// annotation in another.
func ofCapability(_ context.Context, o client.Object) []reconcile.Request {
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "NexusAICapability" {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: owner.Name}}}
	}
	namespace, name, ok := strings.Cut(o.GetAnnotations()[wellknown.AnnotationCapability], "/")
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}
