// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// keptUntil returns the time until which a store that an edit dropped is kept although its data may be deleted; false where it
// is not kept any longer. The time begins when the annotation of the capability names the store, and is recorded on its object.
func (s stores) keptUntil(c *nexusv1.NexusAICapability, obj v1alpha1.Resource) (time.Time, bool) {
	grace := capability.GraceOf(c, s.grace)
	if c.DeletionTimestamp != nil || grace <= 0 {
		return time.Time{}, false
	}
	now := s.clock.Now()
	until, err := time.Parse(time.RFC3339, obj.GetAnnotations()[wellknown.AnnotationRecoverableUntil])
	if err != nil {
		until = now.Add(grace).UTC().Truncate(time.Second)
	}
	return until, now.Before(until)
}

// markDropped records until when a dropped store is kept.
func (s stores) markDropped(ctx context.Context, c *nexusv1.NexusAICapability, obj v1alpha1.Resource, until time.Time) error {
	text := until.UTC().Format(time.RFC3339)
	if obj.GetAnnotations()[wellknown.AnnotationRecoverableUntil] == text {
		return nil
	}
	if err := s.annotate(ctx, obj, map[string]string{wellknown.AnnotationRecoverableUntil: text}); err != nil {
		return err
	}
	s.events.Normal(c, status.ReasonRecoverable, "Apply", fmt.Sprintf("store %s is no longer declared, and is kept until %s before it is deleted with its data: to keep it, declare it again; to delete it now, set spec.deletion.graceful: 0s",
		obj.GetName(), text))
	return nil
}

// unmarkDropped removes the time until which a dropped store is kept when its data may no longer be deleted: the next permission begins
// a new time.
func (s stores) unmarkDropped(ctx context.Context, obj v1alpha1.Resource) error {
	if obj.GetDeletionTimestamp() == nil {
		return nil
	}
	return s.annotate(ctx, obj, map[string]string{wellknown.AnnotationRecoverableUntil: ""})
}

// droppedStore describes a dropped store for the status.
func droppedStore(child apply.Child, obj v1alpha1.Resource, until time.Time) *nexusv1.DroppedStore {
	st := obj.CommonStatus()
	return &nexusv1.DroppedStore{KeptResource: nexusv1.KeptResource{Kind: child.Kind.Kind, Name: child.Name, ID: cmp.Or(st.ARN, st.ID)}, Until: metav1.NewTime(until)}
}

// untilFirstDropped returns the pause until the first of the dropped stores is deleted.
func (r *Reconciler) untilFirstDropped(c *nexusv1.NexusAICapability) time.Duration {
	wait := r.Intervals.Jitter(recoverablePoll)
	for _, d := range c.Status.Dropped {
		wait = min(wait, d.Until.Sub(r.Clock.Now()))
	}
	return max(time.Millisecond, wait)
}
