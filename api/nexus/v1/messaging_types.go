// SPDX-License-Identifier: Apache-2.0

package v1

// QueueSpec declares one queue of SQS by its purpose: {capabilityName}-{environment}-{name}, encrypted by SQS, with long
// polling. A queue that was deleted outside the operator is created again, empty.
// +kubebuilder:validation:XValidation:rule="(has(self.fifo) && self.fifo) == (has(oldSelf.fifo) && oldSelf.fifo)",message="fifo is immutable: declare a queue of another name"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.fifo)",message="fifo is about a store that the operator creates: remove it, or existing",fieldPath=".fifo"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.visibilityTimeoutSeconds)",message="visibilityTimeoutSeconds is about a store that the operator creates: remove it, or existing",fieldPath=".visibilityTimeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.messageRetentionSeconds)",message="messageRetentionSeconds is about a store that the operator creates: remove it, or existing",fieldPath=".messageRetentionSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.deadLetter)",message="deadLetter is about a store that the operator creates: remove it, or existing",fieldPath=".deadLetter"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.forceDestroy)",message="forceDestroy is about a store that the operator creates: remove it, or existing",fieldPath=".forceDestroy"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(oldSelf.existing) || self.existing == oldSelf.existing",message="existing is immutable: declare another entry for another store",fieldPath=".existing"
type QueueSpec struct {
	// Name is the purpose: the workloads find the queue by it. Names that end in -dlq are those of dead-letter queues.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=28
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!self.endsWith('-dlq')",message="names that end in -dlq are those of dead-letter queues"
	Name string `json:"name"`
	// FIFO keeps the order of messages and delivers each once; the name of the queue in AWS then ends in .fifo. Default
	// false. Immutable.
	// +optional
	FIFO bool `json:"fifo,omitempty"`
	// VisibilityTimeoutSeconds is the time for which a received message is invisible to others, 0 to 43200; default 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=43200
	VisibilityTimeoutSeconds *int32 `json:"visibilityTimeoutSeconds,omitempty"`
	// MessageRetentionSeconds is the time for which SQS keeps a message, 60 to 1209600; default 345600, four days. A shorter time
	// deletes messages that are older.
	// +optional
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=1209600
	MessageRetentionSeconds *int32 `json:"messageRetentionSeconds,omitempty"`
	// DeadLetter adds the queue {capabilityName}-{environment}-{name}-dlq for messages that no consumer could process, and
	// keeps them for 14 days. Absent: none.
	// +optional
	DeadLetter *DeadLetterSpec `json:"deadLetter,omitempty"`
	// ForceDestroy deletes the queue together with the messages in it when the capability is deleted; default is to wait
	// until it is empty.
	// +optional
	ForceDestroy bool `json:"forceDestroy,omitempty"`
	// Existing names a queue that exists already and that the capability uses without owning it; the entry then has no other field but name.
	// Rights on it need spec.allowedExternalARNs of the AWSProvider. Absent: the operator creates the queue.
	// +optional
	Existing *ExistingStore `json:"existing,omitempty"`
}

// DeadLetterSpec says when a message is put aside.
type DeadLetterSpec struct {
	// MaxReceiveCount is the number of times a message is received before it is moved, 1 to 1000; default 5.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxReceiveCount *int32 `json:"maxReceiveCount,omitempty"`
}

// TopicSpec declares one topic of SNS by its purpose: {capabilityName}-{environment}-{name}. Only identities of its account
// publish to it, as far as their own policies allow.
// +kubebuilder:validation:XValidation:rule="(has(self.fifo) && self.fifo) == (has(oldSelf.fifo) && oldSelf.fifo)",message="fifo is immutable: declare a topic of another name"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.fifo)",message="fifo is about a store that the operator creates: remove it, or existing",fieldPath=".fifo"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.subscribeQueues)",message="subscribeQueues is about a store that the operator creates: remove it, or existing",fieldPath=".subscribeQueues"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(oldSelf.existing) || self.existing == oldSelf.existing",message="existing is immutable: declare another entry for another store",fieldPath=".existing"
type TopicSpec struct {
	// Name is the purpose: the workloads find the topic by it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// FIFO keeps the order of messages; the name of the topic in AWS then ends in .fifo. Default false. Immutable.
	// +optional
	FIFO bool `json:"fifo,omitempty"`
	// SubscribeQueues are the names of queues of this capability that get every message of the topic. A FIFO queue needs a
	// FIFO topic. Absent: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	SubscribeQueues []QueueName `json:"subscribeQueues,omitempty"`
	// Existing names a topic that exists already and that the capability uses without owning it; the entry then has no other field but name.
	// Rights on it need spec.allowedExternalARNs of the AWSProvider. Absent: the operator creates the topic.
	// +optional
	Existing *ExistingStore `json:"existing,omitempty"`
}

// QueueName is the name of a queue of dataServices.queues.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=28
// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
type QueueName string
