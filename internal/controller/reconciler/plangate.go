// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// PlanGate says where plans need approval, and whether approvals prove anything.
type PlanGate struct {
	// Namespaces are patterns of the namespaces that need approval of plans, in addition to those with the label.
	Namespaces []string
	// Client reads namespaces from the cache, and sends dry runs.
	Client client.Client
	// Covers reports whether an approval of the capability that controls an object holds for the object; nil where none does.
	Covers func(ctx context.Context, obj client.Object) (bool, error)
}

// IsClosed reports whether the plans of a namespace need approval.
func (g PlanGate) IsClosed(ctx context.Context, namespace string) (bool, error) {
	if engine.IsGated(g.Namespaces, namespace) {
		return true, nil
	}
	ns := &corev1.Namespace{}
	if err := g.Client.Get(ctx, client.ObjectKey{Name: namespace}, ns); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return ns.Labels[wellknown.LabelPlanGate] == wellknown.PlanGateClosed, nil
}

// probe is an approval of no plan.
const probe = "0"

// Prove returns nil if the API server refuses approvals of users without the right to approve. The operator has no such right: it tries
// to approve a plan of the object, as a dry run, and expects the refusal of the admission policy.
func (g PlanGate) Prove(ctx context.Context, about *metav1.PartialObjectMetadata) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{wellknown.AnnotationApprovedPlan: probe}}})
	if err != nil {
		return err
	}
	err = g.Client.Patch(ctx, about.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.DryRunAll)
	switch {
	case err == nil:
		return &status.Waiting{Reason: status.ReasonPlanPending, After: status.UnprovenLook,
			For: fmt.Sprintf("approvals to be protected: the plan is approved, and the API server lets users without the right to %s write approvals, so that they prove nothing. "+
				"Install the ValidatingAdmissionPolicy %s (admissionPolicy.enabled of the chart; Kubernetes 1.30 or later), and give the operator no rights beyond its ClusterRole", wellknown.ApproveVerb, wellknown.ApprovalsPolicy)}
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), wellknown.ApprovalsPolicy):
		return nil
	default:
		return fmt.Errorf("trying whether approvals are protected: %w", err)
	}
}
