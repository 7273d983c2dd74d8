// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
)

// pods know the pods of capabilities: those that run, and those that are replaced because they started without credentials.
type pods struct {
	client   client.Client
	events   reconciler.Events
	clock    clock.PassiveClock
	memories *memories
	// injecting is true in a cluster that is known to give pods credentials.
	injecting bool
}

// lost is the time after the grace period of a pod. If the pod still exists then, it counts as a pod of a node that is gone: its end may
// never be reported.
const lost = time.Minute

// thatRemain names the first pod that still needs the capability's policies. A Deployment is gone before
// its pods: they go on answering and calling until their time of grace is over.
func (p pods) thatRemain(ctx context.Context, c *nexusv1.NexusAICapability) (string, error) {
	list := &corev1.PodList{}
	in := client.InNamespace(capability.NamesOf(c).WorkloadNamespace())
	if err := p.client.List(ctx, list, in, client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}); err != nil {
		return "", fmt.Errorf("looking for pods that are left: %w", err)
	}
	first := ""
	for i := range list.Items {
		if pod := &list.Items[i]; (first == "" || pod.Name < first) && isRunning(pod, p.clock.Now()) {
			first = pod.Name // lists from a cache have no order, and a message must not flap
		}
	}
	return first, nil
}

// withOtherIdentity names the first pod of a capability with a ServiceAccount that the capability no longer declares.
func (p pods) withOtherIdentity(ctx context.Context, c *nexusv1.NexusAICapability) (string, error) {
	list := &corev1.PodList{}
	in := client.InNamespace(capability.NamesOf(c).WorkloadNamespace())
	if err := p.client.List(ctx, list, in, client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}); err != nil {
		return "", fmt.Errorf("looking for pods with an identity that is dropped: %w", err)
	}
	first, declared := "", capability.ServiceAccounts(c)
	for i := range list.Items {
		pod := &list.Items[i]
		if !slices.Contains(declared, pod.Spec.ServiceAccountName) && isRunning(pod, p.clock.Now()) && (first == "" || pod.Name < first) {
			first = pod.Name
		}
	}
	return first, nil
}

func isRunning(pod *corev1.Pod, now time.Time) bool {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	return !ended && (pod.DeletionTimestamp == nil || now.Before(pod.DeletionTimestamp.Add(lost)))
}
