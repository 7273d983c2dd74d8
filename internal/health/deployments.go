// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// deployment is ready when every replica that is needed is of the newest template and available.
func (r Reader) deployment(ctx context.Context, d *appsv1.Deployment) (Health, error) {
	need := neededReplicas(d)
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels)); err != nil {
		return Health{}, err
	}
	if rolledOut(d, need) {
		h := r.scaling(d, pods.Items)
		h.NoCredentials = lackCredentials(d, pods.Items)
		return h, nil
	}
	if !isObserved(d) {
		// The status still describes the previous template: the reports of its pods say nothing about the edit yet.
		return Health{Reason: status.ReasonProgressing, Serving: need > 0 && d.Status.AvailableReplicas >= need,
			Message: "the Deployment's controller has not observed the last change yet"}, nil
	}
	newest := ofNewestTemplate(d, pods.Items)
	h := r.notRolledOut(d, need, newest)
	h.NoCredentials = lackCredentials(d, newest) // often why they do not become ready
	if err := r.blameDeadNodes(ctx, d, pods.Items, &h); err != nil {
		return Health{}, err
	}
	if previousServes(d, need) {
		h.Serving = true
		if h.Stalled {
			h.Message = "update failed, the previous version is serving: " + h.Message
		} else {
			h.Message = "updating, the previous version is serving: " + h.Message
		}
	}
	return h, nil
}

// blameDeadNodes names dead nodes in the health of a Deployment that lacks replicas, if there is no other explanation. Some minutes after a
// node died its pods are replaced, and the other nodes may have no room for them.
func (r Reader) blameDeadNodes(ctx context.Context, d *appsv1.Deployment, pods []corev1.Pod, h *Health) error {
	if !slices.Contains([]string{status.ReasonProgressing, status.ReasonProbeFailing, status.ReasonUnschedulable}, h.Reason) {
		return nil
	}
	dead, err := r.onDeadNodes(ctx, pods)
	if dead == "" || err != nil {
		return err
	}
	if h.Reason == status.ReasonUnschedulable {
		dead += "; " + h.Message
	}
	need := neededReplicas(d)
	h.Reason, h.Message = status.ReasonNodeNotReady,
		fmt.Sprintf("%d of %d replicas are available: %s", min(d.Status.AvailableReplicas, need), need, dead)
	return nil
}

// isObserved reports whether the status of a Deployment describes its present template. If an autoscaler sets the number of replicas, an
// unobserved change may be one of that number alone. It is, if all other fields were changed before the newest template was rolled out: the
// API server records no time for changes through the subresource scale. Times have a resolution of seconds, so that an equal second proves
// nothing.
func isObserved(d *appsv1.Deployment) bool {
	unobserved := d.Generation - d.Status.ObservedGeneration
	if unobserved != 1 || d.Annotations[wellknown.AnnotationMinReplicas] == "" {
		return unobserved <= 0
	}
	var changed metav1.Time
	for _, m := range d.ManagedFields {
		if m.Subresource == "" && m.Time != nil && changed.Before(m.Time) {
			changed = *m.Time
		}
	}
	return !changed.IsZero() && slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Reason == "NewReplicaSetAvailable" && changed.Before(&c.LastUpdateTime)
	})
}

// neededReplicas is the number of replicas that a Deployment needs to be ready. Where an autoscaler sets the number, it is the least one:
// additional replicas follow the load of the moment.
func neededReplicas(d *appsv1.Deployment) int32 {
	want := ptr.Deref(d.Spec.Replicas, 1)
	least, err := strconv.ParseInt(d.Annotations[wellknown.AnnotationMinReplicas], 10, 32)
	if err != nil {
		return want
	}
	return min(want, int32(least))
}

// scaling is the health of a Deployment that is ready, with the reason why replicas beyond the needed ones are not available.
func (r Reader) scaling(d *appsv1.Deployment, pods []corev1.Pod) Health {
	h := Health{Ready: true}
	want := ptr.Deref(d.Spec.Replicas, 1)
	if rolledOut(d, want) || d.Status.AvailableReplicas >= want {
		return h
	}
	h.Reason = status.ReasonScaling
	h.Message = fmt.Sprintf("%d of the %d replicas that the autoscaler asks for are available, at least %d are needed",
		d.Status.AvailableReplicas, want, neededReplicas(d))
	for i := range pods {
		if sick, is := r.sickPod(&pods[i]); is {
			h.Reason = sick.Reason
			h.Message += ": " + sick.Message
			return h
		}
	}
	return h
}

// notRolledOut describes the missing parts of a Deployment that is not rolled out.
func (r Reader) notRolledOut(d *appsv1.Deployment, need int32, pods []corev1.Pod) Health {
	st := d.Status
	for i := range pods {
		if h, sick := r.sickPod(&pods[i]); sick {
			h.Stalled = h.Stalled || h.Reason == status.ReasonProbeFailing && isOverdue(d)
			return h
		}
	}
	for _, c := range st.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return Health{Reason: status.ReasonPodsRefused, Stalled: true, Message: "its pods are refused: " +
				strings.TrimRight(status.Truncate(c.Message, 512), ".") + "; raise the quota, or change what refuses them"}
		}
	}
	return Health{Reason: status.ReasonProgressing,
		Message: fmt.Sprintf("%d of %d replicas are available", min(st.AvailableReplicas, need), need)}
}

// previousServes reports whether pods of an earlier template keep every replica available while the newest one is
// rolled out.
func previousServes(d *appsv1.Deployment, need int32) bool {
	st := d.Status
	return need > 0 && isObserved(d) && st.AvailableReplicas >= need && st.UpdatedReplicas < st.Replicas
}

// rolledOut reports whether as many replicas as are needed are of the newest template and available, and none is of another.
func rolledOut(d *appsv1.Deployment, need int32) bool {
	st := d.Status
	return isObserved(d) && st.UpdatedReplicas >= need && st.AvailableReplicas >= need && st.Replicas == st.UpdatedReplicas
}

// isOverdue reports whether the rollout took longer than its progressDeadlineSeconds.
func isOverdue(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded"
	})
}
