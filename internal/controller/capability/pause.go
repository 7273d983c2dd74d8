// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// pause sets the Paused condition once and leaves the rest of the status. It writes no other object.
func (r *Reconciler) pause(ctx context.Context, c, was *nexusv1.NexusAICapability) error {
	if meta.IsStatusConditionTrue(c.Status.Conditions, status.Paused) {
		return nil
	}
	status.Set(&c.Status.Conditions, c.Generation, r.Clock.Now(), metav1.Condition{Type: status.Paused, Status: metav1.ConditionTrue, Reason: status.ReasonPaused,
		Message: "the capability and every object that it made are frozen, also their deletion; to resume, remove annotation " + wellknown.AnnotationPaused})
	return client.IgnoreNotFound(r.patchStatus(ctx, c, was))
}
