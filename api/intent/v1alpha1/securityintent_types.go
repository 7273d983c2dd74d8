// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SecurityIntentSpec says what must be true.
type SecurityIntentSpec struct {
	// Intent declares a requirement, by its id in the catalog.
	Intent Intent `json:"intent"`
}

// Intent is an entry of the catalog with its parameters.
type Intent struct {
	// ID in the catalog, such as dnsManipulation. Two bound intents with the same id are one: the
	// strictest action wins.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]+$`
	// +kubebuilder:validation:MaxLength=63
	ID string `json:"id"`
	// Action tells engines to Block (or Enforce, which is the same), or to Audit, which never blocks.
	// +kubebuilder:default=Block
	Action Action `json:"action,omitempty"`
	// Description is shown where an engine reports a violation.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`
	// Severity such as 5, or medium; passed on to engines that know it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Severity string `json:"severity,omitempty"`
	// Tags are passed on to engines that know them.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	Tags []string `json:"tags,omitempty"`
	// Params fine-tune the intent; which there are depends on the id.
	// +optional
	Params Params `json:"params,omitempty"`
}

// SecurityIntentStatus reports the intent.
type SecurityIntentStatus struct {
	// ID repeats spec.intent.id.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ID string `json:"id,omitempty"`
	// Action repeats spec.intent.action.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Action string `json:"action,omitempty"`
	// Status is Created once the intent was read.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Status string `json:"status,omitempty"`
	// ObservedGeneration is the generation that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are Ready and Stalled: whether the id is in the catalog and the parameters are valid.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SecurityIntent says what must be true, not how; bindings say for which workloads.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=si,categories={nexus}
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.spec.intent.id`
// +kubebuilder:printcolumn:name="Action",type=string,JSONPath=`.spec.intent.action`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type SecurityIntent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SecurityIntentSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status SecurityIntentStatus `json:"status,omitempty"`
}

// SecurityIntentList is a list of SecurityIntent.
// +kubebuilder:object:root=true
type SecurityIntentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SecurityIntent `json:"items"`
}
