// SPDX-License-Identifier: Apache-2.0

package v1

import corev1 "k8s.io/api/core/v1"

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// LabelKey is the key of a label, with or without a prefix.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=317
// +kubebuilder:validation:Pattern=`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`
type LabelKey string

// Toleration lets pods run on nodes with a taint.
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
// +kubebuilder:validation:XValidation:rule="has(self.key) || has(self.operator) && self.operator == 'Exists'",message="without a key, operator must be Exists"
// +kubebuilder:validation:XValidation:rule="!has(self.value) || !has(self.operator) || self.operator != 'Exists'",message="operator Exists takes no value"
// +kubebuilder:validation:XValidation:rule="!has(self.tolerationSeconds) || has(self.effect) && self.effect == 'NoExecute'",message="tolerationSeconds needs effect NoExecute"
type Toleration struct {
	// Key of the taint; absent with operator Exists: every taint.
	// +optional
	Key LabelKey `json:"key,omitempty"`
	// Operator compares the value; default Equal.
	// +optional
	// +kubebuilder:validation:Enum=Equal;Exists
	Operator corev1.TolerationOperator `json:"operator,omitempty"`
	// Value of the taint.
	// +optional
	Value LabelValue `json:"value,omitempty"`
	// Effect of the taint; absent: every effect.
	// +optional
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect,omitempty"`
	// TolerationSeconds until a pod is evicted by a taint with effect NoExecute; default never.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// AffinitySpec attracts pods to nodes and to other pods, or keeps them apart.
// https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
type AffinitySpec struct {
	// NodeAffinity chooses nodes by their labels.
	// +optional
	NodeAffinity *NodeAffinity `json:"nodeAffinity,omitempty"`
	// PodAffinity puts pods near others.
	// +optional
	PodAffinity *PodAffinity `json:"podAffinity,omitempty"`
	// PodAntiAffinity keeps pods apart from others.
	// +optional
	PodAntiAffinity *PodAffinity `json:"podAntiAffinity,omitempty"`
}

// NodeAffinity chooses nodes by their labels.
type NodeAffinity struct {
	// Required must be met for a pod to run on a node.
	// +optional
	Required *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	// Preferred are met where that is possible.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Preferred []PreferredNodes `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// NodeSelector selects the nodes that match one of its terms.
type NodeSelector struct {
	// NodeSelectorTerms, of which one must match.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	NodeSelectorTerms []NodeSelectorTerm `json:"nodeSelectorTerms"`
}

// NodeSelectorTerm selects the nodes that match all of its expressions.
type NodeSelectorTerm struct {
	// MatchExpressions over the labels of nodes.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	MatchExpressions []NodeRequirement `json:"matchExpressions"`
}

// NodeRequirement compares a label of a node.
// +kubebuilder:validation:XValidation:rule="self.operator in ['Exists', 'DoesNotExist'] ? !has(self.values) : self.operator in ['Gt', 'Lt'] ? has(self.values) && size(self.values) == 1 : has(self.values)",message="In and NotIn need values, Gt and Lt one value, Exists and DoesNotExist none",fieldPath=".values"
type NodeRequirement struct {
	// Key of the label.
	Key LabelKey `json:"key"`
	// Operator compares the value.
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values of the label.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Values []LabelValue `json:"values,omitempty"`
}

// PreferredNodes adds a weight to the nodes that match.
type PreferredNodes struct {
	// Weight of the preference.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`
	// Preference selects the nodes.
	Preference NodeSelectorTerm `json:"preference"`
}

// PodAffinity chooses nodes by the pods that run there.
type PodAffinity struct {
	// Required must be met for a pod to run on a node.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Required []PodAffinityTerm `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	// Preferred are met where that is possible.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Preferred []PreferredPods `json:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

// PodAffinityTerm selects pods of the namespace of the workloads and the part of the cluster that counts as near.
type PodAffinityTerm struct {
	// LabelSelector of the pods.
	LabelSelector PodSelector `json:"labelSelector"`
	// TopologyKey is the label of nodes that tells what is near, such as kubernetes.io/hostname.
	TopologyKey LabelKey `json:"topologyKey"`
}

// PodSelector selects pods by their labels.
type PodSelector struct {
	// MatchLabels that the pods have.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 317 && k.matches('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$'))",message="not a legal label key"
	MatchLabels map[string]LabelValue `json:"matchLabels"`
}

// PreferredPods adds a weight to the nodes near the pods that match.
type PreferredPods struct {
	// Weight of the preference.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`
	// PodAffinityTerm selects the pods.
	PodAffinityTerm PodAffinityTerm `json:"podAffinityTerm"`
}

// TopologySpread spreads the pods of the component over the cluster.
// https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
// +kubebuilder:validation:XValidation:rule="!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'",message="minDomains needs whenUnsatisfiable DoNotSchedule",fieldPath=".minDomains"
type TopologySpread struct {
	// TopologyKey is the label of nodes over whose values pods are spread, such as topology.kubernetes.io/zone.
	TopologyKey LabelKey `json:"topologyKey"`
	// WhenUnsatisfiable decides what happens to a pod that would break the constraint.
	// +kubebuilder:validation:Enum=DoNotSchedule;ScheduleAnyway
	WhenUnsatisfiable corev1.UnsatisfiableConstraintAction `json:"whenUnsatisfiable"`
	// MaxSkew is by how many pods the parts of the cluster may differ.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxSkew int32 `json:"maxSkew"`
	// MinDomains is the least number of parts; default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MinDomains *int32 `json:"minDomains,omitempty"`
}
