// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Kind is the kind that the package reconciles.
const Kind = "NexusAICapability"

// Finalizer keeps a capability until everything it made is dealt with.
const Finalizer = "nexus.ai/capability-finalizer"

// Reconciler reconciles NexusAICapabilities: compile, apply along the edges, summarize. It makes no AWS
// call itself: its children do. New gives its parts what they need, so that a field that is set later reaches none of them.
type Reconciler struct {
	reconciler.Environment
	Applier *apply.Applier
	// Facts gathers the facts that capabilities depend on, by the administrator's settings.
	Facts capabilityfacts.Gatherer

	retries      *reconciler.Backoff
	memories     *memories
	compilations *compilations
	spacing      *spacing
	agents       *agents
	gateways     *gateways
	sources      pass.Sources
	health       health.Reader
	directory    directory
	statuses     statuses
	approvals    approvals
	pods         pods
	stores       stores
	pruner       pruner
	recoveries   recoveries
	teardown     teardown
}

// New prepares the reconciler. Regions are those that a capability may name.
func New(env reconciler.Environment, o options.Options, regions []string) *Reconciler {
	settings := capabilityfacts.SettingsOf(o, env.ClusterID, regions)
	settings.NoDrain, settings.AutoMode = capabilityfacts.LacksDrain(env.Version), env.AutoMode
	applier := &apply.Applier{Client: env.Client, Live: env.Live, OperatorNamespace: o.Namespace}
	retries, remembered := reconciler.NewBackoff(env.Intervals, env.Clock), newMemories()
	facts := capabilityfacts.Gatherer{Settings: settings, Client: env.Client, Live: env.Live, Scheme: env.Client.Scheme()}
	compilations, directory := &compilations{schemas: env.Schemas, memories: remembered}, directory{env.Client}
	sources := pass.Sources{Settings: settings, Applier: applier, Namesakes: directory.namesakes, Facts: facts.Gather,
		Compile: compilations.compile, Existing: remembered.kindsOf}
	health := health.Reader{Client: env.Client, Live: env.Live, AutoMode: env.AutoMode, Clock: env.Clock}
	statuses := statuses{client: env.Client, events: env.Events, clock: env.Clock, applier: applier, retries: retries,
		spacing: newStatusSpacing(env.Clock)}
	pods := pods{client: env.Client, events: env.Events, clock: env.Clock, memories: remembered, injecting: facts.InjectsCredentials}
	stores := stores{client: env.Client, live: env.Live, applier: applier, events: env.Events, clock: env.Clock, grace: env.DeletionGrace}
	remover := remover{scheme: env.Client.Scheme(), live: env.Live, discovery: env.Discovery, applier: applier, events: env.Events,
		clock: env.Clock, pods: pods}
	recoveries := recoveries{client: env.Client, live: env.Live, events: env.Events, clock: env.Clock, intervals: env.Intervals,
		grace: env.DeletionGrace, namespace: o.Namespace, stores: stores}
	return &Reconciler{
		Environment: env, Applier: applier, Facts: facts,
		retries: retries, memories: remembered, compilations: compilations, sources: sources, health: health,
		spacing: newPassSpacing(env.Clock), gateways: newGateways(), directory: directory, statuses: statuses,
		agents:    &agents{client: env.Client, clock: env.Clock, look: facts.Agent},
		approvals: approvals{gate: env.Gate, sources: sources, schemas: env.Schemas, events: env.Events, clock: env.Clock, statuses: statuses},
		pods:      pods, stores: stores, recoveries: recoveries,
		pruner: pruner{live: env.Live, memories: remembered, pods: pods, stores: stores, remover: remover},
		teardown: teardown{client: env.Client, live: env.Live, applier: applier, sources: sources, memories: remembered, health: health,
			pods: pods, stores: stores, remover: remover, recoveries: recoveries},
	}
}

func capabilityRef(key client.ObjectKey) apply.Ref {
	return apply.Ref{Kind: nexusv1.GroupVersion.WithKind("NexusAICapability"), Namespace: key.Namespace, Name: key.Name}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	r.spacing.begin(req.NamespacedName)
	c := &nexusv1.NexusAICapability{}
	tooLarge, err := r.read(ctx, req.NamespacedName, c)
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	was := c.DeepCopy()
	if tooLarge != nil {
		r.statuses.report(c, capability.Observed{States: map[string]capability.State{}}, tooLarge)
		_, err := r.statuses.write(ctx, c, was, tooLarge)
		return r.requeue(c, 0, cmp.Or(err, tooLarge))
	}
	if reconciler.IsPaused(c) {
		return r.retries.Failed(req.NamespacedName, r.statuses.pause(ctx, c, was))
	}
	if c.DeletionTimestamp != nil {
		return r.delete(ctx, c, was)
	}
	if was, err = r.begin(ctx, c, was); err != nil {
		return r.retries.Failed(req.NamespacedName, err)
	}
	wait, was, err := r.approvals.pass(ctx, c, was)
	if err != nil {
		return r.retries.Failed(req.NamespacedName, err)
	}
	return r.advance(ctx, c, was, wait)
}

// advance rolls out the approved parts of a capability, and reports it. Wait says why an edit waits, nil when none does.
func (r *Reconciler) advance(ctx context.Context, c, was *nexusv1.NexusAICapability, wait error) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(c)
	began := r.Clock.Now()
	observed, err := r.rollOut(ctx, c, wait)
	if apierrors.IsConflict(err) {
		return r.retries.Failed(key, err)
	}
	after, werr := r.statuses.write(ctx, c, was, err)
	if werr != nil {
		return r.retries.Failed(key, werr)
	}
	r.measureSteps(c, was, observed, began)
	if (err == nil || errors.Is(err, wait)) && after == 0 {
		return r.replacePods(ctx, c, observed, err)
	}
	return r.requeue(c, after, err)
}

// rollOut rolls a capability out as it is declared, or as it was approved while an edit waits, and puts its observations into the status in
// memory, unless a write was in conflict with another.
func (r *Reconciler) rollOut(ctx context.Context, c *nexusv1.NexusAICapability, wait error) (capability.Observed, error) {
	if wait != nil {
		return r.keepUp(ctx, c, wait)
	}
	observed, err := r.converge(ctx, c)
	observed.Changes = r.memories.addChanges(c, observed.Changes)
	if !apierrors.IsConflict(err) {
		r.statuses.report(c, observed, err)
	}
	return observed, err
}

// keepUp keeps a capability as it was approved while an edit of it waits.
func (r *Reconciler) keepUp(ctx context.Context, c *nexusv1.NexusAICapability, wait error) (capability.Observed, error) {
	observed := capability.Observed{Capability: c, States: map[string]capability.State{}}
	if c.Status.Approved == nil {
		r.statuses.report(c, observed, wait)
		return observed, wait
	}
	approved, err := capability.InForce(c)
	if err != nil {
		return observed, err
	}
	observed, err = r.converge(ctx, approved)
	observed.Changes = r.memories.addChanges(approved, observed.Changes)
	if err == nil {
		err = wait
	}
	r.statuses.report(approved, observed, err)
	c.Status = approved.Status
	if ready := meta.FindStatusCondition(c.Status.Conditions, status.Ready); ready != nil && ready.Reason == status.ReasonPlanPending {
		ready.ObservedGeneration = c.Generation
	}
	return observed, err
}

// begin adds the finalizer before the first child: all children must be found again. It returns the capability as it is then.
func (r *Reconciler) begin(ctx context.Context, c, was *nexusv1.NexusAICapability) (*nexusv1.NexusAICapability, error) {
	if !controllerutil.AddFinalizer(c, Finalizer) {
		return was, nil
	}
	if err := r.Client.Patch(ctx, c, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return was, err
	}
	// An earlier capability of the name may have left resources, which are taken over by name.
	return c.DeepCopy(), r.recoveries.dropRecord(ctx, c, "")
}

// read reads a capability as it is. If it is too large, the cache keeps only its short fields: it is not rolled out, and the objects that
// it made stay.
func (r *Reconciler) read(ctx context.Context, key client.ObjectKey, c *nexusv1.NexusAICapability) (tooLarge, err error) {
	ref := capabilityRef(key)
	if err := r.Newest(ctx, r.Applier, ref, c); err != nil {
		r.Applier.Forget(ref)
		r.forget(key)
		return nil, err
	}
	trimmed, full := r.Large.Beyond(Kind, c)
	switch {
	case full && c.DeletionTimestamp == nil:
		return reconciler.TooLarge(c, "What it made stays as it is"), nil
	case trimmed:
		*c = nexusv1.NexusAICapability{}
		return nil, r.Live.Get(ctx, key, c)
	}
	return nil, nil
}

// forget drops the memory of a capability that is gone.
func (r *Reconciler) forget(key client.ObjectKey) {
	r.retries.Drop(key)
	r.memories.forget(key)
	r.spacing.forget(key)
	r.statuses.spacing.forget(key)
	r.Large.Forget(Kind, key)
}

// replacePods evicts the pods that are to be replaced, after the status that records them was written. Wait says why an edit waits.
func (r *Reconciler) replacePods(ctx context.Context, c *nexusv1.NexusAICapability, observed capability.Observed, wait error) (reconcile.Result, error) {
	err := r.pods.evict(ctx, c, observed.Evict)
	if err == nil && observed.Healing.Injects { // pods lack credentials, and no event tells that it is time to replace them
		return reconcile.Result{RequeueAfter: r.Intervals.Jitter(reconciler.UnreadyPoll)}, nil
	}
	return r.requeue(c, 0, cmp.Or(err, wait))
}

// requeue says when to come back: a status that was not written waits for no longer than its spacing.
func (r *Reconciler) requeue(c *nexusv1.NexusAICapability, unwritten time.Duration, err error) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(c)
	switch {
	case err != nil:
		return r.retries.Failed(key, err)
	case unwritten > 0:
		return reconcile.Result{RequeueAfter: unwritten}, nil
	case c.Spec.Suspend:
		return reconcile.Result{}, nil
	default:
		return reconcile.Result{RequeueAfter: r.nextLook(c)}, nil
	}
}

// nextLook returns the pause until the next look at objects that are not watched; 0 for none.
func (r *Reconciler) nextLook(c *nexusv1.NexusAICapability) time.Duration {
	switch {
	case !c.Status.Ready:
		return r.Intervals.Jitter(reconciler.UnreadyPoll)
	case len(c.Status.Dropped) > 0:
		return r.untilFirstDropped(c)
	case c.Status.Identity != nil && c.Status.Identity.Mode == nexusv1.IdentityPodIdentity:
		return r.Intervals.Jitter(agentPoll)
	case capability.KeepsRecords(c):
		return r.Intervals.Jitter(parametersPoll)
	default:
		return 0
	}
}

// parametersPoll is the interval between two reads of the parameters of an IngressClass or a GatewayClass, and of other owners'
// Gateways, which are not watched.
const parametersPoll = 5 * time.Minute

// agentPoll is the interval of looks at the EKS Pod Identity Agent, which is not watched.
const agentPoll = time.Minute

// converge compiles the capability and applies its objects, as far as possible before an outside event. It returns its observations even
// when it ends in an error.
func (r *Reconciler) converge(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Observed, error) {
	observed := capability.Observed{Capability: c, States: map[string]capability.State{}}
	if c.Spec.Suspend {
		return observed, nil
	}
	ps, err := r.sources.Begin(ctx, c)
	if err != nil {
		return observed, logConflict(ctx, c, err)
	}
	g := ps.Graph
	observed.Graph, observed.Facts = g, ps.Facts
	if capability.HasAssociation(g) {
		if observed.Agent, err = r.agents.of(ctx, c); err != nil {
			return observed, err
		}
	}
	return observed, r.roll(ctx, ps, &observed)
}

// roll applies the objects of a compiled capability, removes those that it no longer has, and adds the observations of them.
func (r *Reconciler) roll(ctx context.Context, ps *pass.Pass, observed *capability.Observed) error {
	c, rollout := ps.Capability, newRollout(r, ps)
	err := errors.Join(rollout.run(ctx), r.zoneServed(c))
	observed.States, observed.Changes = rollout.states, rollout.changes
	if err != nil || rollout.stopped {
		return err
	}
	if err := r.pods.planReplacements(ctx, c, observed); err != nil || !rollout.complete() {
		return err
	}
	if err := r.pruner.prune(ctx, ps, observed); err != nil {
		return err
	}
	return r.providerUsable(ctx, c)
}

// logConflict logs which other capability has the names of one, which the status does not tell. It returns the error.
func logConflict(ctx context.Context, c *nexusv1.NexusAICapability, err error) error {
	if conflict, is := errors.AsType[*pass.Conflict](err); is {
		reconciler.LogHolder(ctx, c.Status.Conditions, "A capability waits: another one has its names", reconciler.IndexName(c)[0], conflict.Holder)
	}
	return err
}
