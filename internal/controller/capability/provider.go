// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// providerUsable says why the provider that a capability refers to cannot be used. No capability owns it, so no child's state tells: the
// children say that they wait for it, and not why it is not ready.
func (r *Reconciler) providerUsable(ctx context.Context, c *nexusv1.NexusAICapability) error {
	if c.Spec.ProviderRef == nil {
		return nil
	}
	p := &v1alpha1.AWSProvider{}
	id := "AWSProvider/" + c.Spec.ProviderRef.Name
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Spec.ProviderRef.Name}, p)
	switch {
	case apierrors.IsNotFound(err):
		return &status.Waiting{Reason: status.ReasonProviderMissing, For: id + " to exist in namespace " + c.Namespace, After: reconciler.UnreadyPoll}
	case err != nil || status.ReadyAt(p.Status.Conditions, p.Generation):
		return err
	case meta.IsStatusConditionTrue(p.Status.Conditions, status.Stall):
		return &status.Stalled{Reason: status.ReasonProviderNotReady, Field: "spec.providerRef", Message: id + " is not ready" + status.WhyNotReady(p.Status.Conditions)}
	default:
		return &status.Waiting{Reason: status.ReasonProviderNotReady, For: id + " to be ready" + status.WhyNotReady(p.Status.Conditions), After: reconciler.UnreadyPoll}
	}
}
