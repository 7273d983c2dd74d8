// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ofIdentities are the kinds of the objects of an access: its role, the association of the role, and its settings, which a container that
// restarts reads again.
var ofIdentities = []string{"IAMRole", "PodIdentityAssociation", "ServiceAccount", "ConfigMap"}

// withoutUsedIdentities drops from the children to prune those that running pods still need, if the pods run with a ServiceAccount that is
// no longer declared: their rights are taken once they have ended. It returns the first of these pods.
func (p pruner) withoutUsedIdentities(ctx context.Context, c *nexusv1.NexusAICapability, surplus []pass.Act) ([]pass.Act, string, error) {
	needed := func(act pass.Act) bool {
		return slices.Contains(ofIdentities, act.Ref.Kind.Kind) && capability.ActingResource(act.Ref.Kind.Kind, act.Ref.Name) == ""
	}
	if !slices.ContainsFunc(surplus, needed) {
		return surplus, "", nil
	}
	pod, err := p.pods.withOtherIdentity(ctx, c)
	if pod == "" || err != nil {
		return surplus, "", err
	}
	return slices.DeleteFunc(surplus, needed), pod, nil
}

// stillUsed says that rights are to be taken once a pod has ended; nil without one.
func stillUsed(pod string) error {
	if pod == "" {
		return nil
	}
	return &status.Waiting{For: "pod " + pod + " to end, which runs with a role that is no longer declared: the role is deleted after it"}
}
