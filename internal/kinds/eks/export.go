// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exportedCluster declares a cluster as it is.
func exportedCluster(cr *v1alpha1.EKSCluster, have ClusterState) {
	out := &cr.Spec
	out.RoleARN, out.Version = aws.ToString(have.Role), have.Version
	if len(*have.Logs) > 0 {
		out.Logging = &v1alpha1.EKSLogging{ClusterLogging: *have.Logs}
	}
	out.VPCConfig = &v1alpha1.EKSVPCConfig{SubnetIDs: kind.Convert[[]v1alpha1.SubnetID](have.Subnets), SecurityGroupIDs: kind.Convert[[]v1alpha1.SecurityGroupID](have.Groups),
		EndpointPublicAccess: have.PublicAccess, EndpointPrivateAccess: have.PrivateAccess}
	if *have.PublicAccess {
		out.VPCConfig.PublicAccessCidrs = have.CIDRs
	}
	if mode := kind.NonEmpty(have.AuthenticationMode); mode != nil {
		out.AccessConfig = &v1alpha1.EKSAccessConfig{AuthenticationMode: *mode}
	}
	if support := kind.NonEmpty(have.SupportType); support != nil {
		out.UpgradePolicy = &v1alpha1.EKSUpgradePolicy{SupportType: *support}
	}
	if key := kind.NonEmpty(have.Key); key != nil {
		out.Encryption = &v1alpha1.EKSEncryption{ProviderKeyARN: *key}
	}
	if *have.DeletionProtection {
		out.DeletionProtection = have.DeletionProtection
	}
}
