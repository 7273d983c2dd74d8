// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SSMParameterSetSpec declares many parameters under one path.
type SSMParameterSetSpec struct {
	CommonSpec `json:",inline"`

	// Path under which every parameter lies, such as /myapp/dev. Immutable. The set is stalled with reason NameConflict
	// while its parameters lie below /{capabilityName}/{environment} of a capability of another namespace.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_.-]+)+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="path is immutable"
	// +kubebuilder:validation:XValidation:rule="!self.lowerAscii().startsWith('/aws') && !self.lowerAscii().startsWith('/ssm')",message="path must not begin with /aws or /ssm"
	Path string `json:"path"`
	// Parameters by their name relative to path, such as dynamodb/license-table.
	// +kubebuilder:validation:MaxProperties=256
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) <= 256 && k.matches('^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$'))",message="a parameter name consists of letters, digits, and _ . - in parts separated by /"
	Parameters map[string]SSMParameter `json:"parameters"`
}

// SSMParameter is one parameter.
type SSMParameter struct {
	// Value of the parameter; at most 4096 characters (8192 with tier Advanced). Never empty.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=8192
	Value string `json:"value"`
	// Type; default String.
	// +optional
	// +kubebuilder:validation:Enum=String;StringList;SecureString
	Type string `json:"type,omitempty"`
	// Description of the parameter; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description *string `json:"description,omitempty"`
	// Tier; default Standard. AWS refuses to go back from Advanced.
	// +optional
	// +kubebuilder:validation:Enum=Standard;Advanced;Intelligent-Tiering
	Tier string `json:"tier,omitempty"`
	// KeyID encrypts a SecureString. Absent: a new parameter gets alias/aws/ssm, and an existing one keeps its key; name
	// alias/aws/ssm to go back to that.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	KeyID string `json:"keyID,omitempty" names:"kms:key"`
}

// SSMParameterSetStatus reports the parameters.
type SSMParameterSetStatus struct {
	CommonStatus `json:",inline"`
	// Count of parameters that exist.
	// +optional
	Count int32 `json:"count,omitempty"`
	// ManagedNames are the parameters the operator wrote, relative to path, so that dropped ones are removed.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	ManagedNames []string `json:"managedNames,omitempty"`
	// Versions of the parameters by relative name.
	// +optional
	Versions map[string]int64 `json:"versions,omitempty"`
	// TagsDigest is a hash of the tags that all parameters were observed to carry: their tags are read again when
	// others are wanted.
	// +optional
	TagsDigest string `json:"tagsDigest,omitempty"`
}

// SSMParameterSet is a set of Systems Manager parameters under one path.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=ssmps,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Path",type=string,JSONPath=`.spec.path`
// +kubebuilder:printcolumn:name="Count",type=integer,JSONPath=`.status.count`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type SSMParameterSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SSMParameterSetSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status SSMParameterSetStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *SSMParameterSet) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *SSMParameterSet) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// SSMParameterSetList is a list of SSMParameterSet.
// +kubebuilder:object:root=true
type SSMParameterSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SSMParameterSet `json:"items"`
}
