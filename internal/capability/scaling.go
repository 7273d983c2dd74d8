// SPDX-License-Identifier: Apache-2.0

package capability

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// The defaults of an autoscaler.
const (
	defaultMinReplicas int32 = 2
	defaultTargetCPU   int32 = 80
)

// addAutoscaler adds the HorizontalPodAutoscaler of a Deployment, if the component has one.
func addAutoscaler(k *part.Compiler, c part.Component, deployment string) {
	a := c.Autoscaling
	if a == nil {
		return
	}
	least, target := minReplicas(a), defaultTargetCPU
	if a.TargetCPU != nil {
		target = *a.TargetCPU
	}
	o := &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: k.Parts.FactsOf(kindDeployment).Version.String(), Kind: kindDeployment, Name: k.Names.Of(c.Name)},
		MinReplicas:    &least,
		MaxReplicas:    a.Max,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &target},
		}}},
	}}
	k.Workload(part.Child{Kind: kindAutoscaler, Name: k.Names.Of(c.Name), Step: c.Step, Component: c.Name}, o, graph.NeedApplied(deployment)...)
}

// minReplicas is the least number of replicas of an autoscaler.
func minReplicas(a *nexusv1.AutoscalingSpec) int32 {
	if a.Min != nil {
		return *a.Min
	}
	return min(defaultMinReplicas, a.Max)
}

// addDisruptionBudget adds the PodDisruptionBudget of a component, unless that is off.
func addDisruptionBudget(k *part.Compiler, c part.Component) {
	// Pods that are not ready serve nobody. Without AlwaysAllow none of them could be evicted while too few are ready, for want of
	// credentials or with an image that crashes: neither by the operator nor by the drain of a node.
	// https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
	spec := policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: k.Selector(c.Name)}, UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow)}
	if p := c.PDB; p != nil {
		if !part.BoolOr(p.Enabled, true) {
			return
		}
		spec.MinAvailable, spec.MaxUnavailable = p.MinAvailable, p.MaxUnavailable
	}
	if spec.MinAvailable == nil && spec.MaxUnavailable == nil {
		spec.MaxUnavailable = new(intstr.FromInt32(1))
	}
	k.Workload(part.Child{Kind: kindDisruptionBudget, Name: k.Names.Of(c.Name), Step: c.Step, Component: c.Name}, &policyv1.PodDisruptionBudget{Spec: spec})
}
