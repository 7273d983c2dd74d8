// SPDX-License-Identifier: Apache-2.0

package dynamodb

import "github.com/nexus-operator/nexus-operator/internal/kind"

// tableFacts declares what other packages know about a DynamoDBTable.
func tableFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "dynamodb",
			Prefix:  "table/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_dynamodb_table",
			Identity: []string{"name"},
			Parts:    []string{"aws_dynamodb_table_item"},
		},
	}
}
