// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AWSResourceSpec declares a resource of a type that AWS offers through Cloud Control API.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || !self.importID.contains('*')",message="importID names one resource"
// +kubebuilder:validation:XValidation:rule="has(self.importID) == has(oldSelf.importID) && (!has(self.importID) || self.importID == oldSelf.importID)",message="importID is immutable"
type AWSResourceSpec struct {
	CommonSpec `json:",inline"`

	// ImportID is the primary identifier of an existing resource that this object adopts instead of creating one, its parts joined by |. It
	// needs adoptionPolicy Always, an explicit deletionPolicy and AWSResource in adoptableKinds of the provider, unless the resource carries
	// the tags of an earlier object of this name. Absent: the operator creates a resource. Immutable. At most 1024 characters, the limit of
	// Cloud Control API: https://docs.aws.amazon.com/cloudcontrolapi/latest/APIReference/API_GetResource.html
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	ImportID string `json:"importID,omitempty"`
	// TypeName is the name of the resource type, such as AWS::Kinesis::Stream. An administrator allows types with --types of the
	// operator, and the provider may allow fewer of them. Immutable.
	// +kubebuilder:validation:Pattern=`^AWS::[A-Za-z0-9]{1,64}::[A-Za-z0-9]{1,64}$`
	// +kubebuilder:validation:MaxLength=140
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="typeName is immutable"
	TypeName string `json:"typeName"`
	// Properties are the properties of the resource, with the names and values that AWS documents for the type. A property that is
	// absent is not managed, unless the operator wrote it before: then it is removed, as one that is null. Tags belong into spec.tags.
	// A value may be that of another object, {$ref: KIND/NAME, field: status.arn}, or of a Secret, {$secret: NAME, key: KEY}.
	// https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
	// +kubebuilder:pruning:PreserveUnknownFields
	Properties runtime.RawExtension `json:"properties"`
	// Ignore lists properties that are left alone once the resource exists, as JSON pointers into properties such as
	// /StreamModeDetails/StreamMode, or /Rules/*/Priority for a member of each element of a list. A create writes the values that
	// properties declares; after that they are neither compared nor written, except with a list, or a missing object, that contains
	// them and is written. Use it for values that another client sets, or that AWS keeps changing (NotSettling). Absent or empty: all
	// declared properties are compared.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^(/([^/~]|~[01])+)+$`
	Ignore []string `json:"ignore,omitempty"`
	// RecreateOnLoss creates a resource that may hold data again, empty, when it was deleted outside the operator; the default is to
	// report Missing. A resource of a type without data is created again in any case.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// AWSResourceRequest is a request that AWS carries out.
type AWSResourceRequest struct {
	// Token identifies the request for AWS, as in aws cloudcontrol get-resource-request-status.
	// +kubebuilder:validation:MaxLength=128
	Token string `json:"token"`
	// Operation is CREATE, UPDATE or DELETE.
	// +kubebuilder:validation:MaxLength=16
	Operation string `json:"operation"`
	// Since is the time at which AWS accepted the request.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}

// AWSResourceStatus reports the resource.
type AWSResourceStatus struct {
	CommonStatus `json:",inline"`
	// Identifier is the primary identifier of the resource, its parts joined by |. It repeats id.
	// +optional
	Identifier string `json:"identifier,omitempty"`
	// Properties are the properties that AWS assigned, as far as they fit into 4 KiB.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Properties *runtime.RawExtension `json:"properties,omitempty"`
	// ManagedPaths are the paths of the properties that the operator wrote, so that dropped ones are removed again. They fit into 2 KiB:
	// where there are more, the paths of the objects that contain the innermost properties stand for them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	ManagedPaths []string `json:"managedPaths,omitempty"`
	// Request is the request that AWS carries out; absent when there is none.
	// +optional
	Request *AWSResourceRequest `json:"request,omitempty"`
}

// AWSResource is a resource of any type that AWS offers through Cloud Control API.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=awsresources,shortName=awsres,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.typeName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Identifier",type=string,priority=1,JSONPath=`.status.identifier`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type AWSResource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AWSResourceSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status AWSResourceStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *AWSResource) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *AWSResource) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ImportID returns the identifier of the resource to adopt.
func (o *AWSResource) ImportID() string { return o.Spec.ImportID }

// ResourceType returns the name of the resource type.
func (o *AWSResource) ResourceType() string { return o.Spec.TypeName }

// RecreatesOnLoss reports whether a resource with data that no longer exists is created again, empty.
func (o *AWSResource) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// RecordRequest records a request that AWS accepted at a time.
func (o *AWSResource) RecordRequest(operation, token string, at metav1.Time) {
	o.Status.Request = &AWSResourceRequest{Token: token, Operation: operation, Since: &at}
}

// IsRead reports whether the status has what AWS shows of the resource, which may have no ARN. A create records the identifier before.
func (o *AWSResource) IsRead() bool {
	return o.Status.ARN != "" || o.Status.Identifier != "" && o.Status.Identifier == o.Status.ID
}

// maxReferable is the longest property that can be referred to: the objects that refer to it record its value.
const maxReferable = 256

// ReferableAttributes returns what objects that refer to the resource can use beside its ID and ARN: the texts that AWS assigned.
func (o *AWSResource) ReferableAttributes() map[string]string {
	out := map[string]string{"identifier": o.Status.Identifier}
	if o.Status.Properties == nil {
		return out
	}
	assigned := map[string]any{}
	_ = json.Unmarshal(o.Status.Properties.Raw, &assigned) // the operator wrote it
	for name, value := range assigned {
		if text, ok := value.(string); ok && len(text) <= maxReferable {
			out["properties."+name] = text
		}
	}
	return out
}

// ManagedPaths returns the paths of the properties that the operator wrote.
func (o *AWSResource) ManagedPaths() []string { return o.Status.ManagedPaths }

// RecordPaths replaces the paths of the properties that the operator wrote.
func (o *AWSResource) RecordPaths(paths []string) { o.Status.ManagedPaths = paths }

// ConditionPropertiesCurrent is False while an AWSResource declares properties that AWS deprecates.
const ConditionPropertiesCurrent = "PropertiesCurrent"

// AWSResourceList is a list of AWSResource.
// +kubebuilder:object:root=true
type AWSResourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AWSResource `json:"items"`
}
