// SPDX-License-Identifier: Apache-2.0

package ecs

import "github.com/nexus-operator/nexus-operator/internal/kind"

// clusterFacts declares what other packages know about an ECSCluster.
func clusterFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "ecs",
			Prefix:  "cluster/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_ecs_cluster",
			Identity: []string{"name"},
			Parts:    []string{"aws_ecs_cluster_capacity_providers"},
		},
	}
}
