// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DeletionPolicy decides what happens to the AWS resources when the capability is deleted.
// +kubebuilder:validation:Enum=Delete;Retain;Orphan
type DeletionPolicy string

// The deletion policies: Delete removes everything; Retain keeps the AWS resources with our ownership
// tags, so that a later capability of the same name takes them over; Orphan keeps AWS and Kubernetes
// objects alike and removes our tags and labels.
const (
	DeletionDelete DeletionPolicy = "Delete"
	DeletionRetain DeletionPolicy = "Retain"
	DeletionOrphan DeletionPolicy = "Orphan"
)

// DriftPolicy says what happens when AWS was changed behind the operator's back.
// +kubebuilder:validation:Enum=Correct;Report
type DriftPolicy string

// The drift policies: Correct restores what is declared; Report only says what differs.
const (
	DriftCorrect DriftPolicy = "Correct"
	DriftReport  DriftPolicy = "Report"
)

// DefaultSecrets says which of the default secrets a capability has.
// +kubebuilder:validation:Enum=All;None
type DefaultSecrets string

// The default secrets of a capability: All six, or None but those that spec.secrets lists.
const (
	DefaultSecretsAll  DefaultSecrets = "All"
	DefaultSecretsNone DefaultSecrets = "None"
)

// NexusAICapabilitySpec declares a capability.
// +kubebuilder:validation:XValidation:rule="has(self.frontend) || has(self.backend) || has(self.components) && size(self.components) > 0",message="a capability needs a component: declare frontend, backend or components"
// +kubebuilder:validation:XValidation:rule="!has(self.security) || !has(self.security.intents) || self.security.intents.all(i, !has(i.component) || i.component == 'frontend' && has(self.frontend) || i.component == 'backend' && has(self.backend) || has(self.components) && self.components.exists(c, c.name == i.component))",message="component names a component that the capability does not declare",fieldPath=".security.intents"
// +kubebuilder:validation:XValidation:rule="!has(self.components) || self.components.all(c, size(self.capabilityName) + size(self.environment) + size(c.name) <= 57)",message="capabilityName, environment and the name of a component together have at most 57 characters",fieldPath=".components"
// +kubebuilder:validation:XValidation:rule="!has(self.components) || self.components.all(c, !has(c.type) || c.type != 'CronJob' || size(self.capabilityName) + size(self.environment) + size(c.name) <= 50)",message="capabilityName, environment and the name of a CronJob together have at most 50 characters",fieldPath=".components"
// +kubebuilder:validation:XValidation:rule="size(self.capabilityName) + size(self.environment) <= 41",message="capabilityName and environment together have at most 41 characters"
// +kubebuilder:validation:XValidation:rule="has(self.region) == has(oldSelf.region) && (!has(self.region) || self.region == oldSelf.region)",message="region is immutable: create another capability"
// +kubebuilder:validation:XValidation:rule="!has(self.cognito) || has(self.enableCognito) && self.enableCognito",message="cognito needs enableCognito: true"
// +kubebuilder:validation:XValidation:rule="!has(self.enableCognito) || !self.enableCognito || has(self.ingress) && has(self.ingress.host) && !self.ingress.host.startsWith('*') || has(self.cognito) && has(self.cognito.callbackURLs) && self.cognito.callbackURLs.all(u, !u.startsWith('/')) && (!has(self.cognito.logoutURLs) || self.cognito.logoutURLs.all(u, !u.startsWith('/')))",message="cognito.callbackURLs: paths are completed with ingress.host, and the default is a path: set the host, without *, or declare whole URLs"
// +kubebuilder:validation:XValidation:rule="!has(self.enableCognito) || !self.enableCognito || has(self.cognito) && has(self.cognito.domainPrefix) || ['aws', 'amazon', 'cognito'].all(w, !(self.capabilityName + '-' + self.environment).contains(w))",message="cognito.domainPrefix: the default contains aws, amazon or cognito, which Cognito reserves: declare another domainPrefix"
// +kubebuilder:validation:XValidation:rule="!has(self.dataServices) || !has(self.dataServices.resources) || has(self.providerRef)",message="dataServices.resources needs providerRef: the operator lends its own identity only to what it composes itself"
type NexusAICapabilitySpec struct {
	// CapabilityName is the first part of every derived name. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([a-z0-9-]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="capabilityName is immutable"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('aws') && !self.startsWith('ssm') && !self.startsWith('xn--') && !self.startsWith('sthree-') && !self.startsWith('amzn-s3-demo-')",message="capabilityName must not begin with aws, ssm, xn--, sthree- or amzn-s3-demo-: AWS reserves these"
	// +kubebuilder:validation:XValidation:rule="self != 'kube' && !self.startsWith('kube-')",message="capabilityName must not be kube nor begin with kube-: Kubernetes reserves these namespaces"
	CapabilityName string `json:"capabilityName"`
	// Environment is the second part of every derived name; prod and production get production defaults. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[a-z][a-z0-9]{0,15}$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="environment is immutable"
	Environment string `json:"environment"`
	// Version of the application: a label of every object and told to the workloads.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`
	Version string `json:"version"`
	// Region where AWS resources live; default the operator's, frozen at first apply. Immutable.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z]{2}(-[a-z]+)+-[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	Region string `json:"region,omitempty"`
	// ProviderRef names an AWSProvider of this namespace. Absent: one is generated that uses the operator's own identity,
	// in namespaces that the operator's --capability-namespaces or --ambient-namespaces matches, or anywhere under its
	// --default-permissions-boundary.
	// +optional
	ProviderRef *ProviderReference `json:"providerRef,omitempty"`
	// Frontend describes the component that users open.
	// +optional
	Frontend FrontendSpec `json:"frontend,omitzero"`
	// Backend describes the component that the frontend talks to.
	// +optional
	Backend BackendSpec `json:"backend,omitzero"`
	// Components are the workloads beside, or instead of, frontend and backend. A capability has at least one component in all.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Components []NamedComponentSpec `json:"components,omitempty"`
	// Ingress exposes the capability outside the cluster; enabled unless it says otherwise.
	// +optional
	Ingress *IngressSpec `json:"ingress,omitempty"`
	// EnableCognito creates a user pool of Amazon Cognito, {capabilityName}-{environment}-users, in which administrators create
	// users who sign in with their email addresses. Default false.
	// +optional
	EnableCognito bool `json:"enableCognito,omitempty"`
	// Cognito says how users sign in; needs enableCognito: true. Absent: the defaults of its fields.
	// +optional
	Cognito *CognitoSpec `json:"cognito,omitempty"`
	// DataServices are the stores of the capability.
	// +optional
	DataServices *DataServicesSpec `json:"dataServices,omitempty"`
	// AI declares vector stores, guardrails, inference profiles and memory for an AI application. Absent: none.
	// +optional
	AI *AISpec `json:"ai,omitempty"`
	// Budget watches the costs of the capability in a month. Absent: none.
	// +optional
	Budget *BudgetSpec `json:"budget,omitempty"`
	// DefaultSecrets decides about the six secrets anthropic, api-keys, github, license, openai and wxcc. All creates them; None creates
	// only those of spec.secrets. An edit from All to None deletes those that spec.secrets does not list, as deletionPolicy says. Absent:
	// All.
	// +optional
	DefaultSecrets DefaultSecrets `json:"defaultSecrets,omitempty"`
	// Secrets says where the values of secrets come from, and adds secrets to the default ones. An entry with the name of a default secret and
	// without a source has the source of that one, with every value of defaultSecrets. Absent or empty: the default secrets alone.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:XValidation:rule="self.all(s, s.name in ['api-keys', 'wxcc', 'openai', 'license', 'anthropic', 'github'] || has(s.valueFrom) || has(s.generate) || has(s.placeholder) || has(s.existing))",message="an additional secret needs valueFrom, generate, placeholder or existing"
	Secrets []SecretSpec `json:"secrets,omitempty"`
	// Security declares the security of the workloads, which the cluster's policy engines enforce.
	// +optional
	Security *SecuritySpec `json:"security,omitempty"`
	// Identity declares the rights of the workloads in AWS beyond using the capability's own resources.
	// +optional
	Identity *IdentitySpec `json:"identity,omitempty"`
	// DeletionPolicy; default Retain when environment is prod or production, else Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// Deletion says how a deletion of the capability proceeds. Absent: the defaults of its fields.
	// +optional
	Deletion *DeletionSpec `json:"deletion,omitempty"`
	// DriftPolicy; default Correct.
	// +optional
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`
	// Suspend stops all writes until it is false again.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// DeletionSpec says how a deletion proceeds.
type DeletionSpec struct {
	// Graceful is the time after the deletion of the capability for which its stores and secrets are kept, 0s to 720h. Traffic,
	// workloads and the rights of roles end at once; until the time is over, `nexusctl undo` brings the capability back and
	// `nexusctl delete-now` ends the wait. 0s deletes without a wait. Absent: --deletion-grace of the operator, 0s by default, and
	// for deletionPolicy Delete in environment prod or production --production-deletion-grace, 24h by default.
	// deletionPolicy Orphan does not wait.
	// +optional
	// +kubebuilder:validation:Format=duration
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('720h')",message="graceful is between 0s and 720h"
	Graceful *metav1.Duration `json:"graceful,omitempty"`
}

// ProviderReference names an AWSProvider in the capability's own namespace.
type ProviderReference struct {
	// Name of the AWSProvider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// IdentityMode is a way in which pods get the credentials of their role.
type IdentityMode string

// The modes of an identity.
const (
	IdentityIRSA        IdentityMode = "IRSA"
	IdentityPodIdentity IdentityMode = "PodIdentity"
	IdentityAuto        IdentityMode = "Auto"
)

// IdentitySpec bounds and extends the role of the workloads.
// +kubebuilder:validation:XValidation:rule="!has(self.extraPolicyStatements) || size(self.extraPolicyStatements) == 0 || has(self.permissionsBoundaryARN)",message="extraPolicyStatements need permissionsBoundaryARN"
type IdentitySpec struct {
	// Mode chooses the way in which pods get the credentials of their role. IRSA: a webhook adds a token of the ServiceAccount,
	// and IAM trusts the cluster's OIDC issuer. PodIdentity: an association in EKS gives the role to the ServiceAccount, and the EKS Pod
	// Identity Agent serves the credentials; the operator must know the name of its EKS cluster (--eks-cluster-name), which must be in the
	// account and region of the capability's provider. Auto: PodIdentity where the agent has ready pods when the capability is first
	// reconciled in this mode, else IRSA; status.identity records it. Absent: IRSA. A change restarts the pods.
	// https://docs.aws.amazon.com/eks/latest/userguide/service-accounts.html
	// +optional
	// +kubebuilder:validation:Enum=IRSA;PodIdentity;Auto
	Mode IdentityMode `json:"mode,omitempty"`
	// PermissionsBoundaryARN is the policy that bounds the workloads' role. Absent: the boundary that the AWSProvider
	// or the operator's --default-permissions-boundary requires, if any. Once the role has a boundary, removing or
	// changing this field is refused until the boundary is removed in AWS.
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html
	// +optional
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/.+$`
	// +kubebuilder:validation:MaxLength=2048
	PermissionsBoundaryARN string `json:"permissionsBoundaryARN,omitempty"`
	// ExtraPolicyStatements are allowed beside access to the capability's own resources. They need an
	// AWSProvider with that same permissionsBoundaryARN: the boundary is the administrator's to choose.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	ExtraPolicyStatements []PolicyStatement `json:"extraPolicyStatements,omitempty"`
}

// PolicyStatement allows actions on resources.
type PolicyStatement struct {
	// Actions, such as sqs:SendMessage; neither iam, organizations, account nor sts actions.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Actions []PolicyAction `json:"actions"`
	// Resources are ARNs, or * for actions that know no resource.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=set
	Resources []PolicyResource `json:"resources"`
}

// PolicyAction is an IAM action of a named service.
// +kubebuilder:validation:MaxLength=128
// +kubebuilder:validation:Pattern=`^[a-z0-9-]+:[A-Za-z0-9]+[A-Za-z0-9*]*$`
// +kubebuilder:validation:XValidation:rule="!(self.split(':')[0] in ['iam', 'organizations', 'account', 'sts'])",message="actions of iam, organizations, account and sts cannot be granted here"
type PolicyAction string

// PolicyResource is an ARN or *.
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^([*]|arn:aws[a-z-]*:[a-z0-9-]+:[^\s]+)$`
type PolicyResource string

// NexusAICapability is an AI capability: data services, identity, workloads and traffic as one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=nexuscapabilities,singular=nexusaicapability,shortName=ncap;nexusaicapabilities;nexuscapability,categories=nexus
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Paused",type=string,JSONPath=`.status.conditions[?(@.type=="Paused")].status`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.endpoints.url`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Version",type=string,priority=1,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Region",type=string,priority=1,JSONPath=`.status.region`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="metadata.name has at most 63 characters: it is a label of every child"
type NexusAICapability struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NexusAICapabilitySpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status NexusAICapabilityStatus `json:"status,omitempty"`
}

// NexusAICapabilityList is a list of NexusAICapability.
// +kubebuilder:object:root=true
type NexusAICapabilityList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NexusAICapability `json:"items"`
}
