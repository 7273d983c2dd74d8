// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// statuses turn the results of passes into the statuses of capabilities, and write them.
type statuses struct {
	client  client.Client
	events  reconciler.Events
	clock   clock.PassiveClock
	applier *apply.Applier
	retries *reconciler.Backoff
	// spacing is between statuses that show only progress.
	spacing *spacing
}

// report turns the observations into the capability's status, in memory.
func (s statuses) report(c *nexusv1.NexusAICapability, observed capability.Observed, err error) {
	observed.Capability, observed.Err = c, err
	meta.RemoveStatusCondition(&c.Status.Conditions, status.Paused)
	wasStalled := meta.IsStatusConditionTrue(c.Status.Conditions, status.Stall)
	report := capability.Summarize(observed)
	report.FailingSince = s.retries.Observe(client.ObjectKeyFromObject(c), report.Err)
	report.WriteTo(&c.Status, c.Generation, s.clock.Now())
	if wasObserved(err) {
		c.Status.LastHandledReconcileAt = reconciler.RequestedAt(c)
	}
	stall := meta.FindStatusCondition(c.Status.Conditions, status.Stall)
	if stall != nil && stall.Status == metav1.ConditionTrue && !wasStalled {
		s.events.Warning(c, stall.Reason, "Reconcile", stall.Message)
	}
}

// wasObserved reports whether a pass came to a result: a pass that a passing failure ended did not carry out the request.
func wasObserved(err error) bool {
	_, stalled := status.AsStalled(err)
	_, waiting := status.AsWaiting(err)
	return err == nil || stalled || waiting
}

// write writes the status of a pass that ended with an error or nil, unless it shows only progress and comes soon after the
// last one: then it returns for how long it waits. The next pass after an error may be far away.
func (s statuses) write(ctx context.Context, c, was *nexusv1.NexusAICapability, ended error) (time.Duration, error) {
	if isUnchanged(c, was) {
		return 0, nil
	}
	if wait := s.spacing.delay(client.ObjectKeyFromObject(c)); ended == nil && wait > 0 && capability.OnlyProgress(was.Status, c.Status) {
		return wait, nil
	}
	return 0, s.patch(ctx, c, was)
}

// isUnchanged reports whether a status equals the status before, except for its time.
func isUnchanged(c, was *nexusv1.NexusAICapability) bool {
	c.Status.LastSyncTime = was.Status.LastSyncTime
	return equality.Semantic.DeepEqual(c.Status, was.Status)
}

func (s statuses) patch(ctx context.Context, c, was *nexusv1.NexusAICapability) error {
	if isUnchanged(c, was) {
		return nil
	}
	if c.Status.Phase != was.Status.Phase && c.Status.Phase == nexusv1.PhaseRunning {
		s.events.Normal(c, string(c.Status.Phase), "Reconcile", c.Status.Message)
	}
	now := metav1.NewTime(s.clock.Now())
	c.Status.LastSyncTime = &now
	// A patch that is computed from an outdated status would leave stale fields in the present status.
	patch, answer := reconciler.StatusPatch(c, was, true)
	if err := s.client.Status().Patch(ctx, answer, patch); err != nil {
		return err
	}
	c.SetResourceVersion(answer.GetResourceVersion())
	s.spacing.begin(client.ObjectKeyFromObject(c))
	s.applier.Wrote(capabilityRef(client.ObjectKeyFromObject(c)), c.ResourceVersion)
	return nil
}

// pause sets the Paused condition once and leaves the rest of the status. It writes no other object.
func (s statuses) pause(ctx context.Context, c, was *nexusv1.NexusAICapability) error {
	if meta.IsStatusConditionTrue(c.Status.Conditions, status.Paused) {
		return nil
	}
	status.Set(&c.Status.Conditions, c.Generation, s.clock.Now(), metav1.Condition{
		Type: status.Paused, Status: metav1.ConditionTrue, Reason: status.ReasonPaused,
		Message: "the capability and every object that it made are frozen, also their deletion; to resume, remove annotation " +
			wellknown.AnnotationPaused})
	return client.IgnoreNotFound(s.patch(ctx, c, was))
}
