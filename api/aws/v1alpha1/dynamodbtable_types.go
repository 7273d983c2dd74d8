// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DynamoDBTableSpec declares a table.
// +kubebuilder:validation:XValidation:rule="has(self.hashKey) || has(self.managementPolicy) && self.managementPolicy == 'Observe'",message="hashKey is required, except for a table that is observed"
// +kubebuilder:validation:XValidation:rule="has(self.hashKey) || !has(self.rangeKey) && !has(self.localSecondaryIndexes)",message="rangeKey and localSecondaryIndexes need hashKey"
// +kubebuilder:validation:XValidation:rule="has(self.rangeKey) == has(oldSelf.rangeKey) && (!has(self.rangeKey) || self.rangeKey == oldSelf.rangeKey)",message="rangeKey is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.hashKey) || !has(self.rangeKey) || self.rangeKey.name != self.hashKey.name",message="rangeKey and hashKey need different names"
// +kubebuilder:validation:XValidation:rule="!has(self.billingMode) || self.billingMode != 'PROVISIONED' || has(self.provisionedThroughput)",message="billingMode PROVISIONED needs provisionedThroughput"
// +kubebuilder:validation:XValidation:rule="!has(self.provisionedThroughput) || (has(self.billingMode) && self.billingMode == 'PROVISIONED')",message="provisionedThroughput needs billingMode PROVISIONED"
// +kubebuilder:validation:XValidation:rule="!has(self.onDemandThroughput) || !has(self.billingMode) || self.billingMode != 'PROVISIONED'",message="onDemandThroughput needs billingMode PAY_PER_REQUEST"
// +kubebuilder:validation:XValidation:rule="!has(self.globalSecondaryIndexes) || self.globalSecondaryIndexes.all(i, has(i.provisionedThroughput) == (has(self.billingMode) && self.billingMode == 'PROVISIONED'))",message="with billingMode PROVISIONED each index needs provisionedThroughput, and without it none may have it",fieldPath=".globalSecondaryIndexes"
// +kubebuilder:validation:XValidation:rule="!has(self.globalSecondaryIndexes) || self.globalSecondaryIndexes.all(i, !has(i.onDemandThroughput) || !has(self.billingMode) || self.billingMode != 'PROVISIONED')",message="onDemandThroughput of an index needs billingMode PAY_PER_REQUEST",fieldPath=".globalSecondaryIndexes"
// +kubebuilder:validation:XValidation:rule="!has(self.hashKey) || !has(self.attributes) || self.attributes.all(a, a.name == self.hashKey.name || (has(self.rangeKey) && a.name == self.rangeKey.name) || (has(self.globalSecondaryIndexes) && self.globalSecondaryIndexes.exists(i, i.hashKey == a.name || (has(i.rangeKey) && i.rangeKey == a.name))) || (has(self.localSecondaryIndexes) && self.localSecondaryIndexes.exists(i, i.rangeKey == a.name)))",message="lists an attribute that is no key of the table or of an index: DynamoDB defines only key attributes, so remove the others",fieldPath=".attributes"
// +kubebuilder:validation:XValidation:rule="!has(self.hashKey) || !has(self.attributes) || self.attributes.all(a, (a.name != self.hashKey.name || a.type == self.hashKey.type) && (!has(self.rangeKey) || a.name != self.rangeKey.name || a.type == self.rangeKey.type))",message="gives a key of the table another type than hashKey or rangeKey",fieldPath=".attributes"
// +kubebuilder:validation:XValidation:rule="!has(self.hashKey) || !has(self.globalSecondaryIndexes) || self.globalSecondaryIndexes.all(i, i.hashKey == self.hashKey.name || (has(self.rangeKey) && i.hashKey == self.rangeKey.name) || (has(self.attributes) && self.attributes.exists(a, a.name == i.hashKey)))",message="an index has a hashKey whose type is not declared: add the attribute to attributes",fieldPath=".globalSecondaryIndexes"
// +kubebuilder:validation:XValidation:rule="!has(self.hashKey) || !has(self.globalSecondaryIndexes) || self.globalSecondaryIndexes.all(i, !has(i.rangeKey) || i.rangeKey == self.hashKey.name || (has(self.rangeKey) && i.rangeKey == self.rangeKey.name) || (has(self.attributes) && self.attributes.exists(a, a.name == i.rangeKey)))",message="an index has a rangeKey whose type is not declared: add the attribute to attributes",fieldPath=".globalSecondaryIndexes"
// +kubebuilder:validation:XValidation:rule="!has(self.localSecondaryIndexes) || self.localSecondaryIndexes.all(i, (has(self.rangeKey) && i.rangeKey == self.rangeKey.name) || (has(self.attributes) && self.attributes.exists(a, a.name == i.rangeKey)))",message="an index has a rangeKey whose type is not declared: add the attribute to attributes",fieldPath=".localSecondaryIndexes"
// +kubebuilder:validation:XValidation:rule="!has(self.localSecondaryIndexes) || size(self.localSecondaryIndexes) == 0 || has(self.rangeKey)",message="localSecondaryIndexes need a table with a rangeKey",fieldPath=".localSecondaryIndexes"
// +kubebuilder:validation:XValidation:rule="!has(self.hashKey) || !has(self.localSecondaryIndexes) || self.localSecondaryIndexes.all(i, i.rangeKey != self.hashKey.name)",message="the rangeKey of a local index must not be the hashKey of the table",fieldPath=".localSecondaryIndexes"
// +kubebuilder:validation:XValidation:rule="!has(self.localSecondaryIndexes) || !has(self.globalSecondaryIndexes) || self.localSecondaryIndexes.all(l, !self.globalSecondaryIndexes.exists(g, g.indexName == l.indexName))",message="a global and a local index need different names",fieldPath=".localSecondaryIndexes"
// +kubebuilder:validation:XValidation:rule="has(self.localSecondaryIndexes) == has(oldSelf.localSecondaryIndexes) && (!has(self.localSecondaryIndexes) || (size(self.localSecondaryIndexes) == size(oldSelf.localSecondaryIndexes) && self.localSecondaryIndexes.all(i, oldSelf.localSecondaryIndexes.exists(o, o == i))))",message="localSecondaryIndexes are immutable: DynamoDB creates them with the table"
// +kubebuilder:validation:XValidation:rule="!has(self.streamViewType) || (has(self.streamEnabled) && self.streamEnabled)",message="streamViewType needs streamEnabled: true"
type DynamoDBTableSpec struct {
	CommonSpec `json:",inline"`

	// TableName is unique in account and region; 3 to 255 characters. Immutable.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_.-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="tableName is immutable"
	TableName string `json:"tableName"`
	// HashKey is the partition key. Immutable. It may be absent with managementPolicy Observe only: the key of the table is then not compared.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="hashKey is immutable"
	HashKey DynamoDBAttribute `json:"hashKey,omitzero"`
	// RangeKey is the sort key. Immutable.
	// +optional
	RangeKey *DynamoDBAttribute `json:"rangeKey,omitempty"`
	// Attributes are the types of the attributes that are keys of indexes. Keys of the table may be repeated with the same
	// type. DynamoDB defines no other attributes: one that is no key is refused. The type of an attribute is immutable.
	// +optional
	// +kubebuilder:validation:MaxItems=52
	// +listType=map
	// +listMapKey=name
	Attributes []DynamoDBIndexAttribute `json:"attributes,omitempty"`
	// GlobalSecondaryIndexes are the global secondary indexes of the table. An index that is dropped from the list is deleted
	// if the operator created it or it was listed before; indexes of other names stay. Keys and projection of an index are
	// immutable: an index with another name replaces it, and the index before is deleted when the new one is ready. DynamoDB
	// creates and deletes one index at a time, and other changes of the table wait meanwhile.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=map
	// +listMapKey=indexName
	GlobalSecondaryIndexes []DynamoDBGlobalIndex `json:"globalSecondaryIndexes,omitempty"`
	// LocalSecondaryIndexes are the local secondary indexes of the table. Immutable: DynamoDB creates them with the table.
	// Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxItems=5
	// +listType=map
	// +listMapKey=indexName
	LocalSecondaryIndexes []DynamoDBLocalIndex `json:"localSecondaryIndexes,omitempty"`
	// BillingMode; default PAY_PER_REQUEST. DynamoDB limits how often a table changes it within 24 hours: the object waits until it may.
	// +optional
	// +kubebuilder:validation:Enum=PROVISIONED;PAY_PER_REQUEST
	BillingMode string `json:"billingMode,omitempty"`
	// ProvisionedThroughput in capacity units, with billingMode PROVISIONED.
	// +optional
	ProvisionedThroughput *DynamoDBThroughput `json:"provisionedThroughput,omitempty"`
	// OnDemandThroughput limits the table, with billingMode PAY_PER_REQUEST. Absent: not managed; DynamoDB creates tables
	// without limits.
	// +optional
	OnDemandThroughput *DynamoDBOnDemandThroughput `json:"onDemandThroughput,omitempty"`
	// CapacityPolicy says what happens when the provisioned capacity of the table or of an index differs from the spec.
	// Correct, the default, restores it. InitialOnly sets it when the table or the index is created or changes to billingMode
	// PROVISIONED, and leaves it alone from then on, for tables whose capacity Application Auto Scaling changes: edits of
	// provisionedThroughput then have no effect on what exists.
	// +optional
	// +kubebuilder:validation:Enum=Correct;InitialOnly
	CapacityPolicy string `json:"capacityPolicy,omitempty"`
	// TableClass is STANDARD or STANDARD_INFREQUENT_ACCESS. Absent: not managed; DynamoDB creates tables of class STANDARD.
	// AWS allows two changes in 30 days.
	// +optional
	// +kubebuilder:validation:Enum=STANDARD;STANDARD_INFREQUENT_ACCESS
	TableClass *string `json:"tableClass,omitempty"`
	// StreamEnabled turns the stream of changed items on or off. Absent: not managed; DynamoDB creates tables without a stream.
	// +optional
	StreamEnabled *bool `json:"streamEnabled,omitempty"`
	// StreamViewType says what the stream has of a changed item; the default is NEW_AND_OLD_IMAGES. Another type replaces the
	// stream by one with another ARN: the stream before takes no more changes and can be read for 24 hours.
	// +optional
	// +kubebuilder:validation:Enum=KEYS_ONLY;NEW_IMAGE;OLD_IMAGE;NEW_AND_OLD_IMAGES
	StreamViewType string `json:"streamViewType,omitempty"`
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
	// RecreateOnLoss creates a new, empty table when it is missing in AWS although the operator did not delete it; by default the operator
	// reports Missing.
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

// DynamoDBIndexAttribute is the type of an attribute that is a key of an index.
// +kubebuilder:validation:XValidation:rule="self.type == oldSelf.type",message="type is immutable: declare another attribute for another index"
type DynamoDBIndexAttribute struct {
	DynamoDBAttribute `json:",inline"`
}

// DynamoDBProjection says which attributes an index has beside its keys and those of the table.
// +kubebuilder:validation:XValidation:rule="(has(self.projectionType) && self.projectionType == 'INCLUDE') == has(self.nonKeyAttributes)",message="projectionType INCLUDE needs nonKeyAttributes, and only INCLUDE may have them"
type DynamoDBProjection struct {
	// ProjectionType is ALL, the default, KEYS_ONLY, or INCLUDE for nonKeyAttributes. Immutable.
	// +optional
	// +kubebuilder:validation:Enum=ALL;KEYS_ONLY;INCLUDE
	ProjectionType string `json:"projectionType,omitempty"`
	// NonKeyAttributes are the attributes that projectionType INCLUDE adds to the keys, in any order; DynamoDB allows 100 in
	// all indexes of a table together. Immutable.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	NonKeyAttributes []string `json:"nonKeyAttributes,omitempty"`
}

// DynamoDBGlobalIndex is a global secondary index.
// +kubebuilder:validation:XValidation:rule="self.hashKey == oldSelf.hashKey && has(self.rangeKey) == has(oldSelf.rangeKey) && (!has(self.rangeKey) || self.rangeKey == oldSelf.rangeKey)",message="hashKey and rangeKey of an index are immutable: give the index another indexName, and it is replaced"
// +kubebuilder:validation:XValidation:rule="(has(self.projectionType) ? self.projectionType : 'ALL') == (has(oldSelf.projectionType) ? oldSelf.projectionType : 'ALL') && has(self.nonKeyAttributes) == has(oldSelf.nonKeyAttributes) && (!has(self.nonKeyAttributes) || (size(self.nonKeyAttributes) == size(oldSelf.nonKeyAttributes) && self.nonKeyAttributes.all(a, a in oldSelf.nonKeyAttributes)))",message="the projection of an index is immutable: give the index another indexName, and it is replaced"
// +kubebuilder:validation:XValidation:rule="!has(self.rangeKey) || self.rangeKey != self.hashKey",message="rangeKey and hashKey of an index need different names"
type DynamoDBGlobalIndex struct {
	// IndexName is unique in the table; 3 to 255 characters.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_.-]+$`
	IndexName string `json:"indexName"`
	// HashKey is the name of the attribute that is the partition key. Its type is in attributes. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	HashKey string `json:"hashKey"`
	// RangeKey is the name of the attribute that is the sort key. Its type is in attributes. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	RangeKey           string `json:"rangeKey,omitempty"`
	DynamoDBProjection `json:",inline"`
	// ProvisionedThroughput of the index in capacity units, with billingMode PROVISIONED.
	// +optional
	ProvisionedThroughput *DynamoDBThroughput `json:"provisionedThroughput,omitempty"`
	// OnDemandThroughput limits the index, with billingMode PAY_PER_REQUEST. Absent: not managed; DynamoDB creates indexes
	// without limits.
	// +optional
	OnDemandThroughput *DynamoDBOnDemandThroughput `json:"onDemandThroughput,omitempty"`
}

// DynamoDBLocalIndex is a local secondary index. Its partition key is that of the table.
type DynamoDBLocalIndex struct {
	// IndexName is unique in the table; 3 to 255 characters.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_.-]+$`
	IndexName string `json:"indexName"`
	// RangeKey is the name of the attribute that is the sort key. Its type is in attributes.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	RangeKey           string `json:"rangeKey"`
	DynamoDBProjection `json:",inline"`
}

// DynamoDBOnDemandThroughput limits the throughput on demand.
// +kubebuilder:validation:XValidation:rule="has(self.maxReadRequestUnits) || has(self.maxWriteRequestUnits)",message="needs maxReadRequestUnits or maxWriteRequestUnits"
// +kubebuilder:validation:XValidation:rule="(!has(self.maxReadRequestUnits) || self.maxReadRequestUnits != 0) && (!has(self.maxWriteRequestUnits) || self.maxWriteRequestUnits != 0)",message="a limit is at least 1, and -1 removes it"
type DynamoDBOnDemandThroughput struct {
	// MaxReadRequestUnits per second; -1 removes the limit. Absent: not managed.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	MaxReadRequestUnits *int64 `json:"maxReadRequestUnits,omitempty"`
	// MaxWriteRequestUnits per second; -1 removes the limit. Absent: not managed.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	MaxWriteRequestUnits *int64 `json:"maxWriteRequestUnits,omitempty"`
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
	// KMSKeyID is the ARN or the ID of a KMS key. Absent, or alias/aws/dynamodb: a new table, and one without a KMS key, gets
	// the key that AWS manages, and any other keeps its KMS key: DynamoDB does not show who manages it. To go back from a key
	// of yours, set enabled: false, and true once the table is ready.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	KMSKeyID string `json:"kmsKeyID,omitempty" names:"kms:key"`
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
	// StreamARN is the ARN of the stream, while the table has one.
	// +optional
	StreamARN string `json:"streamARN,omitempty"`
	// ItemCount is the number of items as DynamoDB describes it, which updates it about every six hours.
	// +optional
	ItemCount *int64 `json:"itemCount,omitempty"`
	// Replicas are the other regions in which the table has replicas. No field declares them, and they stay, with their data, when the object
	// is deleted.
	// +optional
	// +listType=set
	Replicas []string `json:"replicas,omitempty"`
	// ManagedIndexes are the global secondary indexes that the operator created or that were listed, so that dropped ones are
	// deleted.
	// +optional
	// +listType=set
	ManagedIndexes []string `json:"managedIndexes,omitempty"`
}

// DynamoDBTable is a DynamoDB table. A deletion leaves its replicas in other regions, which no field declares.
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

// Survivors returns what of a deleted table AWS keeps; empty for nothing.
func (o *DynamoDBTable) Survivors() string {
	if len(o.Status.Replicas) == 0 {
		return ""
	}
	return "the replicas of the table in " + strings.Join(o.Status.Replicas, ", ")
}

// RecoverableDays returns the last backup of a table with continuous backups, which DynamoDB makes at its deletion and keeps for 35 days.
// Where the spec does not declare them, others may have turned them on.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
func (o *DynamoDBTable) RecoverableDays() (what string, days int) {
	if p := o.Spec.PointInTimeRecovery; p != nil && !*p {
		return "", 0
	}
	return "backup of table " + o.Spec.TableName, 35
}

// DynamoDBTableList is a list of DynamoDBTable.
// +kubebuilder:object:root=true
type DynamoDBTableList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DynamoDBTable `json:"items"`
}
