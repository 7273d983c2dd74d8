// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// namesakes lists the capabilities of the cluster in their future form; any of them may conflict with the names of this one. If the user
// may not list capabilities of other namespaces, it lists the namespace of the capability.
func (a ahead) namesakes(ctx context.Context, c *nexusv1.NexusAICapability) ([]nexusv1.NexusAICapability, error) {
	list := &nexusv1.NexusAICapabilityList{}
	err := a.List(ctx, list)
	if apierrors.IsForbidden(err) {
		err = a.List(ctx, list, client.InNamespace(c.Namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("listing NexusAICapabilities, whose names may conflict: %w", err)
	}
	return list.Items, nil
}
