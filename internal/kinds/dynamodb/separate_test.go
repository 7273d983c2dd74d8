// SPDX-License-Identifier: Apache-2.0

package dynamodb_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	kinddynamodb "github.com/nexus-operator/nexus-operator/internal/kinds/dynamodb"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestTable_ImportsReadWhatNoPartReads(t *testing.T) {
	kindtest.ReadsSeparately(t, kinddynamodb.NewTable, kinddynamodb.TableState{Name: "t", ARN: "arn"}, []kindtest.Separate{
		{Setting: "contributorInsightsSpecification", Operation: "DynamoDB DescribeContributorInsights",
			Output: &dynamodb.DescribeContributorInsightsOutput{ContributorInsightsStatus: types.ContributorInsightsStatusEnabled}},
		{Setting: "kinesisStreamSpecification", Operation: "DynamoDB DescribeKinesisStreamingDestination",
			Output: &dynamodb.DescribeKinesisStreamingDestinationOutput{KinesisDataStreamDestinations: make([]types.KinesisDataStreamDestination, 1)}},
		{Setting: "resourcePolicy", Operation: "DynamoDB GetResourcePolicy", Output: &dynamodb.GetResourcePolicyOutput{Policy: aws.String("{}")}},
	})
}
