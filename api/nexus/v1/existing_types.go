// SPDX-License-Identifier: Apache-2.0

package v1

// ExistingStore names a table, bucket, queue, topic or secret that exists already in the account and region of the capability's AWSProvider.
// The operator only observes it: it never creates, changes, tags or deletes it. The workloads get rights on it once spec.allowedExternalARNs of
// the AWSProvider allows its ARN. An existing store needs spec.providerRef.
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
