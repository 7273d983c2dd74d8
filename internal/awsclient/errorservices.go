// SPDX-License-Identifier: Apache-2.0

package awsclient

import "time"

// docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
var s3Rows = []row{
	// HEAD answers carry no body, so the SDK makes the code from the status. Only there: a bodyless
	// 404 to any other request did not come from S3.
	{service: "s3", operation: "Head*", code: "NotFound", class: NotFound},
	// An expired token answers HEAD with a bare 400 as well: not proof of a bad request.
	{service: "s3", operation: "Head*", code: "BadRequest", class: Unknown},
	{service: "s3", code: "NoSuchBucket|NoSuchKey|NoSuchUpload|NoSuchVersion", class: NotFound},
	{service: "s3", code: "NoSuchTagSet|NoSuchLifecycleConfiguration|NoSuchBucketPolicy|NoSuchCORSConfiguration", class: NotFound},
	{service: "s3", code: "NoSuchPublicAccessBlockConfiguration|OwnershipControlsNotFound|NoSuchWebsiteConfiguration", class: NotFound},
	{service: "s3", code: "ServerSideEncryptionConfigurationNotFound|ReplicationConfigurationNotFound", class: NotFound},
	{service: "s3", code: "ObjectLockConfigurationNotFound|NoSuchObjectLockConfiguration|NoSuchConfiguration", class: NotFound},
	// AWS does not publish the code.
	{service: "s3", operation: "GetBucketMetadataConfiguration", code: "*NotFound", class: NotFound},
	{service: "s3", code: "BucketAlreadyOwnedByYou", class: Exists},
	{service: "s3", code: "BucketAlreadyExists", class: NameTaken},
	// The bucket is there, in another region than the endpoint's.
	{service: "s3", code: "PermanentRedirect|MovedPermanently|AuthorizationHeaderMalformed", class: NameTaken},
	{service: "s3", code: "BucketNotEmpty", class: NotEmpty},
	{service: "s3", code: "BucketHasAccessPointsAttached", class: NotEmpty},
	{service: "s3", code: "TooManyBuckets", class: Limit},
	{service: "s3", code: "ServiceUnavailable", class: Throttled},
	{service: "s3", code: "BadDigest|IncompleteBody|XAmzContentSHA256Mismatch", class: Transient},
	{service: "s3", operation: "PutBucketNotificationConfiguration", code: "InvalidArgument", message: "unable to validate",
		class: Propagating, within: ofIAM},
	// Versioning that was just enabled, here or at the destination.
	{service: "s3", operation: "PutBucketReplication", code: "InvalidRequest", message: "versioning must be", class: Propagating,
		within: ofVersioning},
	{service: "s3", operation: "PutBucketReplication", code: "InvalidRequest", message: "destination bucket must", class: Propagating,
		within: ofVersioning},
	{service: "s3", code: "MethodNotAllowed", class: Denied},
	{service: "s3", code: "InvalidBucketName|InvalidBucketState|InvalidBucketAclWithObjectOwnership|AccessControlListNotSupported",
		class: Invalid},
	{service: "s3", code: "IllegalLocationConstraint|InvalidLocationConstraint|InvalidStorageClass|KMS.NotFound", class: Invalid},
	// A bucket that was just made, or has a new policy; it is refused for good after a while.
	{service: "s3", code: "InvalidTargetBucketForLogging", class: Propagating, within: ofResources},
	{service: "s3", code: "MalformedACL", class: Invalid},
	{service: "s3control", code: "NoSuchBucket|NoSuchResource", class: NotFound},
}

// docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
var dynamoRows = []row{
	{service: "dynamodb", code: "ResourceNotFound|TableNotFound|PolicyNotFound|IndexNotFound|BackupNotFound", class: NotFound},
	{service: "dynamodb", operation: "CreateTable", code: "ResourceInUse", class: Exists},
	{service: "dynamodb", code: "TableAlreadyExists", class: Exists},
	{service: "dynamodb", code: "ResourceInUse|TableInUse|BackupInUse|ContinuousBackupsUnavailable", class: Busy},
	// "Only 1 online index can be created or deleted simultaneously per table."
	{service: "dynamodb", code: "LimitExceeded", message: "online index", class: Busy},
	// "Only N tables can be created, updated, or deleted simultaneously": control-plane concurrency, which passes.
	{service: "dynamodb", code: "LimitExceeded", message: "simultaneous", class: Throttled},
	{service: "dynamodb", code: "LimitExceeded", message: "concurrent", class: Throttled},
	{service: "dynamodb", code: "LimitExceeded", message: "too many operations", class: Throttled},
	// Changes of the billing mode, and of throughput downward, that may come once a day or so: they are no quota, because they become
	// possible with time.
	{service: "dynamodb", code: "LimitExceeded", message: "limited to once in", class: Busy, after: 10 * time.Minute},
	{service: "dynamodb", code: "LimitExceeded", message: "decreases are limited", class: Busy, after: 10 * time.Minute},
	{service: "dynamodb", code: "Validation", message: "protected against deletion", class: Protected},
	// For 24 hours after a replica was made of the table.
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/globaltables_HowItWorks.html
	{service: "dynamodb", operation: "DeleteTable", code: "Validation", message: "source region for new replica", class: Busy,
		after: 10 * time.Minute},
	{service: "dynamodb", operation: "UpdateTimeToLive", code: "Validation", message: "within a fixed interval", class: Busy,
		after: 10 * time.Minute},
	{service: "dynamodb", operation: "UpdateTimeToLive", code: "Validation", message: "timetolive is already", class: Exists},
	// The table already has the settings that UpdateTable asks for, although a read that lags does not show it.
	{service: "dynamodb", operation: "UpdateTable", code: "Validation", message: "will not change", class: Exists},
	{service: "dynamodb", operation: "UpdateTable", code: "Validation", message: "index which already exists", class: Exists},
	{service: "dynamodb", operation: "UpdateTable", code: "Validation", message: "already has an enabled stream", class: Exists},
	{service: "dynamodb", operation: "UpdateTable", code: "Validation", message: "has no stream to disable", class: Exists},
	{service: "dynamodb", code: "TransactionConflict|TransactionInProgress|ReplicatedWriteConflict", class: Transient},
}

// docs.aws.amazon.com/glue/latest/dg/aws-glue-api-exceptions.html
var glueRows = []row{
	{service: "glue", code: "EntityNotFound|ResourceNotFound", class: NotFound},
	{service: "glue", code: "AlreadyExists|ResourceAlreadyExists", class: Exists},
	{service: "glue", code: "FederatedResourceAlreadyExists", class: Exists},
	{service: "glue", code: "FederationSourceRetryable", class: Transient},
	{service: "glue", code: "CrawlerRunning|CrawlerStopping|SchedulerTransitioning|ConcurrentRunsExceeded|ResourceNotReady", class: Busy},
	{service: "glue", code: "SchedulerRunning|SchedulerNotRunning|CrawlerNotRunning|NoSchedule|VersionMismatch", class: Conflict},
	{service: "glue", code: "ResourceNumberLimitExceeded", class: Limit},
	// Glue tries the crawler's role at once (see also "unable to assume" below): "role should
	// be given assume role permissions", "... is not authorized to perform: glue:GetConnection".
	{service: "glue", code: "InvalidInput", message: "assume role permissions", class: Propagating, within: ofIAM},
	{service: "glue", code: "InvalidInput", message: "is not authorized to perform", class: Propagating, within: ofIAM},
	{service: "glue", code: "InvalidInput", message: "trustpolicy", class: Propagating, within: ofIAM},
	{service: "glue", operation: "Create*|Update*", code: "AccessDenied|InvalidInput", message: "lake formation permission",
		class: Propagating, within: ofIAM},
	{service: "glue", code: "AccessDenied", message: "assume provided role", class: Propagating, within: ofIAM},
	// The key of the Data Catalog, which every writer needs: AWS's words name it and the right.
	{service: "glue", code: "GlueEncryption", message: "not authorized to perform", class: Denied},
	{service: "glue", code: "GlueEncryption|InvalidState|FederationSource|KMSKeyNotAccessible", class: Invalid},
}

// docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html and its siblings
var iamRows = []row{
	{service: "iam", code: "NoSuchEntity", class: NotFound},
	{service: "iam", code: "EntityAlreadyExists", class: Exists},
	{service: "iam", code: "EntityTemporarilyUnmodifiable", class: Busy},
	{service: "iam", code: "DeleteConflict", class: NotEmpty},
	{service: "iam", code: "OpenIdIdpCommunication", class: Transient},
	{service: "iam", code: "PolicyNotAttachable|UnmodifiableEntity|NotSupportedService|PolicyEvaluation", class: Invalid},
}

// docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html and its siblings
var ssmRows = []row{
	{service: "ssm", code: "ParameterNotFound|ParameterVersionNotFound|DoesNotExist|ResourceNotFound", class: NotFound},
	// The tag calls name an absent parameter so.
	{service: "ssm", operation: "ListTags*|AddTags*|RemoveTags*", code: "InvalidResourceId", class: NotFound},
	{service: "ssm", code: "ParameterAlreadyExists", class: Exists},
	{service: "ssm", code: "TooManyUpdates", class: Transient},
	{service: "ssm", code: "ParameterLimitExceeded|ParameterMaxVersionLimitExceeded|TooManyTags|PoliciesLimitExceeded", class: Limit},
	{service: "ssm", code: "HierarchyLevelLimitExceeded|HierarchyTypeMismatch|ParameterPatternMismatch|InvalidKeyId", class: Invalid},
	{service: "ssm", code: "UnsupportedParameterType|InvalidAllowedPattern|InvalidPolicyType|InvalidPolicyAttribute|IncompatiblePolicy",
		class: Invalid},
	{service: "ssm", code: "InvalidFilterKey|InvalidFilterOption|InvalidFilterValue|InvalidResourceType", class: Invalid},
	{service: "ssm", code: "ServiceSettingNotFound", class: NotFound},
	// The next look starts again with the first page.
	{service: "ssm", code: "InvalidNextToken", class: Transient},
}

// docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html and its siblings
var secretRows = []row{
	{service: "secretsmanager", code: "ResourceNotFound", class: NotFound},
	{service: "secretsmanager", code: "ResourceExists", class: Exists},
	{service: "secretsmanager", code: "InvalidRequest", message: "scheduled for deletion", class: ScheduledForDeletion},
	{service: "secretsmanager", code: "InvalidRequest", message: "marked for deletion", class: ScheduledForDeletion},
	// The name of a secret that was deleted without a recovery window is free a few seconds later.
	{service: "secretsmanager", code: "InvalidRequest", message: "was deleted", class: Busy},
	{service: "secretsmanager", operation: "RotateSecret", code: "InvalidRequest", message: "previous rotation", class: Busy},
	{service: "secretsmanager", code: "MalformedPolicyDocument", message: "unsupported principal", class: Propagating, within: ofIAM},
	{service: "secretsmanager", operation: "RotateSecret", code: "AccessDenied", message: "cannot invoke the specified lambda",
		class: Propagating, within: ofIAM},
	{service: "secretsmanager", code: "EncryptionFailure|DecryptionFailure|PublicPolicy", class: Invalid},
	{service: "secretsmanager", code: "InvalidNextToken", class: Transient},
}

// docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference, .../sns/latest/api, .../kms/latest/APIReference
var queueRows = []row{
	{service: "sqs", code: "QueueDoesNotExist|NonExistentQueue|ResourceNotFound", class: NotFound},
	{service: "sqs", code: "QueueNameExists|QueueAlreadyExists", class: Exists},
	{service: "sqs", code: "QueueDeletedRecently", class: Busy, after: time.Minute},
	{service: "sqs", operation: "CreateQueue|SetQueueAttributes", code: "InvalidAttributeValue|InvalidParameterValue",
		message: "parameter policy", class: Propagating, within: ofIAM},
	// "Value {…} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist."
	{service: "sqs", operation: "CreateQueue|SetQueueAttributes", code: "InvalidParameterValue", message: "target does not exist",
		class: Missing},
	{service: "sqs", code: "OverLimit", class: Limit},
	{service: "sqs", code: "InvalidAttributeName|InvalidAttributeValue|InvalidAddress", class: Invalid},
	{service: "sqs", code: "KmsAccessDenied|KmsOptInRequired", class: Denied},
	{service: "sqs", code: "KmsThrottled", class: Throttled},
	{service: "sqs", code: "KmsNotFound|KmsDisabled|KmsInvalidState|KmsInvalidKeyUsage", class: Invalid},
	{service: "sqs", code: "BatchEntryIdsNotDistinct|EmptyBatchRequest|InvalidBatchEntryId|TooManyEntriesInBatchRequest", class: Invalid},
	{service: "eventbridge", code: "ResourceNotFound", class: NotFound},
	{service: "eventbridge", code: "InvalidEventPattern|ManagedRule", class: Invalid},
	{service: "eventbridge", code: "ConcurrentModification", class: Transient},
	{service: "eventbridge", code: "LimitExceeded", class: Limit},
	{service: "sns", code: "NotFound|ResourceNotFound", class: NotFound},
	{service: "sns", code: "InvalidParameter", message: "principalnotfound", class: Propagating, within: ofIAM},
	{service: "sns", code: "InvalidParameter", message: "already exists", class: Exists},
	{service: "sns", code: "TopicLimitExceeded|SubscriptionLimitExceeded", class: Limit},
	{service: "sns", code: "FilterPolicyLimitExceeded|ReplayLimitExceeded", class: Limit},
	// "A tag has been added to a resource with the same ARN as a deleted resource. Wait a short while and then retry the operation."
	{service: "sns", code: "StaleTag", class: Transient},
	{service: "sns", code: "InvalidState|TagPolicy", class: Invalid},
	{service: "kms", code: "NotFound", class: NotFound},
	{service: "kms", code: "AlreadyExists", class: Exists},
	{service: "kms", code: "KMSInvalidState", message: "pending deletion", class: ScheduledForDeletion},
	{service: "kms", code: "KMSInvalidState", class: Busy},
	{service: "kms", code: "KMSInternal", class: Transient},
	// A key is not enabled for a moment after its creation, and until the part of the pass that enables it.
	{service: "kms", code: "Disabled", class: Busy},
	{service: "kms", code: "InvalidArn|InvalidAliasName|InvalidMarker|Tag", class: Invalid},
	{service: "kms", code: "CloudHsmClusterInvalidConfiguration|CustomKeyStoreInvalidState|CustomKeyStoreNotFound", class: Invalid},
	{service: "kms", code: "XksKeyAlreadyInUse|XksKeyInvalidConfiguration|XksKeyNotFound", class: Invalid},
}

// docs.aws.amazon.com/AmazonRDS/latest/APIReference and .../AmazonElastiCache/latest/APIReference
var databaseRows = []row{
	{service: "rds", code: "DBInstanceNotFound|DBSnapshotNotFound|DBClusterNotFound", class: NotFound},
	{service: "rds", code: "DBSubnetGroupNotFound|DBParameterGroupNotFound", class: NotFound},
	{service: "rds", code: "DBSecurityGroupNotFound|OptionGroupNotFound|DomainNotFound|CertificateNotFound|BackupPolicyNotFound",
		class: NotFound},
	// Listing the tags of an ARN may answer with the code of any resource.
	{service: "rds", code: "BlueGreenDeploymentNotFound|DBProxyNotFound|DBProxyEndpointNotFound|DBProxyTargetGroupNotFound", class: NotFound},
	{service: "rds", code: "DBShardGroupNotFound|DBSnapshotTenantDatabaseNotFound|IntegrationNotFound|TenantDatabaseNotFound",
		class: NotFound},
	{service: "rds", code: "InvalidDBClusterState|InvalidDBClusterEndpointState|InvalidDBSecurityGroupState|InvalidDBSubnetState",
		class: Busy},
	{service: "rds", code: "AuthorizationNotFound|NetworkTypeNotSupported|VpcEncryptionControlViolation|DBUpgradeDependencyFailure",
		class: Invalid},
	{service: "rds", code: "DBInstanceAutomatedBackupQuotaExceeded|TenantDatabaseQuotaExceeded", class: Limit},
	// The name of the final snapshot: nothing of ours exists already.
	{service: "rds", operation: "Delete*", code: "DBSnapshotAlreadyExists", class: Invalid},
	{service: "rds", code: "DBInstanceAlreadyExists|DBSnapshotAlreadyExists|DBSubnetGroupAlreadyExists|DBParameterGroupAlreadyExists",
		class: Exists},
	{service: "rds", code: "InvalidDBSubnetGroupState", message: "still using", class: NotEmpty},
	// A change of storage may follow another after about six hours.
	{service: "rds", code: "InvalidParameterCombination|InvalidDBInstanceState", message: "being optimized", class: Busy,
		after: 10 * time.Minute},
	{service: "rds", code: "InvalidParameterCombination|InvalidDBInstanceState", message: "storage-optimization", class: Busy,
		after: 10 * time.Minute},
	{service: "rds", code: "InvalidDBInstanceState|InvalidDBSnapshotState|InvalidDBSubnetGroupState|InvalidDBParameterGroupState",
		class: Busy},
	{service: "rds", code: "DBInstanceNotReady", class: Busy},
	{service: "rds", code: "InvalidParameterCombination", message: "cannot delete protected", class: Protected},
	{service: "rds", code: "InvalidParameterValue", message: "iam role arn value is invalid", class: Propagating, within: ofIAM},
	// Networks of another tool: "Invalid security group , groupId= sg-1, groupName=.", "Some input subnets in :[subnet-1] are invalid."
	{service: "rds", code: "InvalidParameterValue", message: "invalid security group", class: Missing},
	{service: "rds", code: "InvalidParameterValue|InvalidSubnet", message: "some input subnets", class: Missing},
	{service: "rds", code: "InvalidSubnet|InvalidVPCNetworkState|DBSubnetGroupDoesNotCoverEnoughAZs|SubnetAlreadyInUse|DBSubnetGroupNotAllowed", class: Invalid},
	{service: "rds", code: "UnsupportedDBEngineVersion|InsufficientAvailableIPsInSubnet", class: Invalid},
	{service: "rds", code: "StorageTypeNotSupported|ProvisionedIopsNotAvailableInAZ|KMSKeyNotAccessible|InvalidDBInstanceClass",
		class: Invalid},
	{service: "rds", code: "InstanceQuotaExceeded|StorageQuotaExceeded|SnapshotQuotaExceeded|DBSubnetGroupQuotaExceeded|DBSubnetQuotaExceeded",
		class: Limit},
	{service: "rds", code: "InsufficientDBInstanceCapacity", class: Transient},
	{service: "elasticache", code: "CacheClusterNotFound|ReplicationGroupNotFound|CacheSubnetGroupNotFound|CacheParameterGroupNotFound",
		class: NotFound},
	// Changing the tags of an ARN may answer with the code of any resource.
	{service: "elasticache", code: "ServerlessCacheNotFound|ServerlessCacheSnapshotNotFound|SnapshotNotFound|ReservedCacheNodeNotFound",
		class: NotFound},
	{service: "elasticache", code: "UserNotFound|UserGroupNotFound|TagNotFound", class: NotFound},
	{service: "elasticache", code: "InvalidCacheSecurityGroupState|InvalidServerlessCacheState|InvalidServerlessCacheSnapshotState",
		class: Busy},
	{service: "elasticache", code: "APICallRateForCustomerExceeded", class: Throttled},
	// ElastiCache makes its own role at the first cluster of an account, and may not see it yet.
	{service: "elasticache", code: "ServiceLinkedRoleNotFound", class: Propagating, within: ofLinkedRoles},
	{service: "elasticache", code: "InvalidARN|InvalidKMSKey|InvalidSubnet|SubnetNotAllowed", class: Invalid},
	{service: "elasticache", operation: "Delete*", code: "SnapshotAlreadyExists", class: Invalid},
	{service: "elasticache", code: "CacheClusterAlreadyExists|ReplicationGroupAlreadyExists|CacheSubnetGroupAlreadyExists|SnapshotAlreadyExists", class: Exists},
	{service: "elasticache", code: "InvalidCacheClusterState|InvalidReplicationGroupState|CacheSubnetGroupInUse", class: Busy},
	{service: "elasticache", code: "InvalidVPCNetworkState|CacheSecurityGroupNotFound|SnapshotFeatureNotSupported|InvalidCacheParameterGroupState", class: Invalid},
	{service: "elasticache", code: "ClusterQuotaForCustomerExceeded|NodeQuotaForClusterExceeded|NodeQuotaForCustomerExceeded|SnapshotQuotaExceeded|TagQuotaPerResourceExceeded", class: Limit},
	{service: "elasticache", code: "InsufficientCacheClusterCapacity", class: Transient},
}

// docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html, .../lambda/latest/api, .../elasticloadbalancing/latest/APIReference
var computeRows = []row{
	{service: "ec2", code: "*.NotFound|NatGatewayNotFound|Gateway.NotAttached", class: NotFound},
	{service: "ec2", code: "*.Duplicate|RouteAlreadyExists|Resource.AlreadyAssociated", class: Exists},
	{service: "ec2", code: "DependencyViolation", class: NotEmpty},
	{service: "ec2", code: "IncorrectInstanceState|IncorrectState|*.InUse", class: Busy},
	{service: "ec2", code: "OperationNotPermitted", message: "disableapitermination", class: Protected},
	// Not the credentials: "Not authorized for images: [ami-0123]".
	{service: "ec2", code: "AuthFailure", message: "not authorized", class: Denied},
	{service: "ec2", code: "AuthFailure", message: "does not belong to you", class: Denied},
	{service: "ec2", code: "InvalidParameterValue", message: "iam instance profile", class: Propagating, within: ofIAM},
	{service: "ec2", code: "InsufficientInstanceCapacity|InsufficientAddressCapacity", class: Transient},
	{service: "ec2", code: "RequestLimitExceeded", class: Throttled},
	{service: "ec2", code: "*LimitExceeded", class: Limit},
	{service: "ec2", code: "ResourceCountExceeded", class: Limit},
	{service: "ec2", code: "ConcurrentTagAccess", class: Transient},
	{service: "ec2", code: "Blocked|PendingVerification|AccountDisabled", class: Denied},
	// An image that is still being made, or that was deregistered.
	{service: "ec2", operation: "RunInstances", code: "InvalidAMIID.Unavailable", class: Missing},
	{service: "ec2", code: "*.Malformed|*.Format|*.Unavailable|*.Range|InvalidVpcRange|InvalidSubnet.Conflict", class: Invalid},
	{service: "ec2", code: "InvalidBlockDeviceMapping|VPCIdNotSpecified|VPCResourceNotSpecified|InvalidInstanceAttributeValue",
		class: Invalid},
	{service: "ec2", code: "InsufficientFreeAddressesInSubnet|UnsupportedHostConfiguration|InvalidParameterDependency|CannotDelete",
		class: Invalid},
	{service: "lambda", code: "ResourceNotFound", class: NotFound},
	// Lambda checks the permissions of the function's role, and the function's networks and key:
	// docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html. Each of them may have been made a moment ago.
	{service: "lambda", code: "InvalidParameterValue", message: "execution role does not have permissions", class: Propagating,
		within: ofLambda},
	{service: "lambda", code: "InvalidParameterValue", message: "because the function's role", class: Propagating, within: ofLambda},
	{service: "lambda", code: "InvalidParameterValue", message: "kms key is invalid for creategrant", class: Propagating, within: ofGrants},
	{service: "lambda", code: "InvalidParameterValue", message: "throttled by ec2", class: Throttled},
	// An image, a layer, a subnet or a security group that comes later, such as by another pipeline.
	{service: "lambda", code: "InvalidParameterValue", message: "does not exist", class: Missing},
	// "Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist."
	{service: "lambda", code: "InvalidParameterValue|InvalidRequestContent", message: "s3 error code: nosuch", class: Missing},
	{service: "lambda", code: "ResourceConflict", message: "already exist", class: Exists},
	{service: "lambda", code: "ResourceConflict|ResourceNotReady|ResourceInUse", class: Busy},
	{service: "lambda", code: "CodeStorageExceeded", class: Limit},
	{service: "lambda", code: "FunctionVersionsPerCapacityProviderLimitExceeded", class: Limit},
	{service: "lambda", code: "PreconditionFailed", class: Conflict},
	{service: "lambda", code: "CodeSigningConfigNotFound|CodeVerificationFailed|InvalidCodeSignature|RequestTooLarge", class: Invalid},
	{service: "elasticloadbalancingv2", code: "LoadBalancerNotFound|TargetGroupNotFound|ListenerNotFound|RuleNotFound", class: NotFound},
	{service: "elasticloadbalancingv2", code: "DuplicateLoadBalancerName|DuplicateTargetGroupName|DuplicateListener", class: Exists},
	{service: "elasticloadbalancingv2", code: "ResourceInUse", class: Busy},
	{service: "elasticloadbalancingv2", code: "TooManyLoadBalancers|TooManyTargetGroups|TooManyListeners", class: Limit},
}

// docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference, .../AmazonECR/latest/APIReference,
// .../Route53/latest/APIReference, .../acm/latest/APIReference, .../eks/latest/APIReference
var otherRows = []row{
	{service: "cognitoidentityprovider", code: "ResourceNotFound|ScopeDoesNotExist|UserNotFound", class: NotFound},
	{service: "cognitoidentityprovider", operation: "DescribeRiskConfiguration", code: "UserPoolAddOnNotEnabled", class: NotFound},
	{service: "cognitoidentityprovider", code: "GroupExists|DuplicateProvider", class: Exists},
	{service: "cognitoidentityprovider", operation: "CreateUserPoolDomain", code: "InvalidParameter", message: "associated with another",
		class: NameTaken},
	{service: "cognitoidentityprovider", operation: "CreateUserPoolDomain", code: "InvalidParameter", message: "already exists",
		class: Exists},
	{service: "cognitoidentityprovider", operation: "DeleteUserPool", code: "InvalidParameter", message: "domain configured", class: NotEmpty},
	{service: "cognitoidentityprovider", code: "InvalidSmsRoleTrustRelationship|InvalidSmsRoleAccessPolicy|InvalidEmailRoleAccessPolicy",
		class: Propagating, within: ofIAM},
	{service: "cognitoidentityprovider", code: "UserImportInProgress", class: Busy},
	{service: "cognitoidentityprovider", code: "FeatureUnavailableInTier|TierChangeNotAllowed|InvalidOAuthFlow|UserPoolTagging",
		class: Invalid},
	{service: "ecr", code: "RepositoryNotFound|ImageNotFound|LifecyclePolicyNotFound|RepositoryPolicyNotFound", class: NotFound},
	// A policy that names a role which ECR does not see yet.
	{service: "ecr", code: "InvalidParameter", message: "invalid repository policy", class: Propagating, within: ofIAM},
	{service: "ecr", code: "RepositoryAlreadyExists", class: Exists},
	{service: "ecr", code: "RepositoryNotEmpty", class: NotEmpty},
	{service: "ecr", code: "Kms|InvalidTagParameter", class: Invalid},
	{service: "cloudwatchlogs", code: "ResourceNotFound", class: NotFound},
	{service: "cloudwatchlogs", code: "ResourceAlreadyExists", class: Exists},
	// The name is all that the request says.
	{service: "cloudwatchlogs", operation: "DeleteLogGroup", code: "Validation", class: Protected},
	{service: "cloudwatchlogs", code: "InvalidOperation", class: Invalid},
	{service: "route53", code: "NoSuchHostedZone|NoSuchHealthCheck|VPCAssociationNotFound", class: NotFound},
	{service: "route53", code: "HostedZoneAlreadyExists", class: Exists},
	{service: "route53", code: "InvalidPaginationToken", class: Transient},
	{service: "route53", code: "HostedZoneNotEmpty", class: NotEmpty},
	{service: "route53", code: "TooManyHostedZones|LimitsExceeded", class: Limit},
	// Route 53 does not see a VPC that was made a moment ago.
	{service: "route53", code: "InvalidVPCId", class: Propagating, within: ofResources},
	{service: "route53", code: "NoSuchDelegationSet|DelegationSetNotReusable", class: Invalid},
	{service: "route53", code: "ConflictingDomainExists|InvalidDomainName|LastVPCAssociation|PublicZoneVPCAssociation", class: Invalid},
	// One message for each change that Route 53 cannot make; it makes none of the batch.
	{service: "route53", code: "InvalidChangeBatch", message: "already exists", class: Exists},
	{service: "route53", code: "InvalidChangeBatch", message: "but it was not found", class: NotFound},
	// "Tried to create an alias that targets a.example.com., type A in zone Z1, but that target was not found"
	{service: "route53", code: "InvalidChangeBatch", message: "target was not found", class: Missing},
	{service: "route53", code: "InvalidChangeBatch", message: "target name was not found", class: Missing},
	{service: "route53", code: "InvalidChangeBatch", message: "do not match the current values", class: Conflict},
	{service: "route53", code: "InvalidChangeBatch", class: Invalid},
	{service: "route53", code: "NoSuchChange", class: NotFound},
	// Route 53 has no name servers left for another zone of the name.
	{service: "route53", code: "DelegationSetNotAvailable", class: Limit},
	// The errors of the API, and the handlers' error codes of requests that fail later:
	// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html
	// An update gives a resource the identifier of another one.
	{service: "cloudcontrol", operation: "UpdateResource", code: "AlreadyExists", class: Invalid},
	{service: "cloudcontrol", code: "AlreadyExists", class: Exists},
	{service: "cloudcontrol", code: "ResourceNotFound|NotFound|RequestTokenNotFound", class: NotFound},
	{service: "cloudcontrol", code: "ConcurrentOperation|ResourceConflict", class: Busy},
	{service: "cloudcontrol", code: "ClientTokenConflict", class: Conflict},
	// The patch was made for a resource that has changed since it was read: github.com/pulumi/pulumi-aws-native/issues/277 has the text.
	{service: "cloudcontrol", operation: "UpdateResource", code: "Validation|InvalidRequest", message: "nosuchpath", class: Conflict},
	// Bedrock tries the role of a knowledge base, and with it the vector index: "cannot assume role", and "The knowledge base storage
	// configuration provided is invalid". See also "unable to assume" below.
	// So does AgentCore with the role of a runtime: "Role validation failed for …. Please verify that the role exists and its trust policy
	// allows assumption by this service".
	{service: "cloudcontrol", code: "InvalidRequest", message: "role validation failed", class: Propagating, within: ofIAM},
	{service: "cloudcontrol", code: "InvalidRequest", message: "cannot assume role", class: Propagating, within: ofIAM},
	{service: "cloudcontrol", operation: "CreateResource", code: "InvalidRequest", message: "storage configuration provided is invalid",
		class: Propagating, within: ofIAM},
	{service: "cloudcontrol", code: "NotUpdatable|PrivateType|UnsupportedAction|TypeNotFound|Hook*", class: Invalid},
	{service: "cloudcontrol", code: "InvalidCredentials", class: Unauthenticated},
	{service: "cloudcontrol", code: "UnauthorizedTaggingOperation", class: Denied},
	{service: "cloudcontrol", code: "ServiceLimitExceeded", class: Limit},
	{service: "cloudcontrol",
		code:  "NotStabilized|GeneralService|HandlerFailure|HandlerInternalFailure|NetworkFailure|ServiceInternal|ServiceTimeout",
		class: Transient},
	{service: "cloudformation", code: "TypeNotFound|CFNRegistry", class: Invalid},
	{service: "acm", code: "ResourceNotFound", class: NotFound},
	{service: "acm", code: "ResourceInUse", class: Busy},
	{service: "acm", code: "InvalidArn|InvalidArgs|InvalidDomainValidationOptions|TagPolicy", class: Invalid},
	{service: "eks", code: "ResourceNotFound", class: NotFound},
	{service: "eks", code: "NotFound", class: NotFound},
	{service: "eks", code: "ResourcePropagationDelay", class: Propagating, within: ofLinkedRoles},
	{service: "eks", code: "InvalidState", class: Busy},
	// "No cluster found for name: orders."
	{service: "eks", code: "Client", message: "no cluster found", class: NotFound},
	{service: "eks", code: "Client", class: Invalid},
	{service: "eks", operation: "Create*", code: "ResourceInUse", class: Exists},
	{service: "eks", code: "ResourceInUse", class: Busy},
	// EKS has made the change that the operator saw to be missing: "Cluster is already at the desired configuration", "No changes
	// needed for the logging config provided", "Unsupported Kubernetes minor version update from 1.32 to 1.32".
	{service: "eks", operation: "UpdateClusterConfig", code: "InvalidParameter", message: "already at the desired", class: Busy,
		after: time.Minute},
	{service: "eks", operation: "UpdateClusterConfig", code: "InvalidParameter", message: "no changes needed", class: Busy,
		after: time.Minute},
	{service: "eks", operation: "UpdateClusterVersion", code: "InvalidParameter", message: "minor version update from", class: Busy,
		after: time.Minute},
	// A role that EKS does not see yet, or not with its present trust policy: "Role provided in the request does not exist",
	// "Trust policy of the role provided is invalid".
	{service: "eks", operation: "*PodIdentityAssociation", code: "InvalidParameter", message: "role provided", class: Propagating,
		within: ofIAM},
	// "The role with name … cannot be found", "Role with arn: … could not be assumed because it does not exist or the trusted entity
	// is not correct"
	{service: "eks", operation: "CreateCluster", code: "InvalidParameter", message: "cannot be found", class: Propagating, within: ofIAM},
	{service: "eks", operation: "CreateCluster", code: "InvalidParameter", message: "could not be assumed", class: Propagating, within: ofIAM},
	{service: "eks", operation: "CreateCluster", code: "InvalidParameter|InvalidRequest", message: "error in role params", class: Propagating,
		within: ofIAM},
	{service: "eks", operation: "CreateCluster", code: "InvalidParameter|InvalidRequest", message: "managed policies associated",
		class: Propagating, within: ofIAM},
	{service: "eks", operation: "CreateCluster", code: "InvalidParameter|InvalidRequest", message: "iam role's policy must include",
		class: Propagating, within: ofIAM},
	{service: "eks", operation: "CreateCluster|UpdateClusterConfig", code: "InvalidParameter|InvalidRequest", message: "does not exist",
		class: Missing},
	{service: "eks", code: "UnsupportedAvailabilityZone", class: Invalid},
	{service: "eks", code: "ResourceLimitExceeded", class: Limit},
	{service: "ecs", code: "ClusterNotFound|ServiceNotFound", class: NotFound},
	{service: "ecs", code: "ResourceNotFound|NamespaceNotFound", class: NotFound},
	{service: "ecs", code: "Client", message: "was not active", class: Busy},
	{service: "ecs", code: "Client", class: Invalid},
	// The create of a cluster that exists with other settings: "Arguments on this idempotent request are inconsistent with
	// arguments used in previous request(s)."
	{service: "ecs", operation: "CreateCluster", code: "InvalidParameter", message: "idempotent request", class: Exists},
	// "The specified capacity provider 'spot' was not found. Specify a valid name or ARN and try again."
	{service: "ecs", code: "InvalidParameter", message: "was not found", class: Missing},
	{service: "ecs", code: "UnsupportedFeature", class: Invalid}, // ECS has it not in this region
	{service: "ecs", code: "ClusterContains*", class: NotEmpty},
	{service: "ecs", code: "UpdateInProgress|ResourceInUse", class: Busy},
	{service: "resourcegroupstaggingapi", code: "PaginationTokenExpired", class: Transient},
}
