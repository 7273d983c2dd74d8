// SPDX-License-Identifier: Apache-2.0

package s3

import "github.com/nexus-operator/nexus-operator/internal/kind"

// bucketFacts returns the facts about an S3Bucket that other packages use.
func bucketFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {"s3:GetReplicationConfiguration ReplicationConfiguration.Role"},
		},
		EarlierKeys: kind.EarlierKeys{Kept: "objects stay encrypted with the key that they were written with"},
		Rights:      bucketRights(),
		Services:    awsServices,
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

// bucketRights returns the rights in IAM that the actions of an S3Bucket take.
func bucketRights() kind.Rights {
	return kind.Rights{
		Calls: []kind.Right{
			{Actions: "s3:ListAllMyBuckets"},
			{Actions: "s3:DeleteObjectVersion", On: []string{"arn:${Partition}:s3:::${Name}/*"}},
			{Actions: "s3:*", On: []string{"arn:${Partition}:s3:::${Name}"}},
		},
		Needs: []kind.Need{
			// Tags in the request.
			{For: "s3:CreateBucket", Actions: "s3:TagResource", On: []string{"arn:${Partition}:s3:::${Name}"}},
			// DeleteObjects asks for it with versions as well.
			{For: "s3:DeleteObjectVersion", Actions: "s3:DeleteObject", On: []string{"arn:${Partition}:s3:::${Name}/*"}},
		},
		Passes: []kind.Pass{{For: "s3:PutReplicationConfiguration", To: "s3.amazonaws.com"}},
		Decided: map[string]string{
			"s3 CreateBucket s3express:CreateBucket":                                 "no directory buckets",
			"s3 CreateBucket s3express:TagResource":                                  "no directory buckets",
			"s3 DeleteBucket s3express:DeleteBucket":                                 "no directory buckets",
			"s3 DeleteBucketLifecycle s3express:PutLifecycleConfiguration":           "no directory buckets",
			"s3 DeleteBucketPolicy s3express:DeleteBucketPolicy":                     "no directory buckets",
			"s3 DeleteObjects s3express:CreateSession":                               "no directory buckets",
			"s3 PutBucketEncryption s3express:PutEncryptionConfiguration":            "no directory buckets",
			"s3 PutBucketLifecycleConfiguration s3express:PutLifecycleConfiguration": "no directory buckets",
			"s3 PutBucketPolicy s3express:CreateSession":                             "no directory buckets",
			"s3 PutBucketPolicy s3express:PutBucketPolicy":                           "no directory buckets",
			"s3control TagResource s3express:TagResource":                            "no directory buckets",
			"s3control UntagResource s3express:UntagResource":                        "no directory buckets",
			"s3 DeleteObjects s3:BypassGovernanceRetention":                          "objects under a lock are never deleted",
			"s3 PutBucketEncryption kms:Decrypt":                                     "for objects, which the operator neither reads nor writes",
			"s3 PutBucketEncryption kms:GenerateDataKey":                             "for objects, which the operator neither reads nor writes",
		},
	}
}
