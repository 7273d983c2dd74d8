// SPDX-License-Identifier: Apache-2.0

package v1

// SecuritySpec says what must be true of the workloads while they run.
type SecuritySpec struct {
	// Intents are bound to the workloads in this order. One that does not exist yet takes effect once it is
	// created.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +kubebuilder:validation:XValidation:rule="self.all(i, self.exists_one(j, i.name == j.name && (!has(i.component) || !has(j.component) || i.component == j.component)))",message="an intent is listed once for all components, or once for each"
	Intents []IntentReference `json:"intents,omitempty"`
}

// Component is the name of a component: frontend, backend, or one of spec.components.
// +kubebuilder:validation:MaxLength=40
// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
type Component string

// The components with fixed names.
const (
	ComponentFrontend Component = "frontend"
	ComponentBackend  Component = "backend"
)

// IntentReference names a SecurityIntent, which is of cluster scope.
type IntentReference struct {
	// Name of the SecurityIntent.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Component that the intent is bound to; absent: all.
	// +optional
	Component Component `json:"component,omitempty"`
}

// PolicyCoverage describes the effect of one policy engine on one intent.
type PolicyCoverage struct {
	// Intent is the id of the intent in the catalog.
	// +kubebuilder:validation:MaxLength=63
	Intent string `json:"intent"`
	// Component that the intent is bound to; absent: all.
	// +optional
	Component Component `json:"component,omitempty"`
	// Engine is the name of the engine, such as KubeArmor.
	// +kubebuilder:validation:MaxLength=63
	Engine string `json:"engine"`
	// Level says how far the engine goes: Enforced, Audited, Partial or None.
	// +kubebuilder:validation:MaxLength=63
	Level string `json:"level"`
	// Reason says in one word why it goes no further.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason,omitempty"`
	// Message says it in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}
