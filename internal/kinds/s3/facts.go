// SPDX-License-Identifier: Apache-2.0

package s3

import "github.com/nexus-operator/nexus-operator/internal/kind"

// bucketFacts returns the facts about an S3Bucket that other packages use.
func bucketFacts() kind.Facts {
	return kind.Facts{
		Errors: awsErrors,
		NotSettings: []string{
			"Grants.Grantee.DisplayName", "Grants.Grantee.ID", "Grants.Grantee.Type", "Grants.Permission=FULL_CONTROL", "Owner",
			"TransitionDefaultMinimumObjectSize=all_storage_classes_128K",
		},
		Reach: kind.Everywhere,
		Schemas: kind.Schemas{
			Types: []string{"AWS::S3::Bucket", "AWS::S3::BucketPolicy"},
			Rewritten: map[string]string{
				"NotificationConfiguration/LambdaConfigurations/*/Filter/S3Key/Rules/*/Name " +
					"NotificationConfiguration/QueueConfigurations/*/Filter/S3Key/Rules/*/Name NotificationConfiguration/TopicConfigurations/*/Filter/S3Key/Rules/*/Name": "asShown of package emulator shows it in that form",
			},
			Properties: map[string]map[string]string{
				"AWS::S3::Bucket": {
					"AccessControl":                             "as acl",
					"BucketEncryption":                          "as encryption",
					"BucketNamePrefix BucketNamespace":          kind.IsInput,
					"CorsConfiguration":                         "as corsRules",
					"LifecycleConfiguration":                    "as lifecycleRules",
					"LoggingConfiguration":                      "as logging",
					"MetadataTableConfiguration":                "as metadataConfiguration",
					"NotificationConfiguration":                 "as notification",
					"ObjectLockConfiguration ObjectLockEnabled": "as objectLock",
					"OwnershipControls":                         "as objectOwnership",
					"PublicAccessBlockConfiguration":            "as publicAccessBlock",
					"ReplicationConfiguration":                  "as replication",
					"VersioningConfiguration":                   "as versioning",
					"WebsiteConfiguration":                      "as website",
				},
				"AWS::S3::BucketPolicy": {
					"Bucket":         kind.IsParent,
					"PolicyDocument": "as policy",
				},
			},
			Unneeded: map[string]string{
				"s3:DeleteBucketCors s3:DeleteBucketEncryption s3:DeleteBucketLifecycle s3:DeleteBucketReplication s3:PutBucketReplication s3:PutObjectLockConfiguration s3:PutObjectAcl": "IAM has other names for them, or none, and the operator writes no objects",
				"s3:*MetadataTableConfiguration s3:*AnnotationTableConfiguration s3:*InventoryTableConfiguration s3:*JournalTableConfiguration s3tables:*":                                "there is no field for tables of metadata",
				"s3:*AnalyticsConfiguration s3:*MetricsConfiguration s3:PutAccelerateConfiguration s3:PutIntelligentTieringConfiguration s3:PutInventoryConfiguration s3:PutBucketAbac":   "there are no fields for these",
				"s3:ListBucket": "what a bucket holds is listed by its versions",
			},
		},
		ARN: kind.ARNForm{
			Service: "s3",
			Without: "/:",
		},
		Terraform: kind.Terraform{
			Type:     "aws_s3_bucket",
			Identity: []string{"bucket"},
			Parts: []string{
				"aws_s3_bucket_",
				"aws_s3_object",
			},
		},
	}
}
