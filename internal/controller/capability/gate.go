// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// approvalPoll is the interval of plans of an edit that waits: its children, and the facts that it depends on, may change.
const approvalPoll = 5 * time.Minute

// approvals hold edits and deletions of capabilities where plans need approval.
type approvals struct {
	gate     reconciler.PlanGate
	sources  pass.Sources
	schemas  capability.Schemas
	events   reconciler.Events
	clock    clock.PassiveClock
	statuses statuses
}

// pass holds an edit or the deletion of a capability until it is approved. It returns nil when the capability may go on as it is
// declared, and otherwise why it waits. An approval is recorded in the status before anything is written for it; was is then the
// capability with that record.
func (a approvals) pass(ctx context.Context, c, was *nexusv1.NexusAICapability) (wait error, _ *nexusv1.NexusAICapability, err error) {
	closed, err := a.gate.IsClosed(ctx, c.Namespace)
	switch {
	case err != nil:
		return nil, was, err
	case !closed:
		c.Status.Approved = nil
		meta.RemoveStatusCondition(&c.Status.Conditions, status.PlanApproved)
		return nil, was, nil
	case capability.IsApproved(c):
		return nil, was, nil
	}
	waited := meta.FindStatusCondition(c.Status.Conditions, status.PlanApproved) != nil
	free, err := capability.NeedsNoApproval(c, waited)
	if err != nil {
		return nil, was, err
	}
	if free {
		return a.record(ctx, c, was, "", nil)
	}
	return a.await(ctx, c, was)
}

// await plans the edit, and records its approval when the annotation approves this plan.
func (a approvals) await(ctx context.Context, c, was *nexusv1.NexusAICapability) (wait error, _ *nexusv1.NexusAICapability, err error) {
	edit, err := a.planEdit(ctx, c)
	if _, stalled := status.AsStalled(err); stalled {
		return err, was, nil // a specification that is not valid has no plan
	}
	if err != nil {
		return nil, was, err
	}
	if c.DeletionTimestamp != nil && len(edit.Deletes) == 0 {
		return nil, was, nil // it made nothing
	}
	hash := edit.Hash()
	if c.Annotations[wellknown.AnnotationApprovedPlan] == hash {
		wait = a.gate.Prove(ctx, metadataOf(c))
		if _, unproven := status.AsWaiting(wait); wait != nil && !unproven {
			return nil, was, wait
		}
		if wait == nil {
			return a.record(ctx, c, was, hash, edit.Deletes)
		}
	} else {
		wait = &status.Waiting{Reason: status.ReasonPlanPending, After: approvalPoll, For: fmt.Sprintf("approval of plan %s (%s): review it with nexusctl plan ncap/%s -n %s, approve it with nexusctl approve ncap/%[3]s -n %[4]s --hash %[1]s",
			hash, edit.Summary(), c.Name, c.Namespace)}
	}
	if hash != status.PendingPlan(c.Status.Conditions) {
		a.events.Normal(c, status.ReasonPlanPending, "Plan", wait.Error())
	}
	status.Set(&c.Status.Conditions, c.Generation, a.clock.Now(), metav1.Condition{Type: status.PlanApproved, Status: metav1.ConditionFalse,
		Reason: status.ReasonPlanPending, Message: status.PendingMessage(hash)})
	return wait, was, nil
}

// record writes that the capability is approved as it is declared now.
func (a approvals) record(
	ctx context.Context, c, was *nexusv1.NexusAICapability, hash string, deletes []string,
) (wait error, _ *nexusv1.NexusAICapability, err error) {
	if err := capability.Approve(c, hash, deletes); err != nil {
		return nil, was, err
	}
	meta.RemoveStatusCondition(&c.Status.Conditions, status.PlanApproved)
	if hash != "" {
		status.Set(&c.Status.Conditions, c.Generation, a.clock.Now(), metav1.Condition{Type: status.PlanApproved, Status: metav1.ConditionTrue,
			Reason: status.ReasonPlanApproved, Message: fmt.Sprintf("plan %s is approved for generation %d", hash, c.Generation)})
	}
	if err := a.statuses.patch(ctx, c, was); err != nil {
		return nil, was, err
	}
	if hash != "" {
		a.events.Normal(c, status.ReasonPlanApproved, "Approve", "Plan "+hash+" is approved and runs")
	}
	return nil, c.DeepCopy(), nil
}

// planEdit returns the effects of an edit, or of the deletion, of a capability.
func (a approvals) planEdit(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Edit, error) {
	edit, ps := capability.Edit{Capability: c}, a.sources.Ending(c)
	stages, err := ps.Stages(ctx)
	if err != nil {
		return edit, err
	}
	if c.DeletionTimestamp == nil {
		if edit.Before, edit.After, err = a.compileBoth(ctx, c); err != nil {
			return edit, err
		}
		ps.Graph = edit.After
	}
	for _, act := range ps.Surplus(stages) {
		edit.Deletes = append(edit.Deletes, ps.IDOf(act.Ref))
	}
	slices.Sort(edit.Deletes)
	return edit, nil
}

// compileBoth compiles a capability as it was approved, and as it is declared now.
func (a approvals) compileBoth(ctx context.Context, c *nexusv1.NexusAICapability) (before, after *graph.Graph, err error) {
	approved, err := capability.InForce(c)
	if err != nil {
		return nil, nil, err
	}
	if approved != c {
		facts, err := a.sources.Facts(ctx, approved)
		if err != nil {
			return nil, nil, err
		}
		if before, err = a.sources.Compile(ctx, approved, facts); err != nil {
			return nil, nil, err
		}
	}
	facts, err := a.sources.Facts(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	after, err = capability.Compile(c, facts) // the remembered compilation is that of the approved declaration, which goes on
	if err == nil {
		err = capability.CheckResources(ctx, c, after, a.schemas)
	}
	return before, after, err
}

// metadataOf is the identity of a capability, for a patch of its metadata alone.
func metadataOf(c *nexusv1.NexusAICapability) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{}
	out.SetGroupVersionKind(nexusv1.GroupVersion.WithKind(Kind))
	out.SetNamespace(c.Namespace)
	out.SetName(c.Name)
	return out
}

// gateMoved passes the events of a Namespace with a label that opens or closes the gate.
func gateMoved() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, DeleteFunc: func(event.DeleteEvent) bool { return false }, GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetLabels()[wellknown.LabelPlanGate] != e.ObjectNew.GetLabels()[wellknown.LabelPlanGate]
		},
	}
}
