// SPDX-License-Identifier: Apache-2.0

// Package s3 holds the emulator's facts and corrections for Amazon S3.
package s3

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

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of buckets that moto lacks.
type Service struct {
	proxy.Base
	system    map[string][]bucketTag // bucket → its tags that only AWS may change
	abac      map[string]bool        // bucket → it has attribute-based access control
	untagged  map[string]bool        // buckets that were made after one of their name was deleted, and that were given no tags
	documents map[documentKey][]byte // configurations of buckets, as they were sent
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "s3",
		IsGlobal: true,
		Requests: proxy.RequestFacts{SigningNames: []string{"s3express"}, REST: proxy.ProtocolS3, Decode: decodeS3, IsAnonymous: true,
			MaxSkew: 15 * time.Minute},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{"": {Status: http.StatusNotFound, Code: "NoSuchBucket",
				Message: "The specified bucket does not exist"}},
			Throttled: proxy.Error{Status: http.StatusServiceUnavailable, Code: "SlowDown", Message: "Please reduce your request rate."},
		},
		Writes: proxy.WriteFacts{
			TagReads: []proxy.TagRead{
				{Op: "GetBucketTagging", Where: "TagSet", None: proxy.Error{Status: http.StatusNotFound, Code: "NoSuchTagSet",
					Message: "The TagSet does not exist"}},
				{Op: "ListTagsForResource", Where: "Tags"},
			},
			InTurn:    []string{"TagResource", "UntagResource", "PutBucketTagging", "DeleteBucketTagging"},
			Documents: []string{"GetBucketPolicy"},
		},
		CheckName: checkBucketName,
		Rights: proxy.RightFacts{
			Action: func(op string) string { return cmp.Or(s3Actions[op], op) },
			Evaluated: func(q *proxy.Asker) string {
				if other := objectActions[q.X.Op]; other != "" {
					return "s3:" + other
				}
				return ""
			},
			RequestTags: func(d *proxy.Request) map[string]string {
				tags := map[string]string{}
				for _, m := range tagInXML.FindAllSubmatch(d.Body, -1) {
					tags[string(m[1])] = string(m[2])
				}
				return tags
			},
			Namings: map[string]proxy.Naming{
				"s3 *":   {Names: namedBuckets},
				"s3 */*": {Names: func(q *proxy.Asker) []string { return []string{q.X.Bucket + "/" + q.X.Key} }},
			},
			NotNamed: map[string]string{
				"s3:TagResource s3 access-grants/default":   "the request names the ARN of a bucket",
				"s3:UntagResource s3 access-grants/default": "the request names the ARN of a bucket",
			},
			Dependents: []proxy.Dependent{
				proxy.Tagging("s3:CreateBucket", "s3:TagResource", "s3 *"),
				{Action: "s3:PutReplicationConfiguration", Needs: "iam:PassRole", With: "<Role>", On: func(q *proxy.Asker) []policy.Demand {
					return []policy.Demand{iam.Passes(q, proxy.FirstMatch(roleElement, q.X.Body), "s3")}
				}},
				{Action: "s3:*", Needs: kms.Rights, On: keyOfObjects, Page: proxy.UsersOfKeys},
				{Action: "s3:DeleteObjectVersion", Needs: "s3:DeleteObject", On: deletedObjects,
					Page: "the text of DeleteObjects: always the right to delete objects, and that to versions"},
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "s3/bucket", Global: true, List: listBuckets}},
		Rewrites: []proxy.Rewrite{
			{Kind: "S3Bucket", Field: "policy", What: proxy.RewrittenPolicy + "; canonical users become ARNs",
				Ops: []string{"GetBucketPolicy"}, Text: proxy.RewritePolicy},
			{Kind: "S3Bucket", Field: "lifecycleRules", What: "rules get another order", IsRecorded: true,
				Ops: []string{"GetBucketLifecycleConfiguration"}, Text: proxy.ReverseElements(lifecycleRule)},
		},
		UnsetErrors: map[string]proxy.Error{"GetBucketMetadataConfiguration": {Status: http.StatusNotFound, Code: "MetadataConfigurationNotFound",
			Message: "The metadata configuration does not exist"}},
		Events: proxy.EventFacts{Data: []string{"PutObject", "DeleteObject", "DeleteObjects"}},
	}
}

var (
	tagInXML      = regexp.MustCompile(`<Tag><Key>([^<]*)</Key><Value>([^<]*)</Value></Tag>`)
	lifecycleRule = regexp.MustCompile(`(?s)<Rule>.*?</Rule>`)
	objectKey     = regexp.MustCompile(`<Key>([^<]*)</Key>(<VersionId>)?`)
	masterKey     = regexp.MustCompile(`<KMSMasterKeyID>([^<]*)</KMSMasterKeyID>`)
	roleElement   = regexp.MustCompile(`<Role>([^<]*)</Role>`)
)

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
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

// Reset forgets the state.
func (s *Service) Reset() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.untagged, s.abac = map[string]bool{}, map[string]bool{}
	s.system, s.documents = map[string][]bucketTag{}, map[documentKey][]byte{}
}

// checkBucketName refuses names of buckets that S3 refuses and moto accepts.
func checkBucketName(x *proxy.Exchange) *proxy.Answer {
	switch {
	case x.Op != "CreateBucket":
		return nil
	case !validBucket(x.Bucket):
		return x.Refuse(http.StatusBadRequest, "InvalidBucketName", "The specified bucket is not valid.")
	case accountRegional.MatchString(x.Bucket) && x.HTTP.Header.Get("X-Amz-Bucket-Namespace") != "account-regional":
		return x.Refuse(http.StatusBadRequest, "MissingNamespaceHeader", "The x-amz-bucket-namespace header is required for this bucket name")
	}
	return nil
}

// noteExistingBucket: in us-east-1 creating one's own bucket again succeeds. It only resets the access control list.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html
func (s *Service) noteExistingBucket(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if x.Region != "us-east-1" {
		return nil // BucketAlreadyOwnedByYou
	}
	if a, err := s.Ask(ctx, x, http.MethodHead, "/"+x.Bucket, http.Header{}, nil); err == nil {
		x.Existed = a.Status == http.StatusOK
	}
	return nil
}

// refuseTakenName: moto denies the creation of a bucket that another account has as it denies each use of it.
func (s *Service) refuseTakenName(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if a.Status != http.StatusForbidden {
		return a
	}
	if head, err := s.Ask(ctx, x, http.MethodHead, "/"+x.Bucket, http.Header{}, nil); err != nil || head.Status != http.StatusForbidden {
		return a // the caller has no right to create buckets
	}
	return x.Refuse(http.StatusConflict, "BucketAlreadyExists",
		"The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.")
}

const xmlns = `xmlns="http://s3.amazonaws.com/doc/2006-03-01/"`

// disableACLs: moto leaves new buckets without ownership control, and changes that of a bucket that exists; AWS has disabled ACLs
// of new buckets since April 2023.
func (s *Service) disableACLs(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	const ownership = "X-Amz-Object-Ownership"
	switch {
	case x.Existed:
		x.HTTP.Header.Del(ownership)
	case x.HTTP.Header.Get(ownership) == "":
		x.HTTP.Header.Set(ownership, "BucketOwnerEnforced")
	}
	return nil
}

// finishBucket: moto ignores the tags of CreateBucket and leaves new buckets open to public access, which AWS has blocked since April
// 2023. It keeps the access control list of a bucket that exists.
func (s *Service) finishBucket(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	switch {
	case a.Status >= 300:
		return a
	case x.Existed:
		if _, err := s.Ask(ctx, x, http.MethodPut, "/"+x.Bucket+"?acl", http.Header{"X-Amz-Acl": {"private"}}, nil); err != nil {
			return proxy.ProxyError(x, err)
		}
		return a
	}
	settings := []struct{ sub, body string }{
		{"publicAccessBlock", "<PublicAccessBlockConfiguration " + xmlns +
			"><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>" +
			"<BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>"},
	}
	if tags := createBucketTags(x.Body); tags != "" {
		settings = append(settings, struct{ sub, body string }{"tagging", tags})
	}
	for _, setting := range settings {
		put, err := s.Ask(ctx, x, http.MethodPut, "/"+x.Bucket+"?"+setting.sub, http.Header{"Content-Type": {"application/xml"}},
			[]byte(setting.body))
		if err != nil || put.Status >= 300 {
			return x.Refuse(http.StatusInternalServerError, "ProxyError", fmt.Sprintf("setting %s of a new bucket: %v %v", setting.sub, put, err))
		}
		if setting.sub == "tagging" {
			s.setUntagged(x.Bucket, false)
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
		fmt.Fprintf(&b, "<Tag><Key>%s</Key><Value>%s</Value></Tag>", proxy.Escape(tag.Key), proxy.Escape(tag.Value))
	}
	b.WriteString("</TagSet></Tagging>")
	return b.String()
}

// defaultEncryption: every bucket is encrypted with SSE-S3 unless told
// otherwise (since January 2023); moto says that nothing is configured.
func (s *Service) defaultEncryption(_ context.Context, _ *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if a.Status != http.StatusNotFound || proxy.ErrorCode(a) != "ServerSideEncryptionConfigurationNotFoundError" {
		return a
	}
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/xml"},
		"X-Amz-Request-Id": {proxy.RequestID}}, Body: []byte(
		`<?xml version="1.0" encoding="UTF-8"?><ServerSideEncryptionConfiguration ` + xmlns + `><Rule><ApplyServerSideEncryptionByDefault>` +
			`<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BucketKeyEnabled>false</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>`)}
}

// writtenPolicy is a policy of a bucket as moto keeps it: the statements that it enforces, and the policy as written.
type writtenPolicy struct {
	Statement []map[string]any
	Written   []byte `json:",omitempty"`
}

// hideConditions: moto reads a statement with a condition as a Deny, whether the condition holds or not. No condition holds
// for the requests of the tests, so that moto gets the policy without such statements.
func (s *Service) hideConditions(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	policy := writtenPolicy{Written: x.Body}
	if json.Unmarshal(x.Body, &policy) != nil {
		return nil // one statement alone is no list: the operator writes none
	}
	policy.Statement = slices.DeleteFunc(policy.Statement, func(s map[string]any) bool { return s["Condition"] != nil })
	body, err := json.Marshal(policy)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	x.Body = body
	return nil
}

// showConditions shows the policy that was written.
func (s *Service) showConditions(_ context.Context, _ *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	var policy writtenPolicy
	if !a.OK() || json.Unmarshal(a.Body, &policy) != nil || policy.Written == nil {
		return a
	}
	return a.WithBody(policy.Written)
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

func listBuckets(ctx context.Context, l *proxy.Lister) ([]string, error) {
	body, err := l.Send(ctx, "s3", http.MethodGet, "", "", nil)
	var names []string
	for _, m := range bucketName.FindAllSubmatch(body, -1) {
		names = append(names, string(m[1]))
	}
	return names, err
}

// objectActions are the actions of operations on objects.
var objectActions = map[string]string{"HeadObject": "GetObject", "CreateMultipartUpload": "PutObject", "UploadPart": "PutObject",
	"CompleteMultipartUpload": "PutObject", "CopyObject": "PutObject", "ListParts": "ListMultipartUploadParts"}

// keyOfObjects returns the rights that the key of a bucket takes for its objects.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func keyOfObjects(q *proxy.Asker) []policy.Demand {
	uses := map[string][]string{"s3:GetObject": {"kms:Decrypt"}, "s3:PutObject": {"kms:GenerateDataKey"}}[q.Action]
	if len(uses) == 0 || q.X.Key == "" {
		return nil
	}
	body, err := q.Inside().Get(q.Ctx, "s3", "/"+q.X.Bucket+"?encryption")
	if err != nil {
		return nil
	}
	return kms.Through(q, "s3", proxy.FirstMatch(masterKey, body),
		map[string]string{"kms:EncryptionContext:aws:s3:arn": "arn:" + q.Partition() + ":s3:::" + q.X.Bucket}, uses...)
}

// deletedObjects are the demands of DeleteObjects beside that for versions.
func deletedObjects(q *proxy.Asker) []policy.Demand {
	var out []policy.Demand
	for _, m := range objectKey.FindAllSubmatch(q.X.Body, -1) {
		arn := "arn:" + q.Partition() + ":s3:::" + q.X.Bucket + "/" + string(m[1])
		out = append(out, q.Need("s3:DeleteObject", arn, nil))
		if len(m[2]) > 0 {
			out = append(out, q.Need("s3:DeleteObjectVersion", arn, nil))
		}
	}
	return out
}

func namedBuckets(q *proxy.Asker) []string {
	return []string{cmp.Or(q.X.Bucket, q.X.Resource)} // of the control API: the resource
}

// s3Actions are the operations of S3 that have an IAM action with another name:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html
var s3Actions = map[string]string{
	"GetBucketEncryption": "GetEncryptionConfiguration", "PutBucketEncryption": "PutEncryptionConfiguration",
	"GetPublicAccessBlock": "GetBucketPublicAccessBlock", "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
	"GetBucketLifecycleConfiguration": "GetLifecycleConfiguration", "PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
	"DeleteBucketLifecycle": "PutLifecycleConfiguration", "ListObjectVersions": "ListBucketVersions", "ListBuckets": "ListAllMyBuckets",
	"DeleteObjects": "DeleteObjectVersion", "HeadBucket": "ListBucket",
	"GetBucketNotificationConfiguration": "GetBucketNotification", "PutBucketNotificationConfiguration": "PutBucketNotification",
	"GetObjectLockConfiguration": "GetBucketObjectLockConfiguration", "PutObjectLockConfiguration": "PutBucketObjectLockConfiguration",
	"GetBucketReplication": "GetReplicationConfiguration", "PutBucketReplication": "PutReplicationConfiguration",
	"DeleteBucketReplication": "PutReplicationConfiguration",
	"ListObjects":             "ListBucket", "ListObjectsV2": "ListBucket", "ListMultipartUploads": "ListBucketMultipartUploads",
	"GetBucketAccelerateConfiguration": "GetAccelerateConfiguration", "GetBucketMetadataConfiguration": "GetBucketMetadataTableConfiguration",
	"ListBucketAnalyticsConfigurations":          "GetAnalyticsConfiguration",
	"ListBucketIntelligentTieringConfigurations": "GetIntelligentTieringConfiguration",
	"ListBucketInventoryConfigurations":          "GetInventoryConfiguration", "ListBucketMetricsConfigurations": "GetMetricsConfiguration",
	"GetBucketCors": "GetBucketCORS", "PutBucketCors": "PutBucketCORS", "DeleteBucketCors": "PutBucketCORS",
}
