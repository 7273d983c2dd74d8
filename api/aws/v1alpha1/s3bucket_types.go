// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// S3BucketSpec declares a general purpose bucket.
// +kubebuilder:validation:XValidation:rule="!has(self.objectLock) || !self.objectLock.enabled || !has(self.versioning) || self.versioning.enabled",message="objectLock needs versioning: S3 does not suspend it on a bucket with object lock"
// +kubebuilder:validation:XValidation:rule="!has(self.acl) || self.acl == 'private' || has(self.objectOwnership) && self.objectOwnership != 'BucketOwnerEnforced'",message="acl needs objectOwnership BucketOwnerPreferred or ObjectWriter: BucketOwnerEnforced, which is AWS's default, disables access control lists"
// +kubebuilder:validation:XValidation:rule="!has(self.acl) || self.acl == 'private' || !has(self.publicAccessBlock) || !has(self.publicAccessBlock.blockPublicAcls) || !self.publicAccessBlock.blockPublicAcls",message="acl is public, which publicAccessBlock.blockPublicAcls refuses"
// +kubebuilder:validation:XValidation:rule="!has(self.replication) || !has(self.replication.rules) || !has(self.versioning) || self.versioning.enabled",message="replication needs versioning: set versioning.enabled: true, here and on the destination buckets"
type S3BucketSpec struct {
	CommonSpec `json:",inline"`

	// BucketName is unique in the whole partition; 3 to 63 characters of a-z, 0-9, dot and hyphen. Immutable. A name that ends
	// in -ACCOUNT-REGION-an is one of the account regional namespace, which no other account can take; both must be those of
	// the provider.
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9][a-z0-9.-]*[a-z0-9]$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="bucketName is immutable"
	// +kubebuilder:validation:XValidation:rule="!self.contains('..') && !self.matches('^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+$') && !self.startsWith('xn--') && !self.startsWith('sthree-') && !self.startsWith('amzn-s3-demo-') && !self.endsWith('-s3alias') && !self.endsWith('--ol-s3') && !self.endsWith('.mrap') && !self.endsWith('--x-s3')",message="bucketName breaks the S3 naming rules"
	BucketName string `json:"bucketName"`
	// ObjectOwnership; AWS's own default for new buckets is BucketOwnerEnforced (ACLs disabled).
	// +optional
	// +kubebuilder:validation:Enum=BucketOwnerEnforced;BucketOwnerPreferred;ObjectWriter
	ObjectOwnership *string `json:"objectOwnership,omitempty"`
	// ACL is a canned access control list of the bucket. Anything but private needs objectOwnership BucketOwnerPreferred
	// or ObjectWriter. Absent: the list stays as it is in AWS, whose default is private.
	// +optional
	// +kubebuilder:validation:Enum=private;public-read;public-read-write;authenticated-read
	ACL *string `json:"acl,omitempty"`
	// Versioning keeps every version of every object.
	// +optional
	Versioning *S3Versioning `json:"versioning,omitempty"`
	// Encryption at rest; AWS's own default is AES256 (SSE-S3).
	// +optional
	Encryption *S3Encryption `json:"encryption,omitempty"`
	// LifecycleRules expire or move objects; [] removes all rules, also those that were set elsewhere. Absent:
	// the rules stay as they are in AWS.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=id
	LifecycleRules *[]S3LifecycleRule `json:"lifecycleRules,omitempty"`
	// PublicAccessBlock keeps the bucket private whatever its policy and ACLs say.
	// +optional
	PublicAccessBlock *S3PublicAccessBlock `json:"publicAccessBlock,omitempty"`
	// Policy is the whole bucket policy, a document in JSON: other statements are removed, also those that were set elsewhere,
	// such as by AWS for the delivery of logs. "" removes the policy. Absent: its statements stay as they are in AWS. Name
	// users and roles by ARN, not by unique ID.
	// +optional
	// +kubebuilder:validation:MaxLength=20480
	Policy *string `json:"policy,omitempty"`
	// TLSOnly adds a statement to the bucket policy that refuses requests without TLS, with the Sid NexusTLSOnly; false removes
	// it. Without policy, all other statements stay as they are in AWS. Absent: it is not added.
	// +optional
	TLSOnly *bool `json:"tlsOnly,omitempty"`
	// CORSRules let web pages of other origins use the bucket; browsers take the first rule that matches. [] removes
	// all rules, also those that were set elsewhere. Absent: the rules stay as they are in AWS.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	CORSRules *[]S3CORSRule `json:"corsRules,omitempty"`
	// Logging writes server access logs of the bucket into another one; {} turns it off. Absent: logging stays as
	// it is in AWS.
	// +optional
	Logging *S3Logging `json:"logging,omitempty"`
	// Notification sends events of the bucket to queues, topics, functions and Amazon EventBridge. Absent: the
	// notifications stay as they are in AWS.
	// +optional
	Notification *S3Notification `json:"notification,omitempty"`
	// ObjectLock keeps versions of objects from being deleted or replaced. Absent: it stays as it is in AWS.
	// +optional
	ObjectLock *S3ObjectLock `json:"objectLock,omitempty"`
	// Website serves the bucket as a website; {} ends that. Absent: this stays as it is in AWS.
	// +optional
	Website *S3Website `json:"website,omitempty"`
	// Replication copies new objects to other buckets; {} removes all rules, also those that were set elsewhere. Absent:
	// replication stays as it is in AWS.
	// +optional
	Replication *S3Replication `json:"replication,omitempty"`
	// ForceDestroy empties the bucket, versions and delete markers too, when the object is deleted. Without it,
	// the deletion of a bucket that holds any waits. Locked versions are not deleted: the deletion waits for the end of
	// their retention.
	// +optional
	ForceDestroy bool `json:"forceDestroy,omitempty"`
	// RecreateOnLoss creates a new, empty bucket when it is missing in AWS although the operator did not delete it; by default the operator
	// reports Missing.
	// +optional
	RecreateOnLoss bool `json:"recreateOnLoss,omitempty"`
}

// S3Versioning turns versioning on, or suspends it once it was on.
type S3Versioning struct {
	// Enabled turns versioning on; false suspends it.
	Enabled bool `json:"enabled"`
}

// S3Encryption is the bucket's default encryption.
// +kubebuilder:validation:XValidation:rule="self.algorithm != 'AES256' || !has(self.kmsKeyID)",message="kmsKeyID needs algorithm aws:kms"
type S3Encryption struct {
	// Algorithm; aws_kms is another spelling of aws:kms.
	// +kubebuilder:validation:Enum=AES256;"aws:kms";aws_kms
	Algorithm string `json:"algorithm"`
	// KMSKeyID is a key ID or ARN; absent with aws:kms means the AWS-managed key aws/s3, also when a key was
	// declared before.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	KMSKeyID string `json:"kmsKeyID,omitempty" names:"kms:key"`
	// BucketKeyEnabled lowers the number of KMS calls; absent leaves the setting as it is in AWS.
	// +optional
	BucketKeyEnabled *bool `json:"bucketKeyEnabled,omitempty"`
}

// S3LifecycleRule is one rule of the bucket's lifecycle configuration.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html
// +kubebuilder:validation:XValidation:rule="!has(self.tags) || size(self.tags) == 0 || !has(self.abortIncompleteMultipartUploadDays) && !(has(self.expiration) && has(self.expiration.expiredObjectDeleteMarker) && self.expiration.expiredObjectDeleteMarker)",message="a rule with tags cannot have abortIncompleteMultipartUploadDays or expiredObjectDeleteMarker"
// +kubebuilder:validation:XValidation:rule="!has(self.abortIncompleteMultipartUploadDays) || (!has(self.objectSizeGreaterThan) || self.objectSizeGreaterThan == 0) && (!has(self.objectSizeLessThan) || self.objectSizeLessThan == 0)",message="a rule with objectSizeGreaterThan or objectSizeLessThan cannot have abortIncompleteMultipartUploadDays"
// +kubebuilder:validation:XValidation:rule="!has(self.objectSizeGreaterThan) || !has(self.objectSizeLessThan) || self.objectSizeLessThan == 0 || self.objectSizeGreaterThan < self.objectSizeLessThan",message="objectSizeGreaterThan must be less than objectSizeLessThan"
// +kubebuilder:validation:XValidation:rule="!has(self.newerNoncurrentVersions) || self.newerNoncurrentVersions == 0 || has(self.noncurrentVersionExpirationDays)",message="newerNoncurrentVersions needs noncurrentVersionExpirationDays"
// +kubebuilder:validation:XValidation:rule="!has(self.transitions) || self.transitions.all(t, has(t.days)) || self.transitions.all(t, has(t.date))",message="the transitions of a rule have either days or a date"
type S3LifecycleRule struct {
	// ID is the rule's name, unique in the bucket.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ID string `json:"id"`
	// Enabled turns the rule on or off.
	Enabled bool `json:"enabled"`
	// Prefix of the keys the rule is for; absent means all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Prefix string `json:"prefix,omitempty"`
	// Tags limit the rule to objects that have all of them. Absent leaves the tags of the rule as they are in
	// AWS; {} removes them, so that the rule is for more objects.
	// +optional
	// +kubebuilder:validation:MaxProperties=10
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) >= 1 && size(k) <= 128)",message="the key of an object's tag has 1 to 128 characters"
	Tags map[string]TagValue `json:"tags,omitempty"`
	// ObjectSizeGreaterThan limits the rule to objects of more bytes. Absent leaves the limit as it is in AWS; 0
	// removes it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObjectSizeGreaterThan *int64 `json:"objectSizeGreaterThan,omitempty"`
	// ObjectSizeLessThan limits the rule to objects of fewer bytes. Absent leaves the limit as it is in AWS; 0
	// removes it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObjectSizeLessThan *int64 `json:"objectSizeLessThan,omitempty"`
	// Expiration removes current objects; absent means that the rule removes none.
	// +optional
	Expiration *S3Expiration `json:"expiration,omitempty"`
	// Transitions move current objects to other storage classes; absent means that the rule moves none.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	Transitions []S3Transition `json:"transitions,omitempty"`
	// NoncurrentVersionExpirationDays removes old versions after so many days; absent means that the rule
	// removes none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	NoncurrentVersionExpirationDays *int32 `json:"noncurrentVersionExpirationDays,omitempty"`
	// NewerNoncurrentVersions is the number of newest noncurrent versions that noncurrentVersionExpirationDays
	// retains. Absent leaves the number as it is in AWS; 0 removes it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	NewerNoncurrentVersions *int32 `json:"newerNoncurrentVersions,omitempty"`
	// NoncurrentVersionTransitions move old versions to other storage classes. Absent leaves those of the rule
	// as they are in AWS; [] removes them.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	NoncurrentVersionTransitions *[]S3NoncurrentVersionTransition `json:"noncurrentVersionTransitions,omitempty"`
	// AbortIncompleteMultipartUploadDays removes the parts of unfinished uploads after so many days; absent
	// means that the rule removes none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	AbortIncompleteMultipartUploadDays *int32 `json:"abortIncompleteMultipartUploadDays,omitempty"`
}

// S3Expiration removes objects by age, on a date, or the delete markers that nothing is left behind.
// +kubebuilder:validation:XValidation:rule="[has(self.days), has(self.date), has(self.expiredObjectDeleteMarker)].filter(x, x).size() == 1",message="expiration has exactly one of days, date and expiredObjectDeleteMarker"
type S3Expiration struct {
	// Days since the object was created.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Days *int32 `json:"days,omitempty"`
	// Date, such as 2030-01-31, at whose beginning in UTC the objects expire.
	// +optional
	// +kubebuilder:validation:Format=date
	Date string `json:"date,omitempty"`
	// ExpiredObjectDeleteMarker removes delete markers behind which no version is left; false ends that. In a
	// rule without expiration, this setting stays as it is in AWS.
	// +optional
	ExpiredObjectDeleteMarker *bool `json:"expiredObjectDeleteMarker,omitempty"`
}

// S3Transition moves objects by age or on a date.
// +kubebuilder:validation:XValidation:rule="has(self.days) != has(self.date)",message="a transition has either days or a date"
type S3Transition struct {
	// Days since the object was created.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Days *int32 `json:"days,omitempty"`
	// Date, such as 2030-01-31, at whose beginning in UTC the objects move.
	// +optional
	// +kubebuilder:validation:Format=date
	Date string `json:"date,omitempty"`
	// StorageClass to move to.
	// +kubebuilder:validation:Enum=GLACIER;DEEP_ARCHIVE;INTELLIGENT_TIERING;STANDARD_IA;ONEZONE_IA;GLACIER_IR
	StorageClass string `json:"storageClass"`
}

// S3NoncurrentVersionTransition moves old versions of objects.
type S3NoncurrentVersionTransition struct {
	// NoncurrentDays since the version was replaced.
	// +kubebuilder:validation:Minimum=0
	NoncurrentDays int32 `json:"noncurrentDays"`
	// NewerNoncurrentVersions is the number of newest noncurrent versions that stay in their storage class; absent means
	// none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	NewerNoncurrentVersions *int32 `json:"newerNoncurrentVersions,omitempty"`
	// StorageClass to move to.
	// +kubebuilder:validation:Enum=GLACIER;DEEP_ARCHIVE;INTELLIGENT_TIERING;STANDARD_IA;ONEZONE_IA;GLACIER_IR
	StorageClass string `json:"storageClass"`
}

// S3CORSRule is one rule of the bucket's CORS configuration.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/ManageCorsUsing.html
type S3CORSRule struct {
	// ID names the rule; absent leaves the ID of an equal rule as it is in AWS.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ID string `json:"id,omitempty"`
	// AllowedOrigins, such as https://www.example.com, each with one * at most.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^[^*]*[*]?[^*]*$`
	AllowedOrigins []string `json:"allowedOrigins"`
	// AllowedMethods are the HTTP methods that the origins may use.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum=GET;PUT;HEAD;POST;DELETE
	AllowedMethods []string `json:"allowedMethods"`
	// AllowedHeaders are the headers that a preflight request may ask for, each with one * at most; absent means
	// none.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[^*]*[*]?[^*]*$`
	AllowedHeaders []string `json:"allowedHeaders,omitempty"`
	// ExposeHeaders are the headers of an answer that scripts may read; absent means none.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=256
	ExposeHeaders []string `json:"exposeHeaders,omitempty"`
	// MaxAgeSeconds is the time for which a browser may remember the answer to a preflight request; absent leaves that to
	// the browser.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxAgeSeconds *int32 `json:"maxAgeSeconds,omitempty"`
}

// S3Logging says where the access logs go. Grants and the format of the names of logs stay as they are in AWS.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerLogs.html
// +kubebuilder:validation:XValidation:rule="!has(self.targetBucket) || !has(self.targetBucketRef)",message="targetBucket and targetBucketRef exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.targetPrefix) || has(self.targetBucket) || has(self.targetBucketRef)",message="targetPrefix needs targetBucket or targetBucketRef"
type S3Logging struct {
	// TargetBucket is the name of the bucket that receives the logs, in the same account and region. Its policy must
	// let logging.s3.amazonaws.com put objects.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	TargetBucket string `json:"targetBucket,omitempty" names:"s3:bucket"`
	// TargetBucketRef names an S3Bucket of the namespace, instead of targetBucket.
	// +optional
	TargetBucketRef *ObjectReference `json:"targetBucketRef,omitempty"`
	// TargetPrefix begins the keys of the logs; absent means that they have no prefix.
	// +optional
	// +kubebuilder:validation:MaxLength=800
	TargetPrefix string `json:"targetPrefix,omitempty"`
}

// S3Notification says which events S3 sends where. Each list is managed alone.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventNotifications.html
type S3Notification struct {
	// EventBridge sends all events of the bucket to Amazon EventBridge; false ends that. Absent: this stays as it is
	// in AWS.
	// +optional
	EventBridge *bool `json:"eventBridge,omitempty"`
	// Queues receive events. [] removes all of them, also those that were set elsewhere. Absent: they stay as they are
	// in AWS.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=id
	Queues *[]S3QueueNotification `json:"queues,omitempty"`
	// Topics receive events. [] removes all of them, also those that were set elsewhere. Absent: they stay as they are
	// in AWS.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=id
	Topics *[]S3TopicNotification `json:"topics,omitempty"`
	// LambdaFunctions receive events. [] removes all of them, also those that were set elsewhere. Absent: they stay as
	// they are in AWS.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=id
	LambdaFunctions *[]S3LambdaFunctionNotification `json:"lambdaFunctions,omitempty"`
}

// S3NotificationEvents says which events are sent.
type S3NotificationEvents struct {
	// ID names the notification, unique in the bucket.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ID string `json:"id"`
	// Events to send, such as s3:ObjectCreated:*.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^s3:[A-Za-z]+(:([A-Za-z]+|[*]))?$`
	Events []string `json:"events"`
	// FilterPrefix limits the events to objects whose keys begin with it; absent means all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	FilterPrefix string `json:"filterPrefix,omitempty"`
	// FilterSuffix limits the events to objects whose keys end with it; absent means all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	FilterSuffix string `json:"filterSuffix,omitempty"`
}

// S3QueueNotification sends events to a queue. The policy of the queue must allow s3.amazonaws.com to send messages.
// +kubebuilder:validation:XValidation:rule="has(self.queueArn) != has(self.queueRef)",message="a notification needs exactly one of queueArn and queueRef"
type S3QueueNotification struct {
	S3NotificationEvents `json:",inline"`
	// QueueARN is the ARN of a standard queue in the region of the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:sqs:`
	QueueARN string `json:"queueArn,omitempty" names:"arn"`
	// QueueRef names an SQSQueue of the same namespace instead.
	// +optional
	QueueRef *ObjectReference `json:"queueRef,omitempty"`
}

// S3TopicNotification sends events to a topic. The policy of the topic must allow s3.amazonaws.com to publish.
// +kubebuilder:validation:XValidation:rule="has(self.topicArn) != has(self.topicRef)",message="a notification needs exactly one of topicArn and topicRef"
type S3TopicNotification struct {
	S3NotificationEvents `json:",inline"`
	// TopicARN is the ARN of a standard topic in the region of the bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:sns:`
	TopicARN string `json:"topicArn,omitempty" names:"arn"`
	// TopicRef names an SNSTopic of the same namespace instead.
	// +optional
	TopicRef *ObjectReference `json:"topicRef,omitempty"`
}

// S3LambdaFunctionNotification sends events to a function. The policy of the function must allow s3.amazonaws.com to
// invoke it.
type S3LambdaFunctionNotification struct {
	S3NotificationEvents `json:",inline"`
	// LambdaFunctionARN is the ARN of a function in the region of the bucket.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:lambda:`
	LambdaFunctionARN string `json:"lambdaFunctionArn" names:"arn"`
}

// S3ObjectLock is the object lock of the bucket.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html
// +kubebuilder:validation:XValidation:rule="self.enabled || !has(self.defaultRetention) || !has(self.defaultRetention.mode)",message="defaultRetention needs enabled: true"
type S3ObjectLock struct {
	// Enabled turns object lock on: with the bucket, which then has versioning, or later where versioning is enabled.
	// S3 never turns it off.
	// +kubebuilder:validation:XValidation:rule="self || !oldSelf",message="enabled: object lock cannot be turned off"
	Enabled bool `json:"enabled"`
	// DefaultRetention locks new versions for a time. Absent: it stays as it is in AWS; {} removes it.
	// +optional
	DefaultRetention *S3DefaultRetention `json:"defaultRetention,omitempty"`
}

// S3DefaultRetention locks each new version for a time.
// +kubebuilder:validation:XValidation:rule="!has(self.days) || !has(self.years)",message="defaultRetention has either days or years"
// +kubebuilder:validation:XValidation:rule="has(self.mode) == (has(self.days) || has(self.years))",message="defaultRetention needs a mode, and days or years"
type S3DefaultRetention struct {
	// Mode GOVERNANCE lets users with a special right delete locked versions; COMPLIANCE lets none.
	// +optional
	// +kubebuilder:validation:Enum=GOVERNANCE;COMPLIANCE
	Mode string `json:"mode,omitempty"`
	// Days of the retention.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=36500
	Days int32 `json:"days,omitempty"`
	// Years of the retention.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Years int32 `json:"years,omitempty"`
}

// S3Website says what the website endpoint of the bucket answers. Routing rules stay as they are in AWS.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/WebsiteHosting.html
// +kubebuilder:validation:XValidation:rule="!has(self.redirectAllRequestsTo) || !has(self.indexDocument) && !has(self.errorDocument)",message="redirectAllRequestsTo excludes indexDocument and errorDocument"
// +kubebuilder:validation:XValidation:rule="!has(self.errorDocument) || has(self.indexDocument)",message="errorDocument needs indexDocument"
type S3Website struct {
	// IndexDocument is the name of the object that answers for a directory, such as index.html.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^[^/]+$`
	IndexDocument string `json:"indexDocument,omitempty"`
	// ErrorDocument is the key of the object that answers failed requests; absent means a page of S3.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	ErrorDocument string `json:"errorDocument,omitempty"`
	// RedirectAllRequestsTo redirects all requests to another host. Routing rules of the bucket are then removed.
	// +optional
	RedirectAllRequestsTo *S3WebsiteRedirect `json:"redirectAllRequestsTo,omitempty"`
}

// S3WebsiteRedirect is the host to which all requests are redirected.
type S3WebsiteRedirect struct {
	// HostName, such as www.example.com.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	HostName string `json:"hostName"`
	// Protocol of the redirection; absent means that of the request.
	// +optional
	// +kubebuilder:validation:Enum=http;https
	Protocol string `json:"protocol,omitempty"`
}

// S3Replication copies new objects to other buckets. The bucket and the destination buckets need versioning.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication.html
// +kubebuilder:validation:XValidation:rule="[has(self.roleArn), has(self.roleRef)].filter(x, x).size() == (has(self.rules) ? 1 : 0)",message="replication needs rules and exactly one of roleArn and roleRef; {} removes all rules"
// +kubebuilder:validation:XValidation:rule="!has(self.rules) || self.rules.all(r, self.rules.exists_one(o, (has(o.priority) ? o.priority : 0) == (has(r.priority) ? r.priority : 0)))",message="two rules have the same priority: give each rule another one"
type S3Replication struct {
	// RoleARN is the ARN of the role that S3 assumes to replicate objects. Its trust policy must allow s3.amazonaws.com to
	// assume it. It must lie under the provider's rolePathPrefix, and a provider with a permissionsBoundaryARN allows none:
	// use roleRef instead.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:iam::[0-9]{12}:role/`
	RoleARN string `json:"roleArn,omitempty" names:"iam:role"`
	// RoleRef names an IAMRole of the same namespace instead; one that only observes a role cannot be used.
	// +optional
	RoleRef *ObjectReference `json:"roleRef,omitempty"`
	// Rules say which objects are copied where; rules that were set elsewhere are removed.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=id
	Rules []S3ReplicationRule `json:"rules,omitempty"`
}

// S3ReplicationRule copies some objects to one bucket. The replication of changes to replicas stays as it is in AWS.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication-add-config.html
// +kubebuilder:validation:XValidation:rule="!has(self.tags) || size(self.tags) == 0 || !has(self.replicateDeleteMarkers) || !self.replicateDeleteMarkers",message="a rule with tags cannot have replicateDeleteMarkers"
type S3ReplicationRule struct {
	// ID is the rule's name, unique in the bucket.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ID string `json:"id"`
	// Enabled turns the rule on or off.
	Enabled bool `json:"enabled"`
	// Priority decides between rules for the same objects and destination: the highest number wins. Each rule has another
	// one. Absent: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Priority int32 `json:"priority,omitempty"`
	// Prefix of the keys the rule is for; absent means all.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Prefix string `json:"prefix,omitempty"`
	// Tags limit the rule to objects that have all of them; absent means that objects need none.
	// +optional
	// +kubebuilder:validation:MaxProperties=10
	// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) >= 1 && size(k) <= 128)",message="the key of an object's tag has 1 to 128 characters"
	Tags map[string]TagValue `json:"tags,omitempty"`
	// ReplicateDeleteMarkers copies delete markers, too. Absent: false.
	// +optional
	ReplicateDeleteMarkers bool `json:"replicateDeleteMarkers,omitempty"`
	// Destination of the copies.
	Destination S3ReplicationDestination `json:"destination"`
}

// S3ReplicationDestination says where copies of objects go. Replication time control, metrics and the owner of replicas stay
// as they are in AWS.
// +kubebuilder:validation:XValidation:rule="has(self.bucketArn) != has(self.bucketRef)",message="a destination needs exactly one of bucketArn and bucketRef"
type S3ReplicationDestination struct {
	// BucketARN is the ARN of a bucket with versioning, of any region and account. A bucket of another account needs a
	// policy that lets the role replicate objects. Of two buckets that replicate to each other, at least one must name the
	// other by its ARN: references would wait for each other.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:s3:::[a-z0-9][a-z0-9.-]+[a-z0-9]$`
	BucketARN string `json:"bucketArn,omitempty" names:"arn"`
	// BucketRef names an S3Bucket of the same namespace instead.
	// +optional
	BucketRef *ObjectReference `json:"bucketRef,omitempty"`
	// StorageClass of the copies; absent means that of the object.
	// +optional
	// +kubebuilder:validation:Enum=STANDARD;REDUCED_REDUNDANCY;STANDARD_IA;ONEZONE_IA;INTELLIGENT_TIERING;GLACIER;DEEP_ARCHIVE;GLACIER_IR
	StorageClass string `json:"storageClass,omitempty"`
	// KMSKeyARN is the ARN of the KMS key that encrypts copies of objects that are encrypted with KMS, in the region of
	// the destination bucket. Absent: such objects are not copied.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[^:]+:kms:`
	KMSKeyARN string `json:"kmsKeyArn,omitempty" names:"kms:key"`
}

// S3PublicAccessBlock is the four switches of the bucket's public access block.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
type S3PublicAccessBlock struct {
	// BlockPublicAcls refuses new public ACLs.
	// +optional
	BlockPublicAcls bool `json:"blockPublicAcls,omitempty"`
	// IgnorePublicAcls ignores existing public ACLs.
	// +optional
	IgnorePublicAcls bool `json:"ignorePublicAcls,omitempty"`
	// BlockPublicPolicy refuses public bucket policies.
	// +optional
	BlockPublicPolicy bool `json:"blockPublicPolicy,omitempty"`
	// RestrictPublicBuckets limits buckets with public policies to AWS services and the account.
	// +optional
	RestrictPublicBuckets bool `json:"restrictPublicBuckets,omitempty"`
}

// S3BucketStatus reports the bucket.
type S3BucketStatus struct {
	CommonStatus `json:",inline"`
	// Region the bucket lives in.
	// +optional
	Region string `json:"region,omitempty"`
	// BucketDomainName is the bucket's virtual-hosted name.
	// +optional
	BucketDomainName string `json:"bucketDomainName,omitempty"`
}

// S3Bucket is an S3 bucket.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=s3,categories={nexus,aws}
// +kubebuilder:printcolumn:name="Bucket",type=string,JSONPath=`.spec.bucketName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Region",type=string,priority=1,JSONPath=`.status.region`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 150",message="metadata.name has at most 150 characters"
type S3Bucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec S3BucketSpec `json:"spec"`
	// +kubebuilder:default={"observedGeneration":-1}
	Status S3BucketStatus `json:"status,omitempty"`
}

// CommonSpec implements Resource.
func (o *S3Bucket) CommonSpec() *CommonSpec { return &o.Spec.CommonSpec }

// CommonStatus implements Resource.
func (o *S3Bucket) CommonStatus() *CommonStatus { return &o.Status.CommonStatus }

// RecreatesOnLoss reports whether what vanished is created again, empty.
func (o *S3Bucket) RecreatesOnLoss() bool { return o.Spec.RecreateOnLoss }

// S3BucketList is a list of S3Bucket.
// +kubebuilder:object:root=true
type S3BucketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []S3Bucket `json:"items"`
}
