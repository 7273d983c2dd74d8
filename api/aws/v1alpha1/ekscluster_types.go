// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EKSClusterSpec declares the control plane of a cluster of the Elastic Kubernetes Service, and who may use it. Its node groups,
// Fargate profiles and add-ons are not declared here.
// +kubebuilder:validation:XValidation:rule="!has(self.accessEntries) || !has(self.accessConfig) || !has(self.accessConfig.authenticationMode) || self.accessConfig.authenticationMode != 'CONFIG_MAP'",message="accessEntries need authenticationMode API or API_AND_CONFIG_MAP"
// +kubebuilder:validation:XValidation:rule="!has(self.roleARN) || !has(self.roleRef)",message="roleARN and roleRef exclude each other"
// +kubebuilder:validation:XValidation:rule="(has(self.roleARN) || has(self.roleRef)) && has(self.vpcConfig) && (has(self.vpcConfig.subnetIDs) || has(self.vpcConfig.subnetRefs)) || has(self.managementPolicy) && self.managementPolicy == 'Observe' || has(self.adoptionPolicy) && self.adoptionPolicy == 'Always'",message="a role, and subnets in vpcConfig, are required, except for a cluster that is observed or adopted"
// +kubebuilder:validation:XValidation:rule="has(self.roleARN) == has(oldSelf.roleARN) && (!has(self.roleARN) || self.roleARN == oldSelf.roleARN)",message="roleARN is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.roleRef) == has(oldSelf.roleRef) && (!has(self.roleRef) || self.roleRef == oldSelf.roleRef)",message="roleRef is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.encryption) == has(oldSelf.encryption) && (!has(self.encryption) || self.encryption == oldSelf.encryption)",message="encryption is immutable"
type EKSClusterSpec struct {
	CommonSpec `json:",inline"`

	// ClusterName is unique in account and region: 1 to 100 letters, digits, hyphens and underscores, beginning with a letter
	// or a digit. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z][A-Za-z0-9_-]*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterName is immutable"
	ClusterName string `json:"clusterName"`
	// Version of Kubernetes, such as 1.33. The operator upgrades one minor version after the other, and never downgrades. A
	// later version that runs already, such as after an upgrade that EKS made at the end of extended support, stays, and
	// condition VersionAsDeclared is False. Absent: not managed; EKS creates clusters with its default version.
	// +optional
	// +kubebuilder:validation:MaxLength=8
	// +kubebuilder:validation:Pattern=`^1\.[1-9][0-9]$`
	Version *string `json:"version,omitempty"`
	// RoleARN is the ARN of the role that the control plane acts as. It must lie under the provider's rolePathPrefix, and a
	// provider with a permissionsBoundaryARN allows none: use roleRef instead. Immutable.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`
	RoleARN string `json:"roleARN,omitempty" names:"iam:role"`
	// RoleRef names the IAMRole object that the control plane acts as. Its trust policy must allow eks.amazonaws.com; one that
	// only observes a role cannot be used. Immutable.
	// +optional
	RoleRef *ObjectReference `json:"roleRef,omitempty"`
	// VPCConfig is the network of the control plane.
	// +optional
	VPCConfig *EKSVPCConfig `json:"vpcConfig,omitempty"`
	// Logging chooses the logs of the control plane in CloudWatch Logs. Absent: not managed; EKS creates clusters without logs.
	// +optional
	Logging *EKSLogging `json:"logging,omitempty"`
	// AccessConfig configures the authentication of users. Absent: not managed; the operator creates clusters with API_AND_CONFIG_MAP.
	// +optional
	AccessConfig *EKSAccessConfig `json:"accessConfig,omitempty"`
	// AccessEntries let users and roles of IAM use the API server of the cluster. Without any, only the identity that created the
	// cluster can, which is the operator's, so that declare at least one administrator. Entries that are not declared are left
	// alone, such as those of nodes; entries that the operator made are removed when they are no longer declared.
	// +optional
	// +listType=map
	// +listMapKey=principalARN
	// +kubebuilder:validation:MaxItems=50
	AccessEntries []EKSAccessEntry `json:"accessEntries,omitempty"`
	// UpgradePolicy says what EKS does at the end of standard support of the version. Absent: not managed; EKS creates clusters with
	// EXTENDED support.
	// +optional
	UpgradePolicy *EKSUpgradePolicy `json:"upgradePolicy,omitempty"`
	// Encryption of Secrets by a key of KMS. Absent: not managed. Immutable.
	// +optional
	Encryption *EKSEncryption `json:"encryption,omitempty"`
	// DeletionProtection makes EKS refuse to delete the cluster. With deletionPolicy Delete, false lifts it for a deletion.
	// Absent: not managed; EKS creates clusters with false.
	// +optional
	DeletionProtection *bool `json:"deletionProtection,omitempty"`
	// RecreateOnLoss creates the cluster again, empty and with another endpoint, when it was deleted outside the operator; the
	// default is to report Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// EKSUpgradePolicy says what EKS does at the end of standard support of a version.
// https://docs.aws.amazon.com/eks/latest/userguide/view-upgrade-policy.html
type EKSUpgradePolicy struct {
	// SupportType is STANDARD, with which EKS upgrades the cluster at the end of standard support, or EXTENDED, with which the version
	// stays up to a year longer at a higher price. A cluster that is in extended support cannot return to STANDARD before it is upgraded.
	// +kubebuilder:validation:Enum=STANDARD;EXTENDED
	SupportType string `json:"supportType"`
}

// EKSVPCConfig is the network of a control plane. Settings that are absent are not managed.
// +kubebuilder:validation:XValidation:rule="!has(self.endpointPublicAccess) || self.endpointPublicAccess || has(self.endpointPrivateAccess) && self.endpointPrivateAccess",message="endpointPublicAccess: false needs endpointPrivateAccess: true"
// +kubebuilder:validation:XValidation:rule="!has(self.publicAccessCidrs) || !has(self.endpointPublicAccess) || self.endpointPublicAccess",message="publicAccessCidrs need the public endpoint"
// +kubebuilder:validation:XValidation:rule="!has(self.subnetIDs) && !has(self.subnetRefs) || (has(self.subnetIDs) ? size(self.subnetIDs) : 0) + (has(self.subnetRefs) ? size(self.subnetRefs) : 0) >= 2",message="a cluster needs at least two subnets, in different Availability Zones"
type EKSVPCConfig struct {
	// SubnetIDs are the identifiers of subnets of one VPC, at least two in different Availability Zones. Together with subnetRefs
	// they are all subnets of the control plane: those that others add are removed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	SubnetIDs []SubnetID `json:"subnetIDs,omitempty" names:"ec2:subnet"`
	// SubnetRefs name Subnet objects in the same namespace, beside subnetIDs.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	SubnetRefs []ObjectReference `json:"subnetRefs,omitempty"`
	// SecurityGroupIDs are the identifiers of security groups of the control plane, beside the one that EKS creates. Together with
	// securityGroupRefs they are all: those that others add are removed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	SecurityGroupIDs []SecurityGroupID `json:"securityGroupIDs,omitempty" names:"ec2:security-group"`
	// SecurityGroupRefs name SecurityGroup objects in the same namespace, beside securityGroupIDs.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	SecurityGroupRefs []ObjectReference `json:"securityGroupRefs,omitempty"`
	// EndpointPublicAccess lets the API server be reached from the internet. EKS creates clusters with true.
	// +optional
	EndpointPublicAccess *bool `json:"endpointPublicAccess,omitempty"`
	// EndpointPrivateAccess lets the API server be reached from the VPC. EKS creates clusters with false.
	// +optional
	EndpointPrivateAccess *bool `json:"endpointPrivateAccess,omitempty"`
	// PublicAccessCidrs are the ranges of addresses from which the public endpoint can be reached. EKS creates clusters with
	// 0.0.0.0/0. Ranges that others add are removed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=40
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:Pattern=`^[0-9a-fA-F.:]+/[0-9]{1,3}$`
	PublicAccessCidrs []string `json:"publicAccessCidrs,omitempty"`
}

// EKSLogging chooses the logs of a control plane.
type EKSLogging struct {
	// ClusterLogging are the types of logs that are sent: api, audit, authenticator, controllerManager and scheduler. The other
	// types are not, and those that others add are removed; [] ends all.
	// +listType=set
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum=api;audit;authenticator;controllerManager;scheduler
	ClusterLogging []string `json:"clusterLogging"`
}

// EKSAccessConfig configures the authentication of the users of a cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.bootstrapClusterCreatorAdminPermissions) || self.bootstrapClusterCreatorAdminPermissions || !has(self.authenticationMode) || self.authenticationMode != 'CONFIG_MAP'",message="bootstrapClusterCreatorAdminPermissions: false needs authenticationMode API or API_AND_CONFIG_MAP"
type EKSAccessConfig struct {
	// AuthenticationMode is CONFIG_MAP (the ConfigMap aws-auth), API (access entries of EKS) or API_AND_CONFIG_MAP. EKS changes it
	// only from CONFIG_MAP to API_AND_CONFIG_MAP to API. Absent: not managed; the operator creates clusters with
	// API_AND_CONFIG_MAP.
	// +optional
	// +kubebuilder:validation:Enum=CONFIG_MAP;API_AND_CONFIG_MAP;API
	AuthenticationMode string `json:"authenticationMode,omitempty"`
	// BootstrapClusterCreatorAdminPermissions makes the identity that creates the cluster, which is the operator's, its
	// administrator. Only the creation of the cluster reads it. With false, declare an administrator in accessEntries. Absent: as
	// EKS does, true.
	// +optional
	BootstrapClusterCreatorAdminPermissions *bool `json:"bootstrapClusterCreatorAdminPermissions,omitempty"`
}

// EKSAccessEntry lets a user or a role of IAM use the API server of a cluster.
type EKSAccessEntry struct {
	// PrincipalARN is the ARN of the user or role, such as arn:aws:iam::123456789012:role/admins. EKS binds the entry to the unique ID of
	// the principal: one that is deleted and created again has no access until its entry is removed and declared again.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::[0-9]{12}:(role|user)/[^\]]+$`
	PrincipalARN string `json:"principalARN"`
	// KubernetesGroups are the groups that Kubernetes takes the user to be in, for role bindings. Absent: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=63
	KubernetesGroups []string `json:"kubernetesGroups,omitempty"`
	// Policies are the access policies of EKS that the user has. Absent: none.
	// +optional
	// +listType=map
	// +listMapKey=policyName
	// +kubebuilder:validation:MaxItems=20
	Policies []EKSAccessPolicy `json:"policies,omitempty"`
}

// EKSAccessPolicy is an access policy of EKS in a cluster or in some of its namespaces.
type EKSAccessPolicy struct {
	// PolicyName is the name of an access policy, such as AmazonEKSClusterAdminPolicy, AmazonEKSAdminPolicy, AmazonEKSEditPolicy
	// or AmazonEKSViewPolicy.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]+$`
	PolicyName string `json:"policyName"`
	// Namespaces that the policy is for. Absent: the whole cluster.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=63
	Namespaces []string `json:"namespaces,omitempty"`
}

// EKSEncryption is the encryption of Secrets.
// +kubebuilder:validation:XValidation:rule="has(self.providerKeyARN) != has(self.kmsKeyRef)",message="set exactly one of providerKeyARN and kmsKeyRef"
type EKSEncryption struct {
	// Resources that are encrypted: secrets, which is the default and the only value of EKS.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1
	// +kubebuilder:validation:items:Enum=secrets
	Resources []string `json:"resources,omitempty"`
	// ProviderKeyARN is the ARN of a symmetric key of KMS in the region of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/.+$`
	ProviderKeyARN string `json:"providerKeyARN,omitempty" names:"kms:key"`
	// KMSKeyRef names a KMSKey of the same namespace instead.
	// +optional
	KMSKeyRef *ObjectReference `json:"kmsKeyRef,omitempty"`
}

// ConditionVersionAsDeclared is False while a cluster of EKS runs a later version of Kubernetes, or a DB instance a later major
// version, than the one that is declared.
const ConditionVersionAsDeclared = "VersionAsDeclared"

// EKSClusterStatus reports the cluster.
type EKSClusterStatus struct {
	CommonStatus `json:",inline"`
	// ManagedAccessEntries are the principals of the access entries that the operator made, so that dropped ones are removed again.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	ManagedAccessEntries []string `json:"managedAccessEntries,omitempty"`
	// ManagedAccessPolicies are the principals and access policies that the operator associated, so that dropped ones are removed
	// again.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	ManagedAccessPolicies []string `json:"managedAccessPolicies,omitempty"`
	// ClusterName is the name of the cluster.
	// +optional
	ClusterName string `json:"clusterName,omitempty"`
	// Status is the state that EKS reports: CREATING, ACTIVE, UPDATING, DELETING, FAILED or PENDING.
	// +optional
	Status string `json:"status,omitempty"`
	// Version of Kubernetes that runs.
	// +optional
	Version string `json:"version,omitempty"`
	// PlatformVersion is the version of EKS that runs, such as eks.4. EKS upgrades it.
	// +optional
	PlatformVersion string `json:"platformVersion,omitempty"`
	// Endpoint is the address of the API server.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// CertificateAuthority is the certificate that the API server is verified with, in base64.
	// +optional
	CertificateAuthority string `json:"certificateAuthority,omitempty"`
	// OIDCIssuer is the issuer of ServiceAccount tokens.
	// +optional
	OIDCIssuer string `json:"oidcIssuer,omitempty"`
	// ClusterSecurityGroupID is the security group that EKS created for the control plane and its nodes.
	// +optional
	ClusterSecurityGroupID string `json:"clusterSecurityGroupID,omitempty"`
	// VPCID is the VPC of the subnets.
	// +optional
	VPCID string `json:"vpcID,omitempty"`
}

// EKSCluster is the control plane of a cluster of the Elastic Kubernetes Service. Its deletionPolicy is Retain by default, because
// all objects of the cluster are lost with it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=eks,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterName`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Endpoint",type=string,priority=1,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type EKSCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EKSClusterSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status EKSClusterStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *EKSCluster) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *EKSCluster) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether a cluster that no longer exists is created again, empty.
func (o *EKSCluster) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ReferableAttributes returns what objects that refer to the cluster can use beside its ID and ARN.
func (o *EKSCluster) ReferableAttributes() map[string]string {
	return map[string]string{"endpoint": o.Status.Endpoint, "certificateAuthority": o.Status.CertificateAuthority,
		"oidcIssuer":             o.Status.OIDCIssuer,
		"clusterSecurityGroupID": o.Status.ClusterSecurityGroupID, "vpcID": o.Status.VPCID}
}

// EKSClusterList is a list of EKSCluster.
// +kubebuilder:object:root=true
type EKSClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EKSCluster `json:"items"`
}
