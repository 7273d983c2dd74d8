// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// recoveries record deletions that can be undone, and what is kept for that.
type recoveries struct {
	client    client.Client
	live      client.Reader
	events    reconciler.Events
	clock     clock.PassiveClock
	intervals reconciler.Intervals
	grace     capability.DefaultGrace
	// namespace is the operator's, which has the records.
	namespace string
	stores    stores
}

// record brings the recovery in the status of a capability in deletion up to date, in memory, and reports whether it changed.
func (r recoveries) record(ctx context.Context, c *nexusv1.NexusAICapability, stages [][]apply.Child) (bool, error) {
	if !capability.HoldsStores(c, r.grace) {
		return false, nil
	}
	leaving, err := reconciler.Terminating(ctx, r.live, c.Namespace)
	if err != nil {
		return false, err
	}
	next := capability.NextRecovery(c, r.grace, leaving, r.clock.Now())
	if c.Status.Recovery == nil {
		if next.Kept, err = r.keptOf(ctx, stages); err != nil {
			return false, err
		}
		if err := r.createRecord(ctx, c, *next); err != nil {
			return false, err
		}
	}
	if equality.Semantic.DeepEqual(next, c.Status.Recovery) {
		return false, nil
	}
	if was := c.Status.Recovery; was == nil || was.State != next.State {
		r.report(c, next)
	}
	c.Status.Recovery = next
	return true, nil
}

// createRecord records a deletion in the operator's namespace, where the record outlives the capability and its namespace, before anything
// is removed. A record of the same deletion stays as it is: later edits of an object in deletion do not count, and another operator may
// have come further.
func (r recoveries) createRecord(ctx context.Context, c *nexusv1.NexusAICapability, first nexusv1.RecoveryStatus) error {
	recorded := c.DeepCopy()
	first.State = nexusv1.RecoveryWaiting // only the status decides
	recorded.Status.Recovery = &first
	want, err := capability.RecordOf(recorded, r.namespace)
	if err != nil {
		return err
	}
	live := &corev1.ConfigMap{}
	err = r.live.Get(ctx, client.ObjectKeyFromObject(want), live)
	if apierrors.IsNotFound(err) {
		return r.recordFailure(r.client.Create(ctx, want))
	}
	if err != nil {
		return r.recordFailure(err)
	}
	if before, err := capability.ReadRecord(live); err == nil && before.Capability.UID == c.UID {
		return nil
	}
	return r.patchRecord(ctx, live, want)
}

// updateRecord records how a deletion goes on once the status says so.
func (r recoveries) updateRecord(ctx context.Context, c *nexusv1.NexusAICapability) error {
	want, err := capability.RecordOf(c, r.namespace)
	if err != nil {
		return err
	}
	live := &corev1.ConfigMap{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(want), live); err != nil {
		return client.IgnoreNotFound(err) // a person removed it
	}
	if before, err := capability.ReadRecord(live); err != nil || before.Capability.UID != c.UID || before.Recovery.State == c.Status.Recovery.State {
		return nil //nolint:nilerr // an unreadable record is none
	}
	return r.patchRecord(ctx, live, capability.UpdatedRecord(live, want))
}

func (r recoveries) patchRecord(ctx context.Context, live, want *corev1.ConfigMap) error {
	next := live.DeepCopy()
	next.Data, next.Annotations = want.Data, want.Annotations
	return r.recordFailure(r.client.Patch(ctx, next, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{})))
}

// recordFailure says that a failed write of a record holds up the deletion. Conflicts stay recognizable by apierrors.IsConflict.
func (r recoveries) recordFailure(err error) error {
	if err == nil || apierrors.IsConflict(err) {
		return err
	}
	err = fmt.Errorf("recording the deletion in namespace %s, before which nothing is deleted: %w", r.namespace, err)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return &status.Stalled{Reason: status.ReasonAccessDenied, Cause: err, Message: err.Error() +
			"; let the operator write ConfigMaps there, or set spec.deletion.graceful: 0s to delete without a record"}
	}
	return err
}

// dropRecord removes the record of a deletion that has ended, or of a capability that exists again. A record of another deletion stays
// where the UID names one.
func (r recoveries) dropRecord(ctx context.Context, c *nexusv1.NexusAICapability, of types.UID) error {
	live := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: r.namespace, Name: capability.RecordName(c.Namespace, c.Name)}
	if err := r.live.Get(ctx, key, live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if before, err := capability.ReadRecord(live); of != "" && err == nil && before.Capability.UID != of {
		return nil
	}
	return client.IgnoreNotFound(r.client.Delete(ctx, live, client.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion}))
}

// dropEndedRecord deletes the record of a capability if nothing of it can be restored any more.
func (r recoveries) dropEndedRecord(ctx context.Context, c *nexusv1.NexusAICapability) error {
	if ended := c.Status.Recovery; ended != nil && ended.State == nexusv1.RecoveryEnded {
		return r.dropRecord(ctx, c, c.UID)
	}
	return nil
}

// report reports the fate of the stores in an event.
func (r recoveries) report(c *nexusv1.NexusAICapability, next *nexusv1.RecoveryStatus) {
	until := next.Until.UTC().Format(time.RFC3339)
	switch next.State {
	case nexusv1.RecoveryWaiting:
		r.events.Normal(c, status.ReasonRecoverable, "Delete",
			"stores and secrets are kept until "+until+": nexusctl undo brings the capability back, nexusctl delete-now ends the wait")
	case nexusv1.RecoveryRestoring:
		r.events.Normal(c, status.ReasonRestoring, "Undo", "the AWS resources stay and are taken over by the next capability of this name")
	case nexusv1.RecoveryReleased:
		r.events.Warning(c, status.ReasonRecoverable, "Delete",
			"the namespace is being deleted: the AWS resources stay without their objects, and are taken over by the next capability of this name in a namespace of this name")
	case nexusv1.RecoveryEnded:
		r.events.Normal(c, status.ReasonDeleting, "Delete",
			"the deletion can no longer be undone: stores and secrets are deleted as deletionPolicy says")
	}
}

// markStores has the stores and secrets that are kept tagged in AWS with the time until which they are.
func (r recoveries) markStores(ctx context.Context, c *nexusv1.NexusAICapability, stages [][]apply.Child) error {
	until := c.Status.Recovery.Until.UTC().Format(time.RFC3339)
	for _, child := range slices.Concat(stages...) {
		if !capability.IsStoreOrSecret(child.Kind.Kind) {
			continue
		}
		obj, err := r.stores.resource(ctx, child.Ref)
		if err != nil {
			return err
		}
		if obj == nil || obj.GetDeletionTimestamp() != nil || obj.GetAnnotations()[wellknown.AnnotationRecoverableUntil] != "" {
			continue
		}
		err = r.stores.annotate(ctx, obj, map[string]string{
			wellknown.AnnotationRecoverableUntil: until, wellknown.AnnotationReconcileAt: "recoverable until " + until,
		})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("marking %s as recoverable: %w", child.Ref, err)
		}
	}
	return nil
}

// maxKept is the bound of status.recovery.kept.
const maxKept = 128

// keptOf lists the AWS resources that are kept while a deletion can be undone.
func (r recoveries) keptOf(ctx context.Context, stages [][]apply.Child) ([]nexusv1.KeptResource, error) {
	var out []nexusv1.KeptResource
	for _, child := range slices.Concat(stages...) {
		if !isResource(child.Ref) || !capability.IsKeptForRecovery(child.Kind.Kind, child.Name) || len(out) == maxKept {
			continue
		}
		obj, err := r.stores.resource(ctx, child.Ref)
		if err != nil {
			return nil, err
		}
		if obj != nil {
			st := obj.CommonStatus()
			out = append(out, nexusv1.KeptResource{Kind: child.Kind.Kind, Name: child.Name, ID: cmp.Or(st.ARN, st.ID)})
		}
	}
	return out, nil
}

// recoverablePoll is the interval of looks at a deletion that can be undone. Events of the objects that are kept, and of the annotations of
// the capability, come sooner.
const recoverablePoll = time.Minute

// untilNextLook returns the pause of a deletion that can be undone: none after a change of the recovery, which the next pass acts on.
func (r recoveries) untilNextLook(c, was *nexusv1.NexusAICapability) (time.Duration, bool) {
	switch {
	case !equality.Semantic.DeepEqual(c.Status.Recovery, was.Status.Recovery):
		return time.Millisecond, true
	case c.Status.Phase == nexusv1.PhaseRecoverable:
		left := c.Status.Recovery.Until.Sub(r.clock.Now())
		return max(time.Millisecond, min(left, r.intervals.Jitter(recoverablePoll))), true
	default:
		return 0, false
	}
}
