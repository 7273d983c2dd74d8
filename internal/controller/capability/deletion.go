// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// delete takes the capability down stage by stage and removes its finalizer when nothing is left.
func (r *Reconciler) delete(ctx context.Context, c, was *nexusv1.NexusAICapability) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(c)
	r.memories.stopApplying(c)
	if !controllerutil.ContainsFinalizer(c, Finalizer) {
		return reconcile.Result{}, nil
	}
	wait, was, err := r.approvals.pass(ctx, c, was)
	if err != nil {
		return r.retries.Failed(key, err)
	}
	if wait != nil {
		return r.holdDeletion(ctx, c, was, wait)
	}
	return r.advanceDeletion(ctx, c, was)
}

// advanceDeletion removes the objects that can be removed now, and shows the remaining ones.
func (r *Reconciler) advanceDeletion(ctx context.Context, c, was *nexusv1.NexusAICapability) (reconcile.Result, error) {
	observed, done, err := r.teardown.takeDown(ctx, c)
	if err == nil && done {
		err = r.recoveries.dropEndedRecord(ctx, c)
	}
	if err == nil && done {
		return r.release(ctx, c, was)
	}
	r.statuses.report(c, observed, err)
	after, werr := r.statuses.write(ctx, c, was, err)
	if werr != nil {
		return r.retries.Failed(client.ObjectKeyFromObject(c), werr)
	}
	if wait, ok := r.recoveries.untilNextLook(c, was); ok && err == nil && after == 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.requeue(c, after, err)
}

// holdDeletion says that the deletion waits for its approval. It removes nothing, and the AWS objects stay as they were approved.
func (r *Reconciler) holdDeletion(ctx context.Context, c, was *nexusv1.NexusAICapability, wait error) (reconcile.Result, error) {
	status.Summarize(&c.Status.Conditions, status.Result{Err: wait, Generation: c.Generation, Now: r.Clock.Now()})
	c.Status.Ready, c.Status.Message = false, status.Truncate(wait.Error(), 1024)
	if err := r.statuses.patch(ctx, c, was); err != nil {
		return r.retries.Failed(client.ObjectKeyFromObject(c), err)
	}
	return r.requeue(c, 0, wait)
}

// release removes the finalizer of a capability without any remaining object.
func (r *Reconciler) release(ctx context.Context, c, was *nexusv1.NexusAICapability) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(c)
	controllerutil.RemoveFinalizer(c, Finalizer)
	if err := r.Client.Patch(ctx, c, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return r.retries.Failed(key, err)
	}
	r.retries.Drop(key)
	return reconcile.Result{}, nil
}
