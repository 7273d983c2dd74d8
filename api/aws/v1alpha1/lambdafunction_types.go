// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LambdaFunctionSpec declares a function of AWS Lambda, its code and its settings.
// +kubebuilder:validation:XValidation:rule="has(self.role) != has(self.roleRef)",message="set exactly one of role and roleRef"
// +kubebuilder:validation:XValidation:rule="has(self.code) || has(self.managementPolicy) && self.managementPolicy == 'Observe' || has(self.adoptionPolicy) && self.adoptionPolicy == 'Always'",message="code is required, except for a function that is observed or adopted"
// +kubebuilder:validation:XValidation:rule="!has(self.code) || has(self.code.imageUri) || has(self.runtime) && has(self.handler)",message="code in S3 needs runtime and handler"
// +kubebuilder:validation:XValidation:rule="!has(self.code) || !has(self.code.imageUri) || !has(self.runtime) && !has(self.handler) && !has(self.layers)",message="a container image has its own runtime, handler and layers"
// +kubebuilder:validation:XValidation:rule="!has(self.code) || !has(oldSelf.code) || has(self.code.imageUri) == has(oldSelf.code.imageUri)",message="a function cannot change between a container image and code in S3: create another function"
// +kubebuilder:validation:XValidation:rule="!has(self.imageConfig) || !has(self.code) || has(self.code.imageUri)",message="imageConfig needs a container image"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyArn) || !has(self.kmsKeyRef)",message="kmsKeyArn and kmsKeyRef exclude each other"
type LambdaFunctionSpec struct {
	CommonSpec `json:",inline"`

	// FunctionName is unique in account and region: 1 to 64 letters, digits, hyphens and underscores. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="functionName is immutable"
	FunctionName string `json:"functionName"`
	// Code names the source of the code. Required, except for a function that is observed or adopted. Absent: not managed.
	// Lambda reads an archive in S3 with the rights of the operator, whose role needs s3:GetObject on it, and
	// s3:GetObjectVersion on a version: its printed policies do not include them.
	// +optional
	Code *LambdaCode `json:"code,omitempty"`
	// Runtime of code in S3, such as python3.13 or provided.al2023. Absent: a container image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Runtime string `json:"runtime,omitempty"`
	// Handler is the function in code in S3 that Lambda calls, such as index.handler. Absent: a container image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[^\s]+$`
	Handler string `json:"handler,omitempty"`
	// Role is the ARN of the role that the function acts as. It must lie under the provider's rolePathPrefix, and a provider
	// with a permissionsBoundaryARN allows none: use roleRef instead.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`
	Role string `json:"role,omitempty" names:"iam:role"`
	// RoleRef names the IAMRole object that the function acts as. Its trust policy must allow lambda.amazonaws.com; one that
	// only observes a role cannot be used. The role is sent again after it was deleted and created again, because Lambda binds
	// functions to the unique ID of a role.
	// +optional
	RoleRef *ObjectReference `json:"roleRef,omitempty"`
	// Description of the function; "" clears it. Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Description *string `json:"description,omitempty"`
	// Timeout of one invocation in seconds. Absent: not managed; Lambda creates functions with 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=900
	Timeout *int32 `json:"timeout,omitempty"`
	// MemorySize in MiB. Absent: not managed; Lambda creates functions with 128.
	// +optional
	// +kubebuilder:validation:Minimum=128
	// +kubebuilder:validation:Maximum=10240
	MemorySize *int32 `json:"memorySize,omitempty"`
	// EphemeralStorage is the size of /tmp. Absent: not managed; Lambda creates functions with 512 MiB.
	// +optional
	EphemeralStorage *LambdaEphemeralStorage `json:"ephemeralStorage,omitempty"`
	// ImageConfig overrides settings of the container image. Absent: not managed; {} removes all of them.
	// +optional
	ImageConfig *LambdaImageConfig `json:"imageConfig,omitempty"`
	// KMSKeyARN is the ARN of the KMS key that encrypts the variables, or of an alias of it; "" returns to a key of AWS. Lambda keeps the key
	// that the alias stood for, so that another key under the alias needs another edit. Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^(arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:(key|alias)/.+)?$`
	KMSKeyARN *string `json:"kmsKeyArn,omitempty" names:"kms:key"`
	// KMSKeyRef names a KMSKey of the same namespace instead.
	// +optional
	KMSKeyRef *ObjectReference `json:"kmsKeyRef,omitempty"`
	// Architectures is the instruction set, one of x86_64 and arm64. Absent: not managed; Lambda creates functions with
	// x86_64. A change is sent together with the code.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1
	// +kubebuilder:validation:items:Enum=x86_64;arm64
	Architectures []string `json:"architectures,omitempty"`
	// Environment of the function. Absent: not managed; {} removes all variables.
	// +optional
	Environment *LambdaEnvironment `json:"environment,omitempty"`
	// VPCConfig is the network that the function reaches. Absent: not managed; {} takes the function out of its VPC.
	// +optional
	VPCConfig *LambdaVPCConfig `json:"vpcConfig,omitempty"`
	// Layers are the ARNs of versions of layers, in order. Absent: not managed; [] removes them. The list is exact: other layers are removed.
	// +optional
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:MaxLength=140
	// +kubebuilder:validation:items:Pattern=`^arn:[a-z-]+:lambda:[a-z0-9-]+:[0-9]{12}:layer:[A-Za-z0-9_-]+:[0-9]+$`
	Layers *[]string `json:"layers,omitempty" names:"arn"`
	// DeadLetterConfig names the target for events that Lambda could not process. Absent: not managed.
	// +optional
	DeadLetterConfig *LambdaDeadLetterConfig `json:"deadLetterConfig,omitempty"`
	// TracingConfig of AWS X-Ray. Absent: not managed; Lambda creates functions with PassThrough.
	// +optional
	TracingConfig *LambdaTracingConfig `json:"tracingConfig,omitempty"`
	// ReservedConcurrentExecutions limits the instances of the function that run at a time, which Lambda reserves; 0 stops all
	// invocations, and -1 removes the reservation. Absent: not managed.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	// +kubebuilder:validation:Maximum=1000000
	ReservedConcurrentExecutions *int32 `json:"reservedConcurrentExecutions,omitempty"`
}

// LambdaCode names the source of the code of a function: an archive in S3, or a container image.
// +kubebuilder:validation:XValidation:rule="[has(self.imageUri), has(self.s3Bucket), has(self.s3BucketRef)].filter(x, x).size() == 1",message="set exactly one of imageUri, s3Bucket and s3BucketRef"
// +kubebuilder:validation:XValidation:rule="has(self.imageUri) != has(self.s3Key)",message="code in S3 needs s3Key, and an image has none"
// +kubebuilder:validation:XValidation:rule="has(self.s3Key) || !has(self.s3ObjectVersion) && !has(self.codeSha256)",message="s3ObjectVersion and codeSha256 need code in S3"
type LambdaCode struct {
	// S3Bucket is the name of the bucket with the archive, in the region of the function.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	S3Bucket string `json:"s3Bucket,omitempty" names:"s3:bucket"`
	// S3BucketRef names an S3Bucket of the same namespace instead.
	// +optional
	S3BucketRef *ObjectReference `json:"s3BucketRef,omitempty"`
	// S3Key is the key of the archive. AWS does not tell from where it got the code: it is sent again when bucket, key or
	// version change, and codeSha256 also notices other code.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	S3Key string `json:"s3Key,omitempty"`
	// S3ObjectVersion is the version of the archive.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	S3ObjectVersion string `json:"s3ObjectVersion,omitempty"`
	// CodeSHA256 is the hash of the archive in base64, as Lambda reports it; a function with other code gets this one again.
	// Absent: not compared.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9+/]{43}=$`
	CodeSHA256 string `json:"codeSha256,omitempty"`
	// ImageURI is the URI of an image in ECR, with a tag or a digest. Lambda resolves a tag when the code is sent: another
	// image under the same tag changes nothing.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	ImageURI string `json:"imageUri,omitempty" names:"ecr:image"`
}

// LambdaEphemeralStorage is the storage of an instance of a function.
type LambdaEphemeralStorage struct {
	// Size in MiB.
	// +kubebuilder:validation:Minimum=512
	// +kubebuilder:validation:Maximum=10240
	Size int32 `json:"size"`
}

// LambdaImageConfig overrides settings of a container image.
type LambdaImageConfig struct {
	// Command are the parameters of the entry point. Absent: those of the image.
	// +optional
	// +kubebuilder:validation:MaxItems=1500
	Command []string `json:"command,omitempty"`
	// EntryPoint is the program with its first parameters. Absent: that of the image.
	// +optional
	// +kubebuilder:validation:MaxItems=1500
	EntryPoint []string `json:"entryPoint,omitempty"`
	// WorkingDirectory is an absolute path. Absent: that of the image.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	WorkingDirectory string `json:"workingDirectory,omitempty"`
}

// LambdaEnvironment is the environment of a function.
type LambdaEnvironment struct {
	// Variables by name. They are no place for secrets: everybody who may read the object or the function reads them. Give
	// the function the name of a secret and the right to read it instead. The operator needs kms:Decrypt on the key of the
	// function to see them. Absent or {}: none. The map is exact: other variables are removed.
	// +optional
	// +kubebuilder:validation:MaxProperties=200
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-zA-Z][a-zA-Z0-9_]+$'))",message="names of variables begin with a letter and have at least two letters, digits and underscores"
	Variables map[string]LambdaVariable `json:"variables,omitempty"`
}

// LambdaVariable is the value of an environment variable. All together have at most 4 KiB.
// +kubebuilder:validation:MaxLength=4096
type LambdaVariable string

// LambdaVPCConfig is the network that a function reaches.
// +kubebuilder:validation:XValidation:rule="(has(self.subnetIds) || has(self.subnetRefs)) == (has(self.securityGroupIds) || has(self.securityGroupRefs))",message="subnets and security groups need each other"
type LambdaVPCConfig struct {
	// SubnetIDs are the IDs of subnets. Together with subnetRefs the list is exact: other subnets are removed.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Pattern=`^subnet-[0-9a-z]+$`
	SubnetIDs []string `json:"subnetIds,omitempty" names:"ec2:subnet"`
	// SubnetRefs name Subnets of the same namespace, beside subnetIds.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	SubnetRefs []ObjectReference `json:"subnetRefs,omitempty"`
	// SecurityGroupIDs are the IDs of security groups. Together with securityGroupRefs the list is exact: other groups are removed.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Pattern=`^sg-[0-9a-zA-Z]+$`
	SecurityGroupIDs []string `json:"securityGroupIds,omitempty" names:"ec2:security-group"`
	// SecurityGroupRefs name SecurityGroups of the same namespace, beside securityGroupIds.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	SecurityGroupRefs []ObjectReference `json:"securityGroupRefs,omitempty"`
}

// LambdaDeadLetterConfig names the target for events that Lambda could not process. The role needs the right to send there.
// +kubebuilder:validation:XValidation:rule="[has(self.targetArn), has(self.queueRef), has(self.topicRef)].filter(x, x).size() == 1",message="set exactly one of targetArn, queueRef and topicRef"
type LambdaDeadLetterConfig struct {
	// TargetARN is the ARN of a queue of SQS or a topic of SNS; "" removes the target.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(arn:[a-z-]+:(sqs|sns):[a-z0-9-]+:[0-9]{12}:.+)?$`
	TargetARN *string `json:"targetArn,omitempty" names:"arn"`
	// QueueRef names an SQSQueue of the same namespace instead.
	// +optional
	QueueRef *ObjectReference `json:"queueRef,omitempty"`
	// TopicRef names an SNSTopic of the same namespace instead.
	// +optional
	TopicRef *ObjectReference `json:"topicRef,omitempty"`
}

// LambdaTracingConfig configures the use of AWS X-Ray.
type LambdaTracingConfig struct {
	// Mode is Active, which traces a part of the invocations, or PassThrough, which follows the caller.
	// +kubebuilder:validation:Enum=Active;PassThrough
	Mode string `json:"mode"`
}

// ConditionLastUpdateSucceeded is False while a cluster of EKS is not as declared because its last update failed, while ECS could not make
// what the capacity providers of a cluster need, and while the version of a function before its last update serves, because Lambda
// could not make that update.
const ConditionLastUpdateSucceeded = "LastUpdateSucceeded"

// LambdaFunctionStatus reports the function.
type LambdaFunctionStatus struct {
	CommonStatus `json:",inline"`
	// FunctionARN repeats arn.
	// +optional
	FunctionARN string `json:"functionArn,omitempty"`
	// State is Pending, Active, Inactive (Lambda took its resources back, and creates them again at the next invocation) or
	// Failed.
	// +optional
	State string `json:"state,omitempty"`
	// StateReason is why the function is in this state, or why its last update failed.
	// +optional
	StateReason string `json:"stateReason,omitempty"`
	// CodeSHA256 is the hash of the code in base64.
	// +optional
	CodeSHA256 string `json:"codeSha256,omitempty"`
	// CodeSize in bytes.
	// +optional
	CodeSize int64 `json:"codeSize,omitempty"`
	// LastModified is the time of the last change of the code or of a setting.
	// +optional
	LastModified string `json:"lastModified,omitempty"`
}

// LambdaFunction is a function of AWS Lambda.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=lambda,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Function",type=string,JSONPath=`.spec.functionName`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Runtime",type=string,priority=1,JSONPath=`.spec.runtime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type LambdaFunction struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LambdaFunctionSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status LambdaFunctionStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *LambdaFunction) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *LambdaFunction) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// LambdaFunctionList is a list of LambdaFunction.
// +kubebuilder:object:root=true
type LambdaFunctionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []LambdaFunction `json:"items"`
}
