// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IAMRoleSpec declares a role.
// +kubebuilder:validation:XValidation:rule="has(self.assumeRolePolicyDocument) != (has(self.irsa) || has(self.podIdentity)) || has(self.managementPolicy) && self.managementPolicy == 'Observe' && !has(self.assumeRolePolicyDocument)",message="set assumeRolePolicyDocument, or one or both of irsa and podIdentity"
// +kubebuilder:validation:XValidation:rule="has(self.path) == has(oldSelf.path) && (!has(self.path) || self.path == oldSelf.path)",message="path is immutable"
// +kubebuilder:validation:XValidation:rule="!has(self.inlinePolicy) || !has(self.inlinePolicies) || self.inlinePolicies.all(p, p.policyName != self.inlinePolicy.policyName)",message="inlinePolicy and inlinePolicies name the same policy"
type IAMRoleSpec struct {
	CommonSpec `json:",inline"`

	// RoleName is unique in the account whatever its path; at most 64 characters. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+=,.@_-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="roleName is immutable"
	RoleName string `json:"roleName"`
	// Path of the role, / by default. Immutable.
	// +optional
	// +kubebuilder:validation:Pattern=`^/([\x21-\x7e]+/)?$`
	// +kubebuilder:validation:MaxLength=512
	Path string `json:"path,omitempty"`
	// AssumeRolePolicyDocument is the trust policy in JSON. Name users and roles by ARN, not by unique ID.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=10240
	AssumeRolePolicyDocument string `json:"assumeRolePolicyDocument,omitempty"`
	// IRSA makes the trust policy for one ServiceAccount of this cluster.
	// +optional
	IRSA *IAMRoleIRSA `json:"irsa,omitempty"`
	// PodIdentity makes the trust policy for one ServiceAccount of this cluster, through EKS Pod Identity. A
	// PodIdentityAssociation then gives the role to its pods. Together with irsa, both ways are trusted.
	// +optional
	PodIdentity *IAMRolePodIdentity `json:"podIdentity,omitempty"`
	// Description of the role, at most 1000 characters; "" clears it.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	Description *string `json:"description,omitempty"`
	// ManagedPolicyArns are attached to the role. Those that others attached stay, unless exclusivePolicies is true.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=set
	ManagedPolicyArns []IAMPolicyARN `json:"managedPolicyArns,omitempty"`
	// InlinePolicies are embedded in the role. Those of others stay, unless exclusivePolicies is true.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=policyName
	InlinePolicies []IAMInlinePolicy `json:"inlinePolicies,omitempty"`
	// InlinePolicy is a single embedded policy; the same as one entry of inlinePolicies.
	// +optional
	InlinePolicy *IAMInlinePolicy `json:"inlinePolicy,omitempty"`
	// MaxSessionDuration in seconds, 3600 to 43200.
	// +optional
	// +kubebuilder:validation:Minimum=3600
	// +kubebuilder:validation:Maximum=43200
	MaxSessionDuration *int32 `json:"maxSessionDuration,omitempty"`
	// PermissionsBoundary is the ARN of the policy that bounds the role. Absent: the role keeps what it has in AWS. ""
	// declares none. The operator puts the boundary on a role that has none; it never removes a boundary from a role,
	// and replaces one only by the permissionsBoundaryARN of the AWSProvider.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	PermissionsBoundary *string `json:"permissionsBoundary,omitempty"`
	// ExclusivePolicies removes inline and attached policies that are not declared here.
	// +optional
	ExclusivePolicies bool `json:"exclusivePolicies,omitempty"`
	// InstanceProfile is an instance profile that contains the role, so that an EC2Instance can have it by
	// iamInstanceProfile; {} names it after the role. It gets the path and the tags of the role. Removed from the spec, or with
	// the role, it is deleted: instances that still have it lose their credentials. A profile without an owner that contains the
	// role already is adopted with the role; any other profile of the name is a Conflict.
	// +optional
	InstanceProfile *IAMRoleInstanceProfile `json:"instanceProfile,omitempty"`
}

// IAMRoleInstanceProfile is the instance profile of a role.
type IAMRoleInstanceProfile struct {
	// Name of the profile, unique in the account; default is roleName. Another name creates another profile and deletes the
	// one before.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+=,.@_-]+$`
	Name string `json:"name,omitempty"`
}

// IAMPolicyARN is the ARN of a managed policy.
// +kubebuilder:validation:MinLength=20
// +kubebuilder:validation:MaxLength=2048
type IAMPolicyARN string

// IAMRoleIRSA is the one ServiceAccount that may assume the role.
// https://docs.aws.amazon.com/eks/latest/userguide/iam-roles-for-service-accounts.html
type IAMRoleIRSA struct {
	// ServiceAccount is the name of the ServiceAccount.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccount string `json:"serviceAccount"`
	// Namespace of the ServiceAccount. It may differ from the object's own only when a capability made the object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// IAMRolePodIdentity is the one ServiceAccount that EKS Pod Identity may assume the role for.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
type IAMRolePodIdentity struct {
	// ClusterName is the name of the EKS cluster, in the account and region of the provider. It must be the operator's own
	// cluster, which --eks-cluster-name names.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z][A-Za-z0-9_-]*$`
	ClusterName string `json:"clusterName"`
	// ServiceAccount is the name of the ServiceAccount.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ServiceAccount string `json:"serviceAccount"`
	// Namespace of the ServiceAccount. It may differ from the object's own only when a capability made the object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// IAMInlinePolicy is a policy that lives in the role.
type IAMInlinePolicy struct {
	// PolicyName is unique in the role.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+=,.@_-]+$`
	PolicyName string `json:"policyName"`
	// PolicyDocument in JSON. AWS allows 10,240 characters, without white space, over all inline policies.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=20480
	PolicyDocument string `json:"policyDocument"`
}

// ConditionOIDCProviderReady is True when IAM accepts the tokens of the role's ServiceAccount: the account has an
// IAM OIDC provider for the cluster's issuer, with the audience sts.amazonaws.com. Roles with irsa have it.
const ConditionOIDCProviderReady = "OIDCProviderReady"

// IAMRoleStatus reports the role.
type IAMRoleStatus struct {
	CommonStatus `json:",inline"`
	// RoleArn repeats arn.
	// +optional
	RoleArn string `json:"roleArn,omitempty"`
	// RoleId is the stable unique ID, such as AROA….
	// +optional
	RoleId string `json:"roleId,omitempty"`
	// ManagedPolicyNames are the inline policies the operator wrote, so that dropped ones are removed again.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	ManagedPolicyNames []string `json:"managedPolicyNames,omitempty"`
	// AttachedPolicyArns are the managed policies the operator attached, so that dropped ones are detached again.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	AttachedPolicyArns []string `json:"attachedPolicyArns,omitempty"`
	// InstanceProfileArn is the ARN of the instance profile.
	// +optional
	InstanceProfileArn string `json:"instanceProfileArn,omitempty"`
	// ManagedInstanceProfiles are the instance profiles that the operator created or that were declared, so that dropped ones
	// are deleted.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	ManagedInstanceProfiles []string `json:"managedInstanceProfiles,omitempty"`
}

// IAMRole is an IAM role.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=iam,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.spec.roleName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type IAMRole struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec IAMRoleSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status IAMRoleStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *IAMRole) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *IAMRole) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// Identifiers returns the names, beside its ID and ARN, by which others can name the role: its name, and the names and the
// ARN of its instance profiles.
func (o *IAMRole) Identifiers() []string {
	out := append([]string{o.Spec.RoleName, o.Status.InstanceProfileArn}, o.Status.ManagedInstanceProfiles...)
	if p := o.Spec.InstanceProfile; p != nil {
		out = append(out, cmp.Or(p.Name, o.Spec.RoleName))
	}
	return out
}

// IAMRoleList is a list of IAMRole.
// +kubebuilder:object:root=true
type IAMRoleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []IAMRole `json:"items"`
}

// ReferableAttributes returns what objects that refer to the role can use beside its ID and ARN. AWS binds functions to the unique ID. The
// ARN of the instance profile, and the name at its end, are those of one that the object owns.
func (o *IAMRole) ReferableAttributes() map[string]string {
	arn := o.Status.InstanceProfileArn
	return map[string]string{"roleId": o.Status.RoleId, "instanceProfileArn": arn, "instanceProfileName": arn[strings.LastIndex(arn, "/")+1:]}
}
