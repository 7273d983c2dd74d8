// SPDX-License-Identifier: Apache-2.0

package ecs

import (
	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a cluster as it is.
func exported(cr *v1alpha1.ECSCluster, have ClusterState) {
	out := &cr.Spec
	if have.Insights != nil {
		out.Settings = []v1alpha1.ECSClusterSetting{{Name: insights, Value: *have.Insights}}
	}
	if len(*have.Providers) > 0 {
		out.CapacityProviders = have.Providers
	}
	if len(*have.Strategy) > 0 {
		out.DefaultCapacityProviderStrategy = kind.Ptr(kind.Convert[[]v1alpha1.ECSCapacityProviderStrategyItem](*have.Strategy))
	}
	if name := kind.NonEmpty(have.Namespace); name != nil {
		out.ServiceConnectDefaults = &v1alpha1.ECSServiceConnectDefaults{Namespace: *name}
	}
	exec := *have.Exec
	in := &v1alpha1.ECSExecuteCommandConfiguration{KMSKeyID: exec.KMSKeyID, Logging: exec.Logging}
	if exec.Group != "" || exec.Bucket != "" {
		in.LogConfiguration = &v1alpha1.ECSExecuteCommandLogConfiguration{CloudWatchLogGroupName: exec.Group, CloudWatchEncryptionEnabled: exec.GroupEncrypted,
			S3BucketName: exec.Bucket, S3EncryptionEnabled: exec.BucketEncrypted, S3KeyPrefix: exec.Prefix}
	}
	out.Configuration = &v1alpha1.ECSClusterConfiguration{ExecuteCommandConfiguration: in}
}
