// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// LabelPolicyOwner holds the UID of the owner of an object that is derived from a binding: the binding's on policies, the policy's on
// engine objects.
const LabelPolicyOwner = wellknown.LabelPolicyOwner

// maxConcurrentPolicies bounds how many policies of a cluster binding, and how many objects of a policy, are written
// at a time.
const maxConcurrentPolicies = 8

// Reconciler reconciles SecurityIntentBindings and ClusterSecurityIntentBindings, the latter under requests without a namespace. One pass
// does everything: it resolves the intents, writes the policies, has every engine translate them, writes the engines' objects, removes
// surplus ones, and reports the result.
type Reconciler struct {
	reconciler.Environment
	// Applier writes policies and engine objects; its client has a cache of only these.
	Applier *apply.Applier
	// Engines are all engines; those not Enabled make nothing, and the objects that they made are removed.
	Engines []Engine
	// OperatorNamespace, MeshRootNamespace and TrustDomain are the administrator's.
	OperatorNamespace, MeshRootNamespace, TrustDomain string
	// TLSAssessorImage assesses TLS for intent assessTLS; empty is none.
	TLSAssessorImage string

	kinds *EngineKinds
	// informers belong to the manager's cache.
	informers cache.Informers
	cluster   *clusterReader
	patch     *patchReader
	retries   *reconciler.Backoff
	// policies holds since when the policies of each binding have failed.
	policies *policySeries
	spaces   *spaces
	// declarations counts the changes of bindings and intents that events have told of.
	declarations atomic.Uint64
	// neighborEvents requeues bindings that waited for another one's pass.
	neighborEvents chan event.GenericEvent
}

// Engine is a policy engine, and whether --adapters names it.
type Engine = intentfacts.Engine

// New prepares the reconciler. The applier's client reads from a cache of derived objects.
func New(env reconciler.Environment, o options.Options, engines []Engine, kinds *EngineKinds) *Reconciler {
	settings := intentfacts.SettingsOf(o)
	settings.AutoMode, settings.Clock = env.AutoMode, env.Clock
	return &Reconciler{
		Environment: env, Engines: engines, kinds: kinds,
		Applier:           &apply.Applier{Client: kinds.client, Live: env.Live, OperatorNamespace: o.Namespace, OwnerIndex: ownerIndex},
		OperatorNamespace: o.Namespace, MeshRootNamespace: o.Intents.MeshRootNamespace, TrustDomain: o.Intents.MeshTrustDomain,
		TLSAssessorImage: o.Intents.TLSAssessorImage,
		cluster:          &clusterReader{settings: settings, live: env.Live, clock: env.Clock},
		patch:            &patchReader{configMap: o.Intents.VirtualPatches, live: env.Live, clock: env.Clock},
		retries:          reconciler.NewBackoff(env.Intervals, env.Clock), policies: newPolicySeries(), spaces: newSpaces(), neighborEvents: make(chan event.GenericEvent),
	}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if req.Name == "" {
		return reconcile.Result{}, r.neighborhood(ctx, req.Namespace)
	}
	var obj client.Object = &v1alpha1.SecurityIntentBinding{}
	if req.Namespace == "" {
		obj = &v1alpha1.ClusterSecurityIntentBinding{}
	}
	ref := apply.Ref{Kind: intentfacts.KindOf(obj), Namespace: req.Namespace, Name: req.Name}
	err := r.Newest(ctx, r.Applier, ref, obj)
	if client.IgnoreNotFound(err) != nil {
		return r.retries.Failed(req.NamespacedName, err)
	}
	if err != nil || obj.GetDeletionTimestamp() != nil {
		// Everything derived has an owner reference: the garbage collector removes it.
		r.retries.Drop(req.NamespacedName)
		r.policies.drop(req.NamespacedName)
		r.Applier.Forget(ref)
		if err != nil {
			err = r.orphanPolicies(ctx, req)
		}
		return reconcile.Result{}, err
	}
	was := obj.DeepCopyObject().(client.Object)
	around, err := r.gather(ctx)
	if err != nil {
		return r.recordGatherError(ctx, obj, was, err)
	}
	report := r.converge(ctx, obj, around)
	if hasConflict(report) {
		return r.retries.Conflict(req.NamespacedName), nil
	}
	r.updateConditions(obj, report)
	if err := r.patchStatus(ctx, obj, was); err != nil {
		return r.retries.Failed(req.NamespacedName, err)
	}
	return r.requeue(req, report)
}

// recordGatherError records only the conditions of an error and keeps the last observed coverage.
func (r *Reconciler) recordGatherError(ctx context.Context, obj, was client.Object, err error) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(obj)
	status.Summarize(&CommonOf(obj).Conditions, status.Result{Err: err, Generation: obj.GetGeneration(), Now: r.Clock.Now(), FailingSince: r.retries.Observe(key, err)})
	if werr := r.patchStatus(ctx, obj, was); werr != nil {
		return r.retries.Failed(key, werr)
	}
	return r.retries.Result(key, err)
}

func refOf(obj client.Object) apply.Ref {
	return apply.Ref{Kind: intentfacts.KindOf(obj), Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// recheckAfter is the pause before another look at a claim that waits for another policy's object.
const recheckAfter = time.Second

// requeue returns when to look again: an event wakes a binding that waits for another object, and the work queue one that failed.
func (r *Reconciler) requeue(req reconcile.Request, report intent.BindingReport) (reconcile.Result, error) {
	err := report.Failure()
	if w, ok := status.AsWaiting(err); err == nil || ok && w.Reason == status.ReasonIntentMissing {
		if slices.ContainsFunc(report.Policies, func(p intent.PolicyReport) bool { return p.Unconfirmed }) {
			return reconcile.Result{RequeueAfter: recheckAfter}, nil // the write that is waited for usually comes with an event of neighborEvents
		}
		if slices.ContainsFunc(report.Policies, func(p intent.PolicyReport) bool { return intentfacts.UsesPatches(p.Policy.Rules) }) {
			return reconcile.Result{RequeueAfter: patchesEvery}, nil // nothing watches the catalog
		}
		if slices.ContainsFunc(report.Policies, assessesTLS) {
			return reconcile.Result{RequeueAfter: assessmentsEvery}, nil
		}
		return reconcile.Result{}, nil
	}
	return r.retries.Result(req.NamespacedName, err)
}

// converge applies the policies of a binding.
func (r *Reconciler) converge(ctx context.Context, obj client.Object, s *clusterFacts) intent.BindingReport {
	b := pass.Bind(obj, s.intents, s.namespaces, r.OperatorNamespace)
	report := intent.BindingReport{Resolution: b.Resolution, Policies: make([]intent.PolicyReport, len(b.Policies))}
	group := errgroup.Group{}
	group.SetLimit(maxConcurrentPolicies)
	for i, p := range b.Policies {
		group.Go(func() error {
			report.Policies[i] = r.policy(ctx, b.Owner, s, p)
			return nil
		})
	}
	_ = group.Wait() // each policy's error is in its report
	report.Err = r.prune(ctx, b)
	return report
}

// hasConflict reports whether the pass lost a race, and is simply to be made again.
func hasConflict(report intent.BindingReport) bool {
	_, lost := errors.AsType[*lostRace](report.Failure())
	return lost
}

// updateConditions puts the report into the binding's status, in memory.
func (r *Reconciler) updateConditions(obj client.Object, report intent.BindingReport) {
	since := r.retries.Observe(client.ObjectKeyFromObject(obj), report.Failure())
	at := intent.Moment{Generation: obj.GetGeneration(), Now: r.Clock.Now(), FailingSince: since}
	bound := report.Resolution.Bound
	switch b := obj.(type) {
	case *v1alpha1.SecurityIntentBinding:
		r.warn(obj, b.Status.Conditions, report)
		report.Report(&b.Status.CommonStatus, at)
		b.Status.BoundIntents, b.Status.NumberOfBoundIntents, b.Status.CountOfBoundIntents = bound, int32(len(bound)), int32(len(bound))
		b.Status.NimbusPolicy, b.Status.Assessments = "", nil
		for _, p := range report.Policies {
			b.Status.NimbusPolicy, b.Status.Assessments = p.Policy.Name, p.Assessments
		}
	case *v1alpha1.ClusterSecurityIntentBinding:
		r.warn(obj, b.Status.Conditions, report)
		report.Report(&b.Status.CommonStatus, at)
		b.Status.BoundIntents, b.Status.NumberOfBoundIntents, b.Status.CountOfBoundIntents = bound, int32(len(bound)), int32(len(bound))
		b.Status.ClusterNimbusPolicy, b.Status.NimbusPolicyNamespaces = "", nil
		b.Status.NumberOfNimbusPolicies = int32(len(report.Resolution.Policies))
		for _, p := range report.Policies {
			switch {
			case p.Policy.Namespace == "":
				b.Status.ClusterNimbusPolicy = p.Policy.Name
			case len(b.Status.NimbusPolicyNamespaces) < maxNamespacesListed:
				b.Status.NimbusPolicyNamespaces = append(b.Status.NimbusPolicyNamespaces, p.Policy.Namespace)
			}
		}
	}
}

// maxNamespacesListed is the bound of the status field's schema.
const maxNamespacesListed = 256

// warn reports, once, a failure that only a person can resolve.
func (r *Reconciler) warn(obj client.Object, conds []metav1.Condition, report intent.BindingReport) {
	s, ok := status.AsStalled(report.Failure())
	if !ok || reconciler.StalledFor(conds, s.Reason) {
		return
	}
	r.Events.Warning(obj, s.Reason, "Reconcile", s.Error())
}

// patchStatus writes a status once, and only when something other than its time changed.
func (r *Reconciler) patchStatus(ctx context.Context, obj, was client.Object) error {
	now, before := &CommonOf(obj).LastUpdated, CommonOf(was).LastUpdated
	*now = before
	if equality.Semantic.DeepEqual(obj, was) {
		return nil
	}
	t := metav1.NewTime(r.Clock.Now().Truncate(time.Second))
	*now = &t
	patch := client.MergeFrom(was)
	if before == nil {
		// A difference would leave out the zeros, which are to be seen.
		patch = wholeStatus{}
	}
	if err := r.Client.Status().Patch(ctx, obj, patch); err != nil {
		return err
	}
	r.Applier.Wrote(refOf(obj), obj.GetResourceVersion())
	return nil
}

// wholeStatus is a merge patch of all that a status says.
type wholeStatus struct{}

// Type implements client.Patch.
func (wholeStatus) Type() types.PatchType { return types.MergePatchType }

// Data implements client.Patch.
func (wholeStatus) Data(obj client.Object) ([]byte, error) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"status": m["status"]})
}

// CommonOf returns the part that the statuses of bindings and policies have in common.
func CommonOf(obj client.Object) *v1alpha1.CommonStatus {
	switch o := obj.(type) {
	case *v1alpha1.SecurityIntentBinding:
		return &o.Status.CommonStatus
	case *v1alpha1.ClusterSecurityIntentBinding:
		return &o.Status.CommonStatus
	case *v1alpha1.NimbusPolicy:
		return &o.Status.CommonStatus
	case *v1alpha1.ClusterNimbusPolicy:
		return &o.Status.CommonStatus
	default:
		return &v1alpha1.CommonStatus{}
	}
}
