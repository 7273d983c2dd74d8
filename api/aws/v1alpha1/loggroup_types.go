// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LogGroupSpec declares a log group.
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyId) || !has(self.kmsKeyRef)",message="kmsKeyId and kmsKeyRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.retentionInDays) || !has(self.logGroupClass) || self.logGroupClass != 'DELIVERY'",message="retentionInDays cannot be set with logGroupClass DELIVERY: CloudWatch Logs keeps the events of that class for a day"
// +kubebuilder:validation:XValidation:rule="has(self.logGroupClass) == has(oldSelf.logGroupClass) && (!has(self.logGroupClass) || self.logGroupClass == oldSelf.logGroupClass)",message="logGroupClass is immutable: create another log group"
type LogGroupSpec struct {
	CommonSpec `json:",inline"`

	// LogGroupName is unique in account and region: 1 to 512 letters, digits and characters of . - _ / #. Names that begin with aws/ belong
	// to AWS. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[\.\-_/#A-Za-z0-9]+$`
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('aws/')",message="names that begin with aws/ belong to AWS"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="logGroupName is immutable"
	LogGroupName string `json:"logGroupName"`
	// LogGroupClass is STANDARD, INFREQUENT_ACCESS, with fewer features for a lower price, or DELIVERY, for logs of Lambda that are only
	// delivered to S3 or Firehose. Absent: not managed; CloudWatch Logs creates log groups with STANDARD. Immutable.
	// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch_Logs_Log_Classes.html
	// +optional
	// +kubebuilder:validation:Enum=STANDARD;INFREQUENT_ACCESS;DELIVERY
	LogGroupClass *string `json:"logGroupClass,omitempty"`
	// RetentionInDays is the time for which CloudWatch Logs keeps events; 0 keeps them without a limit. A shorter time deletes events that
	// are older. Absent: not managed; CloudWatch Logs creates log groups without a limit. Where a retention policy of the account decides
	// instead, status.retentionPolicyName names it.
	// +optional
	// +kubebuilder:validation:Enum=0;1;3;5;7;14;30;60;90;120;150;180;365;400;545;731;1096;1827;2192;2557;2922;3288;3653
	RetentionInDays *int32 `json:"retentionInDays,omitempty"`
	// KMSKeyID is the ARN of the symmetric KMS key that encrypts new events; its key policy must allow CloudWatch Logs to use it. Events keep
	// the key that they were encrypted with. Absent: not managed; "" ends the encryption with a KMS key.
	// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^(arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+)?$`
	KMSKeyID *string `json:"kmsKeyId,omitempty" names:"kms:key"`
	// KMSKeyRef names a KMSKey of the same namespace instead.
	// +optional
	KMSKeyRef *ObjectReference `json:"kmsKeyRef,omitempty"`
	// DeletionProtectionEnabled makes CloudWatch Logs refuse to delete the log group. To delete a protected log group, set it to false: the
	// deletion then lifts the protection. Absent: not managed; CloudWatch Logs creates log groups with false.
	// +optional
	DeletionProtectionEnabled *bool `json:"deletionProtectionEnabled,omitempty"`
	// RecreateOnLoss creates the log group again, empty, when it was deleted outside the operator; the default is to report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// LogGroupStatus reports the log group.
type LogGroupStatus struct {
	CommonStatus `json:",inline"`
	// LogGroupARN repeats arn: the ARN without ":*" at its end, which names the log group itself, as for tags and for the settings of other
	// services. An IAM policy for actions on its log streams and events needs ":*" behind it.
	// +optional
	LogGroupARN string `json:"logGroupArn,omitempty"`
	// RetentionPolicyName is the name of the retention policy of the account that decides instead of retentionInDays; empty for none.
	// +optional
	RetentionPolicyName string `json:"retentionPolicyName,omitempty"`
}

// LogGroup is a log group of CloudWatch Logs.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=loggroups,shortName=loggrp,categories={nexus,aws}
// +kubebuilder:printcolumn:name="LogGroup",type=string,JSONPath=`.spec.logGroupName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type LogGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LogGroupSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status LogGroupStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *LogGroup) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *LogGroup) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether a log group that no longer exists is created again, empty.
func (o *LogGroup) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ReferableAttributes returns what objects that refer to the log group can use beside its ID and ARN.
func (o *LogGroup) ReferableAttributes() map[string]string {
	return map[string]string{"logGroupName": o.Spec.LogGroupName}
}

// LogGroupList is a list of LogGroup.
// +kubebuilder:object:root=true
type LogGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []LogGroup `json:"items"`
}
