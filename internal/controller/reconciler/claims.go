// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// NameIndex holds {capabilityName}-{environment} of every capability.
const NameIndex = "spec.name"

// IndexName computes NameIndex.
func IndexName(o client.Object) []string {
	c := o.(*nexusv1.NexusAICapability)
	return []string{c.Spec.CapabilityName + "-" + c.Spec.Environment}
}

// StrongestClaim returns the capability that holds names or can acquire them; nil when there is none.
func StrongestClaim(ctx context.Context, c client.Reader, names capability.Names) (*nexusv1.NexusAICapability, error) {
	list := &nexusv1.NexusAICapabilityList{}
	if err := c.List(ctx, list, client.MatchingFields{NameIndex: names.Prefix()}); err != nil {
		return nil, err
	}
	var first *nexusv1.NexusAICapability
	for i := range list.Items {
		o := &list.Items[i]
		if capability.CanRun(o) && (first == nil || capability.ClaimsBefore(o, first)) {
			first = o
		}
	}
	return first, nil
}

// LogHolder logs which capability holds a name, when the refusal begins. The user who is refused may not be allowed to see
// that capability, so no condition and no event names it.
func LogHolder(ctx context.Context, before []metav1.Condition, message, name string, holder *nexusv1.NexusAICapability) {
	if s := meta.FindStatusCondition(before, status.Stall); s == nil || s.Status != metav1.ConditionTrue ||
		s.Reason != status.ReasonNameConflict {
		log.FromContext(ctx).Info(message, "name", name, "capability", client.ObjectKeyFromObject(holder))
	}
}

// ClaimChanged passes events that may let another capability of the same names run.
type ClaimChanged struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (ClaimChanged) Create(event.CreateEvent) bool { return false }

// Update implements predicate.Predicate.
func (ClaimChanged) Update(e event.UpdateEvent) bool {
	was, okWas := e.ObjectOld.(*nexusv1.NexusAICapability)
	is, okIs := e.ObjectNew.(*nexusv1.NexusAICapability)
	return okWas && okIs && !capability.HasSameClaim(was, is)
}
