// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SQSQueueSpec declares a queue.
// +kubebuilder:validation:XValidation:rule="(has(self.fifoQueue) && self.fifoQueue) == self.queueName.endsWith('.fifo')",message="fifoQueue is true exactly where queueName ends in .fifo"
// +kubebuilder:validation:XValidation:rule="has(self.fifoQueue) && self.fifoQueue || !has(self.deduplicationScope) && !has(self.fifoThroughputLimit) && (!has(self.contentBasedDeduplication) || !self.contentBasedDeduplication)",message="contentBasedDeduplication, deduplicationScope and fifoThroughputLimit need fifoQueue: true"
// +kubebuilder:validation:XValidation:rule="!has(self.fifoThroughputLimit) || self.fifoThroughputLimit != 'perMessageGroupId' || has(self.deduplicationScope) && self.deduplicationScope == 'messageGroup'",message="fifoThroughputLimit perMessageGroupId needs deduplicationScope messageGroup"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsMasterKeyId) || !has(self.kmsMasterKeyRef)",message="kmsMasterKeyId and kmsMasterKeyRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.sqsManagedSseEnabled) || !self.sqsManagedSseEnabled || !has(self.kmsMasterKeyRef) && (!has(self.kmsMasterKeyId) || size(self.kmsMasterKeyId) == 0)",message="sqsManagedSseEnabled and kmsMasterKeyId exclude each other: a queue has one type of encryption"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsDataKeyReusePeriodSeconds) || has(self.kmsMasterKeyRef) || has(self.kmsMasterKeyId) && size(self.kmsMasterKeyId) > 0",message="kmsDataKeyReusePeriodSeconds needs kmsMasterKeyId or kmsMasterKeyRef"
// +kubebuilder:validation:XValidation:rule="!has(self.deadLetterQueue) || !has(self.deadLetterQueue.targetArn) || self.deadLetterQueue.targetArn.endsWith('.fifo') == self.queueName.endsWith('.fifo')",message="the dead-letter queue of a FIFO queue is a FIFO queue, and that of a standard queue a standard queue"
type SQSQueueSpec struct {
	CommonSpec `json:",inline"`

	// QueueName is unique in account and region: 1 to 80 letters, digits, hyphens and underscores, of which the
	// last five of a FIFO queue are .fifo. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]+([.]fifo)?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="queueName is immutable"
	QueueName string `json:"queueName"`
	// FifoQueue makes a queue that keeps the order of messages and delivers each once; its name ends in .fifo.
	// Default false. Immutable, as the name is.
	// +optional
	FifoQueue bool `json:"fifoQueue,omitempty"`
	// ContentBasedDeduplication lets SQS derive the deduplication ID of a message from its body. Only FIFO
	// queues. Absent: not managed; AWS creates queues with false.
	// +optional
	ContentBasedDeduplication *bool `json:"contentBasedDeduplication,omitempty"`
	// DeduplicationScope is queue, or messageGroup to recognize duplicates within a message group only. Only
	// FIFO queues. Absent: not managed; AWS creates queues with queue.
	// +optional
	// +kubebuilder:validation:Enum=queue;messageGroup
	DeduplicationScope *string `json:"deduplicationScope,omitempty"`
	// FifoThroughputLimit is perQueue, or perMessageGroupId for high throughput. Only FIFO queues. Absent: not
	// managed; AWS creates queues with perQueue.
	// +optional
	// +kubebuilder:validation:Enum=perQueue;perMessageGroupId
	FifoThroughputLimit *string `json:"fifoThroughputLimit,omitempty"`
	// DelaySeconds is the time for which new messages stay invisible, 0 to 900 seconds. Absent: not managed; AWS creates
	// queues with 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=900
	DelaySeconds *int32 `json:"delaySeconds,omitempty"`
	// MaximumMessageSize in bytes, 1024 to 1048576. Absent: not managed; AWS creates queues with its maximum.
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=1048576
	MaximumMessageSize *int32 `json:"maximumMessageSize,omitempty"`
	// MessageRetentionPeriod is the time for which SQS keeps a message, 60 to 1209600 seconds. Absent: not managed; AWS
	// creates queues with 345600, four days. A shorter period deletes messages that are older.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=1209600
	MessageRetentionPeriod *int32 `json:"messageRetentionPeriod,omitempty"`
	// VisibilityTimeout is the time for which a received message is invisible to others, 0 to 43200 seconds. Absent: not
	// managed; AWS creates queues with 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=43200
	VisibilityTimeout *int32 `json:"visibilityTimeout,omitempty"`
	// ReceiveMessageWaitTimeSeconds is the time for which a receive call waits for a message, 0 to 20 seconds; more than 0
	// is long polling. Absent: not managed; AWS creates queues with 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	ReceiveMessageWaitTimeSeconds *int32 `json:"receiveMessageWaitTimeSeconds,omitempty"`
	// DeadLetterQueue gets the messages that were received too often. Absent: not managed; {} removes the setting.
	// +optional
	DeadLetterQueue *SQSDeadLetterQueue `json:"deadLetterQueue,omitempty"`
	// KMSMasterKeyID is the ID, the ARN or the alias of the KMS key that encrypts the messages, such as
	// alias/aws/sqs. Absent: not managed; "" ends the encryption with a KMS key.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	KMSMasterKeyID *string `json:"kmsMasterKeyId,omitempty" names:"kms:key"`
	// KMSMasterKeyRef names a KMSKey of the same namespace instead.
	// +optional
	KMSMasterKeyRef *ObjectReference `json:"kmsMasterKeyRef,omitempty"`
	// KMSDataKeyReusePeriodSeconds is the time for which SQS uses a data key before it asks KMS again, 60 to 86400 seconds.
	// Absent: not managed; AWS's default is 300.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	KMSDataKeyReusePeriodSeconds *int32 `json:"kmsDataKeyReusePeriodSeconds,omitempty"`
	// SQSManagedSSEEnabled encrypts the messages with a key of SQS. Absent: not managed; AWS creates queues
	// without a KMS key with true.
	// +optional
	SQSManagedSSEEnabled *bool `json:"sqsManagedSseEnabled,omitempty"`
	// Policy is the access policy of the queue, a document in JSON. Name users and roles by ARN, not by unique ID.
	// Absent: not managed; "" removes it.
	// +optional
	// +kubebuilder:validation:MaxLength=20480
	Policy *string `json:"policy,omitempty"`
	// ForceDestroy deletes the queue together with the messages in it when the object is deleted. Without it, the
	// deletion of a queue that holds messages waits.
	// +optional
	ForceDestroy bool `json:"forceDestroy,omitempty"`
	// RecreateOnLoss creates the queue again, empty, when it was deleted outside the operator; the default is to
	// report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// SQSDeadLetterQueue names the queue that gets the messages that no consumer deleted.
// +kubebuilder:validation:XValidation:rule="!has(self.targetArn) || !has(self.targetRef)",message="targetArn and targetRef exclude each other"
// +kubebuilder:validation:XValidation:rule="(has(self.targetArn) || has(self.targetRef)) == has(self.maxReceiveCount)",message="a dead-letter queue needs maxReceiveCount and one of targetArn and targetRef"
type SQSDeadLetterQueue struct {
	// TargetARN is the ARN of a queue in the same account and region.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+([.]fifo)?$`
	TargetARN string `json:"targetArn,omitempty" names:"arn"`
	// TargetRef names an SQSQueue of the same namespace instead.
	// +optional
	TargetRef *ObjectReference `json:"targetRef,omitempty"`
	// MaxReceiveCount is the number of times a message is received before it is moved, 1 to 1000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxReceiveCount *int32 `json:"maxReceiveCount,omitempty"`
}

// SQSQueueStatus reports the queue.
type SQSQueueStatus struct {
	CommonStatus `json:",inline"`
	// QueueURL is the address to which clients send messages, as SQS returned it.
	// +optional
	QueueURL string `json:"queueURL,omitempty"`
	// QueueARN repeats arn.
	// +optional
	QueueARN string `json:"queueARN,omitempty"`
}

// SQSQueue is a message queue.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=sqs,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Queue",type=string,JSONPath=`.spec.queueName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="URL",type=string,priority=1,JSONPath=`.status.queueURL`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.deadLetterQueue) || !has(self.spec.deadLetterQueue.targetRef) || self.spec.deadLetterQueue.targetRef.name != self.metadata.name",message="a queue cannot be its own dead-letter queue"
type SQSQueue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SQSQueueSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status SQSQueueStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *SQSQueue) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *SQSQueue) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether a queue that no longer exists is created again, empty.
func (o *SQSQueue) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ReferableAttributes returns what objects that refer to the queue can use beside its ID and ARN.
func (o *SQSQueue) ReferableAttributes() map[string]string {
	return map[string]string{"queueURL": o.Status.QueueURL}
}

// SQSQueueList is a list of SQSQueue.
// +kubebuilder:object:root=true
type SQSQueueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SQSQueue `json:"items"`
}
