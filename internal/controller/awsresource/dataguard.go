// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// guardsData reports whether the data of a store must outlive its object: the object is being deleted, by a person
// or because an edit of its capability dropped it, and the capability is not. The API server itself is asked,
// because a cache may not show yet that the capability, or the whole namespace, is being deleted too. The error is that
// of a store that the capability still declares.
func (r *Reconciler) guardsData(ctx context.Context, obj v1alpha1.Resource, declared bool) (bool, error) {
	owner := metav1.GetControllerOf(obj)
	if obj.GetDeletionTimestamp() == nil || !r.Entry.Meta().HoldsData || owner == nil || owner.Kind != "NexusAICapability" || reconciler.MayDeleteData(obj, obj.GetName()) {
		return false, nil
	}
	c := &nexusv1.NexusAICapability{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: owner.Name}, c)
	guards := err == nil && c.UID == owner.UID && c.DeletionTimestamp == nil
	if guards && declared {
		return true, ownedByCapability(obj)
	}
	return guards, client.IgnoreNotFound(err)
}

// ownedByCapability holds the deletion of a store that its capability still declares, also of an empty one. The
// capability releases the object without its store, and creates it again.
func ownedByCapability(obj v1alpha1.Resource) error {
	return &status.Waiting{Reason: status.ReasonOwnedByCapability, After: reconciler.UnreadyPoll, For: fmt.Sprintf(
		"its capability, which still declares this store, to keep it: edit the capability to remove the store, or set annotation %s: %s on this object to delete the store and have it created again empty",
		reconciler.AnnotationDeleteData, obj.GetName())}
}
