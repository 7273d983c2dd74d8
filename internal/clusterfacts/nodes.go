// SPDX-License-Identifier: Apache-2.0

// Package clusterfacts reads facts about a cluster: which nodes EKS Auto Mode runs, where the cluster's DNS is, whether pods get
// credentials from EKS Pod Identity, and which programs enforce NetworkPolicies. Security intents and capabilities share it.
package clusterfacts

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// The label of EKS for nodes, and its values on nodes of Auto Mode and of AWS Fargate.
// https://docs.aws.amazon.com/eks/latest/userguide/associate-workload.html
const (
	LabelComputeType = "eks.amazonaws.com/compute-type"
	ComputeAuto      = "auto"
	computeFargate   = "fargate"
)

// BalancerController is the controller of IngressClasses for load balancers that EKS Auto Mode creates.
// https://docs.aws.amazon.com/eks/latest/userguide/auto-configure-alb.html
const BalancerController = "eks.amazonaws.com/alb"

// labelKubeArmor is the label for KubeArmor's means of enforcement on a node, which its operator sets: bpf, apparmor or selinux, the first
// of these that the kernel has. With selinux it holds the node and no pods.
// https://github.com/kubearmor/KubeArmor/blob/03aec3d5b4e7f3971e35766a495851058b1c8a99/pkg/KubeArmorOperator/cmd/snitch-cmd/root.go
// https://github.com/kubearmor/KubeArmor/blob/0190aa389d66383f90ea4d7f3ad7ad38ed66dda3/KubeArmor/enforcer/runtimeEnforcer.go
const labelKubeArmor = "kubearmor.io/enforcer"

// The DaemonSet of the EKS Pod Identity Agent. Nodes of Auto Mode have the agent built in, without a pod.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
const (
	AgentNamespace = "kube-system"
	AgentName      = "eks-pod-identity-agent"
)

// AutoMode reports whether EKS says that EKS Auto Mode is enabled in the cluster. It is nil where no one asks EKS.
type AutoMode func(context.Context) bool

// Nodes are the names of a cluster's nodes by sort, each list sorted.
type Nodes struct {
	// Auto are the nodes of EKS Auto Mode, and Others all others.
	Auto, Others []string
	// Fargate lists the nodes of Others that AWS Fargate runs, each for one pod and without the pods of DaemonSets.
	Fargate []string
	// Windows lists the nodes of Others that run Windows.
	Windows []string
	// Simulated lists the nodes of Others that kwok simulates. No pod runs a container there.
	Simulated []string
	// Enabled says that EKS Auto Mode may start a node at any time, although it runs none.
	Enabled bool
	// WithAgent lists the nodes of Others with a ready pod of the EKS Pod Identity Agent.
	WithAgent []string
	// AppArmor says that KubeArmor enforces by AppArmor on all nodes, as its operator marks them.
	AppArmor bool
	// SELinux are the nodes where KubeArmor has only SELinux, and so enforces nothing on pods.
	SELinux []string
	// joined holds the creation times of the nodes of Others.
	joined map[string]time.Time
}

// NodesOf sorts nodes by their labels, and by the pods of the EKS Pod Identity Agent that run on them.
func NodesOf(nodes []metav1.PartialObjectMetadata, agents []corev1.Pod) Nodes {
	out := Nodes{AppArmor: len(nodes) > 0, joined: map[string]time.Time{}}
	for _, n := range nodes {
		out.AppArmor = out.AppArmor && n.Labels[labelKubeArmor] == "apparmor"
		if n.Labels[labelKubeArmor] == "selinux" {
			out.SELinux = append(out.SELinux, n.Name)
		}
		if n.Labels[LabelComputeType] == ComputeAuto {
			out.Auto = append(out.Auto, n.Name)
			continue
		}
		out.Others = append(out.Others, n.Name)
		out.joined[n.Name] = n.CreationTimestamp.Time
		if n.Annotations[wellknown.AnnotationSimulatedNode] != "" {
			out.Simulated = append(out.Simulated, n.Name)
		}
		if n.Labels[LabelComputeType] == computeFargate {
			out.Fargate = append(out.Fargate, n.Name)
		}
		if n.Labels[corev1.LabelOSStable] == string(corev1.Windows) {
			out.Windows = append(out.Windows, n.Name)
		}
		if slices.ContainsFunc(agents, func(p corev1.Pod) bool { return p.Spec.NodeName == n.Name && isReady(p) }) {
			out.WithAgent = append(out.WithAgent, n.Name)
		}
	}
	slices.Sort(out.Auto)
	slices.Sort(out.Others)
	slices.Sort(out.Fargate)
	slices.Sort(out.Windows)
	slices.Sort(out.Simulated)
	slices.Sort(out.WithAgent)
	slices.Sort(out.SELinux)
	return out
}

// MayBeAuto reports whether EKS Auto Mode runs some of the nodes, or is about to.
func (n Nodes) MayBeAuto() bool { return len(n.Auto) > 0 || n.Enabled }

// IsAuto reports whether EKS Auto Mode runs all nodes. A cluster without nodes is one of Auto Mode only if EKS says so.
func (n Nodes) IsAuto() bool { return n.MayBeAuto() && len(n.Others) == 0 }

// IsMixed reports whether EKS Auto Mode runs some of the nodes, or is about to, beside others.
func (n Nodes) IsMixed() bool { return n.MayBeAuto() && len(n.Others) > 0 }

// GiveCredentials reports whether pods get credentials from EKS Pod Identity on at least one node, or on the first one to come.
func (n Nodes) GiveCredentials() bool { return len(n.Auto)+len(n.WithAgent) > 0 || n.IsAuto() }

// takeDaemonSets reports whether the pods of a network plugin run on a node of the cluster, or on one that may join.
func (n Nodes) takeDaemonSets() bool {
	return len(n.Fargate)+len(n.Windows) < len(n.Others) || len(n.Others) == 0 && !n.IsAuto()
}

// forPlugins returns the names of the nodes that need a pod of a network plugin to enforce anything, sorted.
func (n Nodes) forPlugins() []string {
	return slices.DeleteFunc(slices.Clone(n.Others), func(name string) bool {
		return slices.Contains(n.Fargate, name) || slices.Contains(n.Windows, name) || slices.Contains(n.Simulated, name)
	})
}

// All counts the nodes.
func (n Nodes) All() int { return len(n.Auto) + len(n.Others) }

// WithoutAgent returns the names of the nodes without credentials for pods from EKS Pod Identity, sorted.
func (n Nodes) WithoutAgent() []string {
	return slices.DeleteFunc(slices.Clone(n.Others), func(name string) bool { return slices.Contains(n.WithAgent, name) })
}

func isReady(p corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// ReadNodes reads the metadata of all nodes, and the pods of the EKS Pod Identity Agent. EKS is asked about Auto Mode only where no node
// says that it is enabled. It needs an uncached reader: the operator's cache has neither.
func ReadNodes(ctx context.Context, live client.Reader, enabled AutoMode) (Nodes, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	if err := live.List(ctx, list); err != nil {
		return Nodes{}, fmt.Errorf("listing nodes: %w", err)
	}
	agents, err := agentPods(ctx, live)
	out := NodesOf(list.Items, agents)
	out.Enabled = len(out.Auto) == 0 && enabled != nil && enabled(ctx)
	return out, err
}

// HasAutoMode reports whether EKS Auto Mode runs nodes of the cluster, or is about to. EKS is asked only where no node says that it is
// enabled, and where nodes may not be listed.
func HasAutoMode(ctx context.Context, live client.Reader, enabled AutoMode) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	err := live.List(ctx, list, client.MatchingLabels{LabelComputeType: ComputeAuto}, client.Limit(1))
	if err != nil && !apierrors.IsForbidden(err) {
		return false, fmt.Errorf("listing nodes: %w", err)
	}
	return len(list.Items) > 0 || enabled != nil && enabled(ctx), nil
}

// agentPods lists the pods of the EKS Pod Identity Agent; none without its DaemonSet.
func agentPods(ctx context.Context, live client.Reader) ([]corev1.Pod, error) {
	d := &appsv1.DaemonSet{}
	err := live.Get(ctx, client.ObjectKey{Namespace: AgentNamespace, Name: AgentName}, d)
	if err != nil || d.Spec.Selector == nil {
		return nil, client.IgnoreNotFound(err)
	}
	pods := &corev1.PodList{}
	if err := live.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels)); err != nil {
		return nil, fmt.Errorf("listing pods of DaemonSet %s/%s: %w", AgentNamespace, AgentName, err)
	}
	return pods.Items, nil
}
