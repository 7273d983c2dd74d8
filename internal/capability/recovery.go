// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
)

// DefaultGrace has the operator's defaults of spec.deletion.graceful.
type DefaultGrace struct {
	// All is the default of every capability.
	All time.Duration
	// Production is the default of production capabilities that delete their stores on deletion, if it is longer than All.
	Production time.Duration
}

// GraceOf returns the time that the stores of a capability outlive it. Orphan keeps everything, and needs no time. Neither does Retain in
// production, unless a person or the default of all capabilities sets a time: nothing is lost, and the deletion of a production capability
// without deletionPolicy ends at once, as it always did.
func GraceOf(c *nexusv1.NexusAICapability, fallback DefaultGrace) time.Duration {
	policy := part.EffectiveDeletionPolicy(c)
	switch d := c.Spec.Deletion; {
	case policy == nexusv1.DeletionOrphan:
		return 0
	case d != nil && d.Graceful != nil:
		return d.Graceful.Duration
	case part.IsProduction(c) && policy == nexusv1.DeletionDelete:
		return max(fallback.All, fallback.Production)
	default:
		return fallback.All
	}
}

// HoldsStores reports whether a capability in deletion does not let its stores be deleted. Only its status ends that, so that an
// object cannot decide otherwise than its capability, at the end of the time or when the deletion is undone.
func HoldsStores(c *nexusv1.NexusAICapability, fallback DefaultGrace) bool {
	if c.DeletionTimestamp == nil {
		return false
	}
	if r := c.Status.Recovery; r != nil {
		return r.State != nexusv1.RecoveryEnded
	}
	return GraceOf(c, fallback) > 0
}

// NextRecovery returns the recovery of a capability in deletion as it is to be recorded before anything follows from it; nil
// where nothing is kept. Once it was decided whether the deletion ends or is undone, that stays.
func NextRecovery(c *nexusv1.NexusAICapability, fallback DefaultGrace, leaving bool, now time.Time) *nexusv1.RecoveryStatus {
	was, grace := c.Status.Recovery, GraceOf(c, fallback)
	if was == nil && grace <= 0 {
		return nil
	}
	if was != nil && was.State != nexusv1.RecoveryWaiting {
		return was.DeepCopy()
	}
	next := &nexusv1.RecoveryStatus{State: nexusv1.RecoveryWaiting, Until: metav1.NewTime(c.DeletionTimestamp.Add(grace).UTC())}
	if was != nil {
		next.Kept = was.Kept
	}
	uid := string(c.UID)
	switch {
	case c.Annotations[wellknown.AnnotationUndo] == uid:
		next.State = nexusv1.RecoveryRestoring
	case c.Annotations[wellknown.AnnotationDeleteNow] == uid, !now.Before(next.Until.Time):
		next.State = nexusv1.RecoveryEnded
	case leaving:
		next.State = nexusv1.RecoveryReleased
	}
	return next
}

// KeepingAll returns a capability as it is deleted while its recovery keeps the AWS resources without an end.
func KeepingAll(c *nexusv1.NexusAICapability) *nexusv1.NexusAICapability {
	r := c.Status.Recovery
	if r == nil || r.State != nexusv1.RecoveryRestoring && r.State != nexusv1.RecoveryReleased {
		return c
	}
	out := c.DeepCopy()
	out.Spec.DeletionPolicy = nexusv1.DeletionRetain
	return out
}

// IsKeptForRecovery reports whether an object stays as it is while a deletion can be undone: everything that DeletionOrder removes after
// the rights of the workloads, and the provider without which AWS cannot be reached.
func IsKeptForRecovery(kind, name string) bool {
	return parts.StageOf(kind+"/"+name) > parts.StageOf(part.KindRole+"/")
}
