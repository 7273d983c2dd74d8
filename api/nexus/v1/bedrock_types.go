// SPDX-License-Identifier: Apache-2.0

package v1

// BedrockSpec names what of Amazon Bedrock the workloads may use. None of it belongs to the capability, so the workloads'
// role must have a permissions boundary: that of the AWSProvider, or the operator's --default-permissions-boundary.
type BedrockSpec struct {
	// Region of everything named here; default the capability's region.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z]{2}(-[a-z]+)+-[0-9]+$`
	Region string `json:"region,omitempty"`
	// Models that the workloads may invoke.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Models []BedrockModel `json:"models,omitempty"`
	// KnowledgeBases from which the workloads may retrieve.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	KnowledgeBases []BedrockKnowledgeBase `json:"knowledgeBases,omitempty"`
	// Guardrails that the workloads may apply.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Guardrails []BedrockGuardrail `json:"guardrails,omitempty"`
}

// BedrockModel is a foundation model, invoked directly or through an inference profile.
// +kubebuilder:validation:XValidation:rule="!has(self.inferenceProfile) || self.inferenceProfile.startsWith('arn:') || self.inferenceProfile.endsWith('.' + self.modelID)",message="inferenceProfile is the ARN of an application inference profile, or a geography before the modelID, such as us.<modelID>"
type BedrockModel struct {
	// Name is the purpose, such as chat: the workloads find the model by it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// ModelID of the foundation model, such as amazon.nova-lite-v1:0.
	// https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=140
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+[.][a-z0-9-]+([.:][a-z0-9-]+)*$`
	ModelID string `json:"modelID"`
	// InferenceProfile through which the model is invoked, and in no other way: the ID of a profile over several regions,
	// such as eu.amazon.nova-lite-v1:0, or the ARN of an application inference profile in the provider's account.
	// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles.html
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^([a-z-]+[.][a-z0-9-]+[.][a-z0-9-]+([.:][a-z0-9-]+)*|arn:aws[a-z-]*:bedrock:[a-z0-9-]+:[0-9]{12}:application-inference-profile/[a-z0-9]+)$`
	InferenceProfile string `json:"inferenceProfile,omitempty"`
}

// BedrockKnowledgeBase is a knowledge base in the provider's account.
type BedrockKnowledgeBase struct {
	// Name is the purpose: the workloads find the knowledge base by it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// ID that AWS gave it, such as KB12345678.
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:Pattern=`^[0-9A-Z]{10}$`
	ID string `json:"id"`
}

// BedrockGuardrail is a guardrail in the provider's account.
type BedrockGuardrail struct {
	// Name is the purpose: the workloads find the guardrail by it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// ID that AWS gave it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+$`
	ID string `json:"id"`
	// Version that the workloads are to apply, a number or DRAFT; default DRAFT. AWS gives rights on all versions of a
	// guardrail alike.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:Pattern=`^([1-9][0-9]{0,7}|DRAFT)$`
	Version string `json:"version,omitempty"`
}
