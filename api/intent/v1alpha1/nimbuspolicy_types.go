// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NimbusPolicySpec combines the bound intents, for one selector, in no engine's terms.
type NimbusPolicySpec struct {
	// Selector of the pods; {} selects every pod of the namespace.
	Selector PolicySelector `json:"selector"`
	// Rules are one per bound intent, in the binding's order.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Rules []Rule `json:"rules"`
}

// PolicySelector selects pods by label. All that is given must hold.
type PolicySelector struct {
	// MatchLabels must all be there.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions must all hold. Engines that cannot express them say SelectorUnsupported.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// Rule is a bound intent. Its action and parameters stand in both places where users look for them.
type Rule struct {
	// ID of the intent in the catalog.
	// +kubebuilder:validation:MaxLength=63
	ID string `json:"id"`
	// Description of the intent.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`
	// Rule holds action and parameters.
	Rule RuleDetail `json:"rule"`
	// Action repeats rule.action.
	// +optional
	Action Action `json:"action,omitempty"`
	// Params repeats rule.params.
	// +optional
	Params Params `json:"params,omitempty"`
}

// RuleDetail holds a rule's action and parameters.
type RuleDetail struct {
	// Action tells engines to block or to audit.
	Action Action `json:"action"`
	// Params fine-tune the intent.
	// +optional
	Params Params `json:"params,omitempty"`
}

// NimbusPolicyStatus reports what the engines made of the policy.
type NimbusPolicyStatus struct {
	CommonStatus `json:",inline"`
	// NumberOfAdapterPolicies counts the objects by which the engines enforce this policy.
	// +optional
	NumberOfAdapterPolicies int32 `json:"numberOfAdapterPolicies"`
	// AdapterPolicies lists these objects as Kind/name.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	AdapterPolicies []string `json:"adapterPolicies,omitempty"`
	// Policies repeats numberOfAdapterPolicies.
	// +optional
	Policies int32 `json:"policies"`
	// PoliciesName repeats the names of adapterPolicies.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	PoliciesName []string `json:"policiesName,omitempty"`
	// Assessments are the last results of intent assessTLS, by target.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	Assessments []Assessment `json:"assessments,omitempty"`
}

// NimbusPolicy is derived from a binding and is kept as derived.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=np,categories={nexus}
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Policies",type=integer,JSONPath=`.status.numberOfAdapterPolicies`
// +kubebuilder:printcolumn:name="Enforced",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Enforced")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type NimbusPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NimbusPolicySpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status NimbusPolicyStatus `json:"status,omitempty"`
}

// NimbusPolicyList is a list of NimbusPolicy.
// +kubebuilder:object:root=true
type NimbusPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NimbusPolicy `json:"items"`
}

// ClusterNimbusPolicySpec combines the bound intents over several namespaces.
type ClusterNimbusPolicySpec struct {
	// Selector is the cluster binding's.
	Selector ClusterSelector `json:"selector"`
	// Rules are one per bound intent, in the binding's order.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Rules []Rule `json:"rules"`
}

// ClusterNimbusPolicy is derived from a cluster binding and is kept as derived. What engines can only say
// in namespaces stands in the NimbusPolicies beside it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cwnp,categories={nexus}
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Policies",type=integer,JSONPath=`.status.numberOfAdapterPolicies`
// +kubebuilder:printcolumn:name="Enforced",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Enforced")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type ClusterNimbusPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ClusterNimbusPolicySpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status NimbusPolicyStatus `json:"status,omitempty"`
}

// ClusterNimbusPolicyList is a list of ClusterNimbusPolicy.
// +kubebuilder:object:root=true
type ClusterNimbusPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterNimbusPolicy `json:"items"`
}
