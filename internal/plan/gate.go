// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// isGated reports whether the operator makes changes of an object only after an approval. For those who may not read the namespace, the
// object's condition tells.
func (p *Planner) isGated(ctx context.Context, obj v1alpha1.Resource) (bool, error) {
	if engine.IsGated(p.Operator.PlanGate, obj.GetNamespace()) {
		return true, nil
	}
	ns := &corev1.Namespace{}
	switch err := p.Client.Get(ctx, client.ObjectKey{Name: obj.GetNamespace()}, ns); {
	case apierrors.IsForbidden(err):
		return meta.FindStatusCondition(obj.CommonStatus().Conditions, status.PlanApproved) != nil, nil
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("reading namespace %s: %w", obj.GetNamespace(), err)
	}
	return ns.Labels[wellknown.LabelPlanGate] == wellknown.PlanGateClosed, nil
}
