// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// agentFor limits how long a look at the EKS Pod Identity Agent is used: a look lists all nodes, and every capability asks.
const agentFor = 5 * time.Second

// agents know the EKS Pod Identity Agent of each capability, and keep the last look at it.
type agents struct {
	client client.Reader
	clock  clock.PassiveClock
	look   func(ctx context.Context) capability.Agent

	mu   sync.Mutex
	seen capability.Agent
	at   time.Time
}

// of describes the agent on the nodes that run pods of a capability.
func (a *agents) of(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Agent, error) {
	agent := a.see(ctx)
	pods := &corev1.PodList{}
	err := a.client.List(ctx, pods, client.InNamespace(capability.NamesOf(c).WorkloadNamespace()),
		client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}, client.UnsafeDisableDeepCopy)
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Spec.NodeName != "" && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
			agent.PodNodes = append(agent.PodNodes, p.Spec.NodeName)
		}
	}
	slices.Sort(agent.PodNodes)
	agent.PodNodes = slices.Compact(agent.PodNodes)
	return agent, err
}

// see returns the last look at the agent, and looks again if that is too old, or was an error.
func (a *agents) see(ctx context.Context) capability.Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	if a.at.IsZero() || now.Sub(a.at) >= agentFor || a.seen.Err != nil {
		a.seen, a.at = a.look(ctx), now
	}
	return a.seen
}
