// SPDX-License-Identifier: Apache-2.0

package v1

// ComponentType says what a component becomes.
// +kubebuilder:validation:Enum=Service;Worker
type ComponentType string

// The types of a component: a Service is a Deployment that is called through a Service of Kubernetes; a Worker is a Deployment that
// nothing calls.
const (
	ComponentService ComponentType = "Service"
	ComponentWorker  ComponentType = "Worker"
)

// NamedComponentSpec declares a component beside frontend and backend.
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Worker' || !has(self.routes) || size(self.routes) == 0",message="nothing calls a Worker: remove routes, or set type: Service",fieldPath=".routes"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Worker' || !has(self.service)",message="nothing calls a Worker: remove service, or set type: Service",fieldPath=".service"
type NamedComponentSpec struct {
	// Name of the component: its Deployment is {capabilityName}-{environment}-{name}, and its Service {capabilityName}-{environment}-{name}-svc.
	// capabilityName, environment and name together have at most 57 characters.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['frontend', 'backend', 'policies'])",message="frontend and backend are fields of the capability, and policies is the name of an object of it: choose another name"
	Name string `json:"name"`
	// Type; default Service, which other components call at http://{capabilityName}-{environment}-{name}-svc:{port}. A Worker has no
	// Service, and a port and probes only where it declares them.
	// +optional
	Type ComponentType `json:"type,omitempty"`

	ComponentSpec `json:",inline"`
}

// Route leads requests from outside to a component.
type Route struct {
	// Path that requests begin with, as a whole part of the path: /chat leads /chat and /chat/1 to the component, and not /chats. Of two
	// paths that fit the longer one counts. Each path leads to one component.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?$`
	Path string `json:"path"`
}

// AccessName names data services of a capability.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([a-z0-9A-Z]+/)?[a-z]([a-z0-9-]*[a-z0-9])?$`
type AccessName string

// ComponentStatus reports a component of spec.components.
type ComponentStatus struct {
	// Name of the component.
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Type of the component.
	// +kubebuilder:validation:MaxLength=32
	Type ComponentType `json:"type"`
	// State is Waiting, Progressing, Ready or Failed.
	// +kubebuilder:validation:MaxLength=32
	State ResourceState `json:"state"`
	// Reason for a state other than Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
	// Message says it in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// URL at which other components call it; empty for a Worker.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
}
