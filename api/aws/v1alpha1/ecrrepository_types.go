// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ECRRepositorySpec declares a private repository for container images.
// +kubebuilder:validation:XValidation:rule="has(self.encryptionConfiguration) == has(oldSelf.encryptionConfiguration) && (!has(self.encryptionConfiguration) || self.encryptionConfiguration == oldSelf.encryptionConfiguration)",message="encryptionConfiguration is immutable: create another repository and push the images there"
type ECRRepositorySpec struct {
	CommonSpec `json:",inline"`

	// RepositoryName is unique in account and region: 2 to 256 lowercase letters, digits and single separators
	// (. _ - /), and begins with a letter or a digit. Immutable.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="repositoryName is immutable"
	RepositoryName string `json:"repositoryName"`
	// ImageTagMutability decides whether a push may move a tag to another image. Absent: not managed; ECR creates
	// repositories with MUTABLE.
	// +optional
	// +kubebuilder:validation:Enum=MUTABLE;IMMUTABLE
	ImageTagMutability *string `json:"imageTagMutability,omitempty"`
	// ScanOnPush scans each image for vulnerabilities when it is pushed. Where the registry has a scanning
	// configuration, ECR follows that one instead. Absent: not managed; ECR creates repositories with false.
	// +optional
	ScanOnPush *bool `json:"scanOnPush,omitempty"`
	// EncryptionConfiguration says with what key ECR encrypts the images. Absent: AES256. Immutable.
	// +optional
	EncryptionConfiguration *ECREncryption `json:"encryptionConfiguration,omitempty"`
	// LifecyclePolicy says which images ECR deletes, and when. Absent: not managed; an empty policyText removes the
	// policy.
	// +optional
	LifecyclePolicy *ECRLifecyclePolicy `json:"lifecyclePolicy,omitempty"`
	// RepositoryPolicy says who may pull and push images, a document in JSON. Name users and roles by ARN, not by
	// unique ID. Absent: not managed; "" removes it. The statement LambdaECRImageRetrievalPolicy, which Lambda adds for functions of
	// an image, stays unless the policy has one of that Sid.
	// +optional
	// +kubebuilder:validation:MaxLength=10240
	RepositoryPolicy *string `json:"repositoryPolicy,omitempty"`
	// ForceDelete deletes the repository together with the images in it when the object is deleted. Without it, the
	// deletion of a repository that holds images waits. Default false.
	// +optional
	ForceDelete bool `json:"forceDelete,omitempty"`
	// RecreateOnLoss creates the repository again, empty, when it was deleted outside the operator; the default is to
	// report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// ECREncryption configures the encryption of the images of a repository.
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKey) || !has(self.kmsKeyRef)",message="kmsKey and kmsKeyRef exclude each other"
// +kubebuilder:validation:XValidation:rule="self.encryptionType == 'KMS' || !has(self.kmsKey) && !has(self.kmsKeyRef)",message="kmsKey and kmsKeyRef need encryptionType: KMS"
type ECREncryption struct {
	// EncryptionType is AES256, with keys of ECR, or KMS, with a key of AWS KMS.
	// +kubebuilder:validation:Enum=AES256;KMS
	EncryptionType string `json:"encryptionType"`
	// KMSKey is the ID or the ARN of the key, or alias/aws/ecr: ECR shows no other alias. Absent, with encryptionType KMS: the key that AWS
	// manages for ECR, alias/aws/ecr. ECR adds a grant to the key, for which the operator's role needs kms:CreateGrant and kms:DescribeKey
	// on the key. https://docs.aws.amazon.com/AmazonECR/latest/userguide/encryption-at-rest.html
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	KMSKey string `json:"kmsKey,omitempty" names:"kms:key"`
	// KMSKeyRef names a KMSKey of the same namespace instead.
	// +optional
	KMSKeyRef *ObjectReference `json:"kmsKeyRef,omitempty"`
}

// ECRLifecyclePolicy is the lifecycle policy of a repository.
type ECRLifecyclePolicy struct {
	// PolicyText is the policy, a document in JSON with a list of rules. "" removes the policy.
	// https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html
	// +kubebuilder:validation:MaxLength=30720
	PolicyText string `json:"policyText"`
}

// ECRRepositoryStatus reports the repository.
type ECRRepositoryStatus struct {
	CommonStatus `json:",inline"`
	// RepositoryARN repeats arn.
	// +optional
	RepositoryARN string `json:"repositoryArn,omitempty"`
	// RepositoryURI is the address with which images are tagged to be pushed here, such as
	// 123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/shop.
	// +optional
	RepositoryURI string `json:"repositoryUri,omitempty"`
	// RegistryID is the ID of the account whose registry holds the repository.
	// +optional
	RegistryID string `json:"registryId,omitempty"`
}

// ECRRepository is a private repository of the Elastic Container Registry.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=ecrrepositories,shortName=ecr,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Repository",type=string,JSONPath=`.spec.repositoryName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="URI",type=string,priority=1,JSONPath=`.status.repositoryUri`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type ECRRepository struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ECRRepositorySpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status ECRRepositoryStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *ECRRepository) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *ECRRepository) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether a repository that no longer exists is created again, empty.
func (o *ECRRepository) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ReferableAttributes returns what objects that refer to the repository can use beside its ID and ARN.
func (o *ECRRepository) ReferableAttributes() map[string]string {
	return map[string]string{"repositoryUri": o.Status.RepositoryURI}
}

// ECRRepositoryList is a list of ECRRepository.
// +kubebuilder:object:root=true
type ECRRepositoryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ECRRepository `json:"items"`
}
