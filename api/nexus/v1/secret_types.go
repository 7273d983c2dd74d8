// SPDX-License-Identifier: Apache-2.0

package v1

// SecretSpec says where the value of the secret {capabilityName}/{environment}/{name} comes from.
// +kubebuilder:validation:XValidation:rule="!has(self.valueFrom) || (!has(self.generate) && !has(self.placeholder))",message="set valueFrom, or generate and placeholder, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.generate) || !has(self.placeholder) || !has(self.generate.keys) || self.generate.keys.all(k, !(k in self.placeholder.keys))",message="a key is either generated or a placeholder"
// +kubebuilder:validation:XValidation:rule="!has(self.generate) || !has(self.placeholder) || !has(self.generate.keys) || size(self.generate.keys) + size(self.placeholder.keys) <= 32",message="a secret has at most 32 keys"
// +kubebuilder:validation:XValidation:rule="!has(self.generate) || !has(self.placeholder) || (has(self.generate.keys) && size(self.generate.keys) > 0)",message="generate beside placeholder needs keys"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.valueFrom)",message="valueFrom is about a store that the operator creates: remove it, or existing",fieldPath=".valueFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.generate)",message="generate is about a store that the operator creates: remove it, or existing",fieldPath=".generate"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.placeholder)",message="placeholder is about a store that the operator creates: remove it, or existing",fieldPath=".placeholder"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.recreateOnLoss)",message="recreateOnLoss is about a store that the operator creates: remove it, or existing",fieldPath=".recreateOnLoss"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(oldSelf.existing) || self.existing == oldSelf.existing",message="existing is immutable: declare another entry for another store",fieldPath=".existing"
type SecretSpec struct {
	// Name is the purpose: api-keys, wxcc, openai, license, anthropic or github, which need no source, or another one.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// ValueFrom names a key of a Secret in the capability's namespace.
	// +optional
	ValueFrom *SecretKeySelector `json:"valueFrom,omitempty"`
	// Generate makes random values once; they are never overwritten.
	// +optional
	Generate *GenerateSpec `json:"generate,omitempty"`
	// Placeholder names values that people fill in.
	// +optional
	Placeholder *PlaceholderSpec `json:"placeholder,omitempty"`
	// RecreateOnLoss creates the secret again when it is missing in AWS although the operator did not delete it; by default the operator
	// reports Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
	// Existing names a secret that exists already and that the capability uses without owning it; the entry then has no other field but
	// name. Rights on it need spec.allowedExternalARNs of the AWSProvider. Absent: the operator creates the secret.
	// +optional
	Existing *ExistingStore `json:"existing,omitempty"`
}

// SecretKeySelector names one key of a Secret in the capability's namespace.
type SecretKeySelector struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Key inside the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// SecretKey is a key of the JSON object that a secret holds.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_.-]+$`
type SecretKey string

// GenerateSpec says which random values to make.
type GenerateSpec struct {
	// Keys of the JSON object that get a value; none means the whole secret is one random string.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Keys []SecretKey `json:"keys,omitempty"`
	// Length of each value in characters; default 40.
	// +optional
	// +kubebuilder:validation:Minimum=16
	// +kubebuilder:validation:Maximum=1024
	Length *int32 `json:"length,omitempty"`
}

// PlaceholderSpec names the values that people fill in.
type PlaceholderSpec struct {
	// Keys of the JSON object, empty until they are set.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Keys []SecretKey `json:"keys"`
}
