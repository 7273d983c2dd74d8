// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GlueTableSpec declares a table of the Glue Data Catalog.
// +kubebuilder:validation:XValidation:rule="has(self.databaseName) != has(self.databaseRef)",message="set exactly one of databaseName and databaseRef"
// +kubebuilder:validation:XValidation:rule="has(self.databaseName) == has(oldSelf.databaseName) && (!has(self.databaseName) || self.databaseName == oldSelf.databaseName)",message="databaseName is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.databaseRef) == has(oldSelf.databaseRef) && (!has(self.databaseRef) || self.databaseRef == oldSelf.databaseRef)",message="databaseRef is immutable"
type GlueTableSpec struct {
	CommonSpec `json:",inline"`

	// DatabaseName of the database that holds the table. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	DatabaseName string `json:"databaseName,omitempty"`
	// DatabaseRef names the GlueDatabase object that holds the table. Immutable.
	// +optional
	DatabaseRef *ObjectReference `json:"databaseRef,omitempty"`
	// TableName, lower case, at most 255 characters. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z0-9_-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="tableName is immutable"
	TableName string `json:"tableName"`
	// Description of the table; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Description *string `json:"description,omitempty"`
	// TableType, such as EXTERNAL_TABLE, which statements of Athena that change tables need. Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	TableType *string `json:"tableType,omitempty"`
	// PartitionKeys are the columns the data is partitioned by; the list is exact. Absent: not managed; a new table has none.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	PartitionKeys *[]GlueColumn `json:"partitionKeys,omitempty"`
	// StorageDescriptor says where and how the data lies.
	// +optional
	StorageDescriptor *GlueStorageDescriptor `json:"storageDescriptor,omitempty"`
	// Parameters are key-value pairs of the table. Those of others stay.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Parameters map[string]GlueParameter `json:"parameters,omitempty"`
}

// GlueColumn is a column of a table.
type GlueColumn struct {
	// Name of the column. Glue keeps it in lower case.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`
	// Type, a Hive type such as string, bigint or timestamp.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Type string `json:"type"`
	// Comment on the column.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Comment string `json:"comment,omitempty"`
}

// GlueStorageDescriptor says where and how the data of a table lies.
type GlueStorageDescriptor struct {
	// Columns of the table, without its partition keys; the list is exact. Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	Columns []GlueColumn `json:"columns,omitempty"`
	// Location, such as s3://bucket/prefix/.
	// +optional
	// +kubebuilder:validation:MaxLength=2056
	Location string `json:"location,omitempty"`
	// InputFormat is a Hive input format class.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	InputFormat string `json:"inputFormat,omitempty"`
	// OutputFormat is a Hive output format class.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	OutputFormat string `json:"outputFormat,omitempty"`
	// Compressed declares whether the data is compressed.
	// +optional
	Compressed bool `json:"compressed,omitempty"`
	// SerdeInfo names the serializer.
	// +optional
	SerdeInfo *GlueSerdeInfo `json:"serdeInfo,omitempty"`
}

// GlueSerdeInfo is a Hive serializer and its parameters.
type GlueSerdeInfo struct {
	// Name of the serde.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name,omitempty"`
	// SerializationLibrary is the class.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	SerializationLibrary string `json:"serializationLibrary"`
	// Parameters of the serde; they are exact.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Parameters map[string]GlueParameter `json:"parameters,omitempty"`
}

// GlueTableStatus reports the table.
type GlueTableStatus struct {
	CommonStatus `json:",inline"`
	// DatabaseName is the database the table was made in.
	// +optional
	DatabaseName string `json:"databaseName,omitempty"`
	// ManagedParameters are the keys of parameters that the operator wrote, so that dropped ones are removed.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	ManagedParameters []string `json:"managedParameters,omitempty"`
}

// GlueTable is a table of the Glue Data Catalog. Glue tables carry no tags: the owner is recorded in
// the table's parameters, and spec.tags and the provider's defaultTags have no effect on them.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=gluetbl,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Table",type=string,JSONPath=`.spec.tableName`
// +kubebuilder:printcolumn:name="Database",type=string,JSONPath=`.status.databaseName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type GlueTable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GlueTableSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status GlueTableStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *GlueTable) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *GlueTable) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// GlueTableList is a list of GlueTable.
// +kubebuilder:object:root=true
type GlueTableList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GlueTable `json:"items"`
}
