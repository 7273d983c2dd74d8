// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// fullRule has everything that fits one rule.
func fullRule(s *spec) {
	s.LifecycleRules = &[]v1alpha1.S3LifecycleRule{{ID: "old", Enabled: true, Prefix: "logs/",
		Tags:                  map[string]v1alpha1.TagValue{"class": "log", "team": "a"},
		ObjectSizeGreaterThan: aws.Int64(1000), ObjectSizeLessThan: aws.Int64(100000), Expiration: &v1alpha1.S3Expiration{Date: "2030-01-31"},
		Transitions:                     []v1alpha1.S3Transition{{Date: "2029-01-31", StorageClass: "GLACIER"}},
		NoncurrentVersionExpirationDays: aws.Int32(90), NewerNoncurrentVersions: aws.Int32(3),
		NoncurrentVersionTransitions: &[]v1alpha1.S3NoncurrentVersionTransition{{NoncurrentDays: 30, NewerNoncurrentVersions: aws.Int32(3),
			StorageClass: "GLACIER_IR"}}}}
}

func with(edits ...func(s *spec)) *v1alpha1.S3Bucket {
	return bucketOf(func(s *spec) {
		for _, edit := range edits {
			edit(s)
		}
	})
}

func cors(s *spec) {
	s.CORSRules = &[]v1alpha1.S3CORSRule{
		{ID: "app", AllowedOrigins: []string{"https://app.example.com"}, AllowedMethods: []string{"PUT", "GET"}, AllowedHeaders: []string{"*"},
			ExposeHeaders: []string{"ETag"}},
		{AllowedOrigins: []string{"*"}, AllowedMethods: []string{"GET"}, MaxAgeSeconds: aws.Int32(60)}}
}

func putCORS(t *testing.T, r *kindtest.Rig, rules []types.CORSRule) {
	t.Helper()
	_, err := api(r).PutBucketCors(t.Context(),
		&s3.PutBucketCorsInput{Bucket: aws.String(name), CORSConfiguration: &types.CORSConfiguration{CORSRules: rules}})
	kindtest.Must(t, err)
}

// logsBucket receives logs.
const logsBucket = "myapp-dev-logs"

const (
	queueARN = "arn:aws:sqs:ap-southeast-1:123456789012:events"
	topicARN = "arn:aws:sns:ap-southeast-1:123456789012:removed"
)

func logging(s *spec) {
	s.Logging = &v1alpha1.S3Logging{TargetBucketRef: &v1alpha1.ObjectReference{Name: "logs"}, TargetPrefix: "calls/"}
}

func keyFormat() *types.TargetObjectKeyFormat {
	return &types.TargetObjectKeyFormat{PartitionedPrefix: &types.PartitionedPrefix{PartitionDateSource: types.PartitionDateSourceEventTime}}
}

// targets makes the resources that the references of a bucket name.
func targets(s *kindtest.Subject) {
	ctx, r := context.Background(), s.Rig
	_, err := api(r).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(logsBucket),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: kindtest.Region}})
	if err == nil {
		_, err = api(r).PutBucketPolicy(ctx,
			&s3.PutBucketPolicyInput{Bucket: aws.String(logsBucket), Policy: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` +
				`"Principal":{"Service":"logging.s3.amazonaws.com"},"Action":["s3:PutObject"],"Resource":"arn:aws:s3:::` + logsBucket + `/*"}]}`)})
	}
	if err == nil {
		_, err = sqs.NewFromConfig(r.Config).CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("events")})
	}
	if err == nil {
		_, err = sns.NewFromConfig(r.Config).CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String("removed")})
	}
	if err != nil {
		panic(err)
	}
	s.Targets = map[string]kind.Target{"S3Bucket/logs": {ID: logsBucket, ARN: "arn:aws:s3:::" + logsBucket},
		"SQSQueue/events": {ID: "events", ARN: queueARN}}
}

func events(s *spec) {
	queue := v1alpha1.S3QueueNotification{QueueRef: &v1alpha1.ObjectReference{Name: "events"}}
	queue.ID, queue.Events, queue.FilterPrefix, queue.FilterSuffix = "created", []string{"s3:ObjectCreated:*", "s3:ObjectRestore:Post"}, "in/",
		".json"
	topic := v1alpha1.S3TopicNotification{TopicARN: topicARN}
	topic.ID, topic.Events, topic.FilterSuffix = "removed", []string{"s3:ObjectRemoved:*"}, ".json"
	s.Notification = &v1alpha1.S3Notification{EventBridge: aws.Bool(true), Queues: &[]v1alpha1.S3QueueNotification{queue},
		Topics: &[]v1alpha1.S3TopicNotification{topic}}
}

func notificationOf(t *testing.T, r *kindtest.Rig) s3.GetBucketNotificationConfigurationOutput {
	t.Helper()
	out, err := api(r).GetBucketNotificationConfiguration(t.Context(), &s3.GetBucketNotificationConfigurationInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	var have BucketState
	fromNotification(out, BucketState{}, &have)
	return have.FoundNotification
}

func putNotification(t *testing.T, r *kindtest.Rig, all types.NotificationConfiguration) {
	t.Helper()
	_, err := api(r).PutBucketNotificationConfiguration(t.Context(),
		&s3.PutBucketNotificationConfigurationInput{Bucket: aws.String(name), NotificationConfiguration: &all})
	kindtest.Must(t, err)
}

// A list that the spec leaves out stays, although the request replaces all of them.
func TestNotificationsOfOthersStay(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewBucket), with(events, func(s *spec) { s.Notification.Topics = nil }))
	targets(s)
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	function := types.LambdaFunctionConfiguration{Id: aws.String("theirs"),
		LambdaFunctionArn: aws.String("arn:aws:lambda:ap-southeast-1:123456789012:function:f"),
		Events:            []types.Event{types.EventS3ObjectRestore}}
	all := toNotification(BucketState{}, notificationOf(t, r))
	all.LambdaFunctionConfigurations = []types.LambdaFunctionConfiguration{function}
	putNotification(t, r, *all)
	s.Edit(with(func(s *spec) { s.Notification = &v1alpha1.S3Notification{Queues: &[]v1alpha1.S3QueueNotification{}} }))
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if got := notificationOf(t, r); got.EventBridgeConfiguration == nil || len(got.LambdaFunctionConfigurations) != 1 ||
		len(got.QueueConfigurations) != 0 {
		t.Errorf("got %+v", got)
	}
}

// S3 does not say which target refuses its messages, nor why.
func TestARefusedTargetNamesTheMissingPolicy(t *testing.T) {
	r := kindtest.NewRig(t)
	r.AWS.Fault(emulator.Match{Service: "s3", Op: "PutBucketNotificationConfiguration"},
		emulator.Fail(400, "InvalidArgument", "Unable to validate the following destination configurations"))
	s := kindtest.NewSubject(r, engine.For(NewBucket), with(events))
	targets(s)
	_, err := s.Pass(t.Context(), nil)
	if err == nil {
		t.Fatal("not refused")
	}
	for _, part := range []string{"Unable to validate", "with aws:SourceArn arn:aws:s3:::" + name,
		"sqs:SendMessage in the policy of " + queueARN, "sns:Publish in the policy of " + topicARN} {
		if text := awsclient.Refused(err, "s3:PutBucketNotification").Error(); !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}

func locked(s *spec) { s.ObjectLock = &v1alpha1.S3ObjectLock{Enabled: true} }

func retention(s *spec) {
	locked(s)
	s.ObjectLock.DefaultRetention = &v1alpha1.S3DefaultRetention{Mode: "GOVERNANCE", Days: 30}
}

func forced(s *spec) { s.ForceDestroy = true }

// lockObject puts an object that governance protects for a day.
func lockObject(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(name), Key: aws.String("kept"), Body: strings.NewReader("x"),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256, ObjectLockMode: types.ObjectLockModeGovernance,
		ObjectLockRetainUntilDate: aws.Time(time.Now().Add(24 * time.Hour))})
	kindtest.Must(t, err)
}

func TestADeletionSaysHowManyVersionsAreLocked(t *testing.T) {
	r := kindtest.NewRig(t)
	s := settle(t, r, with(locked, forced))
	lockObject(t, r)
	putObject(t, r, "free")
	s.Deleting = true
	_, err := s.Settle(t.Context(), nil)
	w, ok := status.AsWaiting(err)
	if !ok || w.Reason != status.ReasonBucketNotEmpty || !strings.Contains(w.For, "such as of kept") {
		t.Fatalf("got %v, want to wait for the lock of kept", err)
	}
	if n := versions(t, r); n != 1 {
		t.Errorf("%d versions are left, want the locked one", n)
	}
	for _, w := range r.AWS.Calls().Match("s3", "DeleteObjects", "*") {
		if strings.Contains(w.Body, "ypass") {
			t.Errorf("bypassed: %s", w)
		}
	}
}

func website(s *spec) {
	s.Website = &v1alpha1.S3Website{IndexDocument: "index.html", ErrorDocument: "errors/404.html"}
}

func putWebsite(t *testing.T, r *kindtest.Rig, w *types.WebsiteConfiguration) {
	t.Helper()
	_, err := api(r).PutBucketWebsite(t.Context(), &s3.PutBucketWebsiteInput{Bucket: aws.String(name), WebsiteConfiguration: w})
	kindtest.Must(t, err)
}

func TestRoutingRulesOfAWebsiteStay(t *testing.T) {
	r := kindtest.NewRig(t)
	s := settle(t, r, with(website))
	putWebsite(t, r, toWebsite(Website{IndexDocument: "other.html"},
		[]types.RoutingRule{{Redirect: &types.Redirect{HostName: aws.String("www.example.com")}}}))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	out, err := api(r).GetBucketWebsite(t.Context(), &s3.GetBucketWebsiteInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	if len(out.RoutingRules) != 1 || *out.IndexDocument.Suffix != "index.html" {
		t.Errorf("got %+v", out)
	}
}

func publicACL(s *spec) {
	s.ACL, s.ObjectOwnership, s.PublicAccessBlock = aws.String("public-read"), aws.String("BucketOwnerPreferred"),
		&v1alpha1.S3PublicAccessBlock{}
}

func privateACL(s *spec) { s.ACL = aws.String("private") }

func TestCannedACL(t *testing.T) {
	owner := types.Grant{Grantee: &types.Grantee{ID: aws.String("o")}, Permission: types.PermissionFullControl}
	group := func(name string, p types.Permission) types.Grant {
		return types.Grant{Grantee: &types.Grantee{URI: aws.String("http://acs.amazonaws.com/groups/global/" + name)}, Permission: p}
	}
	for want, grants := range map[string][]types.Grant{
		"private":            {owner},
		"public-read":        {owner, group("AllUsers", types.PermissionRead)},
		"public-read-write":  {group("AllUsers", types.PermissionWrite), owner, group("AllUsers", types.PermissionRead)},
		"authenticated-read": {owner, group("AuthenticatedUsers", types.PermissionRead)},
		"else FULL_CONTROL":  {owner, {Grantee: &types.Grantee{ID: aws.String("else")}, Permission: types.PermissionFullControl}},
		"o READ_ACP":         {owner, {Grantee: &types.Grantee{ID: aws.String("o")}, Permission: types.PermissionReadAcp}},
	} {
		if got := cannedACL(&s3.GetBucketAclOutput{Owner: &types.Owner{ID: aws.String("o")}, Grants: grants}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// settingsRows are the rows of the settings that have many members.
func settingsRows() []kindtest.Case {
	bare := func(s *spec) {
		s.LifecycleRules = &[]v1alpha1.S3LifecycleRule{{ID: "old", Enabled: true, Prefix: "logs/", Tags: map[string]v1alpha1.TagValue{},
			ObjectSizeGreaterThan:        aws.Int64(0),
			Expiration:                   &v1alpha1.S3Expiration{ExpiredObjectDeleteMarker: aws.Bool(true)},
			NoncurrentVersionTransitions: &[]v1alpha1.S3NoncurrentVersionTransition{}}}
	}
	return []kindtest.Case{
		{Name: "a lifecycle rule of every member", Object: with(fullRule), Cause: engine.New,
			Actions: []string{"s3:CreateBucket", "s3:PutLifecycleConfiguration"}},
		{Name: "members of a lifecycle rule are unset", Existing: with(fullRule), Object: with(bare), Cause: engine.Edited,
			Diff: []string{"Lifecycle[old].Tags[class]", "Lifecycle[old].Tags[team]", "Lifecycle[old].ObjectSizeGreaterThan",
				"Lifecycle[old].Expiration.Date",
				"Lifecycle[old].Expiration.ExpiredObjectDeleteMarker", "Lifecycle[old].Transitions", "Lifecycle[old].NoncurrentVersionExpirationDays",
				"Lifecycle[old].NoncurrentVersionTransitions"},
			Actions: []string{"s3:PutLifecycleConfiguration"}},
		{Name: "a lifecycle rule that was changed is corrected", Existing: with(fullRule), Object: with(fullRule), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				changed := *with(fullRule).Spec.LifecycleRules
				changed[0].NewerNoncurrentVersions, changed[0].Tags["team"] = aws.Int32(1), "b"
				putRules(t, r, changed)
			}, Cause: engine.Drifted, Diff: []string{"Lifecycle[old].Tags[team]", "Lifecycle[old].NewerNoncurrentVersions"},
			Actions: []string{"s3:PutLifecycleConfiguration"}},
		{Name: "CORS rules", Object: with(cors), Cause: engine.New, Actions: []string{"s3:CreateBucket", "s3:PutBucketCORS"}},
		{Name: "CORS rules change", Existing: with(cors), Object: with(func(s *spec) { cors(s); (*s.CORSRules)[1].MaxAgeSeconds = nil }),
			Cause: engine.Edited,
			Diff:  []string{"CORSRules"}, Actions: []string{"s3:PutBucketCORS"}},
		{Name: "the order of CORS rules is corrected", Existing: with(cors), Object: with(cors), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				changed := *with(cors).Spec.CORSRules
				slices.Reverse(changed)
				putCORS(t, r, toCORS(changed, nil))
			}, Cause: engine.Drifted, Diff: []string{"CORSRules"}, Actions: []string{"s3:PutBucketCORS"}},
		{Name: "IDs of CORS rules that the spec leaves out mean nothing", Existing: with(cors), Object: with(cors), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				rules := toCORS(*with(cors).Spec.CORSRules, nil)
				rules[1].ID = aws.String("theirs")
				putCORS(t, r, rules)
			}, Cause: engine.InSync},
		{Name: "an empty list clears the CORS rules", Existing: with(cors),
			Object: with(func(s *spec) { s.CORSRules = &[]v1alpha1.S3CORSRule{} }), Cause: engine.Edited,
			Diff: []string{"CORSRules"}, Actions: []string{"s3:PutBucketCORS"}},
		{Name: "access logs go to another bucket", Existing: bucketOf(nil), Object: with(logging), Facts: targets, Cause: engine.Edited,
			Diff: []string{"Logging.TargetBucket", "Logging.TargetPrefix"}, Actions: []string{"s3:PutBucketLogging"}},
		{Name: "their prefix is corrected, and their format stays", Existing: with(logging), Object: with(logging), Facts: targets, Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).PutBucketLogging(t.Context(),
					&s3.PutBucketLoggingInput{Bucket: aws.String(name), BucketLoggingStatus: &types.BucketLoggingStatus{
						LoggingEnabled: &types.LoggingEnabled{TargetBucket: aws.String(logsBucket), TargetPrefix: aws.String("other/"),
							TargetObjectKeyFormat: keyFormat()}}})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"Logging.TargetPrefix"}, Actions: []string{"s3:PutBucketLogging"}},
		{Name: "logging is turned off", Existing: with(logging), Object: with(func(s *spec) { s.Logging = &v1alpha1.S3Logging{} }),
			Facts: targets, Cause: engine.Edited,
			Diff: []string{"Logging.TargetBucket", "Logging.TargetPrefix"}, Actions: []string{"s3:PutBucketLogging"}},
		{Name: "a bucket that receives its own logs waits for no reference",
			Object: with(func(s *spec) { s.Logging = &v1alpha1.S3Logging{TargetBucketRef: &v1alpha1.ObjectReference{Name: name}} }),
			Cause:  engine.New, Actions: []string{"s3:CreateBucket", "s3:PutBucketLogging"}, PlanOnly: true},
		{Name: "events go to queues, topics and EventBridge", Existing: bucketOf(nil), Object: with(events), Facts: targets, Cause: engine.Edited,
			Diff: []string{"Queues[created]", "Topics[removed]", "EventBridge"}, Actions: []string{"s3:PutBucketNotification"}},
		{Name: "notifications that were changed are corrected, and those that are not declared stay", Existing: with(events),
			Object: with(events), Facts: targets, Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				changed := *toNotification(BucketState{}, notificationOf(t, r))
				changed.EventBridgeConfiguration, changed.QueueConfigurations[0].Id = nil, aws.String("theirs")
				changed.TopicConfigurations[0].Filter = nil
				putNotification(t, r, changed)
			}, Cause: engine.Drifted, Diff: []string{"Queues[created]", "Queues[theirs]", "Topics[removed].Suffix", "EventBridge"},
			Actions: []string{"s3:PutBucketNotification"}},
		{Name: "the order and the spelling of notifications mean nothing", Existing: with(events),
			Object: with(func(s *spec) { events(s); slices.Reverse((*s.Notification.Queues)[0].Events) }),
			Facts:  targets, Cause: engine.InSync},
		{Name: "notifications are unset", Existing: with(events), Object: with(func(s *spec) {
			s.Notification = &v1alpha1.S3Notification{EventBridge: aws.Bool(false), Queues: &[]v1alpha1.S3QueueNotification{},
				Topics: &[]v1alpha1.S3TopicNotification{}}
		}), Facts: targets, Cause: engine.Edited, Diff: []string{"Queues[created]", "Topics[removed]", "EventBridge"},
			Actions: []string{"s3:PutBucketNotification"}},
		{Name: "two notifications of one id", Object: with(func(s *spec) {
			events(s)
			two := append(*s.Notification.Queues, *s.Notification.Queues...)
			s.Notification.Queues = &two
		}), Facts: targets, Stalled: status.ReasonInvalidSpec},
		{Name: "a bucket is created with object lock, and so with versioning", Object: with(locked, versioned), Cause: engine.New,
			Actions: []string{"s3:CreateBucket"}},
		{Name: "a bucket is created with a default retention", Object: with(retention), Cause: engine.New,
			Actions: []string{"s3:CreateBucket", "s3:PutBucketObjectLockConfiguration"}},
		{Name: "object lock comes later, after versioning", Existing: bucketOf(nil), Object: with(retention, versioned), Cause: engine.Edited,
			Diff:    []string{"Versioning.Enabled", "ObjectLock", "Retention.Mode", "Retention.Days"},
			Actions: []string{"s3:PutBucketVersioning", "s3:PutBucketObjectLockConfiguration"}},
		{Name: "the default retention is corrected", Existing: with(retention), Object: with(retention), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).PutObjectLockConfiguration(t.Context(), &s3.PutObjectLockConfigurationInput{Bucket: aws.String(name),
					ObjectLockConfiguration: toLock(&v1alpha1.S3DefaultRetention{Mode: "GOVERNANCE", Years: 1}, nil)})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"Retention.Days", "Retention.Years"}, Actions: []string{"s3:PutBucketObjectLockConfiguration"}},
		{Name: "the default retention is removed", Existing: with(retention),
			Object: with(func(s *spec) { locked(s); s.ObjectLock.DefaultRetention = &v1alpha1.S3DefaultRetention{} }), Cause: engine.Edited,
			Diff: []string{"Retention.Mode", "Retention.Days"}, Actions: []string{"s3:PutBucketObjectLockConfiguration"}},
		{Name: "object lock needs versioning, also where that is not declared", Existing: bucketOf(nil), Object: with(locked),
			Stalled: status.ReasonRefusedByAWS},
		{Name: "object lock is never turned off", Existing: with(locked), Object: with(func(s *spec) { s.ObjectLock = &v1alpha1.S3ObjectLock{} }),
			Stalled: status.ReasonImmutable},
		{Name: "forceDestroy does not delete locked versions", Existing: with(locked, forced), Object: with(locked, forced), Deleting: true,
			Drift: true, OnRun: true, Waiting: status.ReasonBucketNotEmpty,
			Before: func(t *testing.T, r *kindtest.Rig) { lockObject(t, r) }},
		{Name: "a website", Object: with(website), Cause: engine.New, Actions: []string{"s3:CreateBucket", "s3:PutBucketWebsite"}},
		{Name: "a website redirects instead", Existing: with(website), Object: with(func(s *spec) {
			s.Website = &v1alpha1.S3Website{RedirectAllRequestsTo: &v1alpha1.S3WebsiteRedirect{HostName: "www.example.com", Protocol: "https"}}
		}), Cause: engine.Edited,
			Diff:    []string{"Website.IndexDocument", "Website.ErrorDocument", "Website.RedirectHost", "Website.RedirectProtocol"},
			Actions: []string{"s3:PutBucketWebsite"}},
		{Name: "the documents of a website are corrected", Existing: with(website), Object: with(website), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				putWebsite(t, r, toWebsite(Website{IndexDocument: "other.html"}, nil))
			}, Cause: engine.Drifted, Diff: []string{"Website.IndexDocument", "Website.ErrorDocument"}, Actions: []string{"s3:PutBucketWebsite"}},
		{Name: "a website is removed", Existing: with(website), Object: with(func(s *spec) { s.Website = &v1alpha1.S3Website{} }),
			Cause: engine.Edited,
			Diff:  []string{"Website.IndexDocument", "Website.ErrorDocument"}, Actions: []string{"s3:DeleteBucketWebsite"}},
		{Name: "a public access control list", Object: with(publicACL), Cause: engine.New,
			Actions: []string{"s3:CreateBucket", "s3:PutBucketPublicAccessBlock", "s3:PutBucketAcl"}},
		{Name: "the access control list becomes private, before it is disabled", Existing: with(publicACL), Object: with(func(s *spec) {
			s.ACL, s.ObjectOwnership = aws.String("private"), aws.String("BucketOwnerEnforced")
		}), Cause: engine.Edited, Diff: []string{"ObjectOwnership", "ACL"},
			Actions: []string{"s3:PutBucketAcl", "s3:PutBucketOwnershipControls"}},
		{Name: "the access control list is corrected", Existing: with(privateACL), Object: with(privateACL), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).PutBucketAcl(t.Context(), &s3.PutBucketAclInput{Bucket: aws.String(name), ACL: types.BucketCannedACLAuthenticatedRead})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"ACL"}, Actions: []string{"s3:PutBucketAcl"}},
		{Name: "two lifecycle rules of one id", Object: with(func(s *spec) { two := append(*rules(), *rules()...); s.LifecycleRules = &two }),
			Stalled: status.ReasonInvalidSpec},
	}
}

// TestSettingsThatAdmissionRefuses checks the messages of the rules in the definition.
func TestSettingsThatAdmissionRefuses(t *testing.T) {
	rule := func(edit func(r *v1alpha1.S3LifecycleRule)) func(s *spec) {
		return func(s *spec) { s.LifecycleRules = rules(); edit(&(*s.LifecycleRules)[0]) }
	}
	r := kindtest.NewRig(t)
	for message, edit := range map[string]func(s *spec){
		"expiration has exactly one of days, date and expiredObjectDeleteMarker": rule(func(r *v1alpha1.S3LifecycleRule) { r.Expiration.Date = "2030-01-31" }),
		"spec.lifecycleRules[0].expiration.date":                                 rule(func(r *v1alpha1.S3LifecycleRule) { r.Expiration = &v1alpha1.S3Expiration{Date: "2030-02-31"} }),
		"a transition has either days or a date":                                 rule(func(r *v1alpha1.S3LifecycleRule) { r.Transitions[0].Date = "2030-01-31" }),
		"the transitions of a rule have either days or a date": rule(func(r *v1alpha1.S3LifecycleRule) {
			r.Transitions = append(r.Transitions, v1alpha1.S3Transition{Date: "2030-01-31", StorageClass: "GLACIER"})
		}),
		"a rule with tags cannot have abortIncompleteMultipartUploadDays": rule(func(r *v1alpha1.S3LifecycleRule) { r.Tags = map[string]v1alpha1.TagValue{"a": "b"} }),
		"a rule with objectSizeGreaterThan or objectSizeLessThan cannot":  rule(func(r *v1alpha1.S3LifecycleRule) { r.ObjectSizeLessThan = aws.Int64(1) }),
		"objectSizeGreaterThan must be less than objectSizeLessThan": rule(func(r *v1alpha1.S3LifecycleRule) {
			r.AbortIncompleteMultipartUploadDays, r.ObjectSizeGreaterThan, r.ObjectSizeLessThan = nil, aws.Int64(2), aws.Int64(2)
		}),
		"spec.corsRules[0].allowedMethods[0]":                 func(s *spec) { cors(s); (*s.CORSRules)[0].AllowedMethods[0] = "PATCH" },
		"spec.corsRules[0].allowedOrigins[0]":                 func(s *spec) { cors(s); (*s.CORSRules)[0].AllowedOrigins[0] = "https://*.*" },
		"targetBucket and targetBucketRef exclude each other": func(s *spec) { logging(s); s.Logging.TargetBucket = logsBucket },
		"targetPrefix needs targetBucket or targetBucketRef":  func(s *spec) { s.Logging = &v1alpha1.S3Logging{TargetPrefix: "a/"} },
		"exactly one of queueArn and queueRef":                func(s *spec) { events(s); (*s.Notification.Queues)[0].QueueARN = queueARN },
		"exactly one of topicArn and topicRef":                func(s *spec) { events(s); (*s.Notification.Topics)[0].TopicARN = "" },
		"spec.notification.queues[0].events[0]":               func(s *spec) { events(s); (*s.Notification.Queues)[0].Events[0] = "ObjectCreated" },
		"objectLock needs versioning":                         func(s *spec) { retention(s); s.Versioning = &v1alpha1.S3Versioning{} },
		"defaultRetention needs enabled: true":                func(s *spec) { retention(s); s.ObjectLock.Enabled = false },
		"defaultRetention has either days or years":           func(s *spec) { retention(s); s.ObjectLock.DefaultRetention.Years = 1 },
		"defaultRetention needs a mode, and days or years":    func(s *spec) { retention(s); s.ObjectLock.DefaultRetention.Days = 0 },
		"errorDocument needs indexDocument":                   func(s *spec) { website(s); s.Website.IndexDocument = "" },
		"redirectAllRequestsTo excludes indexDocument": func(s *spec) {
			website(s)
			s.Website.RedirectAllRequestsTo = &v1alpha1.S3WebsiteRedirect{HostName: "a"}
		},
		"acl needs objectOwnership BucketOwnerPreferred or ObjectWriter": func(s *spec) { publicACL(s); s.ObjectOwnership = aws.String("BucketOwnerEnforced") },
		"acl is public, which publicAccessBlock.blockPublicAcls refuses": func(s *spec) { publicACL(s); s.PublicAccessBlock = blocked() },
		"newerNoncurrentVersions needs noncurrentVersionExpirationDays": rule(func(r *v1alpha1.S3LifecycleRule) {
			r.NoncurrentVersionExpirationDays, r.NewerNoncurrentVersions = nil, aws.Int32(2)
		}),
	} {
		t.Run(message, func(t *testing.T) {
			_, err := kindtest.NewSubject(r, engine.For(NewBucket), with(edit)).Settle(t.Context(), nil)
			if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonInvalidSpec || !strings.Contains(st.Error(), message) {
				t.Errorf("got %v, want InvalidSpec with %s", err, message)
			}
			if n := r.AWS.Calls().Count(); n > 0 {
				t.Errorf("%d calls were made", n)
			}
		})
	}
}

func TestBucket_ListsOfOthers(t *testing.T) {
	others := func(t *testing.T, r *kindtest.Rig, edit func(n *types.NotificationConfiguration)) {
		t.Helper()
		all := toNotification(BucketState{}, notificationOf(t, r))
		edit(all)
		putNotification(t, r, *all)
	}
	theirs, restored := aws.String("theirs"), []types.Event{types.EventS3ObjectRestore}
	kindtest.Lists(t, engine.For(NewBucket),
		kindtest.List{Field: "lifecycleRules", Exact: true, Object: bucketOf(func(s *spec) { s.LifecycleRules = rules() }),
			Add: func(t *testing.T, r *kindtest.Rig) {
				t.Helper()
				declared, err := declareLifecycle(twoRules())
				kindtest.Must(t, err)
				_, err = api(r).PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{Bucket: aws.String(name),
					LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: toLifecycle(declared, nil)}})
				kindtest.Must(t, err)
			}, Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				out, err := api(r).GetBucketLifecycleConfiguration(t.Context(), &s3.GetBucketLifecycleConfigurationInput{Bucket: aws.String(name)})
				kindtest.Must(t, err)
				return len(out.Rules) > 1
			}},
		kindtest.List{Field: "corsRules", Exact: true, Object: with(cors), Add: func(t *testing.T, r *kindtest.Rig) { t.Helper(); addCORS(t, r) },
			Has: func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return hasID(corsOf(t, r), "theirs") }},
		kindtest.List{Field: "notification.queues", Exact: true, Object: with(events), Facts: targets, Add: func(t *testing.T, r *kindtest.Rig) {
			t.Helper()
			others(t, r, func(n *types.NotificationConfiguration) {
				n.QueueConfigurations = append(n.QueueConfigurations,
					types.QueueConfiguration{Id: theirs, QueueArn: n.QueueConfigurations[0].QueueArn, Events: restored})
			})
		}, Has: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			return slices.ContainsFunc(notificationOf(t, r).QueueConfigurations, func(c types.QueueConfiguration) bool { return *c.Id == *theirs })
		}},
		kindtest.List{Field: "notification.topics", Exact: true, Object: with(events), Facts: targets, Add: func(t *testing.T, r *kindtest.Rig) {
			t.Helper()
			others(t, r, func(n *types.NotificationConfiguration) {
				n.TopicConfigurations = append(n.TopicConfigurations,
					types.TopicConfiguration{Id: theirs, TopicArn: n.TopicConfigurations[0].TopicArn, Events: restored})
			})
		}, Has: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			return slices.ContainsFunc(notificationOf(t, r).TopicConfigurations, func(c types.TopicConfiguration) bool { return *c.Id == *theirs })
		}},
		kindtest.List{Field: "notification.lambdaFunctions", Exact: true, Object: with(func(s *spec) {
			function := v1alpha1.S3LambdaFunctionNotification{LambdaFunctionARN: functionARN}
			function.ID, function.Events = "ours", []string{"s3:ObjectRestore:Post"}
			s.Notification = &v1alpha1.S3Notification{LambdaFunctions: &[]v1alpha1.S3LambdaFunctionNotification{function}}
		}), Add: func(t *testing.T, r *kindtest.Rig) {
			t.Helper()
			others(t, r, func(n *types.NotificationConfiguration) {
				n.LambdaFunctionConfigurations = append(n.LambdaFunctionConfigurations,
					types.LambdaFunctionConfiguration{Id: theirs, LambdaFunctionArn: aws.String(functionARN), Events: restored})
			})
		}, Has: func(t *testing.T, r *kindtest.Rig) bool {
			t.Helper()
			return len(notificationOf(t, r).LambdaFunctionConfigurations) > 1
		}},
		kindtest.List{Field: "replication.rules", Exact: true, Fixed: true}) // a row has a rule of another owner
}

const functionARN = "arn:aws:lambda:ap-southeast-1:123456789012:function:f"

func corsOf(t *testing.T, r *kindtest.Rig) []types.CORSRule {
	t.Helper()
	out, err := api(r).GetBucketCors(t.Context(), &s3.GetBucketCorsInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	return out.CORSRules
}

func hasID(rules []types.CORSRule, id string) bool {
	return slices.ContainsFunc(rules, func(c types.CORSRule) bool { return aws.ToString(c.ID) == id })
}

func addCORS(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).PutBucketCors(t.Context(), &s3.PutBucketCorsInput{Bucket: aws.String(name), CORSConfiguration: &types.CORSConfiguration{
		CORSRules: append(corsOf(t, r),
			types.CORSRule{ID: aws.String("theirs"), AllowedMethods: []string{"GET"}, AllowedOrigins: []string{"*"}})}})
	kindtest.Must(t, err)
}
