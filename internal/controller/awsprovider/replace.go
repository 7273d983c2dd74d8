// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
)

// isReplaceable reports whether a provider in deletion may go although objects use it: its capability generated it, is
// not being deleted, and creates it again under the same name. It holds no credentials that could be lost. The API
// server itself is asked, because a cache may not show yet that the capability or the namespace is being deleted too.
func (r *Reconciler) isReplaceable(ctx context.Context, provider *v1alpha1.AWSProvider) (bool, error) {
	owner := metav1.GetControllerOf(provider)
	if owner == nil || owner.Kind != "NexusAICapability" || awssession.HasCredentials(provider) {
		return false, nil
	}
	c := &nexusv1.NexusAICapability{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: provider.Namespace, Name: owner.Name}, c)
	if err != nil || c.UID != owner.UID || c.DeletionTimestamp != nil || c.Spec.Suspend {
		return false, client.IgnoreNotFound(err)
	}
	terminating, err := reconciler.Terminating(ctx, r.Live, provider.Namespace)
	if terminating || err != nil {
		return false, err
	}
	return r.Sessions.Provenance.IsGenerated(ctx, provider)
}
