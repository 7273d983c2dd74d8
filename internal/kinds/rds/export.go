// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exportedSubnetGroup declares a DB subnet group as it is.
func exportedSubnetGroup(cr *v1alpha1.DBSubnetGroup, have SubnetGroupState) {
	cr.Spec.Description = have.Description
	for _, id := range have.Subnets {
		cr.Spec.SubnetIDs = append(cr.Spec.SubnetIDs, v1alpha1.SubnetID(id))
	}
}

// baselines are the IOPS that gp3 storage has without a declaration, and small storage does not accept. Read only.
var baselines = []int32{0, 3000, 12000}

// undeclarable says that an instance is a read replica, which a spec cannot declare.
func undeclarable(have InstanceState) []string {
	if have.SourceID == "" {
		return nil
	}
	return []string{"readReplicaSourceDBInstanceIdentifier, because an RDSInstance makes no read replica: this one has its data from " + have.SourceID + ", and one that is created from the manifest is empty"}
}

// exportedInstance declares a DB instance as it is, without the password, which RDS does not return.
func exportedInstance(cr *v1alpha1.RDSInstance, have InstanceState) {
	out := &cr.Spec
	kind.Overlay(out, have) // the fields of the same names
	out.ParameterGroup = have.DBParameterGroupName
	if out.IOPS = have.Iops; aws.ToString(have.StorageType) == "gp3" && slices.Contains(baselines, aws.ToInt32(have.Iops)) {
		out.IOPS = nil
	}
	if !aws.ToBool(have.ManageMasterUserPassword) {
		out.ManageMasterUserPassword = nil
	}
	if aws.ToBool(have.StorageEncrypted) {
		out.KMSKeyID = aws.ToString(have.KmsKeyId)
	}
	for _, id := range have.VpcSecurityGroupIds {
		out.VPCSecurityGroupIDs = append(out.VPCSecurityGroupIDs, v1alpha1.SecurityGroupID(id))
	}
}
