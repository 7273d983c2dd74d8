// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a table as it is. An expiry that is off has no attribute, and a limit that is off is not declared.
func exported(cr *v1alpha1.DynamoDBTable, have TableState) {
	out := &cr.Spec
	for _, k := range have.Keys {
		a := v1alpha1.DynamoDBAttribute{Name: k.Name, Type: k.Type}
		if k.Role == string(types.KeyTypeHash) {
			out.HashKey = a
		} else {
			out.RangeKey = &a
		}
	}
	out.BillingMode, out.PointInTimeRecovery, out.DeletionProtection = aws.ToString(have.BillingMode), have.PITR, have.DeletionProtection
	if out.BillingMode == string(types.BillingModeProvisioned) {
		out.ProvisionedThroughput = have.Throughput
	} else {
		out.OnDemandThroughput = exportedLimits(have.OnDemand)
	}
	if attribute := aws.ToString(have.TTL); attribute != "" {
		out.TTL = &v1alpha1.DynamoDBTTL{Enabled: true, AttributeName: attribute}
	}
	out.SSE, out.TableClass = have.SSE, have.TableClass
	out.StreamEnabled, out.StreamViewType = aws.Bool(*have.Stream != ""), *have.Stream
	exportIndexes(out, have)
}

func exportIndexes(out *v1alpha1.DynamoDBTableSpec, have TableState) {
	defined := map[string]bool{}
	declare := func(keys []Key) (hashKey, rangeKey string) {
		for _, k := range keys {
			if !defined[k.Name] && !slices.ContainsFunc(have.Keys, func(t Key) bool { return t.Name == k.Name }) {
				out.Attributes = append(out.Attributes, v1alpha1.DynamoDBIndexAttribute{DynamoDBAttribute: v1alpha1.DynamoDBAttribute{Name: k.Name, Type: k.Type}})
			}
			defined[k.Name] = true
			if k.Role == string(types.KeyTypeHash) {
				hashKey = k.Name
			} else {
				rangeKey = k.Name
			}
		}
		return hashKey, rangeKey
	}
	for _, name := range kind.SortedKeys(have.AllIndexes) {
		if hasSeveralKeys(have.AllIndexes[name].Keys) {
			continue
		}
		index, capacity := have.AllIndexes[name], have.AllCapacity[name]
		g := v1alpha1.DynamoDBGlobalIndex{IndexName: name, DynamoDBProjection: exportedProjection(*index)}
		g.HashKey, g.RangeKey = declare(index.Keys)
		if out.ProvisionedThroughput != nil {
			g.ProvisionedThroughput = kind.Convert[*v1alpha1.DynamoDBThroughput](capacity)
		} else {
			g.OnDemandThroughput = exportedLimits(kind.Convert[*v1alpha1.DynamoDBOnDemandThroughput](capacity))
		}
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, g)
	}
	for _, l := range have.LocalIndexes {
		_, rangeKey := declare(l.Keys)
		out.LocalSecondaryIndexes = append(out.LocalSecondaryIndexes, v1alpha1.DynamoDBLocalIndex{IndexName: l.Name, RangeKey: rangeKey, DynamoDBProjection: exportedProjection(l.Index)})
	}
}

// hasSeveralKeys reports whether an index has more than one partition key or sort key, which no field can say.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
func hasSeveralKeys(keys []Key) bool {
	return len(namesOf(keys, types.KeyTypeHash)) > 1 || len(namesOf(keys, types.KeyTypeRange)) > 1
}

// namesOf returns the names of the keys of a role.
func namesOf(keys []Key, role types.KeyType) (names []string) {
	for _, k := range keys {
		if k.Role == string(role) {
			names = append(names, k.Name)
		}
	}
	return names
}

// undeclarable says which indexes a spec cannot declare.
func undeclarable(have TableState) (out []string) {
	for _, name := range kind.SortedKeys(have.AllIndexes) {
		if keys := have.AllIndexes[name].Keys; hasSeveralKeys(keys) {
			out = append(out, fmt.Sprintf("the global secondary index %s, because its partition key has the attributes %s and its sort key %s, and a DynamoDBTable declares one of each; it stays as it is",
				name, listed(namesOf(keys, types.KeyTypeHash)), listed(namesOf(keys, types.KeyTypeRange))))
		}
	}
	return out
}

// scaling says that Application Auto Scaling may change provisioned capacity, which the operator would change back. DynamoDB does not show
// whether it does. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/AutoScaling.html
func scaling(have TableState) []string {
	if aws.ToString(have.BillingMode) != string(types.BillingModeProvisioned) {
		return nil
	}
	return []string{"scalable targets of Application Auto Scaling (not read: set capacityPolicy: InitialOnly where aws application-autoscaling describe-scalable-targets " +
		"--service-namespace dynamodb --resource-ids table/" + have.Name + " shows any)"}
}

func listed(names []string) string {
	return kind.Either(len(names) == 0, "none", strings.Join(names, ", "))
}

func exportedProjection(i Index) v1alpha1.DynamoDBProjection {
	return v1alpha1.DynamoDBProjection{ProjectionType: i.Projection, NonKeyAttributes: i.NonKey}
}

// exportedLimits returns the limits that are on; nil for none.
func exportedLimits(have *v1alpha1.DynamoDBOnDemandThroughput) *v1alpha1.DynamoDBOnDemandThroughput {
	var out v1alpha1.DynamoDBOnDemandThroughput
	if *have.MaxReadRequestUnits != noLimit {
		out.MaxReadRequestUnits = have.MaxReadRequestUnits
	}
	if *have.MaxWriteRequestUnits != noLimit {
		out.MaxWriteRequestUnits = have.MaxWriteRequestUnits
	}
	if out == (v1alpha1.DynamoDBOnDemandThroughput{}) {
		return nil
	}
	return &out
}

// separateSettings are the settings of a table that no field says, with one read for each.
func (t *table) separateSettings() []kind.SeparateSetting[TableState] {
	return []kind.SeparateSetting[TableState]{
		kind.ReadSeparately(kind.ImportRead{Setting: "contributorInsightsSpecification", Action: "dynamodb:DescribeContributorInsights"}, t.api.DescribeContributorInsights,
			func(have TableState) *dynamodb.DescribeContributorInsightsInput {
				return &dynamodb.DescribeContributorInsightsInput{TableName: &have.Name}
			},
			func(out *dynamodb.DescribeContributorInsightsOutput) bool {
				return out.ContributorInsightsStatus == types.ContributorInsightsStatusEnabled || out.ContributorInsightsStatus == types.ContributorInsightsStatusEnabling
			}),
		kind.ReadSeparately(kind.ImportRead{Setting: "kinesisStreamSpecification", Action: "dynamodb:DescribeKinesisStreamingDestination"}, t.api.DescribeKinesisStreamingDestination,
			func(have TableState) *dynamodb.DescribeKinesisStreamingDestinationInput {
				return &dynamodb.DescribeKinesisStreamingDestinationInput{TableName: &have.Name}
			},
			func(out *dynamodb.DescribeKinesisStreamingDestinationOutput) bool {
				return slices.ContainsFunc(out.KinesisDataStreamDestinations, func(d types.KinesisDataStreamDestination) bool {
					return d.DestinationStatus != types.DestinationStatusDisabled
				})
			}),
		kind.ReadSeparately(kind.ImportRead{Setting: "resourcePolicy", Action: "dynamodb:GetResourcePolicy"}, t.api.GetResourcePolicy,
			func(have TableState) *dynamodb.GetResourcePolicyInput {
				return &dynamodb.GetResourcePolicyInput{ResourceArn: &have.ARN}
			},
			func(out *dynamodb.GetResourcePolicyOutput) bool { return out.Policy != nil }),
	}
}
