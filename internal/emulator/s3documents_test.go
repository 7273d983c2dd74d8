// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestConfigurationsOfABucketAreKeptAsSent(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createBucket(ctx, c, *bucket))
	rule := s3types.LifecycleRule{ID: aws.String("r"), Status: s3types.ExpirationStatusEnabled,
		Filter:                      &s3types.LifecycleRuleFilter{ObjectSizeGreaterThan: aws.Int64(7)},
		NoncurrentVersionExpiration: &s3types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(1), NewerNoncurrentVersions: aws.Int32(2)}}
	_, err := c.s3.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{Bucket: bucket,
		LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{Rules: []s3types.LifecycleRule{rule}}})
	must.Succeed(t, err)
	_, err = c.s3.PutBucketNotificationConfiguration(ctx, &s3.PutBucketNotificationConfigurationInput{Bucket: bucket,
		NotificationConfiguration: &s3types.NotificationConfiguration{EventBridgeConfiguration: &s3types.EventBridgeConfiguration{}}})
	must.Succeed(t, err)
	read := func() (*s3.GetBucketLifecycleConfigurationOutput, *s3.GetBucketNotificationConfigurationOutput) {
		t.Helper()
		rules, err := c.s3.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: bucket})
		if err != nil && code(err) != "NoSuchLifecycleConfiguration" {
			t.Fatal(err)
		}
		events, err := c.s3.GetBucketNotificationConfiguration(ctx, &s3.GetBucketNotificationConfigurationInput{Bucket: bucket})
		must.Succeed(t, err)
		return rules, events
	}
	rules, events := read()
	if rules == nil || aws.ToInt64(rules.Rules[0].Filter.ObjectSizeGreaterThan) != 7 ||
		aws.ToInt32(rules.Rules[0].NoncurrentVersionExpiration.NewerNoncurrentVersions) != 2 {
		t.Errorf("rules %+v", rules)
	}
	if events.EventBridgeConfiguration == nil {
		t.Error("EventBridge is off")
	}
	_, err = c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
	must.Succeed(t, err)
	must.Succeed(t, createBucket(ctx, c, *bucket))
	if rules, events := read(); rules != nil || events.EventBridgeConfiguration != nil {
		t.Errorf("a new bucket has the rules %+v and the events %+v", rules, events)
	}
}

func TestReplicationRulesAreKeptAsSentAndRefusedAsByS3(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createBucket(ctx, c, *bucket))
	version := func(name string, status s3types.BucketVersioningStatus) error {
		_, err := c.s3.PutBucketVersioning(ctx,
			&s3.PutBucketVersioningInput{Bucket: &name, VersioningConfiguration: &s3types.VersioningConfiguration{Status: status}})
		return err
	}
	replicate := func(to string) error {
		_, err := c.s3.PutBucketReplication(ctx,
			&s3.PutBucketReplicationInput{Bucket: bucket, ReplicationConfiguration: &s3types.ReplicationConfiguration{
				Role: aws.String("arn:aws:iam::123456789012:role/r"),
				Rules: []s3types.ReplicationRule{{ID: aws.String("r"), Status: s3types.ReplicationRuleStatusEnabled, Priority: aws.Int32(3),
					Filter:                  &s3types.ReplicationRuleFilter{Prefix: aws.String("a/")},
					Destination:             &s3types.Destination{Bucket: aws.String("arn:aws:s3:::" + to)},
					DeleteMarkerReplication: &s3types.DeleteMarkerReplication{Status: s3types.DeleteMarkerReplicationStatusEnabled}}}}})
		return err
	}
	refused := func(err error, message string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want %s", err, message)
		}
	}
	refused(replicate("copies"), "Destination bucket must exist")
	must.Succeed(t, createBucket(ctx, c, "copies"))
	refused(replicate("copies"), "Destination bucket must have versioning enabled")
	must.Succeed(t, version("copies", s3types.BucketVersioningStatusEnabled))
	refused(replicate("copies"), "Versioning must be 'Enabled' on the bucket")
	must.Succeed(t, version(*bucket, s3types.BucketVersioningStatusEnabled))
	refused(replicate(*bucket), "cannot be the same")
	must.Succeed(t, replicate("copies"))
	out, err := c.s3.GetBucketReplication(ctx, &s3.GetBucketReplicationInput{Bucket: bucket})
	must.Succeed(t, err)
	if r := out.ReplicationConfiguration.Rules[0]; *r.Filter.Prefix != "a/" ||
		r.DeleteMarkerReplication.Status != s3types.DeleteMarkerReplicationStatusEnabled || *r.Priority != 3 {
		t.Errorf("got %+v", r)
	}
	if got := code(version(*bucket, s3types.BucketVersioningStatusSuspended)); got != "InvalidBucketState" {
		t.Errorf("suspending: %s", got)
	}
	_, err = c.s3.DeleteBucketReplication(ctx, &s3.DeleteBucketReplicationInput{Bucket: bucket})
	must.Succeed(t, err)
	must.Succeed(t, version(*bucket, s3types.BucketVersioningStatusSuspended))
	if _, err = c.s3.GetBucketReplication(ctx,
		&s3.GetBucketReplicationInput{Bucket: bucket}); code(err) != "ReplicationConfigurationNotFoundError" {
		t.Errorf("got %v", err)
	}
}
