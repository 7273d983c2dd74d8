// SPDX-License-Identifier: Apache-2.0

package ecs

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestCluster_ListsOfOthers(t *testing.T) {
	spot := types.CapacityProviderStrategyItem{CapacityProvider: aws.String("FARGATE_SPOT"), Weight: 1}
	kindtest.Lists(t, engine.For(NewCluster),
		kindtest.List{Field: "settings", Fixed: true}, // AWS has one setting; rows change its value
		kindtest.List{Field: "capacityProviders", Object: clusterOf(providers("FARGATE"), strategy()), Exact: true,
			Add: replace([]string{"FARGATE", "FARGATE_SPOT"}, []types.CapacityProviderStrategyItem{}...),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return len(observed(t, r).CapacityProviders) > 1
			}},
		kindtest.List{Field: "defaultCapacityProviderStrategy",
			Object: clusterOf(providers("FARGATE", "FARGATE_SPOT"), strategy(item{CapacityProvider: "FARGATE"})), Exact: true,
			Add: replace([]string{"FARGATE", "FARGATE_SPOT"}, types.CapacityProviderStrategyItem{CapacityProvider: aws.String("FARGATE")}, spot),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return len(observed(t, r).DefaultCapacityProviderStrategy) > 1
			}})
}
