// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KMSKeySpec declares a key of the Key Management Service.
// +kubebuilder:validation:XValidation:rule="!has(self.importID) || self.importID.matches('^(mrk-)?[0-9a-f-]{32,36}$')",message="importID is the ID of a key, not its ARN or alias"
// +kubebuilder:validation:XValidation:rule="has(self.keyUsage) == has(oldSelf.keyUsage) && (!has(self.keyUsage) || self.keyUsage == oldSelf.keyUsage)",message="keyUsage is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.keySpec) == has(oldSelf.keySpec) && (!has(self.keySpec) || self.keySpec == oldSelf.keySpec)",message="keySpec is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.multiRegion) == has(oldSelf.multiRegion) && (!has(self.multiRegion) || self.multiRegion == oldSelf.multiRegion)",message="multiRegion is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.enableKeyRotation) || !self.enableKeyRotation || !has(self.keySpec) || self.keySpec == 'SYMMETRIC_DEFAULT'",message="enableKeyRotation needs keySpec SYMMETRIC_DEFAULT"
type KMSKeySpec struct {
	CommonSpec `json:",inline"`
	ImportSpec `json:",inline"`

	// Description says what the key is for. Absent: not managed; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Description *string `json:"description,omitempty"`
	// KeyUsage is the purpose of the key. Absent: AWS creates a key with ENCRYPT_DECRYPT. Immutable.
	// +optional
	// +kubebuilder:validation:Enum=ENCRYPT_DECRYPT;SIGN_VERIFY;GENERATE_VERIFY_MAC
	KeyUsage string `json:"keyUsage,omitempty"`
	// KeySpec is the type of the key material, such as RSA_2048 or ECC_NIST_P256. Absent: AWS creates a key
	// with SYMMETRIC_DEFAULT. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z0-9_]+$`
	KeySpec string `json:"keySpec,omitempty"`
	// MultiRegion creates a primary key that can be replicated to other regions. Absent: false. Immutable.
	// +optional
	MultiRegion *bool `json:"multiRegion,omitempty"`
	// EnableKeyRotation lets KMS replace the key material every year. Only symmetric keys. Absent: not managed;
	// AWS creates keys without rotation.
	// +optional
	EnableKeyRotation *bool `json:"enableKeyRotation,omitempty"`
	// Enabled false makes KMS refuse every use of the key. Absent means true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// KeyPolicy is the key policy, a document in JSON. Name users and roles by ARN, not by unique ID. KMS refuses a
	// policy that would keep the operator from changing it again. Absent: not managed; a key always has a policy, so
	// that it cannot be cleared.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32768
	KeyPolicy *string `json:"keyPolicy,omitempty"`
	// Aliases are further names of the key, unique in account and region, such as alias/team/orders. An alias that
	// the operator made is removed when it is dropped from the list. Aliases that others made stay.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	Aliases []KMSAlias `json:"aliases,omitempty"`
	// PendingWindowInDays is the time after which KMS deletes the key, 7 to 30 days, with deletionPolicy Delete.
	// Until then, an object of the same namespace and name gets the key back. KMS waits longer, up to 30 days, while a deleted
	// secret or table that the key encrypts can be restored. Absent means 30.
	// +optional
	// +kubebuilder:validation:Minimum=7
	// +kubebuilder:validation:Maximum=30
	PendingWindowInDays *int32 `json:"pendingWindowInDays,omitempty"`
	// RecreateOnLoss creates another key when the key was deleted outside the operator; the default is to report
	// Missing. The new key cannot decrypt what the lost one encrypted.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// KMSAlias is an alias of a key.
// +kubebuilder:validation:MinLength=7
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:Pattern=`^alias/[A-Za-z0-9/_-]+$`
// +kubebuilder:validation:XValidation:rule="!self.startsWith('alias/aws/')",message="aliases that begin with alias/aws/ are those of AWS"
type KMSAlias string

// KMSKeyStatus reports the key.
type KMSKeyStatus struct {
	CommonStatus `json:",inline"`
	// KeyID repeats id.
	// +optional
	KeyID string `json:"keyId,omitempty"`
	// KeyState is the state that KMS reports, such as Enabled, Disabled or PendingDeletion.
	// +optional
	KeyState string `json:"keyState,omitempty"`
	// ManagedAliases are the aliases that the operator made.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	ManagedAliases []string `json:"managedAliases,omitempty"`
}

// KMSKey is a key of the Key Management Service. Its deletionPolicy is Retain by default, because everything that the
// key has encrypted is lost with it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=kms,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Key",type=string,JSONPath=`.status.keyId`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.keyState`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type KMSKey struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec KMSKeySpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status KMSKeyStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *KMSKey) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *KMSKey) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether another key takes the place of one that no longer exists.
func (o *KMSKey) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ImportID returns the identifier of the key to adopt.
func (o *KMSKey) ImportID() string { return o.Spec.ImportID }

// Identifiers returns the names, beside its ID and ARN, by which others can name the key: its aliases and their ARNs.
func (o *KMSKey) Identifiers() []string {
	names := slices.Clone(o.Status.ManagedAliases)
	for _, alias := range o.Spec.Aliases {
		names = append(names, string(alias))
	}
	out := slices.Clone(names)
	if prefix, _, ok := strings.Cut(o.Status.ARN, "key/"); ok {
		for _, name := range names {
			out = append(out, prefix+name)
		}
	}
	return out
}

// KMSKeyList is a list of KMSKey.
// +kubebuilder:object:root=true
type KMSKeyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KMSKey `json:"items"`
}
