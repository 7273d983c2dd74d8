// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"time"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// ofVersioning: "it might take up to 15 minutes for the change to be fully propagated",
// docs.aws.amazon.com/AmazonS3/latest/userguide/manage-versioning-examples.html.
const ofVersioning = 15 * time.Minute

// awsServices: docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
var awsServices = []kind.ServiceFacts{
	{
		Service: "s3",
		Rows: []kind.ErrorRow{
			// HEAD answers carry no body, so the SDK makes the code from the status. Only there: a bodyless
			// 404 to any other request did not come from S3.
			{Operation: "Head*", Code: "NotFound", Class: awsclient.NotFound},
			// An expired token answers HEAD with a bare 400 as well: not proof of a bad request.
			{Operation: "Head*", Code: "BadRequest", Class: awsclient.Unknown},
			{Code: "NoSuchBucket|NoSuchKey|NoSuchUpload|NoSuchVersion", Class: awsclient.NotFound},
			{Code: "NoSuchTagSet|NoSuchLifecycleConfiguration|NoSuchBucketPolicy|NoSuchCORSConfiguration", Class: awsclient.NotFound},
			{Code: "NoSuchPublicAccessBlockConfiguration|OwnershipControlsNotFound|NoSuchWebsiteConfiguration", Class: awsclient.NotFound},
			{Code: "ServerSideEncryptionConfigurationNotFound|ReplicationConfigurationNotFound", Class: awsclient.NotFound},
			{Code: "ObjectLockConfigurationNotFound|NoSuchObjectLockConfiguration|NoSuchConfiguration", Class: awsclient.NotFound},
			// AWS does not publish the code.
			{Operation: "GetBucketMetadataConfiguration", Code: "*NotFound", Class: awsclient.NotFound},
			{Code: "BucketAlreadyOwnedByYou", Class: awsclient.Exists},
			{Code: "BucketAlreadyExists", Class: awsclient.NameTaken},
			// The bucket is there, in another region than the endpoint's.
			{Code: "PermanentRedirect|MovedPermanently|AuthorizationHeaderMalformed", Class: awsclient.NameTaken},
			{Code: "BucketNotEmpty", Class: awsclient.NotEmpty},
			{Code: "BucketHasAccessPointsAttached", Class: awsclient.NotEmpty},
			{Code: "TooManyBuckets", Class: awsclient.Limit},
			{Code: "ServiceUnavailable", Class: awsclient.Throttled},
			{Code: "BadDigest|IncompleteBody|XAmzContentSHA256Mismatch", Class: awsclient.Transient},
			{Operation: "PutBucketNotificationConfiguration", Code: "InvalidArgument", Message: "unable to validate",
				Class: awsclient.Propagating, Within: awsclient.OfIAM},
			// Versioning that was just enabled, here or at the destination.
			{Operation: "PutBucketReplication", Code: "InvalidRequest", Message: "versioning must be", Class: awsclient.Propagating,
				Within: ofVersioning},
			{Operation: "PutBucketReplication", Code: "InvalidRequest", Message: "destination bucket must", Class: awsclient.Propagating,
				Within: ofVersioning},
			{Code: "MethodNotAllowed", Class: awsclient.Denied},
			{Code: "InvalidBucketName|InvalidBucketState|InvalidBucketAclWithObjectOwnership|AccessControlListNotSupported",
				Class: awsclient.Invalid},
			{Code: "IllegalLocationConstraint|InvalidLocationConstraint|InvalidStorageClass|KMS.NotFound", Class: awsclient.Invalid},
			// A bucket that was just made, or has a new policy; it is refused for good after a while.
			{Code: "InvalidTargetBucketForLogging", Class: awsclient.Propagating, Within: awsclient.OfResources},
			{Code: "MalformedACL", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "HeadBucket", Code: "NotFound", Message: "Not Found", Status: 404, Class: awsclient.NotFound},
			{Operation: "HeadBucket", Code: "BadRequest", Message: "Bad Request", Status: 400, Class: awsclient.Unknown},
			{Operation: "HeadBucket", Code: "Forbidden", Message: "Forbidden", Status: 403, Class: awsclient.Denied},
			{Operation: "GetBucketTagging", Code: "NoSuchBucket", Message: "The specified bucket does not exist", Status: 404,
				Class: awsclient.NotFound},
			{Operation: "GetBucketTagging", Code: "NoSuchTagSet", Message: "The TagSet does not exist", Status: 404,
				Class: awsclient.NotFound},
			{Operation: "GetBucketTagging", Code: "NoSuchTagSetError", Message: "The TagSet does not exist", Status: 404,
				Class: awsclient.NotFound},
			{Operation: "GetBucketLifecycleConfiguration", Code: "NoSuchLifecycleConfiguration", Status: 404, Class: awsclient.NotFound},
			{Operation: "GetBucketPolicy", Code: "NoSuchBucketPolicy", Message: "The bucket policy does not exist", Status: 404,
				Class: awsclient.NotFound},
			{Operation: "GetBucketCors", Code: "NoSuchCORSConfiguration", Status: 404, Class: awsclient.NotFound},
			{Operation: "GetPublicAccessBlock", Code: "NoSuchPublicAccessBlockConfiguration", Status: 404, Class: awsclient.NotFound},
			{Operation: "GetBucketOwnershipControls", Code: "OwnershipControlsNotFoundError", Status: 404, Class: awsclient.NotFound},
			{Operation: "GetBucketWebsite", Code: "NoSuchWebsiteConfiguration", Status: 404, Class: awsclient.NotFound},
			{Operation: "GetBucketEncryption", Code: "ServerSideEncryptionConfigurationNotFoundError", Status: 404,
				Class: awsclient.NotFound},
			{Operation: "GetBucketReplication", Code: "ReplicationConfigurationNotFoundError", Status: 404, Class: awsclient.NotFound},
			{Operation: "GetBucketMetadataConfiguration", Code: "MetadataConfigurationNotFound", Status: 404, Class: awsclient.NotFound},
			{Operation: "GetObjectLockConfiguration", Code: "ObjectLockConfigurationNotFoundError", Status: 404, Class: awsclient.NotFound},
			{Operation: "GetBucketPolicy", Code: "NotFound", Message: "Not Found", Status: 404,
				Class: awsclient.Unknown}, // made up from the status
			{Operation: "CreateBucket", Code: "BucketAlreadyOwnedByYou", Status: 409, Class: awsclient.Exists},
			{Operation: "CreateBucket", Code: "BucketAlreadyExists", Status: 409, Class: awsclient.NameTaken},
			{Operation: "HeadBucket", Code: "MovedPermanently", Status: 301, Class: awsclient.NameTaken},
			{Operation: "GetBucketPolicy", Code: "PermanentRedirect", Status: 301, Class: awsclient.NameTaken},
			{Operation: "DeleteBucket", Code: "BucketNotEmpty", Message: "The bucket you tried to delete is not empty", Status: 409,
				Class: awsclient.NotEmpty},
			{Operation: "CreateBucket", Code: "TooManyBuckets", Status: 400, Class: awsclient.Limit},
			{Operation: "CreateBucket", Code: "ServiceUnavailable", Message: "Please reduce your request rate.", Status: 503,
				Class: awsclient.Throttled},
			{Operation: "CreateBucket", Code: "SlowDown", Status: 503, Class: awsclient.Throttled},
			{Operation: "CreateBucket", Code: "OperationAborted", Message: "A conflicting conditional operation is currently in progress",
				Status: 409, Class: awsclient.Transient},
			{Operation: "PutBucketPolicy", Code: "BadDigest", Status: 400, Class: awsclient.Transient},
			{Operation: "PutBucketNotificationConfiguration", Code: "InvalidArgument",
				Message: "Unable to validate the following destination configurations", Status: 400, Class: awsclient.Propagating},
			{Operation: "PutBucketReplication", Code: "InvalidRequest",
				Message: "Versioning must be 'Enabled' on the bucket to apply a replication configuration", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "PutBucketReplication", Code: "InvalidRequest", Message: "Destination bucket must have versioning enabled.",
				Status: 400, Class: awsclient.Propagating},
			{Operation: "PutBucketReplication", Code: "InvalidRequest", Message: "Destination bucket must exist.", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "PutBucketReplication", Code: "InvalidRequest", Message: "Priority must be unique between multiple rules",
				Status: 400, Class: awsclient.Invalid},
			{Operation: "PutBucketPolicy", Code: "MalformedPolicy", Message: "Invalid principal in policy", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "PutBucketPolicy", Code: "MalformedPolicy", Message: "Missing required field Principal", Status: 400,
				Class: awsclient.Invalid},
			{Operation: "GetBucketPolicy", Code: "MethodNotAllowed", Status: 405, Class: awsclient.Denied},
			{Operation: "CreateBucket", Code: "InvalidBucketName", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateBucket", Code: "IllegalLocationConstraintException", Status: 400, Class: awsclient.Invalid},
			{Operation: "PutBucketLifecycleConfiguration", Code: "MalformedXML", Status: 400, Class: awsclient.Invalid},
			{Operation: "PutBucketAcl", Code: "AccessDenied", Message: "Access Denied", Status: 403, Class: awsclient.Denied},
			{Operation: "HeadBucket", Code: "InvalidAccessKeyId", Status: 403, Class: awsclient.Unauthenticated},
			{Operation: "HeadBucket", Code: "RequestTimeTooSkewed", Status: 403, Class: awsclient.Transient},
			{Operation: "GetBucketPolicy", Code: "InternalError", Message: "We encountered an internal error.", Status: 500,
				Class: awsclient.Transient},
			{Operation: "PutBucketWebsite", Code: "NotImplemented",
				Message: "A header you provided implies functionality that is not implemented", Status: 501, Class: awsclient.Invalid},
			{Operation: "DeleteBucket", Code: "BucketHasAccessPointsAttached", Status: 409, Class: awsclient.NotEmpty},
			{Operation: "PutBucketLogging", Code: "MalformedACLError", Status: 400, Class: awsclient.Invalid},
			{Operation: "PutBucketLogging", Code: "InvalidTargetBucketForLogging", Message: "The target bucket for logging does not exist",
				Status: 400, Class: awsclient.Propagating},
		},
	},
	{
		Service: "s3control",
		IAM:     "s3",
		Rows: []kind.ErrorRow{
			{Code: "NoSuchBucket|NoSuchResource", Class: awsclient.NotFound},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "TagResource", Code: "NoSuchBucket", Message: "The specified bucket does not exist", Status: 404,
				Class: awsclient.NotFound},
		},
	},
}
