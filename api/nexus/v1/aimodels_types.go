// SPDX-License-Identifier: Apache-2.0

package v1

// GuardrailSpec declares a guardrail of Amazon Bedrock and its current version.
type GuardrailSpec struct {
	// Name is the purpose, such as safety: the workloads find the ID of the guardrail in NEXUS_BEDROCK_GUARDRAIL_{NAME} and the version in
	// NEXUS_BEDROCK_GUARDRAILVERSION_{NAME}, and both in the parameters bedrock/{name}-guardrail and bedrock/{name}-guardrail-version.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// Create declares what the guardrail blocks; {} stands for the defaults of its fields. With every edit the guardrail gets another
	// version, and the workloads roll over to it.
	Create GuardrailPolicySpec `json:"create"`
}

// GuardrailPolicySpec declares what a guardrail blocks in prompts and in answers.
// +kubebuilder:validation:XValidation:rule="!has(self.contentFilters) || self.contentFilters != 'NONE' || has(self.deniedTopics) || has(self.blockedWords) || has(self.sensitiveInformation)",message="contentFilters: NONE needs deniedTopics, blockedWords or sensitiveInformation: a guardrail blocks something"
type GuardrailPolicySpec struct {
	// ContentFilters is the strength of the filters for hate, insults, sexual content, violence, misconduct and attacks by prompts:
	// NONE, LOW, MEDIUM or HIGH; default HIGH.
	// +optional
	// +kubebuilder:validation:Enum=NONE;LOW;MEDIUM;HIGH
	ContentFilters string `json:"contentFilters,omitempty"`
	// DeniedTopics are topics that the guardrail blocks. Absent: none.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=30
	// +listType=map
	// +listMapKey=name
	DeniedTopics []DeniedTopic `json:"deniedTopics,omitempty"`
	// BlockedWords are words and phrases that the guardrail blocks. Absent: none.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=set
	BlockedWords []BlockedWord `json:"blockedWords,omitempty"`
	// SensitiveInformation lists kinds of personal data that the guardrail blocks or masks. Absent: none.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=31
	// +listType=map
	// +listMapKey=type
	SensitiveInformation []SensitiveInformation `json:"sensitiveInformation,omitempty"`
	// BlockedInputMessage is the answer to a blocked prompt; default "The request was blocked."
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	BlockedInputMessage string `json:"blockedInputMessage,omitempty"`
	// BlockedOutputMessage takes the place of a blocked answer; default "The answer was blocked."
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	BlockedOutputMessage string `json:"blockedOutputMessage,omitempty"`
}

// DeniedTopic is a topic that a guardrail blocks.
type DeniedTopic struct {
	// Name of the topic.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[0-9a-zA-Z_ !?.-]+$`
	Name string `json:"name"`
	// Definition describes the topic in a sentence or two.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Definition string `json:"definition"`
}

// BlockedWord is a word or a phrase.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=100
type BlockedWord string

// SensitiveInformation is a kind of personal data, and what a guardrail does with it.
type SensitiveInformation struct {
	// Type is a type of personal data that Bedrock knows, such as EMAIL, PHONE or CREDIT_DEBIT_CARD_NUMBER.
	// https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-sensitive-filters.html
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][A-Z_]*$`
	Type string `json:"type"`
	// Action is BLOCK, which blocks the whole text, or ANONYMIZE, which masks the data.
	// +kubebuilder:validation:Enum=BLOCK;ANONYMIZE
	Action string `json:"action"`
}

// InferenceProfileSpec declares an application inference profile of Amazon Bedrock.
// +kubebuilder:validation:XValidation:rule="!has(self.systemProfile) || self.systemProfile.endsWith('.' + self.modelID)",message="systemProfile is a geography before the modelID, such as us.<modelID>"
// +kubebuilder:validation:XValidation:rule="self.modelID == oldSelf.modelID",message="modelID is immutable: declare a profile of another name"
// +kubebuilder:validation:XValidation:rule="has(self.systemProfile) == has(oldSelf.systemProfile) && (!has(self.systemProfile) || self.systemProfile == oldSelf.systemProfile)",message="systemProfile is immutable: declare a profile of another name"
type InferenceProfileSpec struct {
	// Name is the purpose, such as chat: the workloads find the ARN of the profile, by which they invoke the model, in
	// NEXUS_BEDROCK_MODEL_{NAME} and in the parameter bedrock/{name}-model.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// ModelID of the foundation model, such as amazon.nova-lite-v1:0. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=140
	// +kubebuilder:validation:Pattern=`^[a-z0-9-]+[.][a-z0-9-]+([.:][a-z0-9-]+)*$`
	ModelID string `json:"modelID"`
	// SystemProfile is the ID of a profile of AWS over several regions that leads to the model, such as eu.amazon.nova-lite-v1:0. Absent:
	// the model in the region of the capability. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=160
	// +kubebuilder:validation:Pattern=`^[a-z-]+[.][a-z0-9-]+[.][a-z0-9-]+([.:][a-z0-9-]+)*$`
	SystemProfile string `json:"systemProfile,omitempty"`
}

// MemorySpec declares a memory of Amazon Bedrock AgentCore, which AWS encrypts with its own keys.
type MemorySpec struct {
	// Name is the purpose: the workloads find the ID of the memory in NEXUS_MEMORY_ID_{NAME} and in the parameter
	// bedrock-agentcore/{name}-memory-id.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	Name string `json:"name"`
	// EventExpiryDays is the number of days for which events are kept, 3 to 365; default 90.
	// +optional
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=365
	EventExpiryDays *int32 `json:"eventExpiryDays,omitempty"`
	// Strategies by which AgentCore makes long-term records of the events: Semantic (facts), Summary (of sessions), UserPreference and
	// Episodic. Absent: none, and the memory has events alone.
	// +optional
	// +kubebuilder:validation:MaxItems=4
	// +listType=set
	Strategies []MemoryStrategy `json:"strategies,omitempty"`
	// RecreateOnLoss creates the memory again, empty, when it is missing in AWS although the operator did not delete it; by default the
	// operator reports Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// MemoryStrategy is a way in which long-term records are made of events.
// +kubebuilder:validation:Enum=Semantic;Summary;UserPreference;Episodic
type MemoryStrategy string
