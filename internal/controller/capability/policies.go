// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// lost is the time after the grace period of a pod. If the pod still exists then, it counts as a pod of a node that is gone: its end may
// never be reported.
const lost = time.Minute

// keepBindingsWhilePodsRemain reports whether bindings that are to go must stay a little longer, and tells why.
func (r *Reconciler) keepBindingsWhilePodsRemain(ctx context.Context, c *nexusv1.NexusAICapability, o capability.Observed, bindings []apply.Child) (bool, error) {
	pod, err := r.podsThatRemain(ctx, c)
	if pod == "" || err != nil {
		return false, err
	}
	for _, b := range bindings {
		id := childID(c, b.Ref)
		s := o.States[id]
		s.Message = "it stays until pod " + pod + " has ended"
		o.States[id] = s
	}
	return true, nil
}

// podsThatRemain names the first pod that still needs the capability's policies. A Deployment is gone before
// its pods: they go on answering and calling until their time of grace is over.
func (r *Reconciler) podsThatRemain(ctx context.Context, c *nexusv1.NexusAICapability) (string, error) {
	pods := &corev1.PodList{}
	in := client.InNamespace(capability.NamesOf(c).WorkloadNamespace())
	if err := r.Client.List(ctx, pods, in, client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}); err != nil {
		return "", fmt.Errorf("looking for pods that are left: %w", err)
	}
	first := ""
	for i := range pods.Items {
		if p := &pods.Items[i]; (first == "" || p.Name < first) && isRunning(p, r.Clock.Now()) {
			first = p.Name // lists from a cache have no order, and a message must not flap
		}
	}
	return first, nil
}

func isRunning(p *corev1.Pod, now time.Time) bool {
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	return !ended && (p.DeletionTimestamp == nil || now.Before(p.DeletionTimestamp.Add(lost)))
}
