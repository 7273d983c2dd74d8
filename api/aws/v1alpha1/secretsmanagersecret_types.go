// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SecretsManagerSecretSpec declares a secret. Its value comes from one source at most.
// +kubebuilder:validation:XValidation:rule="(has(self.secretStringRef) ? 1 : 0) + (has(self.placeholder) ? 1 : 0) <= 1",message="set at most one of secretStringRef and placeholder"
// +kubebuilder:validation:XValidation:rule="!(has(self.secretStringRef) && has(self.generate))",message="set at most one of secretStringRef and generate"
// +kubebuilder:validation:XValidation:rule="!has(self.secretBinaryRef) || !(has(self.secretStringRef) || has(self.placeholder) || has(self.generate))",message="set secretBinaryRef without secretStringRef, placeholder and generate"
type SecretsManagerSecretSpec struct {
	CommonSpec `json:",inline"`

	// SecretName is unique in account and region. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9/_+=.@-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="secretName is immutable"
	SecretName string `json:"secretName"`
	// Description of the secret; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Description *string `json:"description,omitempty"`
	// SecretStringRef names the Kubernetes Secret key that holds the value; a new version is put only when the source changed.
	// +optional
	SecretStringRef *SecretKeyReference `json:"secretStringRef,omitempty"`
	// SecretBinaryRef names the Kubernetes Secret key whose bytes become the binary value. As with secretStringRef, a new
	// version is put only when the source changed.
	// +optional
	SecretBinaryRef *SecretKeyReference `json:"secretBinaryRef,omitempty"`
	// Generate makes random values once; they are never overwritten.
	// +optional
	Generate *SecretGenerate `json:"generate,omitempty"`
	// Placeholder is a JSON object put once, for people to fill in; keys also named in generate get random values.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Placeholder map[string]PlaceholderValue `json:"placeholder,omitempty"`
	// KmsKeyId encrypts the value; "" or absent means aws/secretsmanager.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	KmsKeyId *string `json:"kmsKeyId,omitempty" names:"kms:key"`
	// ResourcePolicy is the policy document of the secret, as JSON; "" removes it. Absent: not managed; Secrets Manager creates
	// secrets without one. A policy that allows broad access to the secret is refused by Secrets Manager (BlockPublicPolicy).
	// +optional
	// +kubebuilder:validation:MaxLength=20480
	ResourcePolicy *string `json:"resourcePolicy,omitempty"`
	// Rotation has a Lambda function put new values on a schedule. Absent: not managed; {} cancels the rotation. The operator
	// never overwrites a value that a rotation put.
	// +optional
	Rotation *SecretRotation `json:"rotation,omitempty"`
	// RecoveryWindowInDays before a deleted secret is gone: 0 (at once) or 7 to 30; default 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=30
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 7",message="recoveryWindowInDays is 0 or 7 to 30"
	RecoveryWindowInDays *int64 `json:"recoveryWindowInDays,omitempty"`
	// RecreateOnLoss creates the secret again when it is missing in AWS although the operator did not delete it; by default the operator
	// reports Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// PlaceholderValue stands for a value that a person fills in.
// +kubebuilder:validation:MaxLength=256
type PlaceholderValue string

// SecretGenerate says which random values to make.
type SecretGenerate struct {
	// Length of each value in characters; default 32.
	// +optional
	// +kubebuilder:validation:Minimum=8
	// +kubebuilder:validation:Maximum=1024
	Length int32 `json:"length,omitempty"`
	// Keys of the JSON object that get a value; none means the whole secret is one random string.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Keys []string `json:"keys,omitempty"`
	// Exclude lists characters that are not used.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Exclude string `json:"exclude,omitempty"`
}

// SecretRotation is the automatic rotation of a secret.
// +kubebuilder:validation:XValidation:rule="has(self.lambdaARN) == has(self.automaticallyAfterDays)",message="set lambdaARN and automaticallyAfterDays together, or neither to cancel the rotation"
type SecretRotation struct {
	// LambdaARN is the ARN of the function that rotates the secret. Its policy must allow secretsmanager.amazonaws.com to
	// invoke it. Secrets Manager also asks for the operator's right to invoke it, which the printed IAM policy limits to
	// functions whose names begin with SecretsManager, as those of AWS do.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[a-zA-Z0-9-_]+(:[a-zA-Z0-9-_$]+)?$`
	LambdaARN string `json:"lambdaARN,omitempty" names:"arn"`
	// AutomaticallyAfterDays is the time between rotations in days. The first one is at the end of that time, not when rotation is
	// turned on.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	AutomaticallyAfterDays *int64 `json:"automaticallyAfterDays,omitempty"`
}

// SecretsManagerSecretStatus reports the secret, never its value.
type SecretsManagerSecretStatus struct {
	CommonStatus `json:",inline"`
	// VersionId of the current value.
	// +optional
	VersionId string `json:"versionId,omitempty"`
	// InitialVersionId is the version the operator put; while it is current, placeholders are not filled in yet.
	// +optional
	InitialVersionId string `json:"initialVersionId,omitempty"`
	// SourceVersionId is the version that was put for secretStringRef or secretBinaryRef last; a newer version of another
	// writer stays current until the source changes again.
	// +optional
	SourceVersionId string `json:"sourceVersionId,omitempty"`
	// Populated is false while the value is still the placeholder that the operator put.
	// +optional
	Populated *bool `json:"populated,omitempty"`
}

// SecretsManagerSecret is a Secrets Manager secret.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=awssecret,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.spec.secretName`
// +kubebuilder:printcolumn:name="Populated",type=boolean,priority=1,JSONPath=`.status.populated`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type SecretsManagerSecret struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SecretsManagerSecretSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status SecretsManagerSecretStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *SecretsManagerSecret) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *SecretsManagerSecret) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether what vanished is created again, empty.
func (o *SecretsManagerSecret) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// RecoverableDays returns the secret and its recovery window. Like a deletion, it takes the default for a window that AWS would refuse.
func (o *SecretsManagerSecret) RecoverableDays() (what string, days int) {
	const byDefault = 30
	days = byDefault
	if d := o.Spec.RecoveryWindowInDays; d != nil && (*d == 0 || *d >= 7 && *d <= byDefault) {
		days = int(*d)
	}
	return "secret " + o.Spec.SecretName, days
}

// SecretsManagerSecretList is a list of SecretsManagerSecret.
// +kubebuilder:object:root=true
type SecretsManagerSecretList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SecretsManagerSecret `json:"items"`
}
