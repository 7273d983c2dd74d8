// SPDX-License-Identifier: Apache-2.0

package v1

// RoleSpec names a role of IAM that exists already. The workloads may assume it with their own roles, if its trust policy lets these. The
// operator changes neither its trust policy nor its rights.
// +kubebuilder:validation:XValidation:rule="self.existing == oldSelf.existing",message="existing is immutable: declare another entry for another role",fieldPath=".existing"
type RoleSpec struct {
	// Name is the purpose: the workloads find the ARN of the role in NEXUS_ROLE_ARN_{NAME} and in the parameter roles/{name}-role-arn.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Existing names the role; one with a path needs its ARN. The right to assume it needs spec.allowedExternalARNs of the AWSProvider.
	Existing ExistingStore `json:"existing"`
}

// ExistingStore names a table, bucket, queue, topic, secret or role that exists already in the account and region of the capability's
// AWSProvider. The operator only observes it: it never creates, changes, tags or deletes it. The workloads get rights on it once
// spec.allowedExternalARNs of the AWSProvider allows its ARN. An existing store needs spec.providerRef.
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.arn)",message="existing needs exactly one of name and arn"
type ExistingStore struct {
	// Name in AWS.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9/_+=.@-]+$`
	Name string `json:"name,omitempty"`
	// ARN in AWS, without wildcards. That of a secret ends in the six characters that Secrets Manager chose.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:aws(-[a-z]+)*:[a-z0-9]+:[a-z0-9-]*:([0-9]{12})?:[A-Za-z0-9/_+=.@:-]+$`
	ARN string `json:"arn,omitempty"`
}
