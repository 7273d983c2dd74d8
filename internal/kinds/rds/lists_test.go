// SPDX-License-Identifier: Apache-2.0

package rds

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestInstance_ListsOfOthers(t *testing.T) {
	refs := func(s *spec) { s.VPCSecurityGroupRefs = []v1alpha1.ObjectReference{{Name: "databases"}} }
	kindtest.Lists(t, engine.For(NewInstance),
		kindtest.List{Field: "vpcSecurityGroupIDs", Fixed: true}, // the same list for RDS
		kindtest.List{Field: "vpcSecurityGroupRefs", Object: instanceOf(refs), Facts: func(s *kindtest.Subject) { placed(t, s) }, Exact: true,
			Add: func(t *testing.T, r *kindtest.Rig) {
				t.Helper()
				var ids []string
				all, err := ec2.NewFromConfig(r.Config).DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{})
				kindtest.Must(t, err)
				for _, g := range all.SecurityGroups {
					if *g.GroupName == "databases" || *g.GroupName == "others" {
						ids = append(ids, *g.GroupId)
					}
				}
				change(rds.ModifyDBInstanceInput{VpcSecurityGroupIds: ids})(t, r)
			},
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return len(find(t, r).VpcSecurityGroups) > 1
			}})
}

func TestSubnetGroup_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewSubnetGroup),
		kindtest.List{Field: "subnetIDs", Fixed: true}, // the same list for RDS
		kindtest.List{Field: "subnetRefs", Object: groupOf(described("databases")), Facts: func(s *kindtest.Subject) { inNetwork(t, s) },
			Exact: true,
			Add:   changeGroup("databases", "a", "b", "c"),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				out, err := api(r).DescribeDBSubnetGroups(t.Context(), &rds.DescribeDBSubnetGroupsInput{})
				kindtest.Must(t, err)
				return len(out.DBSubnetGroups[0].Subnets) > 2
			}})
}
