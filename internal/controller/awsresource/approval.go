// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Approve implements engine.Host. The record is in the status, which no user may write, and stands before the first call to AWS.
func (p *pass) Approve(ctx context.Context, o engine.Owner, hash string) error {
	if err := p.r.Gate.Prove(ctx, p.subject.metadata()); err != nil {
		return err
	}
	engine.RecordApproval(p.obj, o, hash, p.r.Clock.Now())
	if err := p.subject.patchStatus(ctx); err != nil {
		return err
	}
	p.r.Events.Normal(p.obj, status.ReasonPlanApproved, "Approve", "Plan "+hash+" is approved and runs")
	return nil
}
