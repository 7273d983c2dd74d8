// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// gate holds changes until a person approves them.
type gate struct {
	now client.Reader
	// patterns select the namespaces of Operator.PlanGate.
	patterns []string
}

// isGated reports whether the operator makes changes of an object only after an approval. For those who may not read the namespace, the
// object's condition tells.
func (g gate) isGated(ctx context.Context, namespace string, conditions []metav1.Condition) (bool, error) {
	if engine.IsGated(g.patterns, namespace) {
		return true, nil
	}
	ns := &corev1.Namespace{}
	switch err := g.now.Get(ctx, client.ObjectKey{Name: namespace}, ns); {
	case apierrors.IsForbidden(err):
		return meta.FindStatusCondition(conditions, status.PlanApproved) != nil, nil
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("reading namespace %s: %w", namespace, err)
	}
	return ns.Labels[wellknown.LabelPlanGate] == wellknown.PlanGateClosed, nil
}

// awaitApproval adds to the item of a capability that its edit needs an approval. The hash is the operator's, which compiles the edit with
// the present state of the cluster; a plan shows the future state.
func (g gate) awaitApproval(ctx context.Context, it *Item, c *nexusv1.NexusAICapability) error {
	gated, err := g.isGated(ctx, c.Namespace, c.Status.Conditions)
	if !gated || err != nil || capability.IsApproved(c) {
		return err
	}
	pending := meta.FindStatusCondition(c.Status.Conditions, status.PlanApproved)
	free, err := capability.NeedsNoApproval(c, pending != nil)
	if free || err != nil {
		return err
	}
	it.Approval = &Approval{}
	if pending != nil && pending.ObservedGeneration == c.Generation {
		it.Approval.Hash = status.PendingPlan(c.Status.Conditions)
	}
	return nil
}
