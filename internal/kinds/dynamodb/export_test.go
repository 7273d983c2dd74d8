// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ReplicaDescription.html
func TestImport_NamesReplicasThatNoFieldSays(t *testing.T) {
	settings, _, _ := kindtest.NotDeclared(t, engine.For(NewTable), tableOf(capability), nil, func(output any) {
		if d, ok := output.(*dynamodb.DescribeTableOutput); ok && d.Table != nil {
			d.Table.GlobalTableVersion = aws.String("2019.11.21")
			d.Table.Replicas = []types.ReplicaDescription{{RegionName: aws.String("eu-west-1"), ReplicaStatus: types.ReplicaStatusActive,
				ProvisionedThroughputOverride: &types.ProvisionedThroughputOverride{ReadCapacityUnits: aws.Int64(3)}}}
		}
	})
	if !slices.Equal(settings, []string{"replicas[eu-west-1]"}) {
		t.Errorf("not declared: %q", settings)
	}
}

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
func TestImport_LeavesOutIndexesOfSeveralKeys(t *testing.T) {
	settings, omitted, exported := kindtest.NotDeclared(t, engine.For(NewTable), tableOf(capability), nil, func(output any) {
		d, ok := output.(*dynamodb.DescribeTableOutput)
		if !ok || d.Table == nil {
			return
		}
		key := func(name string, role types.KeyType) types.KeySchemaElement {
			d.Table.AttributeDefinitions = append(d.Table.AttributeDefinitions,
				types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
			return types.KeySchemaElement{AttributeName: &name, KeyType: role}
		}
		d.Table.GlobalSecondaryIndexes = []types.GlobalSecondaryIndexDescription{
			{IndexName: aws.String("by-day"), IndexStatus: types.IndexStatusActive,
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
				KeySchema:  []types.KeySchemaElement{key("day", types.KeyTypeHash)}},
			{IndexName: aws.String("by-tenant"), IndexStatus: types.IndexStatusActive,
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
				KeySchema: []types.KeySchemaElement{key("tenant", types.KeyTypeHash), key("region", types.KeyTypeHash),
					key("seq", types.KeyTypeRange)}}}
	})
	spec := exported.(*v1alpha1.DynamoDBTable).Spec
	if len(spec.GlobalSecondaryIndexes) != 1 || spec.GlobalSecondaryIndexes[0].IndexName != "by-day" || len(spec.Attributes) != 1 {
		t.Errorf("declared: %+v, %+v", spec.GlobalSecondaryIndexes, spec.Attributes)
	}
	if len(omitted) != 1 || !strings.Contains(omitted[0],
		"index by-tenant, because its partition key has the attributes tenant, region and its sort key seq") ||
		!slices.Equal(settings, []string{"globalSecondaryIndexes[by-tenant]"}) {
		t.Errorf("left out %q, not declared %q", omitted, settings)
	}
}

func TestImport_NamesWhatMayScaleProvisionedCapacity(t *testing.T) {
	for billing, tc := range map[string]struct {
		edits []func(*spec)
		says  string
	}{
		"provisioned": {[]func(*spec){provisioned(5, 5)}, "table/" + name + " shows any"},
		"on demand":   {nil, ""},
	} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(append([]func(*spec){capability}, tc.edits...)...))
		kindtest.Settled(t, s)
		found, err := engine.For(NewTable).Bind(r.Config).Export(t.Context(), s.Scope(), s.Object)
		if unread := strings.Join(found.Unread, ", "); err != nil || (unread != "") != (tc.says != "") || !strings.Contains(unread, tc.says) {
			t.Errorf("%s: %q, %v", billing, unread, err)
		}
	}
}
