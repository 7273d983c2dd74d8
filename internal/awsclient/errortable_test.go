// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// failed builds the error that an SDK client returns.
func failed(service, operation, code, message string, status int) error {
	var err error = &smithy.GenericAPIError{Code: code, Message: message}
	if status != 0 {
		err = &awshttp.ResponseError{RequestID: "4442587f-f4ca-4a30", ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: http.Header{}}}, Err: err,
		}}
	}
	return &smithy.OperationError{ServiceID: service, OperationName: operation, Err: err}
}

// answers holds answers of AWS with their classes: at least one for every row of the table.
var answers = []struct {
	service, operation, code, message string
	status                            int
	want                              Class
}{
	{"S3", "HeadBucket", "NotFound", "Not Found", 404, NotFound},
	{"S3", "HeadBucket", "BadRequest", "Bad Request", 400, Unknown},
	{"S3", "HeadBucket", "Forbidden", "Forbidden", 403, Denied},
	{"S3", "GetBucketTagging", "NoSuchBucket", "The specified bucket does not exist", 404, NotFound},
	{"S3", "GetBucketTagging", "NoSuchTagSet", "The TagSet does not exist", 404, NotFound},
	{"S3", "GetBucketTagging", "NoSuchTagSetError", "The TagSet does not exist", 404, NotFound},
	{"S3", "GetBucketLifecycleConfiguration", "NoSuchLifecycleConfiguration", "", 404, NotFound},
	{"S3", "GetBucketPolicy", "NoSuchBucketPolicy", "The bucket policy does not exist", 404, NotFound},
	{"S3", "GetBucketCors", "NoSuchCORSConfiguration", "", 404, NotFound},
	{"S3", "GetPublicAccessBlock", "NoSuchPublicAccessBlockConfiguration", "", 404, NotFound},
	{"S3", "GetBucketOwnershipControls", "OwnershipControlsNotFoundError", "", 404, NotFound},
	{"S3", "GetBucketWebsite", "NoSuchWebsiteConfiguration", "", 404, NotFound},
	{"S3", "GetBucketEncryption", "ServerSideEncryptionConfigurationNotFoundError", "", 404, NotFound},
	{"S3", "GetBucketReplication", "ReplicationConfigurationNotFoundError", "", 404, NotFound},
	{"S3", "GetBucketMetadataConfiguration", "MetadataConfigurationNotFound", "", 404, NotFound},
	{"S3", "GetObjectLockConfiguration", "ObjectLockConfigurationNotFoundError", "", 404, NotFound},
	{"S3", "GetBucketPolicy", "NotFound", "Not Found", 404, Unknown}, // made up from the status
	{"S3", "CreateBucket", "BucketAlreadyOwnedByYou", "", 409, Exists},
	{"S3", "CreateBucket", "BucketAlreadyExists", "", 409, NameTaken},
	{"S3", "HeadBucket", "MovedPermanently", "", 301, NameTaken},
	{"S3", "GetBucketPolicy", "PermanentRedirect", "", 301, NameTaken},
	{"S3", "DeleteBucket", "BucketNotEmpty", "The bucket you tried to delete is not empty", 409, NotEmpty},
	{"S3", "CreateBucket", "TooManyBuckets", "", 400, Limit},
	{"S3", "CreateBucket", "ServiceUnavailable", "Please reduce your request rate.", 503, Throttled},
	{"S3", "CreateBucket", "SlowDown", "", 503, Throttled},
	{"S3", "CreateBucket", "OperationAborted", "A conflicting conditional operation is currently in progress", 409, Transient},
	{"S3", "PutBucketPolicy", "BadDigest", "", 400, Transient},
	{"S3", "PutBucketNotificationConfiguration", "InvalidArgument", "Unable to validate the following destination configurations", 400,
		Propagating},
	{"S3", "PutBucketReplication", "InvalidRequest", "Versioning must be 'Enabled' on the bucket to apply a replication configuration", 400,
		Propagating},
	{"S3", "PutBucketReplication", "InvalidRequest", "Destination bucket must have versioning enabled.", 400, Propagating},
	{"S3", "PutBucketReplication", "InvalidRequest", "Destination bucket must exist.", 400, Propagating},
	{"S3", "PutBucketReplication", "InvalidRequest", "Priority must be unique between multiple rules", 400, Invalid},
	{"S3", "PutBucketPolicy", "MalformedPolicy", "Invalid principal in policy", 400, Propagating},
	{"S3", "PutBucketPolicy", "MalformedPolicy", "Missing required field Principal", 400, Invalid},
	{"S3", "GetBucketPolicy", "MethodNotAllowed", "", 405, Denied},
	{"S3", "CreateBucket", "InvalidBucketName", "", 400, Invalid},
	{"S3", "CreateBucket", "IllegalLocationConstraintException", "", 400, Invalid},
	{"S3", "PutBucketLifecycleConfiguration", "MalformedXML", "", 400, Invalid},
	{"S3", "PutBucketAcl", "AccessDenied", "Access Denied", 403, Denied},
	{"S3", "HeadBucket", "InvalidAccessKeyId", "", 403, Unauthenticated},
	{"S3", "HeadBucket", "RequestTimeTooSkewed", "", 403, Transient},
	{"S3", "GetBucketPolicy", "InternalError", "We encountered an internal error.", 500, Transient},
	{"S3", "PutBucketWebsite", "NotImplemented", "A header you provided implies functionality that is not implemented", 501, Invalid},

	{"DynamoDB", "DescribeTable", "ResourceNotFoundException", "Requested resource not found: Table: t not found", 400, NotFound},
	{"DynamoDB", "CreateTable", "ResourceInUseException", "Table already exists: t", 400, Exists},
	{"DynamoDB", "RestoreTable", "TableAlreadyExistsException", "", 400, Exists},
	{"DynamoDB", "UpdateTable", "ResourceInUseException", "Attempt to change a resource which is still in use", 400, Busy},
	{"DynamoDB", "DeleteTable", "ResourceInUseException", "Table is being created", 400, Busy},
	{"DynamoDB", "UpdateContinuousBackups", "ContinuousBackupsUnavailableException", "Backups are being enabled", 400, Busy},
	{"DynamoDB", "UpdateTable", "LimitExceededException",
		"Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table", 400, Busy},
	{"DynamoDB", "CreateTable", "LimitExceededException",
		"Subscriber limit exceeded: Only 500 tables can be created, updated, or deleted simultaneously", 400, Throttled},
	{"DynamoDB", "CreateTable", "LimitExceededException", "Too many concurrent table operations", 400, Throttled},
	{"DynamoDB", "UpdateTable", "LimitExceededException", "Too many operations for a given subscriber", 400, Throttled},
	{"DynamoDB", "CreateTable", "LimitExceededException", "Subscriber limit exceeded: There is a limit of 2500 tables per subscriber", 400,
		Limit},
	{"DynamoDB", "DeleteTable", "ValidationException",
		"Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.", 400, Protected},
	{"DynamoDB", "DeleteTable", "ValidationException",
		"Replica cannot be deleted because it has acted as a source region for new replica(s) being added to the table in the last 24 hours.",
		400, Busy},
	{"DynamoDB", "UpdateTimeToLive", "ValidationException", "Time to live has been modified multiple times within a fixed interval",
		400, Busy},
	{"DynamoDB", "UpdateTimeToLive", "ValidationException", "TimeToLive is already enabled", 400, Exists},
	{"DynamoDB", "UpdateTable", "ValidationException",
		"The provisioned throughput for the table will not change. The requested value equals the current value", 400, Exists},
	{"DynamoDB", "UpdateTable", "ValidationException", "Attempting to create an index which already exists", 400, Exists},
	{"DynamoDB", "UpdateTable", "ValidationException", "Table already has an enabled stream: TableName: t", 400, Exists},
	{"DynamoDB", "UpdateTable", "ValidationException", "Table has no stream to disable: TableName: t", 400, Exists},
	{"DynamoDB", "CreateTable", "ValidationException", "One or more parameter values were invalid", 400, Invalid},
	{"DynamoDB", "UpdateTable", "ReplicatedWriteConflictException", "", 400, Transient},
	{"DynamoDB", "DescribeTable", "ProvisionedThroughputExceededException", "", 400, Throttled},
	{"DynamoDB", "DescribeTable", "InternalServerError", "", 500, Transient},

	{"Glue", "GetTable", "EntityNotFoundException", "Entity Not Found", 400, NotFound},
	{"Glue", "CreateDatabase", "AlreadyExistsException", "Database already exists.", 400, Exists},
	{"Glue", "UpdateCrawler", "CrawlerRunningException", "Crawler with name c is currently running", 400, Busy},
	{"Glue", "StartCrawlerSchedule", "SchedulerRunningException", "", 400, Conflict},
	{"Glue", "CreateCrawler", "ResourceNumberLimitExceededException", "", 400, Limit},
	{"Glue", "CreateCrawler", "InvalidInputException", "Service is unable to assume provided role. Please verify role's TrustPolicy", 400,
		Propagating},
	{"Glue", "CreateJob", "InvalidInputException", "Role r should be given assume role permissions for Glue Service.", 400, Propagating},
	{"Glue", "CreateCrawler", "InvalidInputException",
		"Unable to retrieve connection: User: arn:aws:sts::1:assumed-role/r/AWS-Crawler is not authorized to perform: glue:GetConnection", 400,
		Propagating},
	{"Glue", "CreateCrawler", "AccessDeniedException", "Service is unable to assume provided role", 400, Propagating},
	{"Glue", "CreateCrawler", "AccessDeniedException", "User: x is not authorized to perform: iam:PassRole", 400, Denied},
	{"Glue", "CreateTable", "InvalidInputException", "Unsupported type", 400, Invalid},
	{"Glue", "CreateTable", "GlueEncryptionException", "", 400, Invalid},
	{"Glue", "CreateTable", "GlueEncryptionException",
		"User: arn:aws:sts::1:assumed-role/o/s is not authorized to perform: kms:GenerateDataKey on resource: arn:aws:kms:eu-west-1:1:key/k", 400,
		Denied},
	{"Glue", "UpdateTable", "ConcurrentModificationException", "", 400, Transient},
	{"Glue", "GetTable", "OperationTimeoutException", "", 400, Transient},

	{"IAM", "GetRole", "NoSuchEntity", "The role with name r cannot be found.", 404, NotFound},
	{"IAM", "CreateRole", "EntityAlreadyExists", "Role with name r already exists.", 409, Exists},
	{"IAM", "DeleteRole", "EntityTemporarilyUnmodifiable", "", 409, Busy},
	{"IAM", "DeleteRole", "DeleteConflict", "Cannot delete entity, must detach all policies first.", 409, NotEmpty},
	{"IAM", "CreateRole", "LimitExceeded", "Cannot exceed quota for RolesPerAccount: 1000", 409, Limit},
	{"IAM", "CreateRole", "MalformedPolicyDocument", `Invalid principal in policy: "AWS":"arn:aws:iam::1:role/new"`, 400, Propagating},
	{"IAM", "PutRolePolicy", "MalformedPolicyDocument", "Syntax errors in policy.", 400, Invalid},
	{"IAM", "UpdateRole", "ConcurrentModification", "", 409, Transient},
	{"IAM", "UpdateRole", "UnmodifiableEntity", "", 400, Invalid},
	{"IAM", "CreateRole", "ServiceFailure", "", 500, Transient},
	{"IAM", "CreateRole", "Throttling", "Rate exceeded", 400, Throttled},

	{"SSM", "GetParameter", "ParameterNotFound", "", 400, NotFound},
	{"SSM", "ListTagsForResource", "InvalidResourceId", "", 400, NotFound},
	{"SSM", "PutParameter", "ParameterAlreadyExists", "The parameter already exists.", 400, Exists},
	{"SSM", "PutParameter", "TooManyUpdates", "", 400, Transient},
	{"SSM", "PutParameter", "ParameterLimitExceeded", "", 400, Limit},
	{"SSM", "AddTagsToResource", "TooManyTagsError", "", 400, Limit},
	{"SSM", "PutParameter", "HierarchyLevelLimitExceededException", "", 400, Invalid},
	{"SSM", "PutParameter", "UnsupportedParameterType", "", 400, Invalid},
	{"SSM", "PutParameter", "ThrottlingException", "Rate exceeded", 400, Throttled},

	{"Secrets Manager", "DescribeSecret", "ResourceNotFoundException", "Secrets Manager can't find the specified secret.", 400, NotFound},
	{"Secrets Manager", "CreateSecret", "ResourceExistsException", "", 400, Exists},
	{"Secrets Manager", "CreateSecret", "InvalidRequestException",
		"You can't create this secret because a secret with this name is already scheduled for deletion.", 400, ScheduledForDeletion},
	{"Secrets Manager", "PutSecretValue", "InvalidRequestException",
		"You can't perform this operation on the secret because it was marked for deletion.", 400, ScheduledForDeletion},
	{"Secrets Manager", "PutSecretValue", "InvalidRequestException", "something else", 400, Invalid},
	{"Secrets Manager", "RotateSecret", "AccessDeniedException", "Secrets Manager cannot invoke the specified Lambda function.", 400,
		Propagating},
	{"Secrets Manager", "CreateSecret", "EncryptionFailure", "", 400, Invalid},
	{"Secrets Manager", "CreateSecret", "LimitExceededException", "", 400, Limit},
	{"Secrets Manager", "CreateSecret", "PreconditionNotMetException", "", 400, Conflict},
	{"Secrets Manager", "CreateSecret", "InternalServiceError", "", 500, Transient},

	{"SQS", "ReceiveMessage", "KmsAccessDenied", "The caller doesn't have the required KMS access.", 400, Denied},
	{"SQS", "ReceiveMessage", "KmsThrottled", "KMS throttles requests for the following conditions.", 400, Throttled},
	{"SQS", "ReceiveMessage", "KmsDisabled", "", 400, Invalid},
	{"SQS", "DeleteMessageBatch", "EmptyBatchRequest", "There should be at least one DeleteMessageBatchRequestEntry in the request.", 400,
		Invalid},
	{"EventBridge", "DescribeRule", "ResourceNotFoundException", "Rule x does not exist on EventBus default.", 400, NotFound},
	{"EventBridge", "PutRule", "ManagedRuleException", "This rule was created by an AWS service on behalf of your account.", 400, Invalid},
	{"EventBridge", "PutRule", "ConcurrentModificationException", "", 400, Transient},
	{"EventBridge", "PutRule", "LimitExceededException", "", 400, Limit},
	{"SQS", "GetQueueUrl", "AWS.SimpleQueueService.NonExistentQueue", "", 400, NotFound},
	{"SQS", "GetQueueUrl", "QueueDoesNotExist", "", 400, NotFound},
	{"SQS", "CreateQueue", "QueueNameExists", "", 400, Exists},
	{"SQS", "CreateQueue", "AWS.SimpleQueueService.QueueDeletedRecently", "You must wait 60 seconds", 400, Busy},
	{"SQS", "SetQueueAttributes", "OverLimit", "", 403, Limit},
	{"SQS", "SetQueueAttributes", "InvalidAttributeValue", "", 400, Invalid},
	{"SNS", "GetTopicAttributes", "NotFound", "Topic does not exist", 404, NotFound},
	{"SNS", "CreateTopic", "InvalidParameter", "Invalid parameter: Attributes Reason: Topic already exists with different attributes", 400,
		Exists},
	{"SNS", "CreateTopic", "TopicLimitExceeded", "", 403, Limit},
	{"SNS", "CreateTopic", "AuthorizationError", "", 403, Denied},
	{"KMS", "DescribeKey", "NotFoundException", "", 400, NotFound},
	{"KMS", "CreateAlias", "AlreadyExistsException", "", 400, Exists},
	{"KMS", "EnableKey", "KMSInvalidStateException", "arn is pending deletion.", 400, ScheduledForDeletion},
	{"KMS", "EnableKey", "KMSInvalidStateException", "arn is creating.", 400, Busy},
	{"KMS", "CreateKey", "KMSInternalException", "", 500, Transient},

	{"RDS", "DescribeDBInstances", "DBInstanceNotFound", "DBInstance db not found.", 404, NotFound},
	{"RDS", "DescribeDBInstances", "DBInstanceNotFoundFault", "", 404, NotFound},
	{"RDS", "CreateDBInstance", "DBSubnetGroupNotFoundFault", "", 404, NotFound},
	{"RDS", "CreateDBInstance", "DBInstanceAlreadyExists", "", 400, Exists},
	{"RDS", "ModifyDBInstance", "InvalidDBInstanceState", "", 400, Busy},
	{"RDS", "DeleteDBSubnetGroup", "InvalidDBSubnetGroupStateFault",
		"Cannot delete the subnet group 'db' because at least one database instance: orders is still using this subnet group.", 400, NotEmpty},
	{"RDS", "ModifyDBSubnetGroup", "InvalidDBSubnetGroupStateFault", "", 400, Busy},
	{"RDS", "CreateDBSubnetGroup", "InvalidSubnet", "", 400, Invalid},
	{"RDS", "CreateDBSubnetGroup", "DBSubnetGroupDoesNotCoverEnoughAZs", "", 400, Invalid},
	{"RDS", "ModifyDBSubnetGroup", "SubnetAlreadyInUse", "", 400, Invalid},
	{"RDS", "CreateDBInstance", "StorageTypeNotSupported", "", 400, Invalid},
	{"RDS", "CreateDBInstance", "KMSKeyNotAccessibleFault", "", 400, Invalid},
	{"RDS", "CreateDBSubnetGroup", "DBSubnetGroupQuotaExceeded", "", 400, Limit},
	{"RDS", "DeleteDBInstance", "InvalidParameterCombination",
		"Cannot delete protected DB Instance, please disable deletion protection and try again.", 400, Protected},
	{"RDS", "CreateDBInstance", "InvalidParameterValue", "IAM role ARN value is invalid or does not include the required permissions", 400,
		Propagating},
	{"RDS", "CreateDBInstance", "InstanceQuotaExceeded", "", 400, Limit},
	{"RDS", "CreateDBInstance", "InsufficientDBInstanceCapacity", "", 400, Transient},
	{"ElastiCache", "DescribeCacheClusters", "CacheClusterNotFound", "", 404, NotFound},
	{"ElastiCache", "CreateCacheCluster", "CacheClusterAlreadyExists", "", 400, Exists},
	{"ElastiCache", "DeleteCacheCluster", "InvalidCacheClusterState", "", 400, Busy},
	{"ElastiCache", "DeleteCacheCluster", "SnapshotAlreadyExistsFault", "", 400, Invalid},
	{"ElastiCache", "CreateCacheCluster", "InvalidVPCNetworkStateFault", "", 400, Invalid},
	{"ElastiCache", "ModifyCacheCluster", "NodeQuotaForClusterExceeded", "", 400, Limit},
	{"ElastiCache", "CreateCacheCluster", "InsufficientCacheClusterCapacity", "", 400, Transient},

	{"EC2", "DescribeInstances", "InvalidInstanceID.NotFound", "", 400, NotFound},
	{"EC2", "CreateSecurityGroup", "InvalidGroup.Duplicate", "", 400, Exists},
	{"EC2", "DeleteVpc", "DependencyViolation", "", 400, NotEmpty},
	{"EC2", "CreateSubnet", "InvalidSubnet.Conflict", "The CIDR '10.0.1.0/24' conflicts with another subnet", 400, Invalid},
	{"EC2", "CreateSecurityGroup", "InvalidGroup.Duplicate", "The security group 'web' already exists", 400, Exists},
	{"EC2", "RevokeSecurityGroupIngress", "InvalidPermission.NotFound", "The specified rule does not exist", 400, NotFound},
	{"EC2", "CreateSubnet", "InvalidVpcID.NotFound", "The vpc ID 'vpc-1' does not exist", 400, NotFound},
	{"EC2", "DescribeVpcs", "InvalidVpcID.NotFound", "", 400, NotFound},
	{"EC2", "DescribeVpcs", "InvalidVpcID.Malformed", "", 400, Invalid},
	{"EC2", "ImportKeyPair", "InvalidKey.Format", "Key is not in valid OpenSSH public key format", 400, Invalid},
	{"EC2", "ImportKeyPair", "InvalidKeyPair.Duplicate", "The keypair already exists", 400, Exists},
	{"EC2", "CreateVpc", "InvalidVpc.Range", "", 400, Invalid},
	{"EC2", "CreateVpc", "InvalidVpcRange", "", 400, Invalid},
	{"EC2", "CreateVpc", "VpcLimitExceeded", "", 400, Limit},
	{"EC2", "CreateTags", "TagLimitExceeded", "", 400, Limit},
	{"EC2", "CreateVpc", "ResourceCountExceeded", "", 400, Limit},
	{"EC2", "CreateVpc", "RequestLimitExceeded", "", 503, Throttled},
	{"EC2", "CreateVpc", "UnauthorizedOperation", "", 403, Denied},
	{"EC2", "CreateVpc", "PendingVerification", "", 400, Denied},
	{"EC2", "CreateTags", "ConcurrentTagAccess", "", 400, Transient},
	{"EC2", "ModifyInstanceAttribute", "IncorrectInstanceState", "", 400, Busy},
	{"EC2", "DetachNetworkInterface", "InvalidNetworkInterface.InUse", "", 400, Busy},
	{"EC2", "TerminateInstances", "OperationNotPermitted", "Modify its 'disableApiTermination' instance attribute and try again.", 400,
		Protected},
	{"EC2", "RunInstances", "InvalidParameterValue",
		"Value (p) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", 400, Propagating},
	{"EC2", "RunInstances", "InsufficientInstanceCapacity", "", 500, Transient},
	{"EC2", "RunInstances", "RequestLimitExceeded", "", 503, Throttled},
	{"EC2", "RunInstances", "VcpuLimitExceeded", "", 400, Limit},
	{"EC2", "DescribeInstances", "InvalidInstanceID.Malformed", "", 400, Invalid},
	{"EC2", "RunInstances", "UnauthorizedOperation", "", 403, Denied},
	{"EC2", "DescribeVpcs", "AuthFailure", "", 401, Unauthenticated},
	{"Lambda", "GetFunction", "ResourceNotFoundException", "", 404, NotFound},
	{"Lambda", "CreateFunction", "ResourceConflictException", "Function already exist: f", 409, Exists},
	{"Lambda", "UpdateFunctionCode", "ResourceConflictException", "An update is in progress", 409, Busy},
	{"Lambda", "CreateFunction", "InvalidParameterValueException", "The role defined for the function cannot be assumed by Lambda.", 400,
		Propagating},
	{"Lambda", "CreateFunction", "CodeStorageExceededException", "", 400, Limit},
	{"Lambda", "CreateFunction", "TooManyRequestsException", "", 429, Throttled},
	{"Elastic Load Balancing v2", "DescribeLoadBalancers", "LoadBalancerNotFound", "", 400, NotFound},
	{"Elastic Load Balancing v2", "CreateLoadBalancer", "DuplicateLoadBalancerName", "", 400, Exists},
	{"Elastic Load Balancing v2", "DeleteTargetGroup", "ResourceInUse", "", 400, Busy},
	{"Elastic Load Balancing v2", "CreateLoadBalancer", "TooManyLoadBalancers", "", 400, Limit},
	{"Elastic Load Balancing v2", "DeleteLoadBalancer", "OperationNotPermitted",
		"Load balancer cannot be deleted because deletion protection is enabled", 400, Protected},

	{"Cognito Identity Provider", "DescribeUserPool", "ResourceNotFoundException", "", 400, NotFound},
	{"Cognito Identity Provider", "CreateGroup", "GroupExistsException", "", 400, Exists},
	{"Cognito Identity Provider", "CreateUserPoolDomain", "InvalidParameterException", "Domain already associated with another user pool.",
		400, NameTaken},
	{"Cognito Identity Provider", "CreateUserPoolDomain", "InvalidParameterException", "Domain already exists.", 400, Exists},
	{"Cognito Identity Provider", "DeleteUserPool", "InvalidParameterException",
		"User pool cannot be deleted. It has a domain configured that should be deleted first.", 400, NotEmpty},
	{"Cognito Identity Provider", "DeleteUserPool", "InvalidParameterException",
		"The user pool cannot be deleted because deletion protection is activated.", 400, Protected},
	{"Cognito Identity Provider", "CreateUserPool", "InvalidSmsRoleTrustRelationshipException", "", 400, Propagating},
	{"ECR", "DescribeRepositories", "RepositoryNotFoundException", "", 400, NotFound},
	{"ECR", "CreateRepository", "RepositoryAlreadyExistsException", "", 400, Exists},
	{"ECR", "DeleteRepository", "RepositoryNotEmptyException", "", 400, NotEmpty},
	{"Route 53", "GetHostedZone", "NoSuchHostedZone", "", 404, NotFound},
	{"Route 53", "ListQueryLoggingConfigs", "InvalidPaginationToken", "", 400, Transient},
	{"Cognito Identity Provider", "DescribeRiskConfiguration", "UserPoolAddOnNotEnabledException", "", 400, NotFound},
	{"Route 53", "CreateHostedZone", "HostedZoneAlreadyExists", "", 409, Exists},
	{"Route 53", "DeleteHostedZone", "HostedZoneNotEmpty", "", 400, NotEmpty},
	{"Route 53", "CreateHostedZone", "TooManyHostedZones", "", 400, Limit},
	{"Route 53", "AssociateVPCWithHostedZone", "LimitsExceeded", "", 400, Limit},
	{"Route 53", "AssociateVPCWithHostedZone", "ConflictingDomainExists", "", 400, Invalid},
	{"Route 53", "DisassociateVPCFromHostedZone", "VPCAssociationNotFound", "", 404, NotFound},
	{"Route 53", "DisassociateVPCFromHostedZone", "LastVPCAssociation", "", 400, Invalid},
	{"Route 53", "CreateHostedZone", "InvalidDomainName", "", 400, Invalid},
	{"Route 53", "CreateHostedZone", "DelegationSetNotAvailable", "", 400, Limit},
	{"Route 53", "ChangeResourceRecordSets", "InvalidChangeBatch",
		"[Tried to create resource record set [name='www.example.com.', type='A'] but it already exists]", 400, Exists},
	{"Route 53", "ChangeResourceRecordSets", "InvalidChangeBatch",
		"[Tried to delete resource record set [name='www.example.com.', type='A'] but it was not found]", 400, NotFound},
	{"Route 53", "ChangeResourceRecordSets", "InvalidChangeBatch",
		"[Tried to delete resource record set [name='www.example.com.', type='A'] but the values provided do not match the current values]", 400,
		Conflict},
	{"Route 53", "ChangeResourceRecordSets", "InvalidChangeBatch", "[Invalid Resource Record: FATAL problem: InvalidCharacterString]", 400,
		Invalid},
	{"Route 53", "GetChange", "NoSuchChange", "", 404, NotFound},
	{"Route 53", "ChangeResourceRecordSets", "PriorRequestNotComplete", "", 400, Throttled},
	{"ACM", "DescribeCertificate", "ResourceNotFoundException", "", 400, NotFound},
	{"ACM", "DeleteCertificate", "ResourceInUseException", "", 400, Busy},
	{"EKS", "DescribeCluster", "ResourceNotFoundException", "", 404, NotFound},
	{"EKS", "CreateCluster", "ResourceInUseException", "", 409, Exists},
	{"EKS", "DeleteCluster", "ResourceInUseException", "", 409, Busy},
	{"EKS", "UpdateClusterConfig", "ResourceInUseException", "Cannot LoggingUpdate because cluster c currently has update x in progress",
		409, Busy},
	{"EKS", "UpdateClusterConfig", "InvalidParameterException",
		"Cluster is already at the desired configuration with endpointPublicAccess: true", 400, Busy},
	{"EKS", "UpdateClusterConfig", "InvalidParameterException", "No changes needed for the logging config provided", 400, Busy},
	{"EKS", "UpdateClusterConfig", "InvalidParameterException", "The subnet ID 'subnet-1' does not exist", 400, Missing},
	{"EKS", "UpdateClusterVersion", "InvalidParameterException", "Unsupported Kubernetes minor version update from 1.32 to 1.32", 400, Busy},
	{"EKS", "UpdateClusterVersion", "InvalidParameterException", "unsupported Kubernetes version", 400, Invalid},
	{"EKS", "CreateCluster", "InvalidParameterException",
		"Role with arn: arn:aws:iam::123456789012:role/c, could not be assumed because it does not exist or the trusted entity is not correct",
		400, Propagating},
	{"EKS", "CreateCluster", "InvalidParameterException", "The role with name c cannot be found.", 400, Propagating},
	{"EKS", "CreateCluster", "UnsupportedAvailabilityZoneException", "", 400, Invalid},
	{"EKS", "CreateCluster", "ResourceLimitExceededException", "", 400, Limit},
	{"EKS", "CreatePodIdentityAssociation", "ResourceInUseException", "Association already exists: a-1", 409, Exists},
	{"EKS", "CreatePodIdentityAssociation", "InvalidParameterException", "Role provided in the request does not exist.", 400, Propagating},
	{"EKS", "UpdatePodIdentityAssociation", "InvalidParameterException", "Trust policy of the role provided is invalid.", 400, Propagating},
	{"EKS", "CreatePodIdentityAssociation", "InvalidParameterException", "Namespace is invalid", 400, Invalid},
	{"ECS", "DescribeServices", "ClusterNotFoundException", "", 400, NotFound},
	{"ECS", "CreateCluster", "InvalidParameterException",
		"Arguments on this idempotent request are inconsistent with arguments used in previous request(s).", 400, Exists},
	{"ECS", "CreateCluster", "InvalidParameterException",
		"Unable to assume the service linked role. Please verify that the ECS service linked role exists.", 400, Propagating},
	{"ECS", "CreateCluster", "InvalidParameterException", "The specified capacity provider 'x' was not found.", 400, Missing},
	{"ECS", "DescribeCapacityProviders", "UnsupportedFeatureException", "", 400, Invalid},
	{"ECS", "DeleteCluster", "ClusterContainsServicesException", "The Cluster cannot be deleted while Services are active.", 400, NotEmpty},
	{"ECS", "DeleteCluster", "ClusterContainsTasksException", "The Cluster cannot be deleted while Tasks are active.", 400, NotEmpty},
	{"ECS", "DeleteCluster", "ClusterContainsContainerInstancesException",
		"The Cluster cannot be deleted while Container Instances are active or draining.", 400, NotEmpty},
	{"ECS", "PutClusterCapacityProviders", "UpdateInProgressException", "", 400, Busy},

	// Further codes of the service models; see TestModels_EveryErrorHasARow.
	{"S3", "DeleteBucket", "BucketHasAccessPointsAttached", "", 409, NotEmpty},
	{"S3", "PutBucketLogging", "MalformedACLError", "", 400, Invalid},
	{"Glue", "CreateDatabase", "FederatedResourceAlreadyExistsException", "", 400, Exists},
	{"Glue", "GetTable", "FederationSourceRetryableException", "", 400, Transient},
	{"IAM", "CreateOpenIDConnectProvider", "OpenIdIdpCommunicationError", "", 400, Transient},
	{"SSM", "DescribeParameters", "InvalidFilterKey", "", 400, Invalid},
	{"SSM", "GetServiceSetting", "ServiceSettingNotFound", "", 400, NotFound},
	{"SSM", "DescribeParameters", "InvalidNextToken", "", 400, Transient},
	{"Secrets Manager", "ListSecretVersionIds", "InvalidNextTokenException", "", 400, Transient},
	{"SNS", "Subscribe", "FilterPolicyLimitExceeded", "", 403, Limit},
	{"SNS", "TagResource", "StaleTag", "", 400, Transient},
	{"SNS", "TagResource", "TagPolicy", "", 400, Invalid},
	{"KMS", "EnableKeyRotation", "DisabledException", "", 400, Busy},
	{"KMS", "CreateKey", "TagException", "", 400, Invalid},
	{"KMS", "CreateKey", "CustomKeyStoreNotFoundException", "", 400, Invalid},
	{"KMS", "CreateKey", "XksKeyNotFoundException", "", 400, Invalid},
	{"RDS", "CreateDBInstance", "OptionGroupNotFoundFault", "", 404, NotFound},
	{"RDS", "ListTagsForResource", "DBProxyNotFoundFault", "", 404, NotFound},
	{"RDS", "ListTagsForResource", "IntegrationNotFoundFault", "", 404, NotFound},
	{"RDS", "ModifyDBInstance", "InvalidDBClusterStateFault", "", 400, Busy},
	{"RDS", "ModifyDBInstance", "DBUpgradeDependencyFailure", "", 400, Invalid},
	{"RDS", "DeleteDBInstance", "DBInstanceAutomatedBackupQuotaExceeded", "", 400, Limit},
	{"ElastiCache", "ListTagsForResource", "ServerlessCacheNotFoundFault", "", 404, NotFound},
	{"ElastiCache", "RemoveTagsFromResource", "TagNotFound", "", 404, NotFound},
	{"ElastiCache", "AddTagsToResource", "InvalidServerlessCacheStateFault", "", 400, Busy},
	{"ElastiCache", "AddTagsToResource", "InvalidARN", "", 400, Invalid},
	{"ElastiCache", "DescribeCacheClusters", "APICallRateForCustomerExceeded", "", 400, Throttled},
	{"ElastiCache", "CreateCacheCluster", "ServiceLinkedRoleNotFoundFault", "", 400, Propagating},
	{"Lambda", "PublishVersion", "FunctionVersionsPerCapacityProviderLimitExceededException", "", 400, Limit},
	{"Lambda", "UpdateFunctionConfiguration", "PreconditionFailedException", "", 412, Conflict},
	{"Lambda", "CreateFunction", "CodeVerificationFailedException", "", 400, Invalid},
	{"Cognito Identity Provider", "UpdateUserPool", "UserImportInProgressException", "", 400, Busy},
	{"Cognito Identity Provider", "CreateUserPool", "FeatureUnavailableInTierException", "", 400, Invalid},
	{"ECR", "CreateRepository", "KmsException", "", 400, Invalid},
	{"Route 53", "CreateHostedZone", "NoSuchDelegationSet", "", 400, Invalid},
	{"ACM", "RequestCertificate", "InvalidDomainValidationOptionsException", "", 400, Invalid},
	{"EKS", "ListTagsForResource", "NotFoundException", "", 404, NotFound},
	{"EKS", "CreatePodIdentityAssociation", "ResourcePropagationDelayException", "", 428, Propagating},
	{"EKS", "DeleteCluster", "InvalidStateException", "", 400, Busy},
	{"EKS", "CreateCluster", "ClientException", "", 400, Invalid},
	{"ECS", "CreateCluster", "NamespaceNotFoundException", "", 400, NotFound},
	{"ECS", "CreateCluster", "ClientException", "", 400, Invalid},
	{"Resource Groups Tagging API", "GetResources", "PaginationTokenExpiredException", "", 400, Transient},

	// Conditions that pass, with the services' errors until then.
	{"DynamoDB", "UpdateTable", "LimitExceededException",
		"Subscriber limit exceeded: Update to PayPerRequest mode are limited to once in 1 day(s).", 400, Busy},
	{"DynamoDB", "UpdateTable", "LimitExceededException",
		"Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day.", 400, Busy},
	{"Glue", "CreateCrawler", "InvalidInputException", "Service is unable to assume role r. Please verify the role's TrustPolicy", 400,
		Propagating},
	{"Glue", "UpdateCrawler", "InvalidInputException", "Please verify role's TrustPolicy", 400, Propagating},
	{"Glue", "CreateCrawler", "AccessDeniedException", "Insufficient Lake Formation permission(s): Required Create Table on d", 400,
		Propagating},
	{"Secrets Manager", "CreateSecret", "InvalidRequestException", "You can't perform this operation on the secret because it was deleted.",
		400, Busy},
	{"Secrets Manager", "RotateSecret", "InvalidRequestException", "A previous rotation isn't complete. That rotation will be reattempted.",
		400, Busy},
	{"Secrets Manager", "PutResourcePolicy", "MalformedPolicyDocumentException", "This resource policy contains an unsupported principal.",
		400, Propagating},
	{"SQS", "SetQueueAttributes", "InvalidAttributeValue", "Invalid value for the parameter Policy.", 400, Propagating},
	{"SNS", "SetTopicAttributes", "InvalidParameter", "Invalid parameter: Policy Error: PrincipalNotFound", 400, Propagating},
	{"ECR", "SetRepositoryPolicy", "InvalidParameterException",
		"Invalid parameter at 'PolicyText' failed to satisfy constraint: 'Invalid repository policy provided'", 400, Propagating},
	{"RDS", "DeleteDBInstance", "DBSnapshotAlreadyExists",
		"Cannot create the snapshot because a snapshot with the identifier orders-final already exists.", 400, Invalid},
	{"EKS", "DescribeCluster", "ClientException", "No cluster found for name: orders.", 400, NotFound},
	{"RDS", "CreateDBSnapshot", "DBSnapshotAlreadyExists", "", 400, Exists},
	{"RDS", "ModifyDBInstance", "InvalidParameterCombination",
		"You can't currently modify the storage of this DB instance because the previous storage change is being optimized.", 400, Busy},
	{"RDS", "ModifyDBInstance", "InvalidDBInstanceState", "the storage is being optimized", 400, Busy},
	{"RDS", "ModifyDBInstance", "InvalidParameterCombination",
		"Cannot modify the storage while the DB instance is in the storage-optimization state", 400, Busy},
	{"RDS", "ModifyDBInstance", "DBInstanceNotReady", "", 400, Busy},
	{"RDS", "ModifyDBInstance", "UnsupportedDBEngineVersion", "", 400, Invalid},
	{"ElastiCache", "DeleteCacheCluster", "SnapshotAlreadyExistsFault", "Snapshot with specified name already exists.", 400, Invalid},
	{"EC2", "RunInstances", "AuthFailure", "Not authorized for images: [ami-0123]", 403, Denied},
	{"EC2", "ReleaseAddress", "AuthFailure", "The address with allocation id [eipalloc-0a] does not belong to you.", 400, Denied},
	{"ECS", "PutClusterCapacityProviders", "ClientException", "Cluster was not ACTIVE", 400, Busy},
	{"Route 53", "CreateHostedZone", "InvalidVPCId", "The VPC: vpc-0a in region eu-west-1 does not exist", 400, Propagating},
	{"Route 53", "AssociateVPCWithHostedZone", "InvalidVPCId", "", 400, Propagating},
	{"S3 Control", "TagResource", "NoSuchBucket", "The specified bucket does not exist", 404, NotFound},
	{"EC2", "AttachInternetGateway", "Resource.AlreadyAssociated", "resource igw-1 is already attached to network vpc-2", 400, Exists},
	{"Glue", "GetTables", "AccessDeniedException", "Insufficient Lake Formation permission(s): Required Describe on d", 400, Denied},
	{"EC2", "RunInstances", "InvalidBlockDeviceMapping", "", 400, Invalid},
	{"EC2", "CreateSubnet", "InsufficientFreeAddressesInSubnet", "", 400, Invalid},
	{"Lambda", "CreateFunction", "InvalidParameterValueException",
		"The provided execution role does not have permissions to call CreateNetworkInterface on EC2", 400, Propagating},
	{"Lambda", "CreateFunction", "InvalidParameterValueException",
		"Lambda cannot be set up because the function's role has no access to the queue", 400, Propagating},
	{"Lambda", "CreateFunction", "InvalidParameterValueException",
		"Lambda was unable to configure access to your environment variables because the KMS key is invalid for CreateGrant.", 400, Propagating},
	{"Lambda", "CreateFunction", "InvalidParameterValueException",
		"Your request has been throttled by EC2, please make sure you have enough API rate limit.", 400, Throttled},
	{"Lambda", "CreateFunction", "InvalidParameterValueException",
		"Source image 1.dkr.ecr.eu-west-1.amazonaws.com/a:1 does not exist. Provide a valid source image.", 400, Missing},
	{"Lambda", "UpdateFunctionCode", "InvalidParameterValueException",
		"Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key is missing.", 400, Missing},
	{"SQS", "SetQueueAttributes", "InvalidParameterValue",
		"Value {} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.", 400, Missing},
	{"RDS", "CreateDBInstance", "InvalidParameterValue", "Invalid security group , groupId= sg-1, groupName=.", 400, Missing},
	{"RDS", "CreateDBSubnetGroup", "InvalidParameterValue", "Some input subnets in :[subnet-1] are invalid.", 400, Missing},
	{"EC2", "RunInstances", "InvalidAMIID.Unavailable", "The image ID 'ami-1' is not available", 400, Missing},
	{"Route 53", "ChangeResourceRecordSets", "InvalidChangeBatch",
		"[Tried to create an alias that targets a.example.com., type A in zone Z1, but that target was not found]", 400, Missing},
	{"Route 53", "ChangeResourceRecordSets", "InvalidChangeBatch",
		"[Tried to create an alias that targets a.example.com., type A in zone Z1, but the alias target name was not found]", 400, Missing},
	{"S3", "PutBucketLogging", "InvalidTargetBucketForLogging", "The target bucket for logging does not exist", 400, Propagating},
	{"EKS", "CreateCluster", "InvalidParameterException", "Error in role params", 400, Propagating},
	{"EKS", "CreateCluster", "InvalidParameterException", "The provided role doesn't have the Amazon EKS Managed Policies associated with it.",
		400, Propagating},
	{"EKS", "CreateCluster", "InvalidParameterException", "IAM role's policy must include the `ec2:DescribeSubnets` action", 400, Propagating},
	{"EKS", "CreateCluster", "InvalidParameterException", "The subnet ID 'subnet-1' does not exist (Service: AmazonEKS)", 400, Missing},

	{"CloudWatch Logs", "PutRetentionPolicy", "ResourceNotFoundException", "The specified log group does not exist.", 400, NotFound},
	{"CloudWatch Logs", "CreateLogGroup", "ResourceAlreadyExistsException", "The specified log group already exists", 400, Exists},
	{"CloudWatch Logs", "DeleteLogGroup", "ValidationException", "", 400, Protected},
	{"CloudWatch Logs", "PutLogGroupDeletionProtection", "InvalidOperationException", "", 400, Invalid},

	{"STS", "AssumeRole", "AccessDenied", "", 403, Denied},
	{"STS", "AssumeRole", "ExpiredToken", "", 403, Expired},
	{"STS", "AssumeRoleWithWebIdentity", "InvalidIdentityToken", "", 400, Unauthenticated},
	{"STS", "AssumeRoleWithWebIdentity", "IDPCommunicationError", "", 400, Transient},
	{"STS", "GetCallerIdentity", "InvalidClientTokenId", "", 403, Unauthenticated},
	{"STS", "GetCallerIdentity", "SignatureDoesNotMatch", "Signature expired: 20260101T000000Z is now earlier than", 403, Transient},
	{"STS", "GetCallerIdentity", "SignatureDoesNotMatch", "Signature not yet current: 20260101T000000Z", 403, Transient},
	{"STS", "GetCallerIdentity", "SignatureDoesNotMatch", "The request signature we calculated does not match", 403, Unauthenticated},
	{"STS", "GetCallerIdentity", "RegionDisabledException", "", 403, Denied},

	{"Anything", "Create", "ValidationException", "The role cannot be assumed by the service", 400, Propagating},
	{"CloudControl", "CreateResource", "AlreadyExistsException", "", 400, Exists},
	{"CloudControl", "CreateResource", "AlreadyExists", "", 0, Exists},
	{"CloudControl", "GetResource", "ResourceNotFoundException", "", 400, NotFound},
	{"CloudControl", "DeleteResource", "NotFound", "", 0, NotFound},
	{"CloudControl", "UpdateResource", "ConcurrentOperationException", "", 400, Busy},
	{"CloudControl", "UpdateResource", "ResourceConflict", "", 0, Busy},
	{"CloudControl", "CreateResource", "ClientTokenConflictException", "", 400, Conflict},
	{"CloudControl", "UpdateResource", "AlreadyExists", "", 0, Invalid},
	{"CloudControl", "UpdateResource", "NotUpdatable", "", 0, Invalid},
	{"CloudControl", "UpdateResource", "ValidationException", "[REMOVE Operation] noSuchPath in source, path provided : //Entries", 400,
		Conflict},
	{"CloudControl", "CreateResource", "InvalidCredentials", "", 0, Unauthenticated},
	{"CloudControl", "CreateResource", "UnauthorizedTaggingOperation", "", 0, Denied},
	{"CloudControl", "CreateResource", "AccessDenied", "", 0, Denied},
	{"CloudControl", "CreateResource", "ServiceLimitExceeded", "", 0, Limit},
	{"CloudControl", "CreateResource", "NotStabilized", "", 0, Transient},
	{"CloudControl", "CreateResource", "InvalidRequest",
		"Bedrock Knowledge Base was unable to assume the given role. Provide the proper permissions and retry the request.", 0, Propagating},
	{"CloudControl", "CreateResource", "InvalidRequest", "Amazon Bedrock cannot assume role r", 0, Propagating},
	{"CloudControl", "CreateResource", "InvalidRequest",
		"Role validation failed for 'arn:aws:iam::123456789012:role/r'. Please verify that the role exists and its trust policy allows assumption by this service", 0, Propagating},
	{"CloudControl", "CreateResource", "InvalidRequest", "The knowledge base storage configuration provided is invalid... Request failed", 0,
		Propagating},
	{"CloudControl", "CreateResource", "InvalidRequest", "Model validation failed", 0, Invalid},
	{"CloudControl", "CreateResource", "InternalFailure", "", 0, Transient},
	{"CloudControl", "CreateResource", "Throttling", "", 0, Throttled},
	{"CloudControl", "CreateResource", "InvalidRequest", "", 0, Invalid},
	{"CloudFormation", "DescribeType", "TypeNotFoundException", "", 404, Invalid},
	{"Anything", "Create", "InvalidRequestException", "unable to assume role", 400, Propagating},
	{"Anything", "Create", "UnsupportedOperationException", "", 400, Invalid},
	{"Anything", "Get", "ResourceNotFoundException", "", 404, Invalid}, // no row says that it is "not found"
	{"Anything", "Get", "NotFound", "Not Found", 404, Unknown},         // made up from the status
	{"Anything", "Get", "Whatever", "", 408, Transient},
	{"Anything", "Get", "Whatever", "", 425, Transient},
	{"Anything", "Get", "Whatever", "", 401, Denied},
	{"Anything", "Get", "", "", 403, Denied},
	{"Anything", "Get", "Whatever", "", 429, Throttled},
	{"Anything", "Get", "Whatever", "", 502, Transient},
	{"Anything", "Get", "Whatever", "", 404, Invalid},
	{"Anything", "Get", "Whatever", "", 400, Invalid},
	{"Anything", "Get", "", "", 404, Unknown}, // a page of a proxy
	{"Anything", "Get", "Whatever", "", 0, Unknown},
}

func TestEveryRowOfTheErrorTable(t *testing.T) {
	hit := map[int]bool{}
	for _, a := range answers {
		f := Classify(failed(a.service, a.operation, a.code, a.message, a.status))
		if f.Class != a.want {
			t.Errorf("%s %s %s %q %d is %s, want %s", a.service, a.operation, a.code, a.message, a.status, f.Class, a.want)
		}
		hit[matchingRow(f)] = true
	}
	for i, r := range table {
		if !hit[i] {
			t.Errorf("no answer exercises row %d: %+v", i, r)
		}
	}
}

func TestEveryRowOfPropagationSaysHowLongItTakes(t *testing.T) {
	for _, r := range table {
		if (r.class == Propagating) != (r.within > 0) {
			t.Errorf("within %s: %+v", r.within, r)
		}
	}
	for _, c := range []struct {
		service, operation, code, message string
		want                              time.Duration
	}{
		{"Glue", "CreateCrawler", "InvalidInputException", "Service is unable to assume provided role", 2 * time.Minute},
		{"Lambda", "CreateFunction", "InvalidParameterValueException",
			"The provided execution role does not have permissions to call CreateNetworkInterface on EC2", 5 * time.Minute},
		{"S3", "PutBucketReplication", "InvalidRequest", "Destination bucket must have versioning enabled.", 15 * time.Minute},
		{"S3", "PutBucketPolicy", "MalformedPolicy", "Policy has invalid resource", 0},
	} {
		if got := PropagationTime(failed(c.service, c.operation, c.code, c.message, 400)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.operation, c.message, got, c.want)
		}
	}
}

func TestEveryCodeOfTheTableCanMatch(t *testing.T) {
	for _, r := range table {
		if r.message != strings.ToLower(r.message) {
			t.Errorf("%q can never be found in a lower-cased text", r.message)
		}
		if r.class == "" {
			t.Errorf("%+v has no class", r)
		}
		for code := range strings.SplitSeq(r.code, "|") {
			if normalizeCode(code) != code {
				t.Errorf("%q is compared with %q and can never match", code, normalizeCode(code))
			}
		}
	}
	for _, code := range []string{"Exception", "Fault", "Error", ""} {
		if normalizeCode(code) != code {
			t.Errorf("%q was normalized away", code)
		}
	}
}

func TestRowsOfOneServiceComeBeforeCommonOnes(t *testing.T) {
	common := false
	for _, r := range table {
		switch {
		case r.service == "":
			common = true
		case common:
			t.Errorf("%+v comes after a row for all services", r)
		}
	}
}

func TestFailureKeepsWhatAWSSaid(t *testing.T) {
	f := Classify(failed("Secrets Manager", "CreateSecret", "ResourceExistsException", "exists", 400))
	want := Failure{Exists, "secretsmanager", "CreateSecret", "ResourceExistsException", "exists", 400, "4442587f-f4ca-4a30", 0}
	if f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
	if f := Classify(failed("SQS", "CreateQueue", "QueueDeletedRecently", "", 400)); f.After != time.Minute {
		t.Errorf("after %s", f.After)
	}
	if f := Classify(failed("EKS", "UpdateClusterConfig", "InvalidParameterException", "Cluster is already at the desired configuration",
		400)); f.After != time.Minute {
		t.Errorf("after %s", f.After)
	}
	if f := Classify(nil); f != (Failure{}) || Is(nil, "") || IsNotFound(nil) {
		t.Error("no error is a failure")
	}
}

func TestTheInnermostOperationCounts(t *testing.T) {
	inner := failed("STS", "AssumeRole", "AccessDenied", "no", 403)
	err := &smithy.OperationError{ServiceID: "S3", OperationName: "CreateBucket", Err: errors.Join(errors.New("get identity"), inner)}
	if f := Classify(err); f.Service != "sts" || f.Operation != "AssumeRole" || f.Class != Denied {
		t.Errorf("%+v", f)
	}
}
