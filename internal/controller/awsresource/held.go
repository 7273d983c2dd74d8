// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// waitForCapability leaves the object as it is in AWS, and returns true, while its capability freezes it, or is being deleted and the
// object's turn has not come. The present spec of a capability in deletion was never rolled out. An object that has something in AWS keeps
// its finalizer until then, and one with a forged owner is reported.
func (r *Reconciler) waitForCapability(ctx context.Context, obj v1alpha1.Resource) (bool, error) {
	c, err := r.CapabilityOf(ctx, obj)
	if c == nil || err != nil {
		return false, err
	}
	if reconciler.Freezes(c) {
		return true, r.reportForged(ctx, c, obj)
	}
	if c.DeletionTimestamp == nil || obj.GetDeletionTimestamp() != nil || isToBeMarked(obj) {
		return false, nil
	}
	was := obj.DeepCopyObject().(client.Object)
	_, recorded := obj.GetAnnotations()[engine.AnnotationHome]
	if (recorded || obj.CommonStatus().ARN != "") && obj.CommonSpec().ManagementPolicy != v1alpha1.ManageObserve &&
		controllerutil.AddFinalizer(obj, v1alpha1.FinalizerOf(r.Entry.Name())) {
		err = r.Client.Patch(ctx, obj, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
	}
	return true, client.IgnoreNotFound(err)
}

// reportForged sets the Paused condition of an object that a frozen capability controls by its owner reference and did not create: no other
// field shows why the operator does nothing. The objects of the capability itself are not written.
func (r *Reconciler) reportForged(ctx context.Context, c *nexusv1.NexusAICapability, obj v1alpha1.Resource) error {
	if obj.GetLabels()[wellknown.LabelCapabilityUID] == string(c.UID) {
		return nil
	}
	return newSubject(r, obj).pause(ctx,
		fmt.Sprintf("metadata.ownerReferences names NexusAICapability %s, which is suspended or paused and did not create this object: "+
			"to continue, remove the owner reference, or resume the capability", c.Name))
}

// isToBeMarked reports whether the store of an object is still to get the tag with the time until which it is kept.
func isToBeMarked(obj v1alpha1.Resource) bool {
	return obj.GetAnnotations()[wellknown.AnnotationRecoverableUntil] != "" &&
		!slices.Contains(obj.CommonStatus().ManagedTagKeys, wellknown.TagRecoverableUntil)
}
