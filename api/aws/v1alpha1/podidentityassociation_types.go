// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PodIdentityAssociationSpec declares which role the pods of a ServiceAccount get through EKS Pod Identity.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html
// +kubebuilder:validation:XValidation:rule="has(self.roleARN) != has(self.roleRef)",message="set exactly one of roleARN and roleRef"
// +kubebuilder:validation:XValidation:rule="!has(self.policy) || has(self.disableSessionTags) && self.disableSessionTags",message="policy requires disableSessionTags: true"
type PodIdentityAssociationSpec struct {
	CommonSpec `json:",inline"`

	// ClusterName is the name of the EKS cluster, in the account and region of the provider. It must be the operator's own
	// cluster, which --eks-cluster-name names. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z][A-Za-z0-9_-]*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterName is immutable"
	ClusterName string `json:"clusterName"`
	// Namespace of the ServiceAccount: that of the object. It may differ only when a capability made the object. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="namespace is immutable"
	Namespace string `json:"namespace"`
	// ServiceAccount is the name of the ServiceAccount. EKS allows one association for it. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="serviceAccount is immutable"
	ServiceAccount string `json:"serviceAccount"`
	// RoleARN is the ARN of the role, which must be in the account of the cluster and trust pods.eks.amazonaws.com. It must lie
	// under the provider's rolePathPrefix, and a provider with a permissionsBoundaryARN allows none: use roleRef instead.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`
	RoleARN string `json:"roleARN,omitempty" names:"iam:role"`
	// RoleRef names the IAMRole object whose role the pods get; one that only observes a role cannot be used.
	// +optional
	RoleRef *ObjectReference `json:"roleRef,omitempty"`
	// TargetRoleARN is the ARN of a role, in any account, that EKS assumes with the role of the association: the pods get the credentials of
	// the target role. The first role needs the right to assume it, and it must trust the first. Absent: not managed. An association
	// keeps its target role until the object is deleted and created again.
	// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-assign-target-role.html
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`
	TargetRoleARN string `json:"targetRoleARN,omitempty" names:"iam:role"`
	// Policy is a session policy in JSON: the pods may do what both it and the policies of the role allow, of the target role where there
	// is one. It requires disableSessionTags: true. Absent: not managed. An association keeps its policy until the object is deleted
	// and created again.
	// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreatePodIdentityAssociation.html
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10240
	Policy string `json:"policy,omitempty"`
	// DisableSessionTags leaves out the session tags that name the cluster, the namespace and the ServiceAccount. A role whose
	// trust policy asks for them, such as one with podIdentity, then cannot be assumed. Absent: not managed; EKS creates
	// associations with false.
	// +optional
	DisableSessionTags *bool `json:"disableSessionTags,omitempty"`
}

// PodIdentityAssociationStatus reports the association.
type PodIdentityAssociationStatus struct {
	CommonStatus `json:",inline"`
	// AssociationID is the identifier that EKS assigned, such as a-1234567890abcdef0.
	// +optional
	AssociationID string `json:"associationId,omitempty"`
	// RoleARN is the ARN of the role that the pods get.
	// +optional
	RoleARN string `json:"roleArn,omitempty"`
}

// PodIdentityAssociation gives the pods of a ServiceAccount the credentials of a role through EKS Pod Identity.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=podid,categories={nexus,aws}
// +kubebuilder:printcolumn:name="ServiceAccount",type=string,JSONPath=`.spec.serviceAccount`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Role",type=string,priority=1,JSONPath=`.status.roleArn`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type PodIdentityAssociation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PodIdentityAssociationSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status PodIdentityAssociationStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *PodIdentityAssociation) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *PodIdentityAssociation) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// PodIdentityAssociationList is a list of PodIdentityAssociation.
// +kubebuilder:object:root=true
type PodIdentityAssociationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodIdentityAssociation `json:"items"`
}
