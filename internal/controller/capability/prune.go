// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// pruner deletes the children that capabilities no longer declare.
type pruner struct {
	live     client.Reader
	memories *memories
	pods     pods
	stores   stores
	remover  remover
}

// prune deletes the children that the capability no longer compiles to. It is called after every apply succeeded.
func (p pruner) prune(ctx context.Context, ps *pass.Pass, o *capability.Observed) error {
	c := ps.Capability
	surplus, err := p.surplusChildren(ctx, ps, *o)
	if err != nil {
		return err
	}
	surplus, user, err := p.withoutUsedIdentities(ctx, c, surplus)
	if err != nil {
		return err
	}
	if len(surplus) == 0 {
		c.Status.Dropped = nil
		return stillUsed(user)
	}
	if err := stillCurrent(ctx, p.live, c); err != nil {
		return err
	}
	var held heldStores
	var kept []nexusv1.DroppedStore
	for _, act := range surplus {
		why, dropped, err := p.pruneChild(ctx, c, act)
		if err != nil {
			return err
		}
		o.Changes = append(o.Changes, capability.NewChange(act.Ref.Kind.Kind, act.Ref.Name, "Deleted", nil))
		if why != "" {
			held.add(why, act.Child)
		}
		if dropped != nil && len(kept) < maxKept {
			kept = append(kept, *dropped)
		}
	}
	c.Status.Dropped = kept
	if len(held.reasons) == 0 {
		return stillUsed(user)
	}
	return held.refusal()
}

// heldStores collects the stores that are no longer declared and need a person's consent to their deletion.
type heldStores struct {
	reasons []string
	// others is true where one of them was not declared in spec.ai.
	others bool
}

func (h *heldStores) add(reason string, child apply.Child) {
	h.reasons, h.others = append(h.reasons, reason), h.others || !capability.IsOfAI(child.Labels)
}

// refusal names the field that declared the stores, and a remedy for a person.
func (h *heldStores) refusal() error {
	field := "spec.ai"
	if h.others {
		field = "spec.dataServices"
	}
	return &status.Stalled{Reason: status.ReasonDataWouldBeLost, Field: field, Message: fmt.Sprintf(
		"%s: declare the store again to keep it, set spec.deletionPolicy: Retain to keep it in AWS, or list its name in annotation %s of this capability to delete it with its data",
		strings.Join(h.reasons, "; "), reconciler.AnnotationDeleteData)}
}

// surplusChildren lists the children to prune by now, in the order of deletion.
func (p pruner) surplusChildren(ctx context.Context, ps *pass.Pass, o capability.Observed) ([]pass.Act, error) {
	stages, err := ps.Stages(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(slices.Concat(stages...), func(child apply.Child) bool { return capability.IsGatewayKind(child.Kind) }) {
		p.memories.noGatewaysLeft(ps.Capability)
	}
	return slices.DeleteFunc(ps.Surplus(stages), func(act pass.Act) bool {
		return act.After != "" || !o.Prunable(act.Ref.Kind.Kind) || o.AppliesStill(act.Child.Labels)
	}), nil
}

// pruneChild deletes a child and returns why its deletion is held, if it is, or the store that is kept for a time.
func (p pruner) pruneChild(
	ctx context.Context, c *nexusv1.NexusAICapability, act pass.Act,
) (held string, dropped *nexusv1.DroppedStore, err error) {
	child := act.Child
	if isResource(child.Ref) {
		if err := p.stores.updateDoomed(ctx, c, child.Ref); err != nil {
			return "", nil, err
		}
	}
	if err := p.remover.remove(ctx, c, act); err != nil || !capability.IsStore(child.Kind.Kind) {
		return "", nil, err
	}
	obj, err := p.stores.resource(ctx, child.Ref)
	if err != nil || obj == nil {
		return "", nil, err
	}
	ready := meta.FindStatusCondition(obj.CommonStatus().Conditions, status.Ready)
	if ready == nil || ready.Reason != status.ReasonDataWouldBeLost {
		return "", nil, nil
	}
	if until, kept := p.stores.keptUntil(c, obj); kept && reconciler.MayDeleteData(c, obj.GetName()) {
		return "", droppedStore(child, obj, until), nil
	}
	text, _ := status.SplitCode(ready.Message)
	_, count, _ := strings.Cut(text, ": it ")
	return fmt.Sprintf("%s/%s is no longer declared and %s", child.Kind.Kind, child.Name, count), nil, nil
}
