// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ElastiCacheClusterSpec declares a cache cluster of ElastiCache: any number of Memcached nodes, or one Redis node. Replication
// groups and serverless caches are not declared here, nor are clusters that belong to a replication group.
// +kubebuilder:validation:XValidation:rule="self.engine == 'memcached' || !has(self.numCacheNodes) || self.numCacheNodes == 1",message="numCacheNodes is 1 with engine redis: a cache cluster of Redis has one node"
// +kubebuilder:validation:XValidation:rule="self.engine == 'memcached' || !has(self.azMode) && !has(self.transitEncryptionEnabled)",message="azMode and transitEncryptionEnabled need engine memcached: Redis has both only in replication groups"
// +kubebuilder:validation:XValidation:rule="self.engine == 'redis' || !has(self.snapshotRetentionLimit) && !has(self.snapshotWindow) && !has(self.finalSnapshotIdentifier) && (!has(self.skipFinalSnapshot) || !self.skipFinalSnapshot)",message="snapshotRetentionLimit, snapshotWindow, finalSnapshotIdentifier and skipFinalSnapshot need engine redis: Memcached has no snapshots"
// +kubebuilder:validation:XValidation:rule="!has(self.azMode) || self.azMode != 'cross-az' || has(self.numCacheNodes) && self.numCacheNodes > 1",message="azMode: cross-az needs numCacheNodes of 2 or more"
// +kubebuilder:validation:XValidation:rule="!has(self.skipFinalSnapshot) || !self.skipFinalSnapshot || !has(self.finalSnapshotIdentifier)",message="skipFinalSnapshot: true and finalSnapshotIdentifier exclude each other"
// +kubebuilder:validation:XValidation:rule="has(self.port) == has(oldSelf.port) && (!has(self.port) || self.port == oldSelf.port)",message="port is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.azMode) == has(oldSelf.azMode) && (!has(self.azMode) || self.azMode == oldSelf.azMode)",message="azMode is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.subnetGroupName) == has(oldSelf.subnetGroupName) && (!has(self.subnetGroupName) || self.subnetGroupName == oldSelf.subnetGroupName)",message="subnetGroupName is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.transitEncryptionEnabled) == has(oldSelf.transitEncryptionEnabled) && (!has(self.transitEncryptionEnabled) || self.transitEncryptionEnabled == oldSelf.transitEncryptionEnabled)",message="transitEncryptionEnabled is immutable"
type ElastiCacheClusterSpec struct {
	CommonSpec `json:",inline"`

	// ClusterID is unique in account and region: 1 to 50 lower-case letters, digits and single hyphens, beginning with a
	// letter. Immutable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=50
	// +kubebuilder:validation:Pattern=`^[a-z](-?[a-z0-9])*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterID is immutable"
	ClusterID string `json:"clusterID"`
	// Engine is memcached or redis. Immutable.
	// +kubebuilder:validation:Enum=memcached;redis
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="engine is immutable"
	Engine string `json:"engine"`
	// EngineVersion is the version of the engine, such as 1.6.22 of Memcached or 7.1 of Redis. A later version that runs already is
	// not changed back, because ElastiCache upgrades automatically and never downgrades. Condition VersionAsDeclared is False where
	// that is another major version. Absent: not managed; ElastiCache creates clusters with its default version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)*(\.x)?$`
	EngineVersion *string `json:"engineVersion,omitempty"`
	// NodeType is compute and memory of each node, such as cache.t4g.micro. The operator has ElastiCache make every change of a setting at
	// once, and with it the changes that others left for the maintenance window.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^cache[.][a-z0-9-]+[.][a-z0-9]+$`
	NodeType string `json:"nodeType"`
	// NumCacheNodes is the number of Memcached nodes. Nodes that are removed are the last ones, with what they hold. Absent: not
	// managed; the operator creates clusters with 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	NumCacheNodes *int32 `json:"numCacheNodes,omitempty"`
	// AZMode distributes Memcached nodes among Availability Zones (cross-az), or not (single-az). Absent: not managed;
	// ElastiCache creates clusters with single-az. Immutable.
	// +optional
	// +kubebuilder:validation:Enum=single-az;cross-az
	AZMode *string `json:"azMode,omitempty"`
	// Port that the nodes listen on. Absent: not managed; ElastiCache creates Memcached clusters with 11211 and those of Redis
	// with 6379. Immutable.
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// SubnetGroupName is the cache subnet group of the cluster. Absent: the default VPC. Immutable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z](-?[a-z0-9])*$`
	SubnetGroupName *string `json:"subnetGroupName,omitempty" names:"elasticache:subnetgroup"`
	// SecurityGroupIDs are the identifiers of the security groups of the cluster, in any order. Together with securityGroupRefs
	// they are all its groups. Absent, without securityGroupRefs: not managed; ElastiCache creates clusters with the default
	// group of the VPC.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	SecurityGroupIDs []SecurityGroupID `json:"securityGroupIds,omitempty" names:"ec2:security-group"`
	// SecurityGroupRefs name SecurityGroup objects in the same namespace, beside securityGroupIds. Both lists are exact: other groups
	// are removed.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	SecurityGroupRefs []ObjectReference `json:"securityGroupRefs,omitempty"`
	// ParameterGroupName is the cache parameter group of the cluster. Some parameters take effect only when the nodes are
	// rebooted, which the operator does not do. Absent: not managed; ElastiCache creates clusters with the default group of the
	// engine.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z](-?[a-z0-9.])*$`
	ParameterGroupName *string `json:"parameterGroupName,omitempty" names:"elasticache:parametergroup"`
	// PreferredMaintenanceWindow is the weekly time of maintenance in UTC, such as sun:04:00-sun:05:00. Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxLength=19
	// +kubebuilder:validation:Pattern=`^[a-z]{3}:([01][0-9]|2[0-3]):[0-5][0-9]-[a-z]{3}:([01][0-9]|2[0-3]):[0-5][0-9]$`
	PreferredMaintenanceWindow *string `json:"preferredMaintenanceWindow,omitempty"`
	// AutoMinorVersionUpgrade lets ElastiCache upgrade minor versions in the maintenance window. Absent: not managed;
	// ElastiCache creates clusters with true. It is a setting of Redis 6.0 and later: of Memcached and earlier versions it is
	// not compared, because ElastiCache ignores it.
	// +optional
	AutoMinorVersionUpgrade *bool `json:"autoMinorVersionUpgrade,omitempty"`
	// NotificationTopicARN is the ARN of the SNS topic that events of the cluster are sent to; "" turns them off. Absent: not
	// managed.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^(arn:[a-z-]+:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+)?$`
	NotificationTopicARN *string `json:"notificationTopicArn,omitempty" names:"arn"`
	// SnapshotRetentionLimit is the number of days for which ElastiCache keeps the daily snapshots of a Redis cluster, 0 to 35; 0 turns them
	// off. Absent: not managed; ElastiCache creates clusters with 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=35
	SnapshotRetentionLimit *int32 `json:"snapshotRetentionLimit,omitempty"`
	// SnapshotWindow is the daily time of snapshots in UTC, such as 03:00-04:00. Absent: not managed.
	// +optional
	// +kubebuilder:validation:MaxLength=11
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$`
	SnapshotWindow *string `json:"snapshotWindow,omitempty"`
	// TransitEncryptionEnabled encrypts the connections to Memcached nodes. Absent: not managed; ElastiCache creates clusters
	// with false. Immutable.
	// +optional
	TransitEncryptionEnabled *bool `json:"transitEncryptionEnabled,omitempty"`
	// SkipFinalSnapshot deletes a Redis cluster without a final snapshot: its data is lost. Default false.
	// +optional
	SkipFinalSnapshot bool `json:"skipFinalSnapshot,omitempty"`
	// FinalSnapshotIdentifier names the snapshot that ElastiCache makes when a Redis cluster is deleted. Absent: the identifier
	// of the cluster, -final- and eight characters that are those of this object alone. Where a snapshot of the declared
	// name exists, the new one has the name with these characters at its end.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-z](-?[a-z0-9])*$`
	FinalSnapshotIdentifier string `json:"finalSnapshotIdentifier,omitempty"`
	// RecreateOnLoss creates the cluster again, empty, when it was deleted outside the operator; the default is to report
	// Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// ElastiCacheClusterStatus reports the cache cluster.
type ElastiCacheClusterStatus struct {
	CommonStatus `json:",inline"`
	// CacheClusterARN repeats arn.
	// +optional
	CacheClusterARN string `json:"cacheClusterARN,omitempty"`
	// ClusterStatus is the state that ElastiCache reports: creating, available, modifying, snapshotting and others.
	// +optional
	ClusterStatus string `json:"clusterStatus,omitempty"`
	// ConfigurationEndpoint is the endpoint to which clients of Memcached connect, and find the nodes.
	// +optional
	ConfigurationEndpoint *ElastiCacheEndpoint `json:"configurationEndpoint,omitempty"`
	// PrimaryEndpoint is the endpoint to which clients of Redis connect.
	// +optional
	PrimaryEndpoint *ElastiCacheEndpoint `json:"primaryEndpoint,omitempty"`
	// NodeEndpoints are the endpoints of all nodes, in the order of their identifiers.
	// +optional
	// +listType=atomic
	NodeEndpoints []ElastiCacheEndpoint `json:"nodeEndpoints,omitempty"`
	// EngineVersion is the version that runs.
	// +optional
	EngineVersion string `json:"engineVersion,omitempty"`
}

// ElastiCacheEndpoint is an endpoint to which clients connect.
type ElastiCacheEndpoint struct {
	// Address is the DNS name.
	// +optional
	Address string `json:"address,omitempty"`
	// Port is the port.
	// +optional
	Port int32 `json:"port,omitempty"`
}

// ElastiCacheCluster is a cache cluster of ElastiCache.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=elasticache,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterID`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.clusterStatus`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Node",type=string,priority=1,JSONPath=`.status.nodeEndpoints[0].address`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type ElastiCacheCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ElastiCacheClusterSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status ElastiCacheClusterStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *ElastiCacheCluster) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *ElastiCacheCluster) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether a cluster that no longer exists is created again, empty.
func (o *ElastiCacheCluster) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// ReferableAttributes returns what objects that refer to the cluster can use beside its ID and ARN.
func (o *ElastiCacheCluster) ReferableAttributes() map[string]string {
	for _, e := range []*ElastiCacheEndpoint{o.Status.ConfigurationEndpoint, o.Status.PrimaryEndpoint} {
		if e != nil {
			return map[string]string{"address": e.Address}
		}
	}
	return nil
}

// ElastiCacheClusterList is a list of ElastiCacheCluster.
// +kubebuilder:object:root=true
type ElastiCacheClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ElastiCacheCluster `json:"items"`
}
