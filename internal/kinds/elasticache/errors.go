// SPDX-License-Identifier: Apache-2.0

package elasticache

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/AmazonElastiCache/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "elasticache",
		Rows: []kind.ErrorRow{
			{Code: "CacheClusterNotFound|ReplicationGroupNotFound|CacheSubnetGroupNotFound|CacheParameterGroupNotFound",
				Class: awsclient.NotFound},
			// Changing the tags of an ARN may answer with the code of any resource.
			{Code: "ServerlessCacheNotFound|ServerlessCacheSnapshotNotFound|SnapshotNotFound|ReservedCacheNodeNotFound",
				Class: awsclient.NotFound},
			{Code: "UserNotFound|UserGroupNotFound|TagNotFound", Class: awsclient.NotFound},
			{Code: "InvalidCacheSecurityGroupState|InvalidServerlessCacheState|InvalidServerlessCacheSnapshotState", Class: awsclient.Busy},
			{Code: "APICallRateForCustomerExceeded", Class: awsclient.Throttled},
			// ElastiCache makes its own role at the first cluster of an account, and may not see it yet.
			{Code: "ServiceLinkedRoleNotFound", Class: awsclient.Propagating, Within: awsclient.OfLinkedRoles},
			{Code: "InvalidARN|InvalidKMSKey|InvalidSubnet|SubnetNotAllowed", Class: awsclient.Invalid},
			{Operation: "Delete*", Code: "SnapshotAlreadyExists", Class: awsclient.Invalid},
			{Code: "CacheClusterAlreadyExists|ReplicationGroupAlreadyExists|CacheSubnetGroupAlreadyExists|SnapshotAlreadyExists",
				Class: awsclient.Exists},
			{Code: "InvalidCacheClusterState|InvalidReplicationGroupState|CacheSubnetGroupInUse", Class: awsclient.Busy},
			{Code: "InvalidVPCNetworkState|CacheSecurityGroupNotFound|SnapshotFeatureNotSupported|InvalidCacheParameterGroupState",
				Class: awsclient.Invalid},
			{Code: "ClusterQuotaForCustomerExceeded|NodeQuotaForClusterExceeded|NodeQuotaForCustomerExceeded|SnapshotQuotaExceeded|TagQuotaPerResourceExceeded",
				Class: awsclient.Limit},
			{Code: "InsufficientCacheClusterCapacity", Class: awsclient.Transient},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeCacheClusters", Code: "CacheClusterNotFound", Status: 404, Class: awsclient.NotFound},
			{Operation: "CreateCacheCluster", Code: "CacheClusterAlreadyExists", Status: 400, Class: awsclient.Exists},
			{Operation: "DeleteCacheCluster", Code: "InvalidCacheClusterState", Status: 400, Class: awsclient.Busy},
			{Operation: "DeleteCacheCluster", Code: "SnapshotAlreadyExistsFault", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateCacheCluster", Code: "InvalidVPCNetworkStateFault", Status: 400, Class: awsclient.Invalid},
			{Operation: "ModifyCacheCluster", Code: "NodeQuotaForClusterExceeded", Status: 400, Class: awsclient.Limit},
			{Operation: "CreateCacheCluster", Code: "InsufficientCacheClusterCapacity", Status: 400, Class: awsclient.Transient},
			{Operation: "ListTagsForResource", Code: "ServerlessCacheNotFoundFault", Status: 404, Class: awsclient.NotFound},
			{Operation: "RemoveTagsFromResource", Code: "TagNotFound", Status: 404, Class: awsclient.NotFound},
			{Operation: "AddTagsToResource", Code: "InvalidServerlessCacheStateFault", Status: 400, Class: awsclient.Busy},
			{Operation: "AddTagsToResource", Code: "InvalidARN", Status: 400, Class: awsclient.Invalid},
			{Operation: "DescribeCacheClusters", Code: "APICallRateForCustomerExceeded", Status: 400, Class: awsclient.Throttled},
			{Operation: "CreateCacheCluster", Code: "ServiceLinkedRoleNotFoundFault", Status: 400, Class: awsclient.Propagating},
			{Operation: "DeleteCacheCluster", Code: "SnapshotAlreadyExistsFault", Message: "Snapshot with specified name already exists.",
				Status: 400, Class: awsclient.Invalid},
		},
	},
}
