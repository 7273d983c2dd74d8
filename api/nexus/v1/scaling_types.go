// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// AutoscalingSpec has a HorizontalPodAutoscaler set the number of replicas. It needs a metrics server in the cluster.
// https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
// +kubebuilder:validation:XValidation:rule="!has(self.min) || self.min <= self.max",message="must not be more than max",fieldPath=".min"
type AutoscalingSpec struct {
	// Min is the least number of replicas; default 2, or max if that is less.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Min *int32 `json:"min,omitempty"`
	// Max is the greatest number of replicas.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Max int32 `json:"max"`
	// TargetCPU is the average use of CPU to aim at, in percent of what the container requests; default 80.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	TargetCPU *int32 `json:"targetCPU,omitempty"`
}

// DisruptionBudgetSpec limits how many pods are evicted at a time, such as by a drain of nodes.
// https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
// +kubebuilder:validation:XValidation:rule="!has(self.minAvailable) || !has(self.maxUnavailable)",message="minAvailable and maxUnavailable exclude each other: set one of them"
type DisruptionBudgetSpec struct {
	// Enabled; default true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// MinAvailable is the number or percentage of pods that stay available.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0 && self <= 1000",message="0 to 1000, or 0% to 100%"
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
	// MaxUnavailable is the number or percentage of pods that may be unavailable; default 1.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0 && self <= 1000",message="0 to 1000, or 0% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}
