// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// nameConflict refuses a capability whose names another one holds, as the operator does: a *status.Stalled.
func (p *Planner) nameConflict(ctx context.Context, it *Item, c *nexusv1.NexusAICapability) error {
	others, err := p.capabilities(ctx, c.Namespace)
	if err != nil {
		return err
	}
	c = c.DeepCopy()
	if it.Action == Create {
		// The dry run says that it was created now; it will be younger than those that exist, of the same second too.
		c.CreationTimestamp = metav1.NewTime(c.CreationTimestamp.Add(time.Second))
	}
	if holder := capability.HolderOfNames(c, others); holder != nil {
		return capability.NameConflict(c, holder)
	}
	return nil
}

// capabilities lists those of the cluster as they will be. Where whoever asks may not list those of other namespaces, they are
// the ones of the given namespace.
func (p *Planner) capabilities(ctx context.Context, namespace string) ([]nexusv1.NexusAICapability, error) {
	list := &nexusv1.NexusAICapabilityList{}
	err := ahead{p.Client, p}.List(ctx, list)
	if apierrors.IsForbidden(err) {
		err = ahead{p.Client, p}.List(ctx, list, client.InNamespace(namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("listing NexusAICapabilities, whose names may conflict: %w", err)
	}
	return list.Items, nil
}
