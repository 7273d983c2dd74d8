// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// guardsData reports whether the data of a store must outlive its object: the object is being deleted, by a person
// or because an edit of its capability dropped it, and the capability is not, or keeps its stores. The API server itself is
// asked, because a cache may not show yet that the capability, or the whole namespace, is being deleted too. The error is
// that of a store that the capability still declares, or keeps.
func (r *Reconciler) guardsData(ctx context.Context, obj v1alpha1.Resource, declared bool) (bool, error) {
	owner := metav1.GetControllerOf(obj)
	if owner == nil || owner.Kind != "NexusAICapability" || !r.losesData(obj) {
		return false, nil
	}
	c := &nexusv1.NexusAICapability{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: owner.Name}, c)
	switch {
	case err != nil || c.UID != owner.UID:
		return false, client.IgnoreNotFound(err)
	case capability.HoldsStores(c, r.DeletionGrace) && capability.IsKeptForRecovery(r.Entry.Name(), obj.GetName()):
		return true, recoverable(c)
	case c.DeletionTimestamp != nil:
		return guardedByDeleted(c, obj)
	case declared:
		return true, ownedByCapability(obj)
	default:
		return true, nil
	}
}

// guardedByDeleted reports whether a capability that is being deleted keeps a store and the store's object does not know it yet.
func guardedByDeleted(c *nexusv1.NexusAICapability, obj v1alpha1.Resource) (bool, error) {
	if policyLags(c, obj) {
		return true, keptByCapability(c)
	}
	return false, nil
}

// losesData reports whether an object is a store in deletion with data that no person gave up.
func (r *Reconciler) losesData(obj v1alpha1.Resource) bool {
	return obj.GetDeletionTimestamp() != nil && (r.Entry.Meta().HoldsData || capability.HoldsData(obj)) &&
		!reconciler.MayDeleteData(obj, obj.GetName())
}

// policyLags reports whether a capability keeps its stores and an object does not know it yet: its deletion may have
// begun under the policy Delete, and no edit reaches it while the capability is suspended.
func policyLags(c *nexusv1.NexusAICapability, obj v1alpha1.Resource) bool {
	policy := capability.EffectiveDeletionPolicy(c)
	return policy != nexusv1.DeletionDelete && obj.CommonSpec().DeletionPolicy != v1alpha1.DeletionPolicy(policy)
}

// recoverable holds a deletion while that of the capability can be undone. The status of the capability alone ends this hold.
func recoverable(c *nexusv1.NexusAICapability) error {
	return &status.Waiting{Reason: status.ReasonRecoverable, After: reconciler.UnreadyPoll, For: fmt.Sprintf(
		"the end of the time for which its capability keeps its stores, see status.recovery of NexusAICapability %s; nexusctl delete-now ends it",
		c.Name)}
}

// keptByCapability holds a deletion until the capability, which is being deleted, has given the object its policy.
func keptByCapability(c *nexusv1.NexusAICapability) error {
	return &status.Waiting{Reason: status.ReasonOwnedByCapability, After: reconciler.UnreadyPoll, For: fmt.Sprintf(
		"its capability, which is being deleted with deletionPolicy %s, to pass that policy on", capability.EffectiveDeletionPolicy(c))}
}

// ownedByCapability holds the deletion of a store that its capability still declares, also of an empty one. The
// capability releases the object without its store, and creates it again.
func ownedByCapability(obj v1alpha1.Resource) error {
	return &status.Waiting{Reason: status.ReasonOwnedByCapability, After: reconciler.UnreadyPoll, For: fmt.Sprintf(
		"its capability, which still declares this store, to keep it: edit the capability to remove the store, or set annotation %s: %s on this object to delete the store and have it created again empty",
		reconciler.AnnotationDeleteData, obj.GetName())}
}
