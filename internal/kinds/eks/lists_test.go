// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestCluster_ListsOfOthers(t *testing.T) {
	object := clusterWith(full, admins("admins"))
	network := func(in types.VpcConfigRequest) func(*testing.T, *kindtest.Rig) {
		return byHand(eks.UpdateClusterConfigInput{ResourcesVpcConfig: &in})
	}
	has := func(is func(c *types.Cluster) bool) func(*testing.T, *kindtest.Rig) bool {
		return func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return is(found(t, r)) }
	}
	theirs := aws.String(roles + "nodes")
	kindtest.Lists(t, engine.For(NewCluster),
		kindtest.List{Field: "encryption.resources", Fixed: true}, // immutable
		kindtest.List{Field: "vpcConfig.subnetRefs", Fixed: true}, // the same list for EKS
		kindtest.List{Field: "vpcConfig.securityGroupRefs", Fixed: true},
		kindtest.List{Field: "accessEntries", Object: object, Edited: clusterWith(full, admins("admins", "operators")), Facts: clusterTargets,
			Add: func(t *testing.T, r *kindtest.Rig) {
				t.Helper()
				_, err := api(r).CreateAccessEntry(t.Context(),
					&eks.CreateAccessEntryInput{ClusterName: aws.String(platform), PrincipalArn: theirs, Type: aws.String("EC2_LINUX")})
				kindtest.Must(t, err)
			},
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				out, err := api(r).ListAccessEntries(t.Context(), &eks.ListAccessEntriesInput{ClusterName: aws.String(platform)})
				kindtest.Must(t, err)
				return slices.Contains(out.AccessEntries, *theirs)
			}},
		kindtest.List{Field: "logging.clusterLogging", Object: object, Facts: clusterTargets, Exact: true,
			Add: byHand(eks.UpdateClusterConfigInput{Logging: &types.Logging{ClusterLogging: []types.LogSetup{{Enabled: aws.Bool(true),
				Types: []types.LogType{"scheduler"}}}}}),
			Has: has(func(c *types.Cluster) bool {
				return slices.ContainsFunc(c.Logging.ClusterLogging,
					func(l types.LogSetup) bool { return aws.ToBool(l.Enabled) && slices.Contains(l.Types, "scheduler") })
			})},
		kindtest.List{Field: "vpcConfig.publicAccessCidrs", Object: object, Facts: clusterTargets, Exact: true,
			Add: network(types.VpcConfigRequest{PublicAccessCidrs: []string{"203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/24"}}),
			Has: has(func(c *types.Cluster) bool { return len(c.ResourcesVpcConfig.PublicAccessCidrs) > 2 })},
		kindtest.List{Field: "vpcConfig.securityGroupIDs", Object: object, Facts: clusterTargets, Exact: true,
			Add: network(types.VpcConfigRequest{SecurityGroupIds: []string{"sg-0000000a", "sg-0000000c"}}),
			Has: has(func(c *types.Cluster) bool {
				return slices.Contains(c.ResourcesVpcConfig.SecurityGroupIds, "sg-0000000c")
			})},
		kindtest.List{Field: "vpcConfig.subnetIDs", Object: object, Facts: clusterTargets, Exact: true,
			Add: network(types.VpcConfigRequest{SubnetIds: []string{"subnet-0000000a", "subnet-0000000b", "subnet-0000000e"}}),
			Has: has(func(c *types.Cluster) bool { return len(c.ResourcesVpcConfig.SubnetIds) > 2 })})
}
