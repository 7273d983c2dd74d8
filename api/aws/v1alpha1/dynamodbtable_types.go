// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DynamoDBTableSpec declares a table.
// +kubebuilder:validation:XValidation:rule="has(self.rangeKey) == has(oldSelf.rangeKey) && (!has(self.rangeKey) || self.rangeKey == oldSelf.rangeKey)",message="rangeKey is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.rangeKey) || self.rangeKey.name != self.hashKey.name",message="rangeKey and hashKey need different names"
// +kubebuilder:validation:XValidation:rule="!has(self.billingMode) || self.billingMode != 'PROVISIONED' || has(self.provisionedThroughput)",message="billingMode PROVISIONED needs provisionedThroughput"
// +kubebuilder:validation:XValidation:rule="!has(self.provisionedThroughput) || (has(self.billingMode) && self.billingMode == 'PROVISIONED')",message="provisionedThroughput needs billingMode PROVISIONED"
type DynamoDBTableSpec struct {
	CommonSpec `json:",inline"`

	// TableName is unique in account and region; 3 to 255 characters. Immutable.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_.-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="tableName is immutable"
	TableName string `json:"tableName"`
	// HashKey is the partition key. Immutable.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="hashKey is immutable"
	HashKey DynamoDBAttribute `json:"hashKey"`
	// RangeKey is the sort key. Immutable.
	// +optional
	RangeKey *DynamoDBAttribute `json:"rangeKey,omitempty"`
	// BillingMode; default PAY_PER_REQUEST.
	// +optional
	// +kubebuilder:validation:Enum=PROVISIONED;PAY_PER_REQUEST
	BillingMode string `json:"billingMode,omitempty"`
	// ProvisionedThroughput in capacity units, with billingMode PROVISIONED.
	// +optional
	ProvisionedThroughput *DynamoDBThroughput `json:"provisionedThroughput,omitempty"`
	// PointInTimeRecovery turns continuous backups on or off.
	// +optional
	PointInTimeRecovery *bool `json:"pointInTimeRecovery,omitempty"`
	// TTL removes items whose attribute (epoch seconds) lies in the past.
	// +optional
	TTL *DynamoDBTTL `json:"ttl,omitempty"`
	// SSE chooses the key that encrypts the table; AWS's own default is a key that AWS owns.
	// +optional
	SSE *DynamoDBSSE `json:"sse,omitempty"`
	// DeletionProtection makes AWS refuse to delete the table.
	// +optional
	DeletionProtection *bool `json:"deletionProtection,omitempty"`
	// RecreateOnLoss makes the table anew, empty, when it vanished behind our back; default is to report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// DynamoDBAttribute is a key attribute.
type DynamoDBAttribute struct {
	// Name of the attribute.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`
	// Type is S (string), N (number) or B (binary).
	// +kubebuilder:validation:Enum=S;N;B
	Type string `json:"type"`
}

// DynamoDBThroughput is provisioned capacity.
type DynamoDBThroughput struct {
	// ReadCapacityUnits per second.
	// +kubebuilder:validation:Minimum=1
	ReadCapacityUnits int64 `json:"readCapacityUnits"`
	// WriteCapacityUnits per second.
	// +kubebuilder:validation:Minimum=1
	WriteCapacityUnits int64 `json:"writeCapacityUnits"`
}

// DynamoDBTTL is the table's time-to-live setting.
type DynamoDBTTL struct {
	// Enabled turns expiry on or off. AWS lets it change once an hour.
	Enabled bool `json:"enabled"`
	// AttributeName holds the expiry time in epoch seconds.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	AttributeName string `json:"attributeName"`
}

// DynamoDBSSE chooses the encryption key.
// +kubebuilder:validation:XValidation:rule="self.enabled || !has(self.kmsKeyID)",message="kmsKeyID needs enabled: true"
type DynamoDBSSE struct {
	// Enabled uses a KMS key; false uses the key that AWS owns.
	Enabled bool `json:"enabled"`
	// KMSKeyID is the ARN or the ID of a KMS key, or alias/aws/dynamodb; absent means the key that AWS manages.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	KMSKeyID string `json:"kmsKeyID,omitempty"`
}

// DynamoDBTableStatus reports the table.
type DynamoDBTableStatus struct {
	CommonStatus `json:",inline"`
	// TableARN repeats arn.
	// +optional
	TableARN string `json:"tableARN,omitempty"`
	// TableStatus is DynamoDB's own word: CREATING, ACTIVE, UPDATING, DELETING …
	// +optional
	TableStatus string `json:"tableStatus,omitempty"`
}

// DynamoDBTable is a DynamoDB table.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=ddb;ddbtable,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Table",type=string,JSONPath=`.spec.tableName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.tableStatus`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type DynamoDBTable struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec DynamoDBTableSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status DynamoDBTableStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *DynamoDBTable) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *DynamoDBTable) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether what vanished is created again, empty.
func (o *DynamoDBTable) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// DynamoDBTableList is a list of DynamoDBTable.
// +kubebuilder:object:root=true
type DynamoDBTableList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DynamoDBTable `json:"items"`
}
