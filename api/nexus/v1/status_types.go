// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Phase is the state of a capability in one word, derived from its conditions; nothing reads it back.
type Phase string

// The phases of a capability. A new phase may be added in any version.
const (
	PhasePending                  Phase = "Pending"
	PhaseProvisioningDataServices Phase = "ProvisioningDataServices"
	PhaseProvisioningSSM          Phase = "ProvisioningSSM"
	PhaseProvisioningSecrets      Phase = "ProvisioningSecrets"
	PhaseProvisioningCognito      Phase = "ProvisioningCognito"
	PhaseProvisioningIAM          Phase = "ProvisioningIAM"
	PhaseDeploying                Phase = "Deploying"
	PhaseDeployingBackend         Phase = "DeployingBackend"
	PhaseDeployingFrontend        Phase = "DeployingFrontend"
	PhaseUpdating                 Phase = "Updating"
	// PhaseDegraded is that of a capability that has run and is not ready although no edit is being rolled out, and of one whose last edit
	// failed while what was declared before serves on.
	PhaseDegraded Phase = "Degraded"
	PhaseRunning  Phase = "Running"
	PhaseFailed   Phase = "Failed"
	PhaseDeleting Phase = "Deleting"
	// PhaseRecoverable is that of a deleted capability whose stores are kept for the time of spec.deletion.graceful.
	PhaseRecoverable Phase = "Recoverable"
	PhaseSuspended   Phase = "Suspended"
)

// The conditions of a capability beside Ready, Reconciling and Stalled.
const (
	ConditionDataServicesReady = "DataServicesReady"
	ConditionParametersReady   = "ParametersReady"
	ConditionSecretsReady      = "SecretsReady"
	ConditionSecretsPopulated  = "SecretsPopulated"
	ConditionCognitoReady      = "CognitoReady"
	ConditionIdentityReady     = "IdentityReady"
	ConditionNamespaceReady    = "NamespaceReady"
	ConditionBackendReady      = "BackendReady"
	ConditionFrontendReady     = "FrontendReady"
	// ConditionComponentsReady speaks of all of spec.components; status.components of each.
	ConditionComponentsReady   = "ComponentsReady"
	ConditionIngressReady      = "IngressReady"
	ConditionPoliciesReady     = "PoliciesReady"
	ConditionDriftFree         = "DriftFree"
	ConditionCredentialsInPods = "CredentialsInPods"
)

// ApprovedStatus records a declaration of a capability whose plan was approved, or that stood when its namespace began to need approvals.
type ApprovedStatus struct {
	// Generation that was approved.
	Generation int64 `json:"generation"`
	// Spec is the specification of that generation, as JSON.
	// +kubebuilder:validation:MaxLength=1048576
	Spec string `json:"spec"`
	// Plan is the hash of the plan that was approved; empty for the declaration that stood when approvals began to be needed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Plan string `json:"plan,omitempty"`
	// Deletes are the objects that the plan deletes, as KIND/NAME.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	// +kubebuilder:validation:items:MaxLength=512
	Deletes []string `json:"deletes,omitempty"`
	// DeleteData is the annotation nexus.ai/delete-data that the plan was approved with.
	// +optional
	// +kubebuilder:validation:MaxLength=262144
	DeleteData string `json:"deleteData,omitempty"`
	// Deleting is true once the deletion of the capability was approved.
	// +optional
	Deleting bool `json:"deleting,omitempty"`
}

// NexusAICapabilityStatus reports a capability.
type NexusAICapabilityStatus struct {
	// Ready repeats the Ready condition as a boolean.
	// +optional
	Ready bool `json:"ready"`
	// Phase is the state in one word.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase Phase `json:"phase,omitempty"`
	// Step says how far the capability has come.
	// +optional
	Step *StepStatus `json:"step,omitempty"`
	// Progress is the step for people: 9/11.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Progress string `json:"progress,omitempty"`
	// Message says in a sentence what the phase means here, and after a failure what to do.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// Conditions are Ready, Reconciling, Stalled and one for each part of the capability.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Region in which the AWS resources live.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Region string `json:"region,omitempty"`
	// Identity says how pods get the credentials of their role; absent where spec.identity.mode is absent.
	// +optional
	Identity *IdentityStatus `json:"identity,omitempty"`
	// ReplacedPods are the pods that the operator evicted because they had started without AWS credentials: those of the last minutes, and
	// of a Deployment that has had no pod with credentials since, the first and the latest.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	ReplacedPods []ReplacedPod `json:"replacedPods,omitempty"`
	// Endpoints at which the capability answers.
	// +optional
	Endpoints *EndpointsStatus `json:"endpoints,omitempty"`
	// Components report each of spec.components.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Components []ComponentStatus `json:"components,omitempty"`
	// Resources are the capability's objects and what became of them.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	Resources []ResourceStatus `json:"resources,omitempty"`
	// Coverage lists what each policy engine does for each of spec.security.intents.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	Coverage []PolicyCoverage `json:"coverage,omitempty"`
	// History is the last 20 changes of phase, the newest last.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	History []PhaseChange `json:"history,omitempty"`
	// Rollout tells what the last edit of a capability that has run changes; absent before the first edit.
	// +optional
	Rollout *RolloutStatus `json:"rollout,omitempty"`
	// Recovery says until when a deleted capability can be brought back; absent before the deletion, and without a time to wait.
	// +optional
	Recovery *RecoveryStatus `json:"recovery,omitempty"`
	// Approved is the declaration that is in force where plans need an approval; absent where they need none, and before the first
	// approval. While an edit waits, the operator keeps up what it holds.
	// +optional
	Approved *ApprovedStatus `json:"approved,omitempty"`
	// Dropped lists the stores that an edit dropped, whose data may be deleted by annotation nexus.ai/delete-data, and that
	// are kept for the time of spec.deletion.graceful. Declaring a store again keeps it with its data.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	Dropped []DroppedStore `json:"dropped,omitempty"`
	// LastSyncTime is the time at which something was last brought in line; written only with another change.
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`
	// LastHandledReconcileAt repeats the annotation nexus.ai/reconcile-requested-at that was last served.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
}

// IdentityStatus reports how pods get the credentials of their role.
type IdentityStatus struct {
	// Mode is IRSA or PodIdentity.
	// +kubebuilder:validation:MaxLength=32
	Mode IdentityMode `json:"mode"`
	// Requested is the spec.identity.mode that it follows from. What Auto has chosen stays until this changes.
	// +kubebuilder:validation:MaxLength=32
	Requested IdentityMode `json:"requested"`
}

// ReplacedPod is a pod that the operator evicted, so that its Deployment starts another one.
type ReplacedPod struct {
	// Deployment of the pod.
	// +kubebuilder:validation:MaxLength=253
	Deployment string `json:"deployment"`
	// Name of the pod.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// UID of the pod.
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
	// Time of the eviction.
	Time metav1.Time `json:"time"`
}

// RolloutState says how far an edit has come.
type RolloutState string

// The states of a rollout: Progressing until everything is as declared, then Complete; Failed while a person must act.
const (
	RolloutProgressing RolloutState = "Progressing"
	RolloutComplete    RolloutState = "Complete"
	RolloutFailed      RolloutState = "Failed"
)

// RolloutStatus tells what an edit changes and how far it has come.
type RolloutStatus struct {
	// Generation of the capability that is rolled out.
	Generation int64 `json:"generation"`
	// State is Progressing, Complete or Failed.
	// +kubebuilder:validation:MaxLength=32
	State RolloutState `json:"state"`
	// Changes are the objects that the edit changed, at most 64.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Changes []RolloutChange `json:"changes,omitempty"`
}

// RolloutChange is one object that an edit changed.
type RolloutChange struct {
	// Kind of the object.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// Name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Action is Created, Updated or Deleted.
	// +kubebuilder:validation:MaxLength=32
	Action string `json:"action"`
	// Fields that differed before, at most 8.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=atomic
	Fields []string `json:"fields,omitempty"`
}

// StepStatus says how far the capability has come.
type StepStatus struct {
	// Current is the number of steps that are done.
	Current int32 `json:"current"`
	// Total is the number of steps.
	Total int32 `json:"total"`
	// Name of the step that is being done, or of the last one.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
}

// EndpointsStatus lists the addresses of the capability.
type EndpointsStatus struct {
	// URL for users.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
	// BackendInternal is the backend's URL inside the cluster; empty without a backend.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	BackendInternal string `json:"backendInternal,omitempty"`
}

// ResourceState says what became of one object.
type ResourceState string

// The states of an object.
const (
	ResourceWaiting     ResourceState = "Waiting"
	ResourceProgressing ResourceState = "Progressing"
	ResourceReady       ResourceState = "Ready"
	ResourceFailed      ResourceState = "Failed"
)

// ResourceStatus is one object of the capability.
type ResourceStatus struct {
	// Kind of the object.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// Name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the object where it is not the capability's own.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// ARN or identifier in AWS, once known.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ARN string `json:"arn,omitempty"`
	// State is Waiting, Progressing, Ready or Failed.
	// +kubebuilder:validation:MaxLength=32
	State ResourceState `json:"state"`
	// Reason for a state other than Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
}

// RecoveryState is a state of a deletion that can be undone.
type RecoveryState string

// The states of a deletion that can be undone. The operator leaves the first one once, and the others never.
const (
	// RecoveryWaiting keeps the stores until the time is over.
	RecoveryWaiting RecoveryState = "Waiting"
	// RecoveryRestoring keeps the AWS resources for good, because the deletion is undone.
	RecoveryRestoring RecoveryState = "Restoring"
	// RecoveryReleased keeps the AWS resources without their objects, because the namespace is being deleted.
	RecoveryReleased RecoveryState = "Released"
	// RecoveryEnded deletes what was kept.
	RecoveryEnded RecoveryState = "Ended"
)

// RecoveryStatus describes what is kept of a deleted capability.
type RecoveryStatus struct {
	// State of the deletion. Waiting: the stores are kept until the time is over. Restoring: the deletion is undone, the AWS resources
	// stay, and the capability is to be created again. Released: the namespace is being deleted, and the AWS resources stay without
	// their objects. Ended: what was kept is being deleted.
	// +kubebuilder:validation:Enum=Waiting;Restoring;Released;Ended
	State RecoveryState `json:"state"`
	// Until is the time at which the deletion of what is kept begins.
	Until metav1.Time `json:"until"`
	// Kept lists the AWS resources that are kept.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	Kept []KeptResource `json:"kept,omitempty"`
}

// KeptResource is an AWS resource that is kept after the deletion of its capability.
type KeptResource struct {
	// Kind of the object that manages the resource.
	// +kubebuilder:validation:MaxLength=64
	Kind string `json:"kind"`
	// Name of that object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// ID is the ARN of the resource, or its identifier; empty for what was never created.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ID string `json:"id,omitempty"`
}

// DroppedStore is a store that an edit dropped and that is kept for a time.
type DroppedStore struct {
	KeptResource `json:",inline"`
	// Until is the time at which the store is deleted with its data.
	Until metav1.Time `json:"until"`
}

// PhaseChange is a change of phase.
type PhaseChange struct {
	// Phase that began.
	// +kubebuilder:validation:MaxLength=64
	Phase Phase `json:"phase"`
	// Time at which it began.
	Time metav1.Time `json:"time"`
	// Reason for it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
}
