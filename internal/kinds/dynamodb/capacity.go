// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// initialOnly is the capacityPolicy that leaves the capacity to an autoscaler.
const initialOnly = "InitialOnly"

// noLimit says how DynamoDB is asked to remove a limit of the throughput on demand.
const noLimit = -1

// Capacity is the capacity of a global secondary index in both billing modes.
type Capacity struct {
	ReadCapacityUnits, WriteCapacityUnits     *int64
	MaxReadRequestUnits, MaxWriteRequestUnits *int64
}

func wantedCapacity(in v1alpha1.DynamoDBGlobalIndex) (string, *Capacity) {
	c := kind.Convert[Capacity](in.ProvisionedThroughput)
	kind.Overlay(&c, in.OnDemandThroughput)
	return in.IndexName, &c
}

func foundCapacity(d types.GlobalSecondaryIndexDescription) *Capacity {
	c := kind.Convert[Capacity](fromLimits(d.OnDemandThroughput))
	kind.Overlay(&c, kind.NonNil(kind.Convert[*v1alpha1.DynamoDBThroughput](d.ProvisionedThroughput)))
	return &c
}

// fromLimits: DynamoDB shows no limit where there is none.
func fromLimits(d *types.OnDemandThroughput) *v1alpha1.DynamoDBOnDemandThroughput {
	limits := &v1alpha1.DynamoDBOnDemandThroughput{MaxReadRequestUnits: aws.Int64(noLimit), MaxWriteRequestUnits: aws.Int64(noLimit)}
	kind.Overlay(limits, d)
	return limits
}

func (c *Capacity) provisioned() *types.ProvisionedThroughput {
	if c == nil || c.ReadCapacityUnits == nil {
		return nil
	}
	return kind.Convert[*types.ProvisionedThroughput](c)
}

func (c *Capacity) onDemand() *types.OnDemandThroughput {
	if c == nil || c.MaxReadRequestUnits == nil && c.MaxWriteRequestUnits == nil {
		return nil
	}
	return kind.Convert[*types.OnDemandThroughput](c)
}

// readCapacity fills in the capacity of the table and of the declared indexes. That of an index that does not exist is set
// with its create, and that which an autoscaler changes is taken for the wanted one.
func readCapacity(d *types.TableDescription, want TableState, have *TableState) {
	have.BillingMode, have.OnDemand = fromBilling(d.BillingModeSummary), fromLimits(d.OnDemandThroughput)
	have.Throughput = kind.Convert[*v1alpha1.DynamoDBThroughput](d.ProvisionedThroughput)
	scaled := want.Scaled && *have.BillingMode == string(types.BillingModeProvisioned)
	if scaled {
		have.Throughput = want.Throughput
	}
	for name, c := range want.IndexCapacity {
		have.IndexCapacity[name] = have.AllCapacity[name]
		if scaled || have.AllCapacity[name] == nil {
			have.IndexCapacity[name] = c
		}
	}
}

// capacityUpdate changes the billing mode and the capacity of the table and of its indexes in one request: DynamoDB refuses
// a change to PROVISIONED that leaves out the capacity of an index, and values that are as they were.
func capacityUpdate(want, have TableState, diff kind.Diff) dynamodb.UpdateTableInput {
	in := dynamodb.UpdateTableInput{}
	kind.SetChanged(diff, "BillingMode", &in.BillingMode, types.BillingMode(aws.ToString(want.BillingMode)))
	kind.SetChanged(diff, "OnDemand", &in.OnDemandThroughput, kind.Convert[*types.OnDemandThroughput](want.OnDemand))
	if diff.Under("BillingMode", "Throughput") {
		in.ProvisionedThroughput = kind.Convert[*types.ProvisionedThroughput](want.Throughput)
	}
	for _, name := range kind.SortedKeys(have.AllIndexes) {
		c := want.IndexCapacity[name]
		switch {
		case in.BillingMode == types.BillingModeProvisioned && c == nil: // an index that is not declared
			c = kind.Convert[*Capacity](want.Throughput)
		case in.BillingMode != types.BillingModeProvisioned && !diff.Under("IndexCapacity["+name+"]"):
			continue
		}
		in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, types.GlobalSecondaryIndexUpdate{
			Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: &name, ProvisionedThroughput: c.provisioned(), OnDemandThroughput: c.onDemand()}})
	}
	return in
}
