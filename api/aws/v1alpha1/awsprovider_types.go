// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AWSProviderSpec says which account and region are reached, and as whom.
// +kubebuilder:validation:XValidation:rule="has(self.accessKeyIDRef) == has(self.secretAccessKeyRef)",message="accessKeyIDRef and secretAccessKeyRef go together: set both or neither"
// +kubebuilder:validation:XValidation:rule="!has(self.credentialsSecret) || !has(self.accessKeyIDRef)",message="set credentialsSecret or the key references, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.externalID) || has(self.roleARN) || has(self.assumeRoleARN)",message="externalID needs roleARN or assumeRoleARN"
// +kubebuilder:validation:XValidation:rule="!(has(self.roleARN) && has(self.assumeRoleARN)) || !has(self.sessionDuration) || duration(self.sessionDuration) <= duration('1h')",message="role chaining caps sessionDuration at 1h"
type AWSProviderSpec struct {
	// Region is the region of the resources, such as ap-southeast-1. Immutable.
	// +kubebuilder:validation:Pattern=`^[a-z]{2}(-[a-z]+)+-[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="region is immutable: create another AWSProvider"
	Region string `json:"region"`
	// CredentialsSecret holds AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and optionally AWS_SESSION_TOKEN. It is a Secret of the provider's
	// namespace, or one of the operator's namespace whose annotation nexus.ai/allowed-namespaces lists the provider's, or a pattern of it.
	// +optional
	CredentialsSecret *SecretReference `json:"credentialsSecret,omitempty"`
	// AccessKeyIDRef and SecretAccessKeyRef name the two keys one by one.
	// +optional
	AccessKeyIDRef *SecretKeyReference `json:"accessKeyIDRef,omitempty"`
	// SecretAccessKeyRef goes with accessKeyIDRef.
	// +optional
	SecretAccessKeyRef *SecretKeyReference `json:"secretAccessKeyRef,omitempty"`
	// RoleARN is the role to act as: used as is when the base identity already is that role, assumed otherwise.
	// +optional
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$`
	// +kubebuilder:validation:MaxLength=2048
	RoleARN string `json:"roleARN,omitempty"`
	// SessionDuration of an assumed role, 15m to 12h; default 1h.
	// +optional
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('15m') && duration(self) <= duration('12h')",message="sessionDuration is between 15m and 12h"
	SessionDuration *metav1.Duration `json:"sessionDuration,omitempty"`
	// AssumeRoleARN is a second hop, assumed with the identity that roleARN gave.
	// +optional
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$`
	// +kubebuilder:validation:MaxLength=2048
	AssumeRoleARN string `json:"assumeRoleARN,omitempty"`
	// ExternalID must equal status.externalID unless the operator runs with --allow-custom-external-id.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1224
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+=,.@:/_-]+$`
	ExternalID string `json:"externalID,omitempty"`
	// Endpoint replaces the AWS endpoints; allowed only where the operator's --allowed-endpoints matches.
	// +optional
	// +kubebuilder:validation:Pattern=`^https?://[^\s]+$`
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`
	// DefaultTags are set on every resource of every kind made through this provider.
	// +optional
	// +kubebuilder:validation:MaxProperties=40
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) >= 1 && size(k) <= 128 && !k.lowerAscii().startsWith('aws:') && !k.lowerAscii().startsWith('nexus.ai/'))",message="a tag key has 1 to 128 characters and does not begin with aws: or nexus.ai/, in upper or lower case: tag keys of IAM are not case-sensitive"
	DefaultTags map[string]TagValue `json:"defaultTags,omitempty"`
	// AllowedAccountIDs refuses credentials of any other account.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	AllowedAccountIDs []AccountID `json:"allowedAccountIDs,omitempty"`
	// PermissionsBoundaryARN is put on every role made through this provider, and replaces another boundary of the role.
	// Absent: a role has the boundary that it declares. Clearing the field removes no boundary from a role in AWS.
	// +optional
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/.+$`
	// +kubebuilder:validation:MaxLength=2048
	PermissionsBoundaryARN string `json:"permissionsBoundaryARN,omitempty"`
	// RolePathPrefix is the path under which every role made through this provider lies.
	// +optional
	// +kubebuilder:validation:Pattern=`^/([\x21-\x7e]+/)?$`
	// +kubebuilder:validation:MaxLength=512
	RolePathPrefix string `json:"rolePathPrefix,omitempty"`
	// AllowAdoption lets objects of every kind with adoptionPolicy Always take resources without an owner. Prefer adoptableKinds, which
	// names the kinds.
	// +optional
	AllowAdoption bool `json:"allowAdoption,omitempty"`
	// AdoptableKinds are the kinds whose objects with adoptionPolicy Always may take resources without an owner, such as S3Bucket. With
	// an entry, the list alone decides; absent or empty, allowAdoption does, for all kinds.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=set
	AdoptableKinds []KindName `json:"adoptableKinds,omitempty"`
	// Types are the resource types that AWSResource objects may manage through this provider, of those that --types of the operator
	// allows: names, or patterns that end in ::*, such as AWS::Kinesis::*. Absent or empty: all of those.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=set
	Types []TypePattern `json:"types,omitempty"`
	// AllowedExternalARNs are the ARNs of tables, buckets, queues, topics, secrets and roles, made outside the capability, that capabilities
	// may give their workloads rights on by the field existing, such as arn:aws:dynamodb:eu-west-1:111122223333:table/orders-*. A * stands
	// for any characters within one part of the ARN; service and account are exact. --allowed-external-arns of the operator may limit them
	// further. A store that another object of the operator owns needs its ARN here in full, and one that an object of another namespace owns
	// also there. So do roles, always. Absent or empty: none.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=set
	AllowedExternalARNs []ExternalARNPattern `json:"allowedExternalARNs,omitempty"`
	// DriftEvents names a queue that reports changes made through AWS's API in the provider's account, so that the objects of the provider's
	// namespace are checked within seconds. Absent: changes are found by periodic checks, or by the queue of the operator.
	// +optional
	DriftEvents *DriftEventsSpec `json:"driftEvents,omitempty"`
}

// DriftEventsSpec names a queue that receives CloudTrail's events from EventBridge.
type DriftEventsSpec struct {
	// QueueURL is the URL of the SQS queue, which the identity of the provider reads. Each AWSProvider needs a separate queue, because a
	// message reaches one reader only. The queue is in the region of the provider.
	// +kubebuilder:validation:Pattern=`^https?://[A-Za-z0-9.:-]+/[0-9]{12}/[A-Za-z0-9_-]{1,80}$`
	// +kubebuilder:validation:MaxLength=512
	QueueURL string `json:"queueURL"`
}

// TypePattern is the name of an AWS resource type, or the types of a service.
// +kubebuilder:validation:Pattern=`^AWS::[A-Za-z0-9]{1,64}::([A-Za-z0-9]{1,64}|\*)$`
// +kubebuilder:validation:MaxLength=140
type TypePattern string

// ExternalARNPattern is an ARN, or a pattern of ARNs in which * stands for any characters within one part.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=768
// +kubebuilder:validation:XValidation:rule="self.matches('^arn:aws(-[a-z]+)*:(s3:::[a-z0-9.*-]+|dynamodb:[a-z0-9*-]+:[0-9]{12}:table/[A-Za-z0-9_.*-]+|(sqs|sns):[a-z0-9*-]+:[0-9]{12}:[A-Za-z0-9_.*-]+|secretsmanager:[a-z0-9*-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@*-]+|iam::[0-9]{12}:role/[A-Za-z0-9/_+=,.@*-]+)$')",message="must be the ARN of a table, bucket, queue, topic, secret or role with its account number, such as arn:aws:dynamodb:eu-west-1:111122223333:table/orders-*, in which * stands for characters of one part"
type ExternalARNPattern string

// KindName is the name of a kind of this API group.
// +kubebuilder:validation:Pattern=`^[A-Z][A-Za-z0-9]*$`
// +kubebuilder:validation:MaxLength=63
type KindName string

// AllowsAdoptionOf reports whether objects of a kind may take resources without an owner.
func (s AWSProviderSpec) AllowsAdoptionOf(kind string) bool {
	if len(s.AdoptableKinds) == 0 {
		return s.AllowAdoption
	}
	return slices.Contains(s.AdoptableKinds, KindName(kind))
}

// AccountID is a 12-digit AWS account number.
// +kubebuilder:validation:Pattern=`^[0-9]{12}$`
type AccountID string

// AWSProviderStatus reports who the provider turned out to be.
type AWSProviderStatus struct {
	// Ready repeats the Ready condition as a boolean.
	// +optional
	Ready bool `json:"ready"`
	// Conditions are Ready, Reconciling, Stalled, InUse and DriftEvents.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// AccountID is the account that STS GetCallerIdentity named.
	// +optional
	AccountID string `json:"accountID,omitempty"`
	// CallerIdentity is the ARN that STS GetCallerIdentity named, without the name of a session that changes when the operator
	// restarts, such as that of EKS Pod Identity.
	// +optional
	CallerIdentity string `json:"callerIdentity,omitempty"`
	// Partition is aws, aws-cn or aws-us-gov.
	// +optional
	Partition string `json:"partition,omitempty"`
	// ExternalID is the external ID with which the operator assumes a role: put it in the role's trust policy.
	// +optional
	ExternalID string `json:"externalID,omitempty"`
	// LastAuthenticationTime is the time at which this identity was first seen to work; written only with another change.
	// +optional
	LastAuthenticationTime *metav1.Time `json:"lastAuthenticationTime,omitempty"`
	// LastSyncTime is the time of the last change of the status; checks that find nothing new do not touch it.
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`
	// LastHandledReconcileAt repeats the annotation nexus.ai/reconcile-requested-at that was last served.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// AWSProvider is an account, a region and an identity to reach them with.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=awsp,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.spec.region`
// +kubebuilder:printcolumn:name="Account",type=string,JSONPath=`.status.accountID`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="InUse",type=string,JSONPath=`.status.conditions[?(@.type=="InUse")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AWSProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AWSProviderSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status AWSProviderStatus `json:"status,omitempty"`
}

// AWSProviderList is a list of AWSProvider.
// +kubebuilder:object:root=true
type AWSProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AWSProvider `json:"items"`
}
