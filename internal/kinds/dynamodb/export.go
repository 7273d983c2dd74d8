// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// exported declares a table as it is. An expiry that is off has no attribute.
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
	}
	if attribute := aws.ToString(have.TTL); attribute != "" {
		out.TTL = &v1alpha1.DynamoDBTTL{Enabled: true, AttributeName: attribute}
	}
	out.SSE = have.SSE
}
