// SPDX-License-Identifier: Apache-2.0

package elasticache

import "github.com/nexus-operator/nexus-operator/internal/kind"

// clusterFacts returns the facts about an ElastiCacheCluster that other packages use.
func clusterFacts() kind.Facts {
	return kind.Facts{
		Rights: kind.Rights{
			// A cluster is placed in any subnet group, and has any parameter group, that an object names. Its final snapshot has any name.
			Calls: []kind.Right{
				{Actions: "elasticache:CreateCacheCluster", On: []string{"cluster:${Name}", "parametergroup:*", "subnetgroup:*"}},
				{Actions: "elasticache:ModifyCacheCluster", On: []string{"cluster:${Name}", "parametergroup:*"}},
				{Actions: "elasticache:DeleteCacheCluster", On: []string{"cluster:${Name}", "snapshot:*"}},
				{Actions: "elasticache:DescribeSnapshots", On: []string{"snapshot:*"}}, // by the name of a final snapshot
				{Actions: "elasticache:*", On: []string{"cluster:${Name}"}},
			},
			Needs: []kind.Need{
				{For: "elasticache:CreateCacheCluster elasticache:DeleteCacheCluster",
					Actions: "ec2:DescribeNetworkInterfaces ec2:DescribeSubnets ec2:DescribeVpcs"},
			},
			Decided: map[string]string{
				"elasticache:CreateCacheCluster ec2:CreateNetworkInterface": "the service's own role makes it",
				"elasticache:CreateCacheCluster ec2:DeleteNetworkInterface": "the service's own role deletes it",
				"elasticache:CreateCacheCluster s3:GetObject":               "only from a snapshot file, for which there is no field",
				"elasticache:DeleteCacheCluster ec2:CreateNetworkInterface": "the service's own role makes it",
				"elasticache:DeleteCacheCluster ec2:DeleteNetworkInterface": "the service's own role deletes it",
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"CacheClusters.CacheClusterStatus", "CacheClusters.CacheNodes", "CacheClusters.CacheParameterGroup.ParameterApplyStatus",
			"CacheClusters.CacheSecurityGroups", "CacheClusters.ClientDownloadLandingPage", "CacheClusters.PendingModifiedValues",
			"CacheClusters.PreferredAvailabilityZone", "CacheClusters.SecurityGroups.Status", "CacheClusters.NetworkType=ipv4",
			"CacheClusters.IpDiscovery=ipv4", "CacheClusters.NotificationConfiguration.TopicStatus",
		},
		Declarable: true,
		OneValue: map[string]string{
			"SecurityGroupIDs":        kind.ByReference,
			"FinalSnapshotIdentifier": kind.OfTheDeletion,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::ElastiCache::CacheCluster"},
			Rewritten: map[string]string{
				"EngineVersion": "a version that is shown in part is the declared one: TestAVersionThatIsShownInPartIsNotWrittenAgain",
			},
			Properties: map[string]map[string]string{
				"AWS::ElastiCache::CacheCluster": {
					"CacheNodeType":           "as nodeType",
					"CacheParameterGroupName": "as parameterGroupName",
					"CacheSubnetGroupName":    "as subnetGroupName",
					"ClusterName":             "as clusterID",
					"VpcSecurityGroupIds":     "as securityGroupIds",
					"CacheSecurityGroupNames": "they are of EC2-Classic, which AWS has ended",
					"PreferredAvailabilityZone PreferredAvailabilityZones SnapshotArns SnapshotName": kind.IsInput,
				},
			},
			Unneeded: map[string]string{
				"elasticache:CreateSnapshot elasticache:RebootCacheCluster": "the final snapshot is made by DeleteCacheCluster, and nothing is rebooted",
				"firehose:* logs:*": "there is no field for log delivery",
				"s3:GetObject":      "there is no field for snapshot files",
			},
		},
		ARN: kind.ARNForm{
			Service: "elasticache",
			Prefix:  "cluster:",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_elasticache_cluster",
			Identity: []string{"cluster_id"},
		},
	}
}
