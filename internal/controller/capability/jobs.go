// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// replaceJob deletes a Job of another declaration, unless a container of it is at work: that one is left to end. The deletion is for the
// version that was judged, so that no pod that started in the meantime is stopped.
func (o *rollout) replaceJob(ctx context.Context, live *unstructured.Unstructured) error {
	ref := apply.RefOf(live)
	if capability.IsJobAtWork(live) {
		return &status.Waiting{Reason: status.ReasonWaiting, For: fmt.Sprintf("%s to end, which runs an earlier declaration; to stop it and run the declared one now: kubectl delete job -n %s %s",
			ref, live.GetNamespace(), live.GetName())}
	}
	err := o.r.Client.Delete(ctx, live, client.Preconditions{UID: new(live.GetUID()), ResourceVersion: new(live.GetResourceVersion())},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsForbidden(err) {
		return &status.Stalled{Reason: status.ReasonAccessDenied, Message: fmt.Sprintf(
			"%s is to run again, and the operator may not delete it: %v; apply the operator's ClusterRole of this version", ref, err)}
	}
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	o.r.Events.Normal(o.Capability, status.ReasonUpdated, "Apply", ref.String()+" ran an earlier declaration: it is replaced, and runs again")
	return &status.Waiting{Reason: status.ReasonWaiting, For: ref.String() + " to be gone, which ran an earlier declaration"}
}
