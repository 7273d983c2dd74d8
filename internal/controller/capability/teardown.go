// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// teardown takes capabilities in deletion down, stage by stage.
type teardown struct {
	client     client.Client
	live       client.Reader
	applier    *apply.Applier
	sources    pass.Sources
	memories   *memories
	health     health.Reader
	pods       pods
	stores     stores
	remover    remover
	recoveries recoveries
}

// takeDown deletes the first stage that has objects, and gives the reason for every object that is left.
func (t teardown) takeDown(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Observed, bool, error) {
	observed := capability.Observed{Capability: c, States: map[string]capability.State{}}
	declared, err := t.sources.Declared(ctx, c)
	if declared == nil {
		return observed, false, err
	}
	observed.Facts, observed.Graph = declared.Facts, declared.Graph // only for telling: what goes is what exists
	if err := t.noneLeftOut(c, observed.States); err != nil {
		return observed, false, err
	}
	stages, err := t.sources.Ending(c).Stages(ctx)
	if err != nil {
		return observed, false, err
	}
	for _, child := range slices.Concat(stages...) {
		if observed.States[childID(c, child.Ref)], err = t.remainingState(ctx, child.Ref); err != nil {
			return observed, false, err
		}
	}
	if len(stages) == 0 {
		empty, err := t.nothingLeft(ctx, c)
		return observed, empty, err
	}
	keeps, err := t.keepsChildren(ctx, c, stages)
	switch {
	case err != nil:
		return observed, false, err
	case keeps:
		return observed, false, t.orphanChildren(ctx, c, stages)
	default:
		return observed, false, t.removeNext(ctx, c, observed, stages)
	}
}

// removeNext removes the first stage that has objects, and leaves the stores while the deletion can be undone. A change of the recovery is
// only put into the status, which is written with the version that was read: a decision that an undo, or another operator, contradicted in
// the meantime has no effect.
func (t teardown) removeNext(ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed, stages [][]apply.Child) error {
	changed, err := t.recoveries.record(ctx, c, stages)
	if changed || err != nil {
		return err
	}
	switch {
	case c.Status.Recovery != nil && !capability.IsWaiting(c):
		if err := t.recoveries.updateRecord(ctx, c); err != nil {
			return err
		}
	case capability.IsWaiting(c):
		if err := t.recoveries.markStores(ctx, c, stages); err != nil {
			return err
		}
		stages = slices.DeleteFunc(stages, func(s []apply.Child) bool { return capability.IsKeptForRecovery(s[0].Kind.Kind, s[0].Name) })
	}
	if len(stages) == 0 {
		return nil
	}
	return t.removeStage(ctx, capability.KeepingAll(c), o, stages)
}

// keepsChildren reports whether the user asked to keep the objects (kubectl delete --cascade=orphan). The
// API server's finalizer says so until the garbage collector has cut the owner references; from then
// on, also if we were not there to see the finalizer, the missing references do. The cache of a child may lag behind the
// garbage collector, so that a reference counts only once the API server itself shows it. A write of ours that was under way
// may have restored some references, and a person may have removed one: most of the objects decide, once in a deletion that has not,
// or no longer, the finalizer.
func (t teardown) keepsChildren(ctx context.Context, c *nexusv1.NexusAICapability, stages [][]apply.Child) (bool, error) {
	if slices.Contains(c.Finalizers, metav1.FinalizerOrphanDependents) {
		return true, nil
	}
	if t.memories.isDoomed(c) {
		return false, nil
	}
	home := slices.DeleteFunc(slices.Concat(stages...), func(child apply.Child) bool { return child.Namespace != c.Namespace })
	slices.SortStableFunc(home, compareControlled) // what the cache shows as cut needs no question
	cut, controlled := 0, 0
	for _, child := range home {
		still, err := t.isControlled(ctx, c, child)
		switch {
		case apierrors.IsNotFound(err): // gone by now: it proves nothing
		case err != nil:
			return false, err
		case still:
			controlled++
		default:
			cut++
		}
		if 2*cut > len(home) || 2*controlled >= len(home) {
			break
		}
	}
	if cut > controlled {
		return true, nil
	}
	t.memories.doom(c)
	return false, nil
}

// compareControlled sorts children without an owner reference first.
func compareControlled(a, b apply.Child) int {
	rank := map[bool]int{true: 1}
	return cmp.Compare(rank[a.Controlled], rank[b.Controlled])
}

// isControlled reports whether a child has the owner reference, by the API server where the cache shows one.
func (t teardown) isControlled(ctx context.Context, c *nexusv1.NexusAICapability, child apply.Child) (bool, error) {
	if !child.Controlled {
		return false, nil
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(child.Kind)
	err := t.live.Get(ctx, client.ObjectKey{Namespace: child.Namespace, Name: child.Name}, live)
	return err == nil && metav1.IsControlledBy(live, c), err
}

// orphanChildren takes our marks off every child. The child stays and, in AWS, is still kept as declared. Children that the garbage
// collector cannot reach come first. Children that lost their owner reference to the garbage collector come last: they prove until the end
// that the user asked for orphaning.
func (t teardown) orphanChildren(ctx context.Context, c *nexusv1.NexusAICapability, stages [][]apply.Child) error {
	all := slices.Concat(stages...)
	slices.SortStableFunc(all, func(a, b apply.Child) int {
		return cmp.Or(cmp.Compare(deletionDistance(a, c), deletionDistance(b, c)), compareControlled(b, a))
	})
	for _, child := range all {
		if err := t.applier.Orphan(ctx, capabilityfacts.OwnerOf(c), child.Ref); err != nil {
			return err
		}
	}
	return nil
}

func deletionDistance(child apply.Child, c *nexusv1.NexusAICapability) int {
	if child.Namespace == c.Namespace {
		return 1
	}
	return 0
}

// removeStage deletes the first stage. Before, every AWS child gets the fields that its deletion depends on: they may be edited right
// before the deletion, and while it waits for a bucket to be emptied. No other field of the spec reaches a child any more.
func (t teardown) removeStage(ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed, stages [][]apply.Child) error {
	for _, child := range slices.Concat(stages...) {
		if err := t.prepareDeletion(ctx, c, child); err != nil {
			return err
		}
	}
	ps := t.sources.Ending(c)
	if first := stages[0][0]; first.Kind.Group == intentv1alpha1.GroupName && ps.End(first).Verb == pass.Delete {
		if wait, err := t.keepBindingsWhilePodsRemain(ctx, c, o, stages[0]); wait || err != nil {
			return err
		}
	}
	for _, child := range unusedIn(c, stages[0]) {
		if err := t.remover.remove(ctx, c, ps.End(child)); err != nil {
			return err
		}
	}
	return nil
}

// unusedIn returns the children of a stage that no other child of it uses. Those that are used come later.
func unusedIn(c *nexusv1.NexusAICapability, stage []apply.Child) []apply.Child {
	left := map[string]bool{}
	for _, child := range stage {
		left[childID(c, child.Ref)] = true
	}
	return slices.DeleteFunc(slices.Clone(stage), func(child apply.Child) bool {
		return slices.ContainsFunc(capability.UsersOf(c, child.Kind.Kind, child.Name), func(user string) bool { return left[user] })
	})
}

// prepareDeletion gives an AWS child the fields that its deletion depends on.
func (t teardown) prepareDeletion(ctx context.Context, c *nexusv1.NexusAICapability, child apply.Child) error {
	if child.Kind.Group != v1alpha1.GroupName {
		return nil
	}
	if err := t.restoreReference(ctx, c, child); err != nil || child.Kind.Kind == "AWSProvider" {
		return err
	}
	return t.stores.updateDoomed(ctx, c, child.Ref)
}

// restoreReference makes an AWS child the capability's again where a person removed its owner reference: a provider with the
// operator's own identity serves only objects with the same owner, and their deletion would never end.
func (t teardown) restoreReference(ctx context.Context, c *nexusv1.NexusAICapability, child apply.Child) error {
	if child.Controlled {
		return nil
	}
	live := &nexusv1.NexusAICapability{}
	if err := t.live.Get(ctx, client.ObjectKeyFromObject(c), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if slices.Contains(live.Finalizers, metav1.FinalizerOrphanDependents) {
		return nil // the garbage collector removed it, for a deletion that the cache does not show yet
	}
	return t.applier.Refer(ctx, capabilityfacts.OwnerOf(c), child.Ref)
}

// nothingLeft asks the API server itself, once, at the end: the cache may lag behind the last creates.
func (t teardown) nothingLeft(ctx context.Context, c *nexusv1.NexusAICapability) (bool, error) {
	for _, stage := range capability.DeletionOrder {
		for _, k := range t.sources.Settings.Served(stage.Kinds) {
			if !capability.MayHaveMade(c, k.Kind) {
				continue
			}
			if left, err := t.anyLeft(ctx, c, k); left || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// anyLeft reports whether an object of a kind carries the capability's label in one of the capability's namespaces. In
// other namespaces other people may put the label on their objects.
func (t teardown) anyLeft(ctx context.Context, c *nexusv1.NexusAICapability, k schema.GroupVersionKind) (bool, error) {
	for _, ns := range capabilityfacts.NamespacesOf(c) {
		list, err := t.newList(k)
		if err != nil {
			return false, err
		}
		in := []client.ListOption{client.InNamespace(ns), client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}, client.Limit(1)}
		if k.Kind == "Namespace" {
			in[0] = client.MatchingFields{"metadata.name": ns}
		}
		err = t.live.List(ctx, list, in...)
		if meta.IsNoMatchError(err) && capability.IsGatewayKind(k) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("looking for %s that are left: %w", k.Kind, err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// newList returns an empty list of a kind.
func (t teardown) newList(k schema.GroupVersionKind) (client.ObjectList, error) {
	k.Kind += "List"
	if capability.IsGatewayKind(k) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(k)
		return list, nil
	}
	o, err := t.client.Scheme().New(k)
	if err != nil {
		return nil, err
	}
	return o.(client.ObjectList), nil
}

func childID(c *nexusv1.NexusAICapability, ref apply.Ref) string {
	return graph.ID(ref.Kind.Kind, ref.Namespace, ref.Name, c.Namespace)
}

// remainingState says why a child in deletion is still there, in its own words.
func (t teardown) remainingState(ctx context.Context, ref apply.Ref) (capability.State, error) {
	s := capability.State{Applied: true, Reason: status.ReasonDeleting, Message: "is being deleted"}
	if capability.IsGatewayKind(ref.Kind) {
		return s, nil // its controller holds it by a finalizer until the load balancer is gone
	}
	o, err := t.client.Scheme().New(ref.Kind)
	if err != nil {
		return s, err
	}
	obj := o.(client.Object)
	if err := t.client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, obj); err != nil {
		return s, client.IgnoreNotFound(err)
	}
	if _, ok := obj.(*intentv1alpha1.SecurityIntentBinding); ok {
		return s, nil // whether it is in force is no longer the question
	}
	h, err := t.health.Of(ctx, obj)
	if i, ok := obj.(*networkingv1.Ingress); ok && err == nil {
		h, err = t.health.OfIngressInDeletion(ctx, i)
	}
	if err == nil && h.Reason != "" && !h.Ready {
		s.Reason, s.Message, s.Stalled = h.Reason, h.Message, h.Stalled
	}
	return s, err
}
