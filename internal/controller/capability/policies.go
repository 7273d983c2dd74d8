// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// keepBindingsWhilePodsRemain reports whether bindings that are to go must stay a little longer, and tells why.
func (t teardown) keepBindingsWhilePodsRemain(
	ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed, bindings []apply.Child,
) (bool, error) {
	pod, err := t.pods.thatRemain(ctx, c)
	if pod == "" || err != nil {
		return false, err
	}
	for _, b := range bindings {
		id := childID(c, b.Ref)
		s := o.States[id]
		s.Message = "it stays until pod " + pod + " has ended"
		o.States[id] = s
	}
	return true, nil
}
