// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterSecurityIntentBindingSpec binds intents to workloads of several namespaces.
// +kubebuilder:validation:XValidation:rule="!has(self.cel)",message="cel is not supported in a ClusterSecurityIntentBinding: use selector.workloadSelector.matchLabels, or a SecurityIntentBinding in each namespace"
type ClusterSecurityIntentBindingSpec struct {
	// Intents are bound in this order. One that does not exist yet takes effect once it is created.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Intents []MatchIntent `json:"intents"`
	// Selector of namespaces and workloads.
	Selector ClusterSelector `json:"selector"`
	// CEL is refused: it is not supported here.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=1024
	CEL []string `json:"cel,omitempty"`
}

// ClusterSelector selects namespaces, and pods in them.
// +kubebuilder:validation:XValidation:rule="!has(self.cel) && !has(self.matchLabels) && !has(self.matchExpressions)",message="cel, matchLabels and matchExpressions are not supported here: use workloadSelector.matchLabels"
// +kubebuilder:validation:XValidation:rule="!has(self.any) && !has(self.all) && !has(self.match)",message="any, all and match are not supported: use nsSelector and workloadSelector"
type ClusterSelector struct {
	// Any is refused: resource filters are not supported.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	Any []Unsupported `json:"any,omitempty"`
	// All is refused: resource filters are not supported.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	All []Unsupported `json:"all,omitempty"`
	// Match is refused: resource filters are not supported.
	// +optional
	Match *Unsupported `json:"match,omitempty"`
	// CEL is refused: it is not supported here.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=1024
	CEL []string `json:"cel,omitempty"`
	// MatchLabels is refused: use workloadSelector.matchLabels.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions is refused: it is not supported.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	MatchExpressions []Unsupported `json:"matchExpressions,omitempty"`
	// NodeSelector is accepted and honored by no engine yet: each says NodeSelectorUnsupported.
	// +optional
	NodeSelector LabelSelector `json:"nodeSelector"`
	// NsSelector selects the namespaces.
	NsSelector NamespaceSelector `json:"nsSelector"`
	// WorkloadSelector selects pods by label; absent selects every pod.
	// +optional
	WorkloadSelector LabelSelector `json:"workloadSelector,omitempty"`
}

// NamespaceName is the name of a namespace, or *.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
type NamespaceName string

// NamespaceSelector selects namespaces by name. kube-system and the operator's own namespace are never
// selected.
// +kubebuilder:validation:XValidation:rule="has(self.matchNames) != has(self.excludeNames)",message="exactly one of matchNames and excludeNames must be given"
// +kubebuilder:validation:XValidation:rule="!has(self.matchLabels) && !has(self.matchExpressions)",message="namespaces are selected by name only: matchLabels and matchExpressions are not supported"
type NamespaceSelector struct {
	// MatchLabels is refused: namespaces are selected by name.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions is refused: namespaces are selected by name.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	MatchExpressions []Unsupported `json:"matchExpressions,omitempty"`
	// MatchNames are the namespaces; * alone is every one.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="size(self) == 1 || !('*' in self)",message="* stands alone"
	// +kubebuilder:validation:XValidation:rule="!('kube-system' in self)",message="kube-system cannot be selected: a policy there could take the cluster down"
	MatchNames []NamespaceName `json:"matchNames,omitempty"`
	// ExcludeNames are the namespaces that are left out of every one.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="!('*' in self)",message="excluding every namespace selects none"
	ExcludeNames []NamespaceName `json:"excludeNames,omitempty"`
}

// ClusterSecurityIntentBindingStatus reports the binding.
type ClusterSecurityIntentBindingStatus struct {
	CommonStatus `json:",inline"`
	// NumberOfBoundIntents counts the intents that exist.
	// +optional
	NumberOfBoundIntents int32 `json:"numberOfBoundIntents"`
	// CountOfBoundIntents repeats numberOfBoundIntents.
	// +optional
	CountOfBoundIntents int32 `json:"countOfBoundIntents"`
	// BoundIntents are the names of the intents that exist.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	BoundIntents []string `json:"boundIntents,omitempty"`
	// ClusterNimbusPolicy is the name of the derived cluster policy.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClusterNimbusPolicy string `json:"clusterNimbusPolicy,omitempty"`
	// NumberOfNimbusPolicies counts the namespaces that have a derived policy.
	// +optional
	NumberOfNimbusPolicies int32 `json:"numberOfNimbusPolicies"`
	// NimbusPolicyNamespaces are the namespaces that have a derived policy, the first 256 by name.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	NimbusPolicyNamespaces []string `json:"nimbusPolicyNamespaces,omitempty"`
}

// ClusterSecurityIntentBinding binds intents to workloads of several namespaces.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=csib,categories={nexus}
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Intents",type=integer,JSONPath=`.status.numberOfBoundIntents`
// +kubebuilder:printcolumn:name="ClusterNimbusPolicy",type=string,JSONPath=`.status.clusterNimbusPolicy`
// +kubebuilder:printcolumn:name="Policies",type=integer,priority=1,JSONPath=`.status.numberOfNimbusPolicies`
// +kubebuilder:printcolumn:name="Ready",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Enforced",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Enforced")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type ClusterSecurityIntentBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ClusterSecurityIntentBindingSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status ClusterSecurityIntentBindingStatus `json:"status,omitempty"`
}

// ClusterSecurityIntentBindingList is a list of ClusterSecurityIntentBinding.
// +kubebuilder:object:root=true
type ClusterSecurityIntentBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterSecurityIntentBinding `json:"items"`
}
