// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EC2KeyPairSpec declares a public key that EC2 installs on instances.
// +kubebuilder:validation:XValidation:rule="!has(self.secretRef)",message="secretRef is not supported: the operator stores no private keys; make a key with ssh-keygen, and declare its public half in publicKeyMaterial"
// +kubebuilder:validation:XValidation:rule="has(self.publicKeyMaterial)",message="publicKeyMaterial is required: the operator lets AWS generate no private keys; make a key with ssh-keygen, and declare its public half"
// +kubebuilder:validation:XValidation:rule="has(self.keyName) == has(oldSelf.keyName) && (!has(self.keyName) || self.keyName == oldSelf.keyName)",message="keyName is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.publicKeyMaterial) || !has(oldSelf.publicKeyMaterial) || self.publicKeyMaterial == oldSelf.publicKeyMaterial",message="publicKeyMaterial is immutable: create another EC2KeyPair with another keyName"
type EC2KeyPairSpec struct {
	CommonSpec `json:",inline"`

	// KeyName is unique in account and region: 1 to 255 printable ASCII characters without spaces at either end. Absent:
	// the name of the object. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[!-~]([ -~]*[!-~])?$`
	KeyName string `json:"keyName,omitempty"`
	// PublicKeyMaterial is the public key in the format of OpenSSH, such as "ssh-ed25519 AAAAC3… name": an Ed25519 key, or an
	// RSA key of 1024, 2048 or 4096 bits. EC2 installs it on instances that name the key pair. The operator lets AWS
	// generate no key pairs, because it stores no private keys. Required. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^(ssh-rsa|ssh-ed25519) [A-Za-z0-9+/]+=*( [ -~]*)?\s*$`
	PublicKeyMaterial string `json:"publicKeyMaterial,omitempty"`
	// SecretRef is not supported and refused: it named the Secret for a private key that AWS generated. Make a key with
	// ssh-keygen, and declare its public half in publicKeyMaterial.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
}

// EC2KeyPairStatus reports the key pair.
type EC2KeyPairStatus struct {
	CommonStatus `json:",inline"`
	// KeyPairID is the identifier that EC2 assigned, such as key-0123456789abcdef0.
	// +optional
	KeyPairID string `json:"keyPairID,omitempty"`
	// KeyName repeats id.
	// +optional
	KeyName string `json:"keyName,omitempty"`
	// KeyFingerprint is the fingerprint that EC2 reports: MD5 for RSA keys, SHA-256 for Ed25519 keys.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/verify-keys.html
	// +optional
	KeyFingerprint string `json:"keyFingerprint,omitempty"`
	// KeyType is rsa or ed25519.
	// +optional
	KeyType string `json:"keyType,omitempty"`
}

// EC2KeyPair is a public key that EC2 installs on instances, for logins with SSH.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=keypair,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Key",type=string,JSONPath=`.status.keyName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Fingerprint",type=string,priority=1,JSONPath=`.status.keyFingerprint`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type EC2KeyPair struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EC2KeyPairSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status EC2KeyPairStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *EC2KeyPair) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *EC2KeyPair) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ReferableAttributes returns what objects that refer to the key pair can use beside its ID and ARN.
func (o *EC2KeyPair) ReferableAttributes() map[string]string {
	return map[string]string{"keyPairID": o.Status.KeyPairID}
}

// EC2KeyPairList is a list of EC2KeyPair.
// +kubebuilder:object:root=true
type EC2KeyPairList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EC2KeyPair `json:"items"`
}
