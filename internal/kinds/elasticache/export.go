// SPDX-License-Identifier: Apache-2.0

package elasticache

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a cache cluster as it is, without the settings that its engine does not have.
func exported(cr *v1alpha1.ElastiCacheCluster, have ClusterState) {
	out := &cr.Spec
	kind.Overlay(out, have) // the fields of the same names
	out.NodeType, out.NotificationTopicARN = aws.ToString(have.CacheNodeType), kind.NonEmpty(have.NotificationTopicArn)
	out.SubnetGroupName, out.ParameterGroupName = have.CacheSubnetGroupName, have.CacheParameterGroupName
	if aws.ToString(have.Engine) == redis {
		out.AZMode, out.TransitEncryptionEnabled = nil, nil
	} else {
		out.SnapshotRetentionLimit, out.SnapshotWindow = nil, nil
	}
	for _, id := range have.SecurityGroupIds {
		out.SecurityGroupIDs = append(out.SecurityGroupIDs, v1alpha1.SecurityGroupID(id))
	}
}
