// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GlueDatabaseSpec declares a database of the Glue Data Catalog.
type GlueDatabaseSpec struct {
	CommonSpec `json:",inline"`

	// DatabaseName, lower case, at most 255 characters. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z0-9_-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="databaseName is immutable"
	DatabaseName string `json:"databaseName"`
	// Description of the database; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Description *string `json:"description,omitempty"`
	// LocationURI is the location of tables without their own; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	LocationURI *string `json:"locationURI,omitempty"`
	// Parameters are key-value pairs of the database. Those that others set stay.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Parameters map[string]GlueParameter `json:"parameters,omitempty"`
}

// GlueParameter is the value of a Data Catalog parameter.
// +kubebuilder:validation:MaxLength=2048
type GlueParameter string

// GlueDatabaseStatus reports the database.
type GlueDatabaseStatus struct {
	CommonStatus `json:",inline"`
	// ManagedParameters are the keys of parameters that the operator wrote, so that dropped ones are removed.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	ManagedParameters []string `json:"managedParameters,omitempty"`
}

// GlueDatabase is a database of the Glue Data Catalog.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=gluedb,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Database",type=string,JSONPath=`.spec.databaseName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type GlueDatabase struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GlueDatabaseSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status GlueDatabaseStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *GlueDatabase) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *GlueDatabase) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// GlueDatabaseList is a list of GlueDatabase.
// +kubebuilder:object:root=true
type GlueDatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GlueDatabase `json:"items"`
}
