// SPDX-License-Identifier: Apache-2.0

// Package report derives the results for a capability from the states of its objects: its status, the objects that may be removed by now,
// and the pods that are to be replaced.
package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Agent describes the EKS Pod Identity Agent, a DaemonSet of the add-on eks-pod-identity-agent.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
type Agent struct {
	// Known is false if the agent was not observed.
	Known bool
	// Found is true when the DaemonSet exists. Ready is the number of nodes with a ready agent: nodes with a ready pod of the DaemonSet,
	// and nodes of EKS Auto Mode, which have it built in.
	Found bool
	Ready int32
	// ToCome is true if the first node to come is one of EKS Auto Mode.
	ToCome bool
	// Without holds the nodes without a ready agent. PodNodes holds the nodes that run pods of the capability. Both are sorted.
	Without, PodNodes []string
	// Err is the error that prevented the read.
	Err error
}

// IsReady reports whether pods get credentials on at least one node, or on the first one to come.
func (a Agent) IsReady() bool { return a.Ready > 0 || a.ToCome }

// reportIn adds to the state of an association that is as declared whether pods get credentials by it. Other objects do not
// wait for that: pods get the credentials as soon as the agent runs.
func (a Agent) reportIn(s State, cluster string) State {
	what := "the EKS Pod Identity Agent (DaemonSet " + AgentNamespace + "/" + AgentName + ")"
	switch {
	case !a.Known:
		return s
	case a.Err == nil && a.IsReady():
		return a.reportNodesIn(s)
	case a.Err != nil:
		s.Unknown, s.Reason, s.Message = true, status.ReasonRetrying, "it is not known whether "+what+" runs: "+a.Err.Error()
		if st, stalled := status.AsStalled(a.Err); stalled {
			s.Stalled, s.Reason = true, st.Reason
		}
	case a.Found:
		s.Stalled, s.Reason, s.Message = true, status.ReasonPodIdentityAgentMissing, what+" has no ready pods, so that pods get no credentials: see kubectl describe daemonset "+AgentName+" -n "+AgentNamespace
	default:
		s.Stalled, s.Reason = true, status.ReasonPodIdentityAgentMissing
		s.Message = fmt.Sprintf("%s does not exist, so that pods get no credentials: install it with aws eks create-addon --cluster-name %s --addon-name %s, or set spec.identity.mode: IRSA", what, cluster, AgentName)
	}
	return s
}

// maxAgentless limits the nodes without the agent that a message names.
const maxAgentless = 5

// reportNodesIn adds to a state the nodes without the agent that run pods of the capability: these pods get no credentials.
func (a Agent) reportNodesIn(s State) State {
	var lacking []string
	for _, n := range a.PodNodes {
		if slices.Contains(a.Without, n) {
			lacking = append(lacking, n)
		}
	}
	if len(lacking) == 0 {
		return s
	}
	names := strings.Join(lacking[:min(len(lacking), maxAgentless)], ", ")
	if more := len(lacking) - maxAgentless; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	s.Stalled, s.Reason = true, status.ReasonPodIdentityAgentMissing
	s.Message = fmt.Sprintf("pods of the capability run on nodes on which no EKS Pod Identity Agent is ready, and get no credentials there: %s; let DaemonSet %s/%s run on these nodes, keep the pods off them by nodeSelector, or set spec.identity.mode: IRSA",
		names, AgentNamespace, AgentName)
	return s
}

// AgentNamespace and AgentName are those of the DaemonSet.
const (
	AgentNamespace = "kube-system"
	AgentName      = "eks-pod-identity-agent"
)
