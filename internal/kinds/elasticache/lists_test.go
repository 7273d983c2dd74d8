// SPDX-License-Identifier: Apache-2.0

package elasticache

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/elasticache"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestCluster_ListsOfOthers(t *testing.T) {
	refs := func(s *spec) { s.SecurityGroupRefs = []v1alpha1.ObjectReference{{Name: "web"}} }
	kindtest.Lists(t, engine.For(NewCluster),
		kindtest.List{Field: "securityGroupIds", Fixed: true}, // the same list for ElastiCache
		kindtest.List{Field: "securityGroupRefs", Object: memcached(refs), Facts: func(s *kindtest.Subject) { placed(t, s) }, Exact: true,
			Add: change(elasticache.ModifyCacheClusterInput{SecurityGroupIds: []string{"sg-11111111", "sg-22222222"}}),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return len(observed(t, r).SecurityGroups) > 1
			}})
}
