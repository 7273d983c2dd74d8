// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Approve implements engine.Host. The record is in the status, which no user may write, and stands before the first call to AWS.
func (p *pass) Approve(ctx context.Context, o engine.Owner, hash string) error {
	if err := p.r.Gate.Prove(ctx, p.metadata()); err != nil {
		return err
	}
	engine.RecordApproval(p.obj, o, hash, p.r.Clock.Now())
	if err := p.patchStatus(ctx); err != nil {
		return err
	}
	p.r.Events.Normal(p.obj, status.ReasonPlanApproved, "Approve", "Plan "+hash+" is approved and runs")
	return nil
}

// reportPending emits an event for a plan that began to wait for an approval.
func (p *pass) reportPending(out engine.Outcome) {
	hash := out.Passage.Pending
	if hash == "" || hash == status.PendingPlan(p.was.CommonStatus().Conditions) {
		return
	}
	if ready := meta.FindStatusCondition(p.obj.CommonStatus().Conditions, status.Ready); ready != nil {
		p.r.Events.Normal(p.obj, status.ReasonPlanPending, "Plan", ready.Message)
	}
}
