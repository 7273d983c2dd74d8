// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SecurityIntentBindingSpec binds intents to workloads of the binding's namespace.
type SecurityIntentBindingSpec struct {
	// Intents are bound in this order. One that does not exist yet takes effect once it is created.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Intents []MatchIntent `json:"intents"`
	// Selector of the workloads; {} selects every pod of the namespace.
	Selector WorkloadSelector `json:"selector"`
	// CEL is the same as selector.cel; both must hold.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=1024
	CEL []string `json:"cel,omitempty"`
}

// WorkloadSelector selects pods by label. All that is given must hold.
// +kubebuilder:validation:XValidation:rule="!has(self.any) && !has(self.all) && !has(self.match)",message="any, all and match are not supported: use matchLabels, or cel"
// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions)",message="matchExpressions is not supported here: use matchLabels, or cel"
type WorkloadSelector struct {
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
	// MatchExpressions is refused: it is not supported.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	MatchExpressions []Unsupported `json:"matchExpressions,omitempty"`
	// WorkloadSelector selects by labels.
	// +optional
	WorkloadSelector *LabelSelector `json:"workloadSelector,omitempty"`
	// MatchLabels must all be there.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// CEL are conditions on labels, such as labels["app"] in ["a", "b"] && has(labels.team). They are
	// translated to selectors: ==, !=, in and has on single keys, joined by && and negated by !. An
	// expression that cannot be translated selects nothing, and is reported.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=1024
	CEL []string `json:"cel,omitempty"`
}

// SecurityIntentBindingStatus reports the binding.
type SecurityIntentBindingStatus struct {
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
	// NimbusPolicy is the name of the derived policy; empty while there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	NimbusPolicy string `json:"nimbusPolicy"`
	// Assessments are the last results of intent assessTLS, by target.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	Assessments []Assessment `json:"assessments,omitempty"`
}

// SecurityIntentBinding binds intents to workloads of its namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.startsWith('nimbus-ctlr-gen-')",message="names that start with nimbus-ctlr-gen- are reserved for the policies of ClusterSecurityIntentBindings"
// +kubebuilder:resource:scope=Namespaced,shortName=sib,categories={nexus}
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Intents",type=integer,JSONPath=`.status.numberOfBoundIntents`
// +kubebuilder:printcolumn:name="NimbusPolicy",type=string,JSONPath=`.status.nimbusPolicy`
// +kubebuilder:printcolumn:name="Ready",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Enforced",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Enforced")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type SecurityIntentBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SecurityIntentBindingSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status SecurityIntentBindingStatus `json:"status,omitempty"`
}

// SecurityIntentBindingList is a list of SecurityIntentBinding.
// +kubebuilder:object:root=true
type SecurityIntentBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SecurityIntentBinding `json:"items"`
}
