// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// countLimit bounds how many items are read to count them.
const countLimit = 1000

// items holds the deletion of a guarded table while the table holds items. It counts them with a consistent read, because DynamoDB updates
// the item count of a table's description only about every six hours. A table may hold items if they cannot be counted.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TableDescription.html
func (t *table) items(ctx context.Context, want TableState, seen *kind.Seen[TableState]) error {
	if !want.Guarded || seen.Busy != "" {
		return nil
	}
	out, err := t.api.Scan(ctx, &dynamodb.ScanInput{TableName: &want.Name, Select: types.SelectCount, ConsistentRead: aws.Bool(true), Limit: aws.Int32(countLimit)})
	hold := func(format string, args ...any) {
		seen.Holds = append([]kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: "the table to be empty: it " + fmt.Sprintf(format, args...)}}, seen.Holds...)
	}
	switch {
	case awsclient.IsNotFound(err):
	case err != nil:
		hold("may hold items, which could not be counted: %v", awsclient.Explain(err, "dynamodb:Scan"))
	case len(out.LastEvaluatedKey) > 0:
		hold("holds at least %s", status.Counted(int(max(out.Count, 1)), "item", "items"))
	case out.Count > 0:
		hold("holds %s", status.Counted(int(out.Count), "item", "items"))
	}
	return nil
}
