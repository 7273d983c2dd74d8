// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Action tells engines to block or to report what an intent forbids.
// +kubebuilder:validation:Enum=Block;Enforce;Audit
type Action string

// The actions. Enforce means the same as Block.
const (
	Block   Action = "Block"
	Enforce Action = "Enforce"
	Audit   Action = "Audit"
)

// StatusCreated is the only word of status.status; conditions say more.
const StatusCreated = "Created"

// The conditions of bindings and policies beside Ready, Reconciling and Stalled. A policy has one more
// for each engine, named after it.
const (
	// ConditionEnforced is True while every bound intent is enforced, or audited where it asks for no
	// more, by at least one engine.
	ConditionEnforced = "Enforced"
	// ConditionSelectorUnsupported is True while a selector cannot be translated; it then selects nothing.
	ConditionSelectorUnsupported = "SelectorUnsupported"
	// ConditionDuplicateIntent is True while two bound intents have the same id.
	ConditionDuplicateIntent = "DuplicateIntent"
	// ConditionConflict is True while a derived object cannot be written because a foreign one has its name.
	ConditionConflict = "Conflict"
)

// ParamValues are the values of one parameter.
// +kubebuilder:validation:MaxItems=256
// +kubebuilder:validation:items:MaxLength=1024
type ParamValues []string

// Params are the parameters of an intent: lists of strings by name.
// +kubebuilder:validation:MaxProperties=16
type Params map[string]ParamValues

// MatchIntent names a SecurityIntent.
type MatchIntent struct {
	// Name of the SecurityIntent.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Unsupported is a field that other versions of this API have and this one refuses. It is declared because the API
// server drops fields that are not: a selector without one of its conditions would select more than was meant.
// +kubebuilder:pruning:PreserveUnknownFields
type Unsupported struct{}

// LabelSelector selects what carries every one of these labels; empty selects everything.
// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions)",message="matchExpressions is not supported here: use matchLabels, or the cel of a SecurityIntentBinding's selector"
type LabelSelector struct {
	// MatchExpressions is refused: it is not supported.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	MatchExpressions []Unsupported `json:"matchExpressions,omitempty"`
	// MatchLabels must all be there.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// Level says how far an engine goes for an intent.
// +kubebuilder:validation:Enum=Enforced;Audited;Partial;None
type Level string

// The levels.
const (
	LevelEnforced Level = "Enforced"
	LevelAudited  Level = "Audited"
	LevelPartial  Level = "Partial"
	LevelNone     Level = "None"
)

// Coverage describes the effect of one engine on one intent.
type Coverage struct {
	// Intent is the id of the intent.
	// +kubebuilder:validation:MaxLength=63
	Intent string `json:"intent"`
	// Engine is the name of the engine, such as KubeArmor.
	// +kubebuilder:validation:MaxLength=63
	Engine string `json:"engine"`
	// Level says how far it goes.
	Level Level `json:"level"`
	// Reason says in one word why it goes no further.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason,omitempty"`
	// Message says it in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// AssessmentResult is the outcome of an assessment.
// +kubebuilder:validation:Enum=Passed;Failed
type AssessmentResult string

// The results of assessments.
const (
	AssessmentPassed AssessmentResult = "Passed"
	AssessmentFailed AssessmentResult = "Failed"
)

// Assessment is the last result of assessing the TLS of one target. The assessor's image writes it, and
// any user who may create pods in the namespace can forge it.
type Assessment struct {
	// Target is host:port.
	// +kubebuilder:validation:MaxLength=320
	Target string `json:"target"`
	// Time is the end of the assessment.
	Time metav1.Time `json:"time"`
	// Result is Passed, or Failed when there are problems.
	Result AssessmentResult `json:"result"`
	// Protocols are the protocol versions that the target offers.
	// +optional
	// +kubebuilder:validation:MaxItems=6
	// +kubebuilder:validation:items:MaxLength=16
	Protocols []string `json:"protocols,omitempty"`
	// Message lists the problems.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// CommonStatus has the fields that bindings and policies report alike.
type CommonStatus struct {
	// Status is Created once the object was dealt with.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Status string `json:"status,omitempty"`
	// LastUpdated is the time of the last change of the status.
	// +optional
	LastUpdated *metav1.Time `json:"lastUpdated,omitempty"`
	// ObservedGeneration is the generation that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are Ready, Reconciling, Stalled, Enforced, what is wrong, and in policies one per engine.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Coverage lists what each engine does for each intent.
	// +optional
	// +kubebuilder:validation:MaxItems=512
	Coverage []Coverage `json:"coverage,omitempty"`
}
