// SPDX-License-Identifier: Apache-2.0

package elasticache

import "github.com/nexus-operator/nexus-operator/internal/kind"

// clusterFacts declares what other packages know about an ElastiCacheCluster.
func clusterFacts() kind.Facts {
	return kind.Facts{
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
