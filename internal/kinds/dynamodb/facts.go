// SPDX-License-Identifier: Apache-2.0

package dynamodb

import "github.com/nexus-operator/nexus-operator/internal/kind"

// tableFacts returns the facts about a DynamoDBTable that other packages use.
func tableFacts() kind.Facts {
	return kind.Facts{
		EarlierKeys: kind.EarlierKeys{Kept: "backups stay encrypted with the key of their time, and DynamoDB does not show who manages a key"},
		Rights: kind.Rights{
			Calls: []kind.Right{{Actions: "dynamodb:*", On: []string{"table/${Name}"}}},
			Encrypts: map[string]string{ // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
				"dynamodb:CreateTable dynamodb:UpdateTable": "kms:CreateGrant kms:Decrypt kms:DescribeKey kms:Encrypt kms:GenerateDataKey " +
					"kms:ReEncryptFrom kms:ReEncryptTo",
			},
		},
		Services: awsServices,
		NotSettings: []string{
			"ContinuousBackupsDescription.ContinuousBackupsStatus",
			"ContinuousBackupsDescription.PointInTimeRecoveryDescription.RecoveryPeriodInDays=35", "Table.ArchivalSummary",
			"Table.AttributeDefinitions", "Table.GlobalSecondaryIndexes.Backfilling", "Table.GlobalSecondaryIndexes.IndexArn",
			"Table.GlobalSecondaryIndexes.IndexSizeBytes", "Table.GlobalSecondaryIndexes.IndexStatus",
			"Table.GlobalSecondaryIndexes.ItemCount", "Table.GlobalSecondaryIndexes.ProvisionedThroughput.NumberOfDecreasesToday",
			"Table.GlobalSecondaryIndexes.WarmThroughput", "Table.GlobalTableVersion", "Table.LatestStreamLabel",
			"Table.LocalSecondaryIndexes.IndexArn", "Table.LocalSecondaryIndexes.IndexSizeBytes",
			"Table.LocalSecondaryIndexes.ItemCount", "Table.LocalSecondaryIndexes.KeySchema.KeyType",
			"Table.ProvisionedThroughput.NumberOfDecreasesToday", "Table.Replicas.ReplicaArn", "Table.Replicas.ReplicaStatus",
			"Table.Replicas.ReplicaStatusDescription", "Table.Replicas.ReplicaStatusPercentProgress", "Table.RestoreSummary",
			"Table.SSEDescription.SSEType=KMS", "Table.SSEDescription.Status", "Table.TableId", "Table.TableSizeBytes",
			"Table.TableStatus", "TimeToLiveDescription.TimeToLiveStatus",
			"Table.WarmThroughput", // AWS raises it
		},
		OneValue: map[string]string{
			"CapacityPolicy": kind.InItsOwnTest,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::DynamoDB::Table"},
			Rewritten: map[string]string{
				"SSESpecification/KMSMasterKeyId": kind.KeyByID,
			},
			Properties: map[string]map[string]string{
				"AWS::DynamoDB::Table": {
					"AttributeDefinitions":             "as attributes",
					"DeletionProtectionEnabled":        "as deletionProtection",
					"ImportSourceSpecification":        kind.IsInput,
					"KeySchema":                        "as hashKey",
					"PointInTimeRecoverySpecification": "as pointInTimeRecovery",
					"SSESpecification":                 "as sse",
					"StreamSpecification":              "as streamEnabled",
					"TimeToLiveSpecification":          "as ttl",
					"WarmThroughput":                   "AWS raises it",
				},
			},
			Unneeded: map[string]string{
				"dynamodb:*Item dynamodb:Query dynamodb:*Replica":          "there is no field for replicas",
				"dynamodb:*ResourcePolicy":                                 "there is no field for policies",
				"dynamodb:*ContributorInsights":                            "there is no field for insights",
				"dynamodb:DescribeImport dynamodb:ImportTable s3:* logs:*": "there is no field for imports",
				"dynamodb:*KinesisStreamingDestination kinesis:*":          "there is no field for streams to Kinesis",
				"kms:RevokeGrant":                                          "DynamoDB revokes its grants by its own rights",
			},
		},
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
