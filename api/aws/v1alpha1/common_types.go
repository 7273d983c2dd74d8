// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// DeletionPolicy decides about the AWS resource when its object is deleted.
// +kubebuilder:validation:Enum=Delete;Retain;Orphan;Stop
type DeletionPolicy string

// The deletion policies: Delete deletes the AWS resource; Retain keeps it with its ownership tags,
// so that a later object of the same name takes it over; Orphan keeps it and removes the ownership
// tags; Stop stops it and keeps it, for kinds that can be stopped.
const (
	DeletionDelete DeletionPolicy = "Delete"
	DeletionRetain DeletionPolicy = "Retain"
	DeletionOrphan DeletionPolicy = "Orphan"
	DeletionStop   DeletionPolicy = "Stop"
)

// AdoptionPolicy determines whether an AWS resource that already exists may become this object's.
// +kubebuilder:validation:Enum=Never;IfOwned;Always
type AdoptionPolicy string

// The adoption policies: IfOwned takes over what carries our tags for the same kind, namespace and
// name; Always also takes what carries no owner at all; Never takes nothing that is already there.
const (
	AdoptNever   AdoptionPolicy = "Never"
	AdoptIfOwned AdoptionPolicy = "IfOwned"
	AdoptAlways  AdoptionPolicy = "Always"
)

// ManagementPolicy determines whether the operator writes to AWS at all.
// +kubebuilder:validation:Enum=Full;Observe
type ManagementPolicy string

// The management policies: Observe reads and reports, and never writes nor deletes.
const (
	ManageFull    ManagementPolicy = "Full"
	ManageObserve ManagementPolicy = "Observe"
)

// DriftPolicy says what happens when AWS was changed behind the operator's back.
// +kubebuilder:validation:Enum=Correct;Report
type DriftPolicy string

// The drift policies: Correct restores what is declared; Report lists the differences in status.drift.
const (
	DriftCorrect DriftPolicy = "Correct"
	DriftReport  DriftPolicy = "Report"
)

// ProviderReference names the AWSProvider through which AWS is reached.
type ProviderReference struct {
	// Name of an AWSProvider in the object's own namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace is accepted only when it is the object's own.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// ObjectReference names another object of this API group in the same namespace.
type ObjectReference struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SecretReference names a Secret in the object's own namespace.
type SecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Namespace is accepted only when it is the object's own, or, for the credentials of an AWSProvider, the operator's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// SecretKeyReference names one key of a Secret in the object's own namespace.
type SecretKeyReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
	// Namespace is accepted only when it is the object's own.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// Key inside the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// CommonSpec holds the fields that every AWS resource kind has.
// +kubebuilder:validation:XValidation:rule="!has(self.adoptionPolicy) || self.adoptionPolicy != 'Always' || has(self.deletionPolicy)",message="deletionPolicy must be explicit when adoptionPolicy is Always"
type CommonSpec struct {
	// ProviderRef names the AWSProvider that gives account, region and credentials.
	ProviderRef ProviderReference `json:"providerRef"`
	// DeletionPolicy decides about the AWS resource when this object is deleted: Delete deletes it,
	// Retain keeps it with its ownership tags, Orphan keeps it and removes these tags, Stop stops and
	// keeps it (only kinds that can be stopped). The default is Delete for most kinds.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// AdoptionPolicy determines whether a resource that already exists may be taken over; default IfOwned.
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
	// ManagementPolicy Observe reads only; default Full.
	// +optional
	ManagementPolicy ManagementPolicy `json:"managementPolicy,omitempty"`
	// DriftPolicy Report lists differences instead of correcting them; default Correct.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
	// Tags are set on the AWS resource beside the provider's defaultTags and the operator's own.
	// +optional
	// +kubebuilder:validation:MaxProperties=40
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) >= 1 && size(k) <= 128 && !k.lowerAscii().startsWith('aws:') && !k.lowerAscii().startsWith('nexus.ai/'))",message="a tag key has 1 to 128 characters and does not begin with aws: or nexus.ai/, in upper or lower case: tag keys of IAM are not case-sensitive"
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(self[k]) <= 256)",message="a tag value has at most 256 characters"
	Tags map[string]TagValue `json:"tags,omitempty"`
}

// ImportSpec is the part of the spec of kinds whose identifiers AWS assigns.
// +kubebuilder:validation:XValidation:rule="has(self.importID) == has(oldSelf.importID) && (!has(self.importID) || self.importID == oldSelf.importID)",message="importID is immutable"
type ImportSpec struct {
	// ImportID is the identifier of an existing AWS resource that this object adopts instead of creating
	// one. It needs adoptionPolicy Always, an explicit deletionPolicy and the kind in adoptableKinds of the provider,
	// unless the resource carries the tags of an earlier object of this name. Absent: the operator creates
	// a resource. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	ImportID string `json:"importID,omitempty"`
}

// TagValue is the value of an AWS tag, at most 256 characters.
// +kubebuilder:validation:MaxLength=256
type TagValue string

// DriftEntry is one field in which AWS is not as declared.
type DriftEntry struct {
	// Path of the field in the resource's state.
	// +kubebuilder:validation:MaxLength=256
	Path string `json:"path"`
	// Want is the declared value; secrets are masked.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Want string `json:"want,omitempty"`
	// Have is the value found in AWS; secrets are masked.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Have string `json:"have,omitempty"`
	// By tells which change CloudTrail reported of the resource before the difference was found. It is a claim of the sender of the
	// message, not a proof. Absent without drift events, or when none was received.
	// +optional
	By *DriftAuthor `json:"by,omitempty"`
}

// DriftAuthor is a change of an AWS resource as CloudTrail reports it. Control characters are replaced.
type DriftAuthor struct {
	// Principal is the ARN of the identity that made the change, or the AWS service that made it.
	// +kubebuilder:validation:MaxLength=512
	Principal string `json:"principal"`
	// Source is the IP address, or the AWS service, from which the request came.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Source string `json:"source,omitempty"`
	// Action is the operation, such as s3:PutBucketVersioning.
	// +optional
	// +kubebuilder:validation:MaxLength=192
	Action string `json:"action,omitempty"`
	// Time is the time of the request.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
	// EventID is the ID of the event in CloudTrail.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	EventID string `json:"eventID,omitempty"`
}

// Ownership tells the owner that a look at an AWS resource showed.
// +kubebuilder:validation:Enum=Owned;Observed;ObservedForeign;Disputed
type Ownership string

// The states of ownership: Owned is a resource of this object. Observed and ObservedForeign are those of an object that only
// observes: no other object's tags are on the resource, or another object's. Disputed is a resource that exists and that is
// not proven to be this object's.
const (
	OwnershipOwned           Ownership = "Owned"
	OwnershipObserved        Ownership = "Observed"
	OwnershipObservedForeign Ownership = "ObservedForeign"
	OwnershipDisputed        Ownership = "Disputed"
)

// CommonStatus has the fields that every AWS resource kind reports.
type CommonStatus struct {
	// Ready repeats the Ready condition as a boolean.
	// +optional
	Ready bool `json:"ready"`
	// Conditions are Ready, Reconciling, Stalled and, for kinds that have more to say, others.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the generation that the conditions speak of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// SyncedGeneration is the last generation at which AWS was observed to be as declared: what differs at
	// that generation was changed outside.
	// +optional
	SyncedGeneration int64 `json:"syncedGeneration,omitempty"`
	// ARN is the Amazon Resource Name, once known.
	// +optional
	ARN string `json:"arn,omitempty"`
	// ID is the identifier by which AWS knows the resource, once known.
	// +optional
	ID string `json:"id,omitempty"`
	// Home is the place of the resource that Ownership speaks of, as partition/account/region. An object does not look for its resource in
	// another place, and objects in another place refer only to what means the same there.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Home string `json:"home,omitempty"`
	// Ownership says what the last look at AWS showed of the owner of the resource; empty before the first look. What other
	// objects may refer to, and the roles of a capability get rights on, follows from it.
	// +optional
	Ownership Ownership `json:"ownership,omitempty"`
	// CreationTime is the time at which AWS created the resource, recorded while the resource carries the
	// ownership tags of this object; for kinds whose creation time AWS does not keep, the time at which the
	// tags were first seen. It proves the ownership of a resource whose tags were removed later.
	// +optional
	CreationTime *metav1.Time `json:"creationTime,omitempty"`
	// WrittenVersions identify the values last written to fields that AWS never returns, such as
	// passwords, by field. The entry of a field with [{}] at its end is about the objects of empty values in it
	// that AWS does not show.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	WrittenVersions map[string]string `json:"writtenVersions,omitempty"`
	// Drift lists where AWS differs from what is declared, while it does.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	Drift []DriftEntry `json:"drift,omitempty"`
	// LastChangedBy tells which change from outside was the last that CloudTrail reported and a check found. It stays after the
	// operator has corrected the change. It is a claim of the sender of the message, not a proof.
	// +optional
	LastChangedBy *DriftAuthor `json:"lastChangedBy,omitempty"`
	// LastSyncTime changes when AWS was brought in line or found changed. A periodic check that finds nothing new does not change
	// it; nexusctl reconcile --wait asks for a check and shows its result.
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`
	// LastHandledReconcileAt repeats the annotation nexus.ai/reconcile-requested-at that was last served.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
	// ManagedTagKeys are the tag keys the operator wrote, so that dropped ones are removed again.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	ManagedTagKeys []string `json:"managedTagKeys,omitempty"`
	// Provided is a hash of what the AWSProvider added to the spec, such as its defaultTags, when AWS was last observed to be as
	// declared; empty for nothing. What differs after the provider was edited was not changed outside.
	// +optional
	Provided string `json:"provided,omitempty"`
}

// Resource has the methods that the engine needs of any AWS resource object.
// +kubebuilder:object:generate=false
type Resource interface {
	metav1.Object
	runtime.Object
	// CommonSpec returns the object's own common spec, never nil.
	CommonSpec() *CommonSpec
	// CommonStatus returns the object's own common status, never nil.
	CommonStatus() *CommonStatus
}

// FinalizerOf is the finalizer that keeps an object of the kind until its AWS resource is dealt with.
func FinalizerOf(kind string) string {
	return GroupName + "/" + strings.ToLower(kind) + "-finalizer"
}

// IsLeftBehind reports whether the operator does not look after the deletion of an object of the kind: only the finalizers of others keep
// it, or it is paused. Whatever its status says, its resource may be gone, and by now another owner may have one of the same name.
func IsLeftBehind(kind string, o Resource) bool {
	paused := o.GetAnnotations()[wellknown.AnnotationPaused] == "true"
	return o.GetDeletionTimestamp() != nil && (paused || !slices.Contains(o.GetFinalizers(), FinalizerOf(kind)))
}

// OwnsResource reports whether the resource that the status identifies was this object's when AWS was last looked at. Earlier
// versions recorded only the creation time, and only of resources that carried the tags of the object.
func (s *CommonStatus) OwnsResource() bool {
	if s.Ownership == "" {
		return s.CreationTime != nil
	}
	return s.Ownership == OwnershipOwned
}
