// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// agentFor limits how long a look at the EKS Pod Identity Agent is used: a look lists all nodes, and every capability asks.
const agentFor = 5 * time.Second

// agents keep the last look at the EKS Pod Identity Agent.
type agents struct {
	mu   sync.Mutex
	seen capability.Agent
	at   time.Time
}

// agentOf describes the agent on the nodes that run pods of a capability.
func (r *Reconciler) agentOf(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Agent, error) {
	agent := r.agents.see(r.Clock.Now(), func() capability.Agent { return r.Facts.Agent(ctx) })
	pods := &corev1.PodList{}
	err := r.Client.List(ctx, pods, client.InNamespace(capability.NamesOf(c).WorkloadNamespace()),
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
func (a *agents) see(now time.Time, read func() capability.Agent) capability.Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at.IsZero() || now.Sub(a.at) >= agentFor || a.seen.Err != nil {
		a.seen, a.at = read(), now
	}
	return a.seen
}
