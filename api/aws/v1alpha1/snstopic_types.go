// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SNSTopicSpec declares a topic with its subscriptions.
// +kubebuilder:validation:XValidation:rule="(has(self.fifoTopic) && self.fifoTopic) == self.topicName.endsWith('.fifo')",message="fifoTopic is true exactly where topicName ends in .fifo"
// +kubebuilder:validation:XValidation:rule="has(self.fifoTopic) && self.fifoTopic || !has(self.contentBasedDeduplication) || !self.contentBasedDeduplication",message="contentBasedDeduplication needs fifoTopic: true"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsMasterKeyId) || !has(self.kmsMasterKeyRef)",message="kmsMasterKeyId and kmsMasterKeyRef exclude each other"
type SNSTopicSpec struct {
	CommonSpec `json:",inline"`

	// TopicName is unique in account and region: 1 to 256 letters, digits, hyphens and underscores, of which the
	// last five of a FIFO topic are .fifo. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]+([.]fifo)?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="topicName is immutable"
	TopicName string `json:"topicName"`
	// FifoTopic makes a topic that keeps the order of messages; its name ends in .fifo. Default false. Immutable,
	// as the name is.
	// +optional
	FifoTopic bool `json:"fifoTopic,omitempty"`
	// ContentBasedDeduplication lets SNS derive the deduplication ID of a message from its body. Only FIFO
	// topics. Absent: not managed; AWS creates topics with false.
	// +optional
	ContentBasedDeduplication *bool `json:"contentBasedDeduplication,omitempty"`
	// DisplayName is the sender of text messages and emails. Absent: not managed; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	DisplayName *string `json:"displayName,omitempty"`
	// KMSMasterKeyID is the ID, the ARN or the alias of the KMS key that encrypts the messages, such as
	// alias/aws/sns. Absent: not managed; "" ends the encryption.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	KMSMasterKeyID *string `json:"kmsMasterKeyId,omitempty" names:"kms:key"`
	// KMSMasterKeyRef names a KMSKey of the same namespace instead.
	// +optional
	KMSMasterKeyRef *ObjectReference `json:"kmsMasterKeyRef,omitempty"`
	// DeliveryPolicy says how deliveries to HTTP endpoints are retried, a document in JSON. Absent: not managed;
	// "" restores AWS's default.
	// +optional
	// +kubebuilder:validation:MaxLength=30720
	DeliveryPolicy *string `json:"deliveryPolicy,omitempty"`
	// Policy is the access policy of the topic, a document in JSON. Name users and roles by ARN, not by unique ID.
	// Absent: not managed; a topic always has a policy, so that it cannot be cleared.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=30720
	Policy *string `json:"policy,omitempty"`
	// Subscriptions are endpoints that get the messages of the topic. A subscription that the operator made is
	// removed when it is dropped from the list. Subscriptions that others made stay, and are not listed.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	Subscriptions []SNSSubscription `json:"subscriptions,omitempty"`
}

// SNSSubscription is one endpoint that gets the messages of a topic.
// +kubebuilder:validation:XValidation:rule="has(self.endpoint) != has(self.queueRef)",message="a subscription needs exactly one of endpoint and queueRef"
// +kubebuilder:validation:XValidation:rule="!has(self.queueRef) || self.protocol == 'sqs'",message="queueRef needs protocol sqs"
// +kubebuilder:validation:XValidation:rule="!has(self.deadLetterQueueArn) || !has(self.deadLetterQueueRef)",message="deadLetterQueueArn and deadLetterQueueRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.filterPolicyScope) || has(self.filterPolicy)",message="filterPolicyScope needs filterPolicy: SNS shows no scope of a subscription without a filter policy"
// +kubebuilder:validation:XValidation:rule="[has(self.subscriptionRoleArn), has(self.subscriptionRoleRef)].filter(x, x).size() == (self.protocol == 'firehose' ? 1 : 0)",message="protocol firehose, and no other, needs exactly one of subscriptionRoleArn and subscriptionRoleRef"
type SNSSubscription struct {
	// Protocol of the endpoint.
	// +kubebuilder:validation:Enum=http;https;email;"email-json";sms;sqs;lambda;application;firehose
	Protocol string `json:"protocol"`
	// Endpoint is the ARN of a queue or a function, a URL, an email address or a phone number.
	// SNS asks the owners of URLs and addresses to confirm the subscription.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^[^\s]+$`
	Endpoint string `json:"endpoint,omitempty" names:"arn"`
	// QueueRef names an SQSQueue of the same namespace instead, with protocol sqs. The policy of the queue must
	// allow SNS to send messages.
	// +optional
	QueueRef *ObjectReference `json:"queueRef,omitempty"`
	// FilterPolicy selects messages, a document in JSON. Absent: not managed; "" lets every message pass.
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	FilterPolicy *string `json:"filterPolicy,omitempty"`
	// FilterPolicyScope says what the filter policy looks at. It needs filterPolicy, and has no effect while that is empty.
	// Absent: not managed; AWS's default is MessageAttributes.
	// +optional
	// +kubebuilder:validation:Enum=MessageAttributes;MessageBody
	FilterPolicyScope *string `json:"filterPolicyScope,omitempty"`
	// RawMessageDelivery delivers messages without SNS's envelope. Absent: not managed; AWS's default is false.
	// +optional
	RawMessageDelivery *bool `json:"rawMessageDelivery,omitempty"`
	// DeadLetterQueueARN is the ARN of the queue for messages that could not be delivered. Absent: not managed;
	// "" removes the setting.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	DeadLetterQueueARN *string `json:"deadLetterQueueArn,omitempty" names:"arn"`
	// DeadLetterQueueRef names an SQSQueue of the same namespace instead.
	// +optional
	DeadLetterQueueRef *ObjectReference `json:"deadLetterQueueRef,omitempty"`
	// SubscriptionRoleARN is the ARN of the role that SNS assumes to put messages into a stream of protocol firehose. Its
	// trust policy must allow sns.amazonaws.com to assume it. It must lie under the provider's rolePathPrefix, and a provider
	// with a permissionsBoundaryARN allows none: use subscriptionRoleRef instead.
	// https://docs.aws.amazon.com/sns/latest/dg/prereqs-kinesis-data-firehose.html
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:iam::[0-9]{12}:role/`
	SubscriptionRoleARN string `json:"subscriptionRoleArn,omitempty" names:"iam:role"`
	// SubscriptionRoleRef names an IAMRole of the same namespace instead; one that only observes a role cannot be used.
	// +optional
	SubscriptionRoleRef *ObjectReference `json:"subscriptionRoleRef,omitempty"`
}

// SNSTopicStatus reports the topic.
type SNSTopicStatus struct {
	CommonStatus `json:",inline"`
	// TopicARN repeats arn.
	// +optional
	TopicARN string `json:"topicArn,omitempty"`
	// SubscriptionARNs are the ARNs of the declared subscriptions that are confirmed.
	// +optional
	// +kubebuilder:validation:MaxItems=200
	SubscriptionARNs []string `json:"subscriptionArns,omitempty"`
	// SubscriptionsConfirmed counts the declared subscriptions that are confirmed.
	// +optional
	SubscriptionsConfirmed int32 `json:"subscriptionsConfirmed,omitempty"`
	// SubscriptionsPending counts the declared subscriptions whose endpoints have not confirmed them.
	// +optional
	SubscriptionsPending int32 `json:"subscriptionsPending,omitempty"`
	// ManagedSubscriptions are the protocols and endpoints of the subscriptions that the operator made.
	// +optional
	// +kubebuilder:validation:MaxItems=200
	ManagedSubscriptions []string `json:"managedSubscriptions,omitempty"`
}

// SNSTopic is a topic of the Simple Notification Service.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=sns,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Topic",type=string,JSONPath=`.spec.topicName`
// +kubebuilder:printcolumn:name="Subscriptions",type=integer,JSONPath=`.status.subscriptionsConfirmed`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type SNSTopic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SNSTopicSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status SNSTopicStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *SNSTopic) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *SNSTopic) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// SNSTopicList is a list of SNSTopic.
// +kubebuilder:object:root=true
type SNSTopicList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SNSTopic `json:"items"`
}

// ConditionSubscriptionsConfirmed is False while declared subscriptions wait until their endpoints confirm them.
const ConditionSubscriptionsConfirmed = "SubscriptionsConfirmed"
