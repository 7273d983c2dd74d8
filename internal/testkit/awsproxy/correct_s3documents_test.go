// SPDX-License-Identifier: Apache-2.0

package awsproxy_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func TestConfigurationsOfABucketAreKeptAsSent(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must(t, createBucket(ctx, c, *bucket))
	rule := s3types.LifecycleRule{ID: aws.String("r"), Status: s3types.ExpirationStatusEnabled, Filter: &s3types.LifecycleRuleFilter{ObjectSizeGreaterThan: aws.Int64(7)},
		NoncurrentVersionExpiration: &s3types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(1), NewerNoncurrentVersions: aws.Int32(2)}}
	_, err := c.s3.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{Bucket: bucket,
		LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{Rules: []s3types.LifecycleRule{rule}}})
	must(t, err)
	_, err = c.s3.PutBucketNotificationConfiguration(ctx, &s3.PutBucketNotificationConfigurationInput{Bucket: bucket,
		NotificationConfiguration: &s3types.NotificationConfiguration{EventBridgeConfiguration: &s3types.EventBridgeConfiguration{}}})
	must(t, err)
	read := func() (*s3.GetBucketLifecycleConfigurationOutput, *s3.GetBucketNotificationConfigurationOutput) {
		t.Helper()
		rules, err := c.s3.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: bucket})
		if err != nil && code(err) != "NoSuchLifecycleConfiguration" {
			t.Fatal(err)
		}
		events, err := c.s3.GetBucketNotificationConfiguration(ctx, &s3.GetBucketNotificationConfigurationInput{Bucket: bucket})
		must(t, err)
		return rules, events
	}
	rules, events := read()
	if rules == nil || aws.ToInt64(rules.Rules[0].Filter.ObjectSizeGreaterThan) != 7 || aws.ToInt32(rules.Rules[0].NoncurrentVersionExpiration.NewerNoncurrentVersions) != 2 {
		t.Errorf("rules %+v", rules)
	}
	if events.EventBridgeConfiguration == nil {
		t.Error("EventBridge is off")
	}
	_, err = c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
	must(t, err)
	must(t, createBucket(ctx, c, *bucket))
	if rules, events := read(); rules != nil || events.EventBridgeConfiguration != nil {
		t.Errorf("a new bucket has the rules %+v and the events %+v", rules, events)
	}
}
