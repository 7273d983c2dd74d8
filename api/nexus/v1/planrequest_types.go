// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PlannedManifest is an object as JSON.
// +kubebuilder:validation:MinLength=2
// +kubebuilder:validation:MaxLength=65536
type PlannedManifest string

// PlannedObject names an object that exists in the namespace of the request.
type PlannedObject struct {
	// Kind is a kind of this operator that lives in a namespace, such as NexusAICapability or S3Bucket.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// Name is the object's name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// PlanRequestSpec says what to plan. It is immutable: create another request instead.
// +kubebuilder:validation:XValidation:rule="has(self.manifests) != has(self.objects)",message="exactly one of manifests and objects must be given"
// +kubebuilder:validation:XValidation:rule="!has(self.deletion) || !self.deletion || has(self.objects)",message="deletion goes with objects"
type PlanRequestSpec struct {
	// Manifests are the objects that would be applied together: each an object of a kind of this operator, as JSON, in the namespace of
	// the request. Kinds of the cluster and AWSProvider are refused. At most 16 manifests of 64 KiB each.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Manifests []PlannedManifest `json:"manifests,omitempty"`
	// Objects are objects that exist and are planned as they are: the corrections of drift, and edits that wait. At most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Objects []PlannedObject `json:"objects,omitempty"`
	// Deletion plans what follows when the objects are deleted together, instead of what the operator does about them as they are.
	// +optional
	Deletion bool `json:"deletion,omitempty"`
	// IgnoreNotFound leaves objects that do not exist out of the plan of a deletion. Without it, they are a mistake in the request.
	// +optional
	IgnoreNotFound bool `json:"ignoreNotFound,omitempty"`
}

// PlanRequestStatus is the answer.
type PlanRequestStatus struct {
	// ObservedGeneration is the generation that was planned; -1 before that.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are Ready, Reconciling and Stalled. Ready is True once the plan is there; Stalled says what is wrong with the request.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Plan is the plan as JSON, in the shape of plan.nexus.ai/v1alpha1. At most 512 KiB.
	// +optional
	// +kubebuilder:validation:MaxLength=524288
	Plan string `json:"plan,omitempty"`
	// ItemsLeftOut is the number of items at the end of the plan that it is too long for. Its summary counts them.
	// +optional
	ItemsLeftOut int32 `json:"itemsLeftOut,omitempty"`
}

// PlanRequest asks the operator what it would do in Kubernetes and AWS, with its own AWS identity. The operator answers in the status,
// changes nothing else, and deletes the request ten minutes after its creation. The command nexusctl plan --server creates requests.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=planreq,categories={nexus}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PlanRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable: create another PlanRequest"
	Spec PlanRequestSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status PlanRequestStatus `json:"status,omitempty"`
}

// PlanRequestList is a list of PlanRequest.
// +kubebuilder:object:root=true
type PlanRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PlanRequest `json:"items"`
}
