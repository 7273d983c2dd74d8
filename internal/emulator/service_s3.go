// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// s3Service holds what moto does not know of buckets.
type s3Service struct {
	base
	system    map[string][]bucketTag // bucket → its tags that only AWS may change
	abac      map[string]bool        // bucket → it has attribute-based access control
	untagged  map[string]bool        // buckets that were made after one of their name was deleted, and that were given no tags
	documents map[documentKey][]byte // configurations of buckets, as they were sent
}

func (s *s3Service) Facts() *Facts {
	return &Facts{
		Prefix:   "s3",
		IsGlobal: true,
		Requests: RequestFacts{SigningNames: []string{"s3express"}, REST: protocolS3, Decode: decodeS3, IsAnonymous: true, MaxSkew: 15 * time.Minute},
		Errors: ErrorFacts{
			Missing:   map[string]awsError{"": {http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"}},
			Throttled: awsError{http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate."},
		},
		Writes: WriteFacts{
			TagReads: []tagRead{
				{op: "GetBucketTagging", where: "TagSet", none: awsError{http.StatusNotFound, "NoSuchTagSet", "The TagSet does not exist"}},
				{op: "ListTagsForResource", where: "Tags"},
			},
			InTurn:    []string{"TagResource", "UntagResource", "PutBucketTagging", "DeleteBucketTagging"},
			Documents: []string{"GetBucketPolicy"},
		},
		CheckName: checkBucketName,
		Rights: RightFacts{
			Action: func(op string) string { return cmp.Or(s3Actions[op], op) },
			Evaluated: func(q *asker) string {
				if other := objectActions[q.x.op]; other != "" {
					return "s3:" + other
				}
				return ""
			},
			RequestTags: func(d *request) map[string]string {
				tags := map[string]string{}
				for _, m := range tagInXML.FindAllSubmatch(d.body, -1) {
					tags[string(m[1])] = string(m[2])
				}
				return tags
			},
			Namings: map[string]naming{
				"s3 *":   {names: namedBuckets},
				"s3 */*": {names: func(q *asker) []string { return []string{q.x.bucket + "/" + q.x.key} }},
			},
			NotNamed: map[string]string{
				"s3:TagResource s3 access-grants/default":   "the request names the ARN of a bucket",
				"s3:UntagResource s3 access-grants/default": "the request names the ARN of a bucket",
			},
			Dependents: []dependent{
				tagging("s3:CreateBucket", "s3:TagResource", "s3 *"),
				{action: "s3:PutReplicationConfiguration", needs: "iam:PassRole", with: "<Role>", on: func(q *asker) []demand {
					return []demand{passes(q, firstMatch(roleElement, q.x.body), "s3")}
				}},
				{action: "s3:*", needs: "kms", on: keyOfObjects, page: usersOfKeys},
				{action: "s3:DeleteObjectVersion", needs: "s3:DeleteObject", on: deletedObjects, page: "the text of DeleteObjects: always the right to delete objects, and that to versions"},
			},
		},
		Inventory: []inventoryKind{{"s3/bucket", true, listBuckets}},
		Rewrites: []Rewrite{
			{Kind: "S3Bucket", Field: "policy", What: rewrittenPolicy + "; canonical users become ARNs", ops: []string{"GetBucketPolicy"}, text: rewritePolicy},
			{Kind: "S3Bucket", Field: "lifecycleRules", What: "rules get another order", isRecorded: true, ops: []string{"GetBucketLifecycleConfiguration"}, text: reverseElements(lifecycleRule)},
		},
		UnsetErrors: map[string]awsError{"GetBucketMetadataConfiguration": {http.StatusNotFound, "MetadataConfigurationNotFound", "The metadata configuration does not exist"}},
		Events:      EventFacts{Data: []string{"PutObject", "DeleteObject", "DeleteObjects"}},
	}
}

var (
	tagInXML      = regexp.MustCompile(`<Tag><Key>([^<]*)</Key><Value>([^<]*)</Value></Tag>`)
	lifecycleRule = regexp.MustCompile(`(?s)<Rule>.*?</Rule>`)
	objectKey     = regexp.MustCompile(`<Key>([^<]*)</Key>(<VersionId>)?`)
	masterKey     = regexp.MustCompile(`<KMSMasterKeyID>([^<]*)</KMSMasterKeyID>`)
	roleElement   = regexp.MustCompile(`<Role>([^<]*)</Role>`)
)

func (s *s3Service) Corrections() []Correction {
	return []Correction{
		{Name: "bucket exists already", Ops: []string{"CreateBucket"}, Before: s.noteExistingBucket},
		{Name: "bucket of another account", Ops: []string{"CreateBucket"}, After: s.refuseTakenName},
		{Name: "defaults and tags of new buckets", Ops: []string{"CreateBucket"}, Before: s.disableACLs, After: s.finishBucket},
		{Name: "tags of deleted buckets", Ops: []string{"DeleteBucket", "PutBucketTagging", "GetBucketTagging"}, After: s.hideOldTags},
		{Name: "access control by tags of buckets", Ops: []string{"GetBucketAbac", "PutBucketAbac"}, Before: s.controlAccessByTags},
		{Name: "access control by tags of buckets", Ops: []string{"PutBucketTagging"}, Before: s.refuseTagging},
		{Name: "access control by tags of buckets", Ops: []string{"TagResource", "UntagResource"}, Before: s.tagBucket},
		{Name: "system tags of buckets", Ops: []string{"PutBucketTagging"}, Before: s.checkSystemTags},
		{Name: "system tags of buckets", Ops: []string{"GetBucketTagging"}, After: s.addSystemTags},
		{Name: "default encryption", Ops: []string{"GetBucketEncryption"}, After: s.defaultEncryption},
		{Name: "conditions in policies of buckets", Ops: []string{"PutBucketPolicy"}, Before: s.hideConditions},
		{Name: "conditions in policies of buckets", Ops: []string{"GetBucketPolicy"}, After: s.showConditions},
		{Name: "replication that S3 refuses", Ops: []string{"PutBucketReplication"}, Before: s.refuseReplication},
		{Name: "replication that S3 refuses", Ops: []string{"PutBucketVersioning"}, Before: s.refuseSuspension},
		{Name: "configurations of buckets", Ops: documentOps("Put"), After: s.keepDocument},
		{Name: "configurations of buckets", Ops: documentOps("Get"), After: s.showDocument},
		{Name: "configurations of buckets", Ops: []string{"DeleteBucket"}, After: s.forgetDocuments},
	}
}

func (s *s3Service) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.untagged, s.abac = map[string]bool{}, map[string]bool{}
	s.system, s.documents = map[string][]bucketTag{}, map[documentKey][]byte{}
}

// checkBucketName refuses names of buckets that S3 refuses and moto accepts.
func checkBucketName(x *exchange) *answer {
	switch {
	case x.op != "CreateBucket":
		return nil
	case !validBucket(x.bucket):
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidBucketName", "The specified bucket is not valid."})
	case accountRegional.MatchString(x.bucket) && x.http.Header.Get("X-Amz-Bucket-Namespace") != "account-regional":
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "MissingNamespaceHeader", "The x-amz-bucket-namespace header is required for this bucket name"})
	}
	return nil
}

// noteExistingBucket: in us-east-1 creating one's own bucket again succeeds and resets its access control list, and nothing else.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html
func (s *s3Service) noteExistingBucket(ctx context.Context, x *exchange) *answer {
	if x.region != "us-east-1" {
		return nil // BucketAlreadyOwnedByYou
	}
	if a, err := s.ask(ctx, x, http.MethodHead, "/"+x.bucket, http.Header{}, nil); err == nil {
		x.existed = a.status == http.StatusOK
	}
	return nil
}

// refuseTakenName: moto denies the creation of a bucket that another account has as it denies each use of it.
func (s *s3Service) refuseTakenName(ctx context.Context, x *exchange, a *answer) *answer {
	if a.status != http.StatusForbidden {
		return a
	}
	if head, err := s.ask(ctx, x, http.MethodHead, "/"+x.bucket, http.Header{}, nil); err != nil || head.status != http.StatusForbidden {
		return a // the caller has no right to create buckets
	}
	return errorAnswer(x.request, awsError{http.StatusConflict, "BucketAlreadyExists",
		"The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again."})
}

const xmlns = `xmlns="http://s3.amazonaws.com/doc/2006-03-01/"`

// disableACLs: moto leaves new buckets without ownership control, and changes that of a bucket that exists; AWS has disabled ACLs
// of new buckets since April 2023.
func (s *s3Service) disableACLs(_ context.Context, x *exchange) *answer {
	const ownership = "X-Amz-Object-Ownership"
	switch {
	case x.existed:
		x.http.Header.Del(ownership)
	case x.http.Header.Get(ownership) == "":
		x.http.Header.Set(ownership, "BucketOwnerEnforced")
	}
	return nil
}

// finishBucket: moto ignores the tags of CreateBucket and leaves new buckets open to public access, which AWS has blocked since April
// 2023. It keeps the access control list of a bucket that exists.
func (s *s3Service) finishBucket(ctx context.Context, x *exchange, a *answer) *answer {
	switch {
	case a.status >= 300:
		return a
	case x.existed:
		if _, err := s.ask(ctx, x, http.MethodPut, "/"+x.bucket+"?acl", http.Header{"X-Amz-Acl": {"private"}}, nil); err != nil {
			return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
		}
		return a
	}
	settings := []struct{ sub, body string }{
		{"publicAccessBlock", "<PublicAccessBlockConfiguration " + xmlns + "><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>" +
			"<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>"},
	}
	if tags := createBucketTags(x.body); tags != "" {
		settings = append(settings, struct{ sub, body string }{"tagging", tags})
	}
	for _, setting := range settings {
		put, err := s.ask(ctx, x, http.MethodPut, "/"+x.bucket+"?"+setting.sub, http.Header{"Content-Type": {"application/xml"}}, []byte(setting.body))
		if err != nil || put.status >= 300 {
			return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", fmt.Sprintf("setting %s of a new bucket: %v %v", setting.sub, put, err)})
		}
		if setting.sub == "tagging" {
			s.setUntagged(x.bucket, false)
		}
	}
	return a
}

// createBucketTags turns the tags of a CreateBucketConfiguration into the body
// of PutBucketTagging; "" if there are none.
func createBucketTags(body []byte) string {
	var configuration struct {
		Tags []struct{ Key, Value string } `xml:"Tags>Tag"`
	}
	if xml.Unmarshal(body, &configuration) != nil || len(configuration.Tags) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<Tagging " + xmlns + "><TagSet>")
	for _, tag := range configuration.Tags {
		fmt.Fprintf(&b, "<Tag><Key>%s</Key><Value>%s</Value></Tag>", escape(tag.Key), escape(tag.Value))
	}
	b.WriteString("</TagSet></Tagging>")
	return b.String()
}

// defaultEncryption: every bucket is encrypted with SSE-S3 unless told
// otherwise (since January 2023); moto says that nothing is configured.
func (s *s3Service) defaultEncryption(_ context.Context, _ *exchange, a *answer) *answer {
	if a.status != http.StatusNotFound || errorCode(a) != "ServerSideEncryptionConfigurationNotFoundError" {
		return a
	}
	return &answer{http.StatusOK, http.Header{"Content-Type": {"application/xml"}, "X-Amz-Request-Id": {requestID}}, []byte(
		`<?xml version="1.0" encoding="UTF-8"?><ServerSideEncryptionConfiguration ` + xmlns + `><Rule><ApplyServerSideEncryptionByDefault>` +
			`<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`)}
}

// writtenPolicy is a policy of a bucket as moto keeps it: what it is to enforce, and what was written.
type writtenPolicy struct {
	Statement []map[string]any
	Written   []byte `json:",omitempty"`
}

// hideConditions: moto reads a statement with a condition as a Deny, whether the condition holds or not. No condition holds
// for the requests of the tests, so that moto gets the policy without such statements.
func (s *s3Service) hideConditions(_ context.Context, x *exchange) *answer {
	policy := writtenPolicy{Written: x.body}
	if json.Unmarshal(x.body, &policy) != nil {
		return nil // one statement alone is no list: the operator writes none
	}
	policy.Statement = slices.DeleteFunc(policy.Statement, func(s map[string]any) bool { return s["Condition"] != nil })
	body, err := json.Marshal(policy)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	x.body = body
	return nil
}

// showConditions shows the policy that was written.
func (s *s3Service) showConditions(_ context.Context, _ *exchange, a *answer) *answer {
	var policy writtenPolicy
	if !a.ok() || json.Unmarshal(a.body, &policy) != nil || policy.Written == nil {
		return a
	}
	return a.withBody(policy.Written)
}

// accountRegional is the form of the names of the account regional namespace of S3.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/gpbucketnamespaces.html
var accountRegional = regexp.MustCompile(`-[0-9]{12}-[a-z0-9-]+-an$`)

var (
	bucketPattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	addressLike    = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+$`)
	bucketPrefixes = []string{"xn--", "sthree-", "amzn-s3-demo-"}
	bucketSuffixes = []string{"-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"}
)

// validBucket follows "General purpose bucket naming rules" of the S3 guide.
func validBucket(name string) bool {
	if !bucketPattern.MatchString(name) || strings.Contains(name, "..") || addressLike.MatchString(name) {
		return false
	}
	for _, prefix := range bucketPrefixes {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	for _, suffix := range bucketSuffixes {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return true
}

var bucketName = regexp.MustCompile(`<Name>([^<]*)</Name>`)

func listBuckets(ctx context.Context, l *lister) ([]string, error) {
	body, err := l.send(ctx, "s3", http.MethodGet, "", "", nil)
	var names []string
	for _, m := range bucketName.FindAllSubmatch(body, -1) {
		names = append(names, string(m[1]))
	}
	return names, err
}

// objectActions are the actions of operations on objects.
var objectActions = map[string]string{"HeadObject": "GetObject", "CreateMultipartUpload": "PutObject", "UploadPart": "PutObject",
	"CompleteMultipartUpload": "PutObject", "CopyObject": "PutObject", "ListParts": "ListMultipartUploadParts"}

// keyOfObjects returns what the key of a bucket takes for its objects.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func keyOfObjects(q *asker) []demand {
	uses := map[string][]string{"s3:GetObject": {"kms:Decrypt"}, "s3:PutObject": {"kms:GenerateDataKey"}}[q.action]
	if len(uses) == 0 || q.x.key == "" {
		return nil
	}
	body, err := q.inside().get(q.ctx, "s3", "/"+q.x.bucket+"?encryption")
	if err != nil {
		return nil
	}
	return throughKMS(q, "s3", firstMatch(masterKey, body), map[string]string{"kms:EncryptionContext:aws:s3:arn": "arn:" + q.partition() + ":s3:::" + q.x.bucket}, uses...)
}

// deletedObjects are the demands of DeleteObjects beside that for versions.
func deletedObjects(q *asker) []demand {
	var out []demand
	for _, m := range objectKey.FindAllSubmatch(q.x.body, -1) {
		arn := "arn:" + q.partition() + ":s3:::" + q.x.bucket + "/" + string(m[1])
		out = append(out, q.need("s3:DeleteObject", arn, nil))
		if len(m[2]) > 0 {
			out = append(out, q.need("s3:DeleteObjectVersion", arn, nil))
		}
	}
	return out
}

func namedBuckets(q *asker) []string {
	return []string{cmp.Or(q.x.bucket, q.x.resource)} // of the control API: the resource
}

// s3Actions are the operations of S3 whose IAM action has another name:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html
var s3Actions = map[string]string{
	"GetBucketEncryption": "GetEncryptionConfiguration", "PutBucketEncryption": "PutEncryptionConfiguration",
	"GetPublicAccessBlock": "GetBucketPublicAccessBlock", "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
	"GetBucketLifecycleConfiguration": "GetLifecycleConfiguration", "PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
	"DeleteBucketLifecycle": "PutLifecycleConfiguration", "ListObjectVersions": "ListBucketVersions", "ListBuckets": "ListAllMyBuckets",
	"DeleteObjects": "DeleteObjectVersion", "HeadBucket": "ListBucket",
	"GetBucketNotificationConfiguration": "GetBucketNotification", "PutBucketNotificationConfiguration": "PutBucketNotification",
	"GetObjectLockConfiguration": "GetBucketObjectLockConfiguration", "PutObjectLockConfiguration": "PutBucketObjectLockConfiguration",
	"GetBucketReplication": "GetReplicationConfiguration", "PutBucketReplication": "PutReplicationConfiguration", "DeleteBucketReplication": "PutReplicationConfiguration",
	"ListObjects": "ListBucket", "ListObjectsV2": "ListBucket", "ListMultipartUploads": "ListBucketMultipartUploads",
	"GetBucketAccelerateConfiguration": "GetAccelerateConfiguration", "GetBucketMetadataConfiguration": "GetBucketMetadataTableConfiguration",
	"ListBucketAnalyticsConfigurations": "GetAnalyticsConfiguration", "ListBucketIntelligentTieringConfigurations": "GetIntelligentTieringConfiguration",
	"ListBucketInventoryConfigurations": "GetInventoryConfiguration", "ListBucketMetricsConfigurations": "GetMetricsConfiguration",
	"GetBucketCors": "GetBucketCORS", "PutBucketCors": "PutBucketCORS", "DeleteBucketCors": "PutBucketCORS",
}
