// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// refuseCreate keeps a plan from creating a resource through a provider that is being deleted: the resource would
// hold up the provider's deletion. Existing resources are still read, changed and deleted.
func refuseCreate(provider *v1alpha1.AWSProvider, plan engine.Plan) error {
	if provider.DeletionTimestamp == nil || plan.Cause != engine.New || !plan.Writes() {
		return nil
	}
	return &status.Waiting{Reason: status.ReasonProviderDeleting, After: awssession.PollInterval, For: fmt.Sprintf(
		"another AWSProvider: AWSProvider/%s is being deleted and creates nothing; point spec.providerRef to another one, or delete this object",
		provider.Name)}
}

// decider decides for the object under one identity. It creates nothing through a provider in deletion, and deletes nothing that
// other objects hold.
func (p *pass) decider(session *awsclient.Session, provider *v1alpha1.AWSProvider, sc kind.Scope) engine.Decider {
	decide := engine.Attend(p.r.bindKind(session), sc, p.obj)
	return func(ctx context.Context, o engine.Owner) (engine.Plan, error) {
		plan, err := decide(ctx, o)
		if err == nil {
			err = refuseCreate(provider, plan)
		}
		if err == nil && plan.Cause == engine.Deleting && plan.Writes() && o.Policy.Deletion == v1alpha1.DeletionDelete {
			err = p.usage.holdDeletion(ctx, sc.Data.NeededDays)
		}
		return plan, err
	}
}
