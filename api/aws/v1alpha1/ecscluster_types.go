// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ECSClusterSpec declares a cluster of the Elastic Container Service. Its services, tasks and container instances are not
// declared here.
// +kubebuilder:validation:XValidation:rule="!has(self.capacityProviders) || !has(self.defaultCapacityProviderStrategy) || self.defaultCapacityProviderStrategy.all(s, s.capacityProvider in self.capacityProviders)",message="defaultCapacityProviderStrategy uses capacity providers that capacityProviders does not list"
type ECSClusterSpec struct {
	CommonSpec `json:",inline"`

	// ClusterName is unique in account and region: 1 to 255 letters, digits, underscores and hyphens. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterName is immutable"
	ClusterName string `json:"clusterName"`
	// CapacityProviders are the names of the capacity providers that tasks may use: FARGATE, FARGATE_SPOT, or those of Auto
	// Scaling groups that exist. Absent: not managed; [] takes all off the cluster. The list is exact: other providers are
	// taken off.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	CapacityProviders *[]string `json:"capacityProviders,omitempty" names:"ecs:capacity-provider"`
	// DefaultCapacityProviderStrategy divides tasks that name neither a launch type nor a strategy among capacity providers.
	// Absent: not managed; [] removes the strategy. The list is exact: other items are removed.
	// +optional
	// +listType=map
	// +listMapKey=capacityProvider
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.filter(s, has(s.base) && s.base > 0).size() <= 1",message="only one item of a strategy can have a base"
	DefaultCapacityProviderStrategy *[]ECSCapacityProviderStrategyItem `json:"defaultCapacityProviderStrategy,omitempty"`
	// Settings of the cluster. Absent: not managed; ECS creates clusters with the settings of the account. AWS cannot
	// remove a setting: set its value.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1
	Settings []ECSClusterSetting `json:"settings,omitempty"`
	// Configuration of ECS Exec. Absent: not managed.
	// +optional
	Configuration *ECSClusterConfiguration `json:"configuration,omitempty"`
	// ServiceConnectDefaults names the namespace to which new services with Service Connect are added by default. Absent: not managed.
	// +optional
	ServiceConnectDefaults *ECSServiceConnectDefaults `json:"serviceConnectDefaults,omitempty"`
}

// ECSCapacityProviderStrategyItem is the share of a capacity provider.
type ECSCapacityProviderStrategyItem struct {
	// CapacityProvider is the name of the capacity provider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	CapacityProvider string `json:"capacityProvider" names:"ecs:capacity-provider"`
	// Weight is the share of the tasks beyond the base, in proportion to the other weights. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Weight int32 `json:"weight,omitempty"`
	// Base is the least number of tasks of each service that run here. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Base int32 `json:"base,omitempty"`
}

// ECSClusterSetting is a setting of a cluster.
type ECSClusterSetting struct {
	// Name of the setting: containerInsights.
	// +kubebuilder:validation:Enum=containerInsights
	Name string `json:"name"`
	// Value of the setting: whether CloudWatch Container Insights is on, with enhanced observability or without.
	// +kubebuilder:validation:Enum=enabled;disabled;enhanced
	Value string `json:"value"`
}

// ECSClusterConfiguration configures a cluster.
type ECSClusterConfiguration struct {
	// ExecuteCommandConfiguration configures encryption and logs of commands in containers (ECS Exec). {} stands for
	// the defaults of ECS. Absent: not managed.
	// +optional
	ExecuteCommandConfiguration *ECSExecuteCommandConfiguration `json:"executeCommandConfiguration,omitempty"`
}

// ECSExecuteCommandConfiguration configures encryption and logs of commands in containers.
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyId) || !has(self.kmsKeyRef)",message="kmsKeyId and kmsKeyRef exclude each other"
// +kubebuilder:validation:XValidation:rule="(has(self.logging) && self.logging == 'OVERRIDE') == has(self.logConfiguration)",message="logConfiguration and logging: OVERRIDE need each other"
type ECSExecuteCommandConfiguration struct {
	// KMSKeyID is the ID, the ARN or the alias of the key that encrypts the session. Absent: none beside TLS.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	KMSKeyID string `json:"kmsKeyId,omitempty" names:"kms:key"`
	// KMSKeyRef names a KMSKey of the same namespace instead.
	// +optional
	KMSKeyRef *ObjectReference `json:"kmsKeyRef,omitempty"`
	// Logging is NONE, DEFAULT (the awslogs configuration of the task definition) or OVERRIDE (logConfiguration). Default
	// DEFAULT.
	// +optional
	// +kubebuilder:validation:Enum=NONE;DEFAULT;OVERRIDE
	Logging string `json:"logging,omitempty"`
	// LogConfiguration names the logs of commands and their output.
	// +optional
	LogConfiguration *ECSExecuteCommandLogConfiguration `json:"logConfiguration,omitempty"`
}

// ECSExecuteCommandLogConfiguration names the logs of commands in containers. The group and the bucket must exist.
// +kubebuilder:validation:XValidation:rule="has(self.cloudWatchLogGroupName) || has(self.s3BucketName) || has(self.s3BucketRef)",message="name a log group or a bucket"
// +kubebuilder:validation:XValidation:rule="!has(self.s3BucketName) || !has(self.s3BucketRef)",message="s3BucketName and s3BucketRef exclude each other"
type ECSExecuteCommandLogConfiguration struct {
	// CloudWatchLogGroupName is the name of a log group of CloudWatch Logs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	CloudWatchLogGroupName string `json:"cloudWatchLogGroupName,omitempty" names:"logs:log-group"`
	// CloudWatchEncryptionEnabled says that the log group is encrypted. Default false.
	// +optional
	CloudWatchEncryptionEnabled bool `json:"cloudWatchEncryptionEnabled,omitempty"`
	// S3BucketName is the name of a bucket.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	S3BucketName string `json:"s3BucketName,omitempty" names:"s3:bucket"`
	// S3BucketRef names an S3Bucket of the same namespace instead.
	// +optional
	S3BucketRef *ObjectReference `json:"s3BucketRef,omitempty"`
	// S3EncryptionEnabled says that the bucket is encrypted. Default false.
	// +optional
	S3EncryptionEnabled bool `json:"s3EncryptionEnabled,omitempty"`
	// S3KeyPrefix is the folder of the logs in the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	S3KeyPrefix string `json:"s3KeyPrefix,omitempty"`
}

// ECSServiceConnectDefaults names the namespace to which new services with Service Connect are added by default.
type ECSServiceConnectDefaults struct {
	// Namespace is the ARN of a namespace of AWS Cloud Map, by which ECS reports it. "" removes the default.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(arn:[a-z-]+:servicediscovery:[a-z0-9-]+:[0-9]{12}:namespace/[A-Za-z0-9-]+)?$`
	Namespace string `json:"namespace"`
}

// ECSClusterStatus reports the cluster.
type ECSClusterStatus struct {
	CommonStatus `json:",inline"`
	// ClusterARN repeats arn.
	// +optional
	ClusterARN string `json:"clusterARN,omitempty"`
	// Status is the status that ECS reports: ACTIVE, PROVISIONING, DEPROVISIONING or FAILED.
	// +optional
	Status string `json:"status,omitempty"`
}

// ECSCluster is a cluster of the Elastic Container Service.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=ecscluster,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterName`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type ECSCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ECSClusterSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status ECSClusterStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *ECSCluster) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *ECSCluster) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// ECSClusterList is a list of ECSCluster.
// +kubebuilder:object:root=true
type ECSClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ECSCluster `json:"items"`
}
