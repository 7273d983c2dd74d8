// SPDX-License-Identifier: Apache-2.0

package v1

// DataServicesSpec declares the stores. Absent means disabled, {} means enabled.
// +kubebuilder:validation:XValidation:rule="!has(self.glue) || (has(self.glue.enabled) && !self.glue.enabled) || (has(self.s3) && (!has(self.s3.enabled) || self.s3.enabled) && (!has(self.s3.buckets) || self.s3.buckets.exists(b, b.name == 'call-data')))",message="dataServices.glue needs dataServices.s3 with the bucket call-data"
// +kubebuilder:validation:XValidation:rule="!has(self.topics) || self.topics.all(t, !has(t.subscribeQueues) || t.subscribeQueues.all(n, has(self.queues) && self.queues.exists(q, q.name == n)))",message="dataServices.topics: subscribeQueues names queues of dataServices.queues"
// +kubebuilder:validation:XValidation:rule="!has(self.topics) || self.topics.all(t, !has(t.subscribeQueues) || has(t.fifo) && t.fifo || !has(self.queues) || !self.queues.exists(q, has(q.fifo) && q.fifo && q.name in t.subscribeQueues))",message="dataServices.topics: subscribeQueues of a topic with a FIFO queue needs fifo: true of the topic"
type DataServicesSpec struct {
	// DynamoDB tables.
	// +optional
	DynamoDB *DynamoDBSpec `json:"dynamodb,omitempty"`
	// S3 buckets.
	// +optional
	S3 *S3Spec `json:"s3,omitempty"`
	// Glue is a catalog of the call data.
	// +optional
	Glue *GlueSpec `json:"glue,omitempty"`
	// Bedrock names models, knowledge bases and guardrails that the workloads use; the operator creates none of them.
	// +optional
	Bedrock *BedrockSpec `json:"bedrock,omitempty"`
	// KMS encrypts the tables, buckets, secrets, queues and topics with a key that the capability has for itself. Absent: keys of AWS.
	// +optional
	KMS *KMSSpec `json:"kms,omitempty"`
	// Queues of SQS that the workloads send to and receive from. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Queues []QueueSpec `json:"queues,omitempty"`
	// Topics of SNS that the workloads publish to. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Topics []TopicSpec `json:"topics,omitempty"`
	// Roles of IAM that exist already and that the workloads may assume, beside the role that the operator gives them. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Roles []RoleSpec `json:"roles,omitempty"`
	// Resources are other AWS resources that belong to the capability: of any resource type of AWS, and of kinds of the operator without
	// a field here. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Resources []ResourcePart `json:"resources,omitempty"`
}

// KMSSpec declares the key {capabilityName}-{environment}-data of the Key Management Service. A store that names another key by
// kmsKeyArn has that one.
type KMSSpec struct {
	// Enabled; default true. Without the key the stores have keys of AWS again, and the key stays until people give it up: what it
	// encrypted before cannot be read without it.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Rotation replaces the key material every year; default true. What the material before encrypted can still be read.
	// +optional
	Rotation *bool `json:"rotation,omitempty"`
	// DeletionWindowDays is the number of days for which KMS keeps the key once the capability has been deleted with
	// deletionPolicy Delete; default 30. Meanwhile a capability of the same name gets it back.
	// +optional
	// +kubebuilder:validation:Minimum=7
	// +kubebuilder:validation:Maximum=30
	DeletionWindowDays *int32 `json:"deletionWindowDays,omitempty"`
}

// DynamoDBSpec declares tables, each {capabilityName}-{environment}-{name}.
// +kubebuilder:validation:XValidation:rule="has(oldSelf.tables) || !has(self.tables) || self.tables.all(t, !(t.name in ['transformation-system', 'license', 'wxcc-task-tracking']) || !has(t.hashKey) || (t.hashKey.name == 'pk' && t.hashKey.type == 'S' && has(t.rangeKey) && t.rangeKey.name == 'sk' && t.rangeKey.type == 'S'))",message="tables: a default table has the keys pk (S) and sk (S), which are immutable: leave its hashKey out, or declare a table of another name"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.tables) || has(self.tables) || oldSelf.tables.all(t, !(t.name in ['transformation-system', 'license', 'wxcc-task-tracking']) || !has(t.hashKey) || (t.hashKey.name == 'pk' && t.hashKey.type == 'S' && has(t.rangeKey) && t.rangeKey.name == 'sk' && t.rangeKey.type == 'S'))",message="tables: without the list the default tables have the keys pk (S) and sk (S), and keys are immutable: keep the list"
type DynamoDBSpec struct {
	// Enabled; default true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Tables; default transformation-system, license and wxcc-task-tracking.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Tables []TableSpec `json:"tables,omitempty"`
	// PointInTimeRecovery keeps continuous backups; default true.
	// +optional
	PointInTimeRecovery *bool `json:"pointInTimeRecovery,omitempty"`
	// KMSKeyArn encrypts the tables; default a key that AWS owns.
	// +optional
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`
	// +kubebuilder:validation:MaxLength=2048
	KMSKeyArn string `json:"kmsKeyArn,omitempty"`
	// RecreateOnLoss creates a new, empty table when it is missing in AWS although the operator did not delete it; by default the operator
	// reports Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// TableSpec declares one table by its purpose.
// +kubebuilder:validation:XValidation:rule="!has(self.rangeKey) || has(self.hashKey)",message="rangeKey needs hashKey"
// +kubebuilder:validation:XValidation:rule="!has(self.rangeKey) || !has(self.hashKey) || self.rangeKey.name != self.hashKey.name",message="rangeKey has another name than hashKey"
// +kubebuilder:validation:XValidation:rule="(has(self.hashKey) ? self.hashKey.name + ' ' + self.hashKey.type : 'pk S') == (has(oldSelf.hashKey) ? oldSelf.hashKey.name + ' ' + oldSelf.hashKey.type : 'pk S')",message="hashKey is immutable, and pk (S) where it is absent: declare a table of another name"
// +kubebuilder:validation:XValidation:rule="(has(self.hashKey) ? (has(self.rangeKey) ? self.rangeKey.name + ' ' + self.rangeKey.type : 'none') : 'sk S') == (has(oldSelf.hashKey) ? (has(oldSelf.rangeKey) ? oldSelf.rangeKey.name + ' ' + oldSelf.rangeKey.type : 'none') : 'sk S')",message="rangeKey is immutable, and sk (S) where hashKey is absent: declare a table of another name"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.hashKey)",message="hashKey is about a store that the operator creates: remove it, or existing",fieldPath=".hashKey"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.rangeKey)",message="rangeKey is about a store that the operator creates: remove it, or existing",fieldPath=".rangeKey"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.ttl)",message="ttl is about a store that the operator creates: remove it, or existing",fieldPath=".ttl"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.pointInTimeRecovery)",message="pointInTimeRecovery is about a store that the operator creates: remove it, or existing",fieldPath=".pointInTimeRecovery"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(oldSelf.existing) || self.existing == oldSelf.existing",message="existing is immutable: declare another entry for another store",fieldPath=".existing"
type TableSpec struct {
	// Name is the purpose, the last part of the table's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// HashKey is the partition key; absent: pk (S), with sk (S) as the sort key. Immutable.
	// +optional
	HashKey *KeyAttribute `json:"hashKey,omitempty"`
	// RangeKey is the sort key; absent beside a hashKey: none. Immutable.
	// +optional
	RangeKey *KeyAttribute `json:"rangeKey,omitempty"`
	// TTL removes items whose attribute lies in the past; default off, attribute expiresAt.
	// +optional
	TTL *TableTTL `json:"ttl,omitempty"`
	// PointInTimeRecovery; default that of all tables.
	// +optional
	PointInTimeRecovery *bool `json:"pointInTimeRecovery,omitempty"`
	// Existing names a table that exists already and that the capability uses without owning it; the entry then has no other field but name.
	// Rights on it need spec.allowedExternalARNs of the AWSProvider. Absent: the operator creates the table.
	// +optional
	Existing *ExistingStore `json:"existing,omitempty"`
}

// KeyAttribute is a key of a table.
type KeyAttribute struct {
	// Name of the attribute.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	Name string `json:"name"`
	// Type is S (string), N (number) or B (binary).
	// +kubebuilder:validation:Enum=S;N;B
	Type string `json:"type"`
}

// TableTTL is the expiry of items.
type TableTTL struct {
	// Enabled turns expiry on. AWS lets it change once an hour.
	Enabled bool `json:"enabled"`
	// AttributeName holds the expiry time in epoch seconds; default expiresAt.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	AttributeName string `json:"attributeName,omitempty"`
}

// S3Spec declares buckets, each {capabilityName}-{environment}-{name}.
// +kubebuilder:validation:XValidation:rule="!has(self.naming) || self.naming != 'AccountRegional' || !has(self.buckets) || self.buckets.all(b, !b.name.endsWith('-an'))",message="the name of a bucket must not end in -an, with which the operator marks the names of naming: AccountRegional"
type S3Spec struct {
	// Enabled; default true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Buckets; default call-data, wxcc-simulator, journey-logs and journey-reports.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Buckets []BucketSpec `json:"buckets,omitempty"`
	// Naming is Global for the names {capability}-{environment}-{name}, which any account may have taken; it is the default.
	// AccountRegional appends account and region: no other account can take such names, before a bucket is created or after it
	// is deleted. With another naming, buckets are other buckets: the former ones are dropped like those that are no longer
	// listed, and keep their data until that may be deleted.
	// +optional
	Naming BucketNaming `json:"naming,omitempty"`
	// ForceDestroy empties the buckets when they are deleted; by default the deletion waits until they are empty.
	// +optional
	ForceDestroy bool `json:"forceDestroy,omitempty"`
	// KMSKeyArn encrypts the buckets; default a key that S3 manages.
	// +optional
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`
	// +kubebuilder:validation:MaxLength=2048
	KMSKeyArn string `json:"kmsKeyArn,omitempty"`
	// Lifecycle rules of every bucket without its own rules.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=id
	Lifecycle []LifecycleRule `json:"lifecycle,omitempty"`
	// RecreateOnLoss creates a new, empty bucket when it is missing in AWS although the operator did not delete it; by default the operator
	// reports Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// BucketNaming is the namespace of S3 that the names of buckets are in.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/gpbucketnamespaces.html
// +kubebuilder:validation:Enum=Global;AccountRegional
type BucketNaming string

const (
	// BucketsGlobal has names that are unique among all accounts: {capability}-{environment}-{name}.
	BucketsGlobal BucketNaming = "Global"
	// BucketsAccountRegional has names that no other account can take: {capability}-{environment}-{name}-{account}-{region}-an.
	BucketsAccountRegional BucketNaming = "AccountRegional"
)

// BucketSpec declares one bucket by its purpose.
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.forceDestroy)",message="forceDestroy is about a store that the operator creates: remove it, or existing",fieldPath=".forceDestroy"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.lifecycle)",message="lifecycle is about a store that the operator creates: remove it, or existing",fieldPath=".lifecycle"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(oldSelf.existing) || self.existing == oldSelf.existing",message="existing is immutable: declare another entry for another store",fieldPath=".existing"
type BucketSpec struct {
	// Name is the purpose, the last part of the bucket's name.
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self != 's3alias' && !self.endsWith('-s3alias') && !self.endsWith('--ol-s3') && !self.endsWith('--x-s3') && !self.endsWith('--table-s3')",message="S3 reserves bucket names with this ending"
	Name string `json:"name"`
	// ForceDestroy; default that of all buckets.
	// +optional
	ForceDestroy *bool `json:"forceDestroy,omitempty"`
	// Lifecycle rules of this bucket; default those of all buckets.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=id
	Lifecycle []LifecycleRule `json:"lifecycle,omitempty"`
	// Existing names a bucket that exists already and that the capability uses without owning it; the entry then has no other field but
	// name. Rights on it need spec.allowedExternalARNs of the AWSProvider. Absent: the operator creates the bucket.
	// +optional
	Existing *ExistingStore `json:"existing,omitempty"`
}

// LifecycleRule expires or moves objects by age.
// +kubebuilder:validation:XValidation:rule="has(self.expirationDays) || has(self.noncurrentVersionExpirationDays) || has(self.abortIncompleteMultipartUploadDays) || (has(self.transitions) && size(self.transitions) > 0)",message="a lifecycle rule needs an action"
// +kubebuilder:validation:XValidation:rule="!has(self.expirationDays) || !has(self.transitions) || self.transitions.all(t, t.days < self.expirationDays)",message="expirationDays must be more than the days of every transition"
type LifecycleRule struct {
	// ID is the rule's name, unique in the bucket.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ID string `json:"id"`
	// Prefix of the keys the rule is for; absent means all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Prefix string `json:"prefix,omitempty"`
	// ExpirationDays after which current objects are removed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ExpirationDays *int32 `json:"expirationDays,omitempty"`
	// NoncurrentVersionExpirationDays after which old versions are removed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	NoncurrentVersionExpirationDays *int32 `json:"noncurrentVersionExpirationDays,omitempty"`
	// AbortIncompleteMultipartUploadDays after which parts of unfinished uploads are removed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	AbortIncompleteMultipartUploadDays *int32 `json:"abortIncompleteMultipartUploadDays,omitempty"`
	// Transitions move current objects to other storage classes.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	Transitions []LifecycleTransition `json:"transitions,omitempty"`
}

// LifecycleTransition moves objects by age.
// +kubebuilder:validation:XValidation:rule="!(self.storageClass in ['STANDARD_IA', 'ONEZONE_IA']) || self.days >= 30",message="days: S3 moves objects to STANDARD_IA and ONEZONE_IA after at least 30 days"
type LifecycleTransition struct {
	// Days since the object was created.
	// +kubebuilder:validation:Minimum=0
	Days int32 `json:"days"`
	// StorageClass to move to.
	// +kubebuilder:validation:Enum=GLACIER;DEEP_ARCHIVE;INTELLIGENT_TIERING;STANDARD_IA;ONEZONE_IA;GLACIER_IR
	StorageClass string `json:"storageClass"`
}

// GlueSpec declares the catalog of the call data: a database, the tables call_records and wxcc_calls,
// and a crawler over the bucket call-data.
type GlueSpec struct {
	// Enabled; default true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Crawler finds partitions and tables.
	// +optional
	Crawler *CrawlerSpec `json:"crawler,omitempty"`
}

// CrawlerSpec declares the crawler.
type CrawlerSpec struct {
	// Enabled; default true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Schedule, such as cron(15 12 * * ? *); default on demand.
	// https://docs.aws.amazon.com/glue/latest/dg/monitor-data-warehouse-schedule.html
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^(cron[(].+[)])?$`
	Schedule string `json:"schedule,omitempty"`
}
