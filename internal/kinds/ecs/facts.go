// SPDX-License-Identifier: Apache-2.0

package ecs

import "github.com/nexus-operator/nexus-operator/internal/kind"

// clusterFacts returns the facts about an ECSCluster that other packages use.
func clusterFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			"a capacity provider of Managed Instances is a separate resource, which an adoption of its cluster leaves alone": {
				"ecs:DescribeCapacityProviders CapacityProviders.ManagedInstancesProvider.InfrastructureRoleArn",
			},
		},
		EarlierKeys: kind.EarlierKeys{NotKept: "the key encrypts what passes in a session, and nothing that is kept"},
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "ecs:CreateCluster", If: kind.GivesTag},
				// The names of clusters do not limit those of capacity providers.
				{Actions: "ecs:DescribeCapacityProviders", On: []string{"capacity-provider/*"}},
				{Actions: "ecs:*", On: []string{"cluster/${Name}"}},
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"Clusters.ActiveServicesCount", "Clusters.Attachments", "Clusters.AttachmentsStatus", "Clusters.PendingTasksCount",
			"Clusters.RegisteredContainerInstancesCount", "Clusters.RunningTasksCount", "Clusters.Statistics", "Clusters.Status",
		},
		Declarable: true,
		Schemas: kind.Schemas{
			Types: []string{"AWS::ECS::Cluster", "AWS::ECS::ClusterCapacityProviderAssociations"},
			Rewritten: map[string]string{
				"Configuration/ManagedStorageConfiguration/FargateEphemeralStorageKmsKeyId": "no field is about the storage of tasks",
			},
			Properties: map[string]map[string]string{
				"AWS::ECS::Cluster": {
					"ClusterSettings": "as settings",
				},
				"AWS::ECS::ClusterCapacityProviderAssociations": {
					"Cluster": kind.IsParent,
				},
			},
			Unneeded: map[string]string{
				"ecs:PutAccountSetting*":    "the schema checks what the operator lets ECS check",
				"ecs:ListTagsForResource":   "DescribeClusters shows the tags",
				"ecs:UpdateClusterSettings": "UpdateCluster sets them as well",
			},
		},
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
