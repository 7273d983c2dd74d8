// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// remover removes single children. A namespace goes only when it holds nothing of others, which the remover counts.
type remover struct {
	scheme    *runtime.Scheme
	live      client.Reader
	discovery discovery.DiscoveryInterfaceWithContext
	applier   *apply.Applier
	events    reconciler.Events
	clock     clock.PassiveClock
	pods      pods
}

// remove deletes one child, or releases it; the watch tells when it is gone.
func (r remover) remove(ctx context.Context, c *nexusv1.NexusAICapability, act pass.Act) error {
	ref := act.Ref
	if act.Verb == pass.Release {
		return r.applier.Orphan(ctx, capabilityfacts.OwnerOf(c), ref)
	}
	if ref.Kind.Kind == "Namespace" {
		others, err := r.othersInNamespace(ctx, c, ref.Name)
		if err != nil {
			return err
		}
		if len(others) > 0 { // it has objects of others by now: it stays, and only our mark goes
			r.events.Normal(c, status.ReasonInUse, "Delete",
				fmt.Sprintf("namespace %s stays: it holds objects that this capability did not create: %s", ref.Name, others))
			return r.applier.Orphan(ctx, capabilityfacts.OwnerOf(c), ref)
		}
	}
	_, err := r.applier.Delete(ctx, capabilityfacts.OwnerOf(c), ref)
	return err
}
