// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
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
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
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
	b = b.Watches(&v1alpha1.AWSProvider{}, handler.EnqueueRequestsFromMapFunc(r.directory.usersOf), builder.WithPredicates(predicate.Or(reconciler.ReadyChanged{}, reconciler.ProviderApplied{})))
	b = b.Watches(&nexusv1.NexusAICapability{}, handler.EnqueueRequestsFromMapFunc(r.directory.rivals), builder.WithPredicates(reconciler.ClaimChanged{}))
	b = b.Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.directory.livingIn), builder.WithPredicates(gateMoved()))
	b = b.Watches(&networkingv1.IngressClass{}, handler.EnqueueRequestsFromMapFunc(r.directory.reached), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	b = b.Watches(&intentv1alpha1.SecurityIntent{}, handler.EnqueueRequestsFromMapFunc(r.directory.boundTo), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
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

// report turns the observations into the capability's status, in memory.
func (r *Reconciler) report(c *nexusv1.NexusAICapability, observed capability.Observed, err error) {
	observed.Capability, observed.Err = c, err
	meta.RemoveStatusCondition(&c.Status.Conditions, status.Paused)
	wasStalled := meta.IsStatusConditionTrue(c.Status.Conditions, status.Stall)
	report := capability.Summarize(observed)
	report.FailingSince = r.retries.Observe(client.ObjectKeyFromObject(c), report.Err)
	report.WriteTo(&c.Status, c.Generation, r.Clock.Now())
	if wasObserved(err) {
		c.Status.LastHandledReconcileAt = reconciler.RequestedAt(c)
	}
	if s := meta.FindStatusCondition(c.Status.Conditions, status.Stall); s != nil && s.Status == metav1.ConditionTrue && !wasStalled {
		r.Events.Warning(c, s.Reason, "Reconcile", s.Message)
	}
}

// wasObserved reports whether a pass came to a result: a pass that a passing failure ended did not carry out the request.
func wasObserved(err error) bool {
	_, stalled := status.AsStalled(err)
	_, waiting := status.AsWaiting(err)
	return err == nil || stalled || waiting
}

// writeStatus writes the status of a pass that ended with an error or nil, unless it shows only progress and comes soon after the
// last one: then it returns for how long it waits. The next pass after an error may be far away.
func (r *Reconciler) writeStatus(ctx context.Context, c, was *nexusv1.NexusAICapability, ended error) (time.Duration, error) {
	if isUnchanged(c, was) {
		return 0, nil
	}
	if wait := r.statusSpacing.delay(client.ObjectKeyFromObject(c)); ended == nil && wait > 0 && capability.OnlyProgress(was.Status, c.Status) {
		return wait, nil
	}
	return 0, r.patchStatus(ctx, c, was)
}

// isUnchanged reports whether a status equals the status before, except for its time.
func isUnchanged(c, was *nexusv1.NexusAICapability) bool {
	c.Status.LastSyncTime = was.Status.LastSyncTime
	return equality.Semantic.DeepEqual(c.Status, was.Status)
}

func (r *Reconciler) patchStatus(ctx context.Context, c, was *nexusv1.NexusAICapability) error {
	if isUnchanged(c, was) {
		return nil
	}
	if c.Status.Phase != was.Status.Phase && c.Status.Phase == nexusv1.PhaseRunning {
		r.Events.Normal(c, string(c.Status.Phase), "Reconcile", c.Status.Message)
	}
	now := metav1.NewTime(r.Clock.Now())
	c.Status.LastSyncTime = &now
	// A patch that is computed from an outdated status would leave stale fields in the present status.
	patch, answer := reconciler.StatusPatch(c, was, true)
	if err := r.Client.Status().Patch(ctx, answer, patch); err != nil {
		return err
	}
	c.SetResourceVersion(answer.GetResourceVersion())
	r.statusSpacing.begin(client.ObjectKeyFromObject(c))
	r.Applier.Wrote(capabilityRef(client.ObjectKeyFromObject(c)), c.ResourceVersion)
	return nil
}

func capabilityRef(key client.ObjectKey) apply.Ref {
	return apply.Ref{Kind: nexusv1.GroupVersion.WithKind("NexusAICapability"), Namespace: key.Namespace, Name: key.Name}
}
