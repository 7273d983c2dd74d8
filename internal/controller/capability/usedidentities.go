// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ofIdentities are the kinds of the objects of an access: its role, the association of the role, and its settings, which a container that
// restarts reads again.
var ofIdentities = []string{"IAMRole", "PodIdentityAssociation", "ServiceAccount", "ConfigMap"}

// withoutUsedIdentities drops from the children to prune those that running pods still need, if the pods run with a ServiceAccount that is
// no longer declared: their rights are taken once they have ended. It returns the first of these pods.
func (r *Reconciler) withoutUsedIdentities(ctx context.Context, c *nexusv1.NexusAICapability, surplus []pass.Act) ([]pass.Act, string, error) {
	needed := func(act pass.Act) bool {
		return slices.Contains(ofIdentities, act.Ref.Kind.Kind) && capability.ActingResource(act.Ref.Kind.Kind, act.Ref.Name) == ""
	}
	if !slices.ContainsFunc(surplus, needed) {
		return surplus, "", nil
	}
	pod, err := r.podWithOtherIdentity(ctx, c)
	if pod == "" || err != nil {
		return surplus, "", err
	}
	return slices.DeleteFunc(surplus, needed), pod, nil
}

// podWithOtherIdentity names the first pod of a capability with a ServiceAccount that the capability no longer declares.
func (r *Reconciler) podWithOtherIdentity(ctx context.Context, c *nexusv1.NexusAICapability) (string, error) {
	pods := &corev1.PodList{}
	in := client.InNamespace(capability.NamesOf(c).WorkloadNamespace())
	if err := r.Client.List(ctx, pods, in, client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}); err != nil {
		return "", fmt.Errorf("looking for pods with an identity that is dropped: %w", err)
	}
	first, declared := "", capability.ServiceAccounts(c)
	for i := range pods.Items {
		p := &pods.Items[i]
		if !slices.Contains(declared, p.Spec.ServiceAccountName) && isRunning(p, r.Clock.Now()) && (first == "" || p.Name < first) {
			first = p.Name
		}
	}
	return first, nil
}

// stillUsed says that rights are to be taken once a pod has ended; nil without one.
func stillUsed(pod string) error {
	if pod == "" {
		return nil
	}
	return &status.Waiting{For: "pod " + pod + " to end, which runs with a role that is no longer declared: the role is deleted after it"}
}
