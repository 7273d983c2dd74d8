package controller

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// CapabilityFinalizer keeps a capability until everything it made is dealt with.
const CapabilityFinalizer = "nexus.ai/capability-finalizer"

// Capability reconciles NexusAICapabilities: compile, apply along the edges, summarise. It makes no AWS
// call itself: its children do.
type Capability struct {
	Environment
	Applier *apply.Applier
	// DefaultRegion and AllowedIngressGroups are the administrator's.
	DefaultRegion        string
	AllowedIngressGroups []string
	OperatorNamespace    string

	pauses *pauses
}

// NewCapability prepares the reconciler.
func NewCapability(env Environment, o options.Options) *Capability {
	return &Capability{
		Environment: env, Applier: &apply.Applier{Client: env.Client, Live: env.Live, OperatorNamespace: o.Namespace},
		DefaultRegion: o.Region, AllowedIngressGroups: o.AllowedIngressGroups, OperatorNamespace: o.Namespace,
		pauses: newPauses(env.Pace, env.Clock),
	}
}

// Reconcile implements reconcile.Reconciler.
func (r *Capability) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c := &nexusv1.NexusAICapability{}
	if err := r.Client.Get(ctx, req.NamespacedName, c); err != nil {
		r.pauses.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	was := c.DeepCopy()
	if c.DeletionTimestamp != nil {
		return r.delete(ctx, c, was)
	}
	if controllerutil.AddFinalizer(c, CapabilityFinalizer) {
		// Before the first child: what is made must be found again.
		if err := r.Client.Patch(ctx, c, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
			return r.again(req.NamespacedName, err)
		}
		was = c.DeepCopy()
	}
	observed, err := r.converge(ctx, c)
	if apierrors.IsConflict(err) {
		return r.again(req.NamespacedName, err)
	}
	r.report(c, observed, err)
	if werr := r.patchStatus(ctx, c, was); werr != nil {
		return reconcile.Result{}, client.IgnoreNotFound(werr)
	}
	return r.wake(c, err)
}

// again retries what another writer came before in; the event of that write usually is sooner.
func (r *Capability) again(key types.NamespacedName, err error) (reconcile.Result, error) {
	if client.IgnoreNotFound(err) == nil {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: r.pauses.after(key, err)}, nil
}

// sickPoll is how often workloads that do not become available are looked at: a pod's trouble shows in
// the pod alone, which is not watched.
const sickPoll = 5 * time.Second

func (r *Capability) wake(c *nexusv1.NexusAICapability, err error) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(c)
	switch {
	case err != nil:
		return reconcile.Result{RequeueAfter: r.pauses.after(key, err)}, nil
	case !c.Status.Ready && !c.Spec.Suspend:
		return reconcile.Result{RequeueAfter: r.Pace.jitter(sickPoll)}, nil
	default:
		r.pauses.forget(key)
		return reconcile.Result{}, nil
	}
}

// converge compiles the capability and applies what may be applied, until nothing more can be done
// before something outside happens. What it saw is returned even when it ends in an error.
func (r *Capability) converge(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Observed, error) {
	observed := capability.Observed{States: map[string]capability.State{}}
	if c.Spec.Suspend {
		return observed, nil
	}
	if err := r.nameConflict(ctx, c); err != nil {
		return observed, err
	}
	facts, err := r.facts(ctx, c)
	if err != nil {
		return observed, err
	}
	g, err := capability.Compile(c, facts)
	if err != nil {
		return observed, err
	}
	observed.Graph, observed.Facts = g, facts
	rollout := newRollout(r, c, g)
	err = rollout.run(ctx)
	observed.States = rollout.states
	if err != nil || rollout.stopped {
		return observed, err
	}
	if err := r.prune(ctx, c, observed); err != nil {
		return observed, err
	}
	return observed, r.providerUsable(ctx, c)
}

// NameIndex holds {capabilityName}-{environment} of every capability.
const NameIndex = "spec.name"

func indexName(o client.Object) []string {
	c := o.(*nexusv1.NexusAICapability)
	return []string{c.Spec.CapabilityName + "-" + c.Spec.Environment}
}

// nameConflict refuses the younger of two capabilities whose resources would have the same names.
func (r *Capability) nameConflict(ctx context.Context, c *nexusv1.NexusAICapability) error {
	list := &nexusv1.NexusAICapabilityList{}
	if err := r.Client.List(ctx, list, client.MatchingFields{NameIndex: indexName(c)[0]}); err != nil {
		return err
	}
	for i := range list.Items {
		o := &list.Items[i]
		if o.UID != c.UID && older(o, c) {
			return &status.Stalled{Reason: status.ReasonNameConflict, Field: "spec.capabilityName", Message: fmt.Sprintf(
				"NexusAICapability %s/%s already has the names %s-…; choose another capabilityName or environment, or delete that one", o.Namespace, o.Name, indexName(c)[0])}
		}
	}
	return nil
}

func older(a, b *nexusv1.NexusAICapability) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}

// facts gathers what Compile needs from outside the capability.
func (r *Capability) facts(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Facts, error) {
	f := capability.Facts{Region: r.DefaultRegion, OperatorNamespace: r.OperatorNamespace, Issuer: r.Issuer(ctx), ClusterID: r.ClusterID, AllowedIngressGroups: r.AllowedIngressGroups}
	var err error
	if f.ClosesEgress, err = r.closesEgress(ctx, c); err != nil {
		return f, err
	}
	p := &v1alpha1.AWSProvider{}
	err = r.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: capability.ProviderName(c)}, p)
	if err != nil {
		return f, client.IgnoreNotFound(err)
	}
	f.ProviderRegion, f.Boundary, f.RolePath = p.Spec.Region, p.Spec.PermissionsBoundaryARN, p.Spec.RolePathPrefix
	if status.ReadyAt(p.Status.Conditions, p.Generation) {
		f.Account, f.Partition = p.Status.AccountID, p.Status.Partition
	}
	return f, nil
}

// Vouches implements Voucher: it compiles the object's capability anew and looks whether the object
// stands in it, spec and all.
func (r *Capability) Vouches(ctx context.Context, obj client.Object) (bool, error) {
	owner := metav1.GetControllerOf(obj)
	if owner == nil || owner.Kind != "NexusAICapability" {
		return false, nil
	}
	c := &nexusv1.NexusAICapability{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: owner.Name}, c)
	if err != nil || c.UID != owner.UID {
		return false, client.IgnoreNotFound(err)
	}
	facts, err := r.facts(ctx, c)
	if err != nil {
		return false, err
	}
	g, err := capability.Compile(c, facts)
	if err != nil {
		return false, nil //nolint:nilerr // what compiles to nothing vouches for nothing
	}
	m, err := manifest(r.Client.Scheme(), obj)
	if err != nil {
		return false, err
	}
	n, ok := g.Node(graph.ID(m.GetKind(), m.GetNamespace(), m.GetName(), c.Namespace))
	return ok && n.Unresolved == "" && apply.SameSpec(r.Client.Scheme(), n.Object, m), nil
}

// reconcileAt is what an object's annotation asks for, cut to what a status may repeat.
func reconcileAt(o client.Object) string {
	const most = 64
	return status.Bound(o.GetAnnotations()[engine.AnnotationReconcileAt], most)
}
