package controller

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// LabelPolicyOwner holds the UID of the owner of what is derived from a binding: the binding's on
// policies, the policy's on engine objects.
const LabelPolicyOwner = "intent.security.nimbus.com/owner-uid"

// policing bounds how many policies of a cluster binding, and how many objects of a policy, are written
// at a time.
const policing = 8

// Bindings reconciles SecurityIntentBindings and ClusterSecurityIntentBindings, the latter under requests
// without a namespace. One pass does everything: resolve, write the policies, have every engine
// translate them, write what comes of it, remove what no longer does, say how it went.
type Bindings struct {
	Environment
	// Applier writes policies and engine objects; its client has a cache of nothing else.
	Applier *apply.Applier
	// Engines are all there are; those not Enabled make nothing, and lose what they made.
	Engines []Engine
	// OperatorNamespace, MeshRootNamespace and TrustDomain are the administrator's.
	OperatorNamespace, MeshRootNamespace, TrustDomain string

	kinds  *engineKinds
	pauses *pauses
}

// Engine is a policy engine, and whether --adapters names it.
type Engine struct {
	intent.Engine
	Enabled bool
}

// NewBindings prepares the reconciler. The applier's client reads from a cache of derived objects.
func NewBindings(env Environment, o options.Options, engines []Engine, kinds *engineKinds) *Bindings {
	return &Bindings{
		Environment: env, Engines: engines, kinds: kinds,
		Applier:           &apply.Applier{Client: kinds.client, Live: env.Live, OperatorNamespace: o.Namespace},
		OperatorNamespace: o.Namespace, MeshRootNamespace: o.MeshRootNamespace, TrustDomain: o.MeshTrustDomain,
		pauses: newPauses(env.Pace, env.Clock),
	}
}

// Reconcile implements reconcile.Reconciler.
func (r *Bindings) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var obj client.Object = &v1alpha1.SecurityIntentBinding{}
	if req.Namespace == "" {
		obj = &v1alpha1.ClusterSecurityIntentBinding{}
	}
	err := r.read(ctx, req, obj)
	if err != nil || obj.GetDeletionTimestamp() != nil {
		// Everything derived has an owner reference: the garbage collector removes it.
		r.pauses.forget(req.NamespacedName)
		r.Applier.Forget(apply.Ref{Kind: kindOf(obj), Namespace: req.Namespace, Name: req.Name})
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	was := obj.DeepCopyObject().(client.Object)
	around, err := r.gather(ctx, obj.GetUID())
	if err != nil {
		return r.blind(ctx, obj, was, err)
	}
	report := r.converge(ctx, obj, around)
	if conflicted(report) {
		return reconcile.Result{RequeueAfter: r.pauses.after(req.NamespacedName, report.Failure())}, nil
	}
	r.write(obj, report)
	if err := r.patchStatus(ctx, obj, was); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return r.wake(req, report), nil
}

// blind says that nothing could be looked at. What was last said of the policies stays.
func (r *Bindings) blind(ctx context.Context, obj, was client.Object, err error) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(obj)
	status.Summarise(&commonOf(obj).Conditions, status.Result{Err: err, Generation: obj.GetGeneration(), Now: r.Clock.Now()})
	if werr := r.patchStatus(ctx, obj, was); werr != nil {
		return reconcile.Result{}, client.IgnoreNotFound(werr)
	}
	return reconcile.Result{RequeueAfter: r.pauses.after(key, err)}, nil
}

// read takes a binding from the cache, or from the API server while the cache lacks our own last write.
func (r *Bindings) read(ctx context.Context, req reconcile.Request, obj client.Object) error {
	err := r.Client.Get(ctx, req.NamespacedName, obj)
	if err == nil && r.Applier.Lags(refOf(obj), obj.GetResourceVersion()) {
		err = r.Live.Get(ctx, req.NamespacedName, obj)
	}
	return err
}

func refOf(obj client.Object) apply.Ref {
	return apply.Ref{Kind: kindOf(obj), Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// kindOf says which of the kinds with a status of security intents an object is.
func kindOf(obj client.Object) schema.GroupVersionKind {
	kind := ""
	switch obj.(type) {
	case *v1alpha1.SecurityIntentBinding:
		kind = "SecurityIntentBinding"
	case *v1alpha1.ClusterSecurityIntentBinding:
		kind = "ClusterSecurityIntentBinding"
	case *v1alpha1.NimbusPolicy:
		kind = "NimbusPolicy"
	case *v1alpha1.ClusterNimbusPolicy:
		kind = "ClusterNimbusPolicy"
	}
	return v1alpha1.GroupVersion.WithKind(kind)
}

// wake says when to look again: what is only waited for comes with an event.
func (r *Bindings) wake(req reconcile.Request, report intent.BindingReport) reconcile.Result {
	err := report.Failure()
	if w, ok := status.AsWaiting(err); err == nil || ok && w.Reason == status.ReasonIntentMissing {
		r.pauses.forget(req.NamespacedName)
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: r.pauses.after(req.NamespacedName, err)}
}

// converge makes true what a binding comes to.
func (r *Bindings) converge(ctx context.Context, obj client.Object, s *surroundings) intent.BindingReport {
	b := bindingOf(obj)
	res := intent.Resolve(b, s.intents, s.namespaces, intent.Options{OperatorNamespace: r.OperatorNamespace})
	report := intent.BindingReport{Resolution: res}
	policies := slices.Clone(res.Policies)
	if res.Cluster != nil {
		policies = append(policies, *res.Cluster)
	}
	report.Policies = make([]intent.PolicyReport, len(policies))
	owner := ownerOfDerived(obj)
	group := errgroup.Group{}
	group.SetLimit(policing)
	for i, p := range policies {
		group.Go(func() error {
			report.Policies[i] = r.policy(ctx, owner, s, p)
			return nil
		})
	}
	_ = group.Wait() // each policy's error is in its report
	report.Err = r.prune(ctx, owner, policyKinds, manifestsOf(policies))
	return report
}

func bindingOf(obj client.Object) intent.Binding {
	if b, ok := obj.(*v1alpha1.SecurityIntentBinding); ok {
		return intent.OfBinding(b)
	}
	return intent.OfClusterBinding(obj.(*v1alpha1.ClusterSecurityIntentBinding))
}

func ownerOfDerived(obj client.Object) apply.Owner {
	return apply.Owner{
		Kind: kindOf(obj), Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
		Label: LabelPolicyOwner, Sole: true,
	}
}

// conflicted says whether the pass lost a race, and is simply to be made again.
func conflicted(report intent.BindingReport) bool {
	_, lost := errors.AsType[*lostRace](report.Failure())
	return lost
}

// write puts the report into the binding's status, in memory.
func (r *Bindings) write(obj client.Object, report intent.BindingReport) {
	at := intent.Moment{Generation: obj.GetGeneration(), Now: r.Clock.Now()}
	bound := report.Resolution.Bound
	switch b := obj.(type) {
	case *v1alpha1.SecurityIntentBinding:
		r.warn(obj, b.Status.Conditions, report)
		report.Report(&b.Status.CommonStatus, at)
		b.Status.BoundIntents, b.Status.NumberOfBoundIntents, b.Status.CountOfBoundIntents = bound, int32(len(bound)), int32(len(bound))
		b.Status.NimbusPolicy = ""
		for _, p := range report.Policies {
			b.Status.NimbusPolicy = p.Policy.Name
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

// warn tells, once, of what only a person can help.
func (r *Bindings) warn(obj client.Object, conds []metav1.Condition, report intent.BindingReport) {
	s, ok := status.AsStalled(report.Failure())
	if !ok || stalledFor(conds, s.Reason) {
		return
	}
	r.Events.Eventf(obj, nil, "Warning", s.Reason, "Reconcile", "%s", status.Bound(s.Error(), maxNote))
}

// patchStatus writes a status once, and only when something other than its time changed.
func (r *Bindings) patchStatus(ctx context.Context, obj, was client.Object) error {
	now, before := &commonOf(obj).LastUpdated, commonOf(was).LastUpdated
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

// commonOf is what the statuses of bindings and policies have in common.
func commonOf(obj client.Object) *v1alpha1.CommonStatus {
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
