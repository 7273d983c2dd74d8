// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func fromRules(t *testing.T, rules *[]v1alpha1.S3LifecycleRule) map[string]v1alpha1.S3LifecycleRule {
	t.Helper()
	out, err := declareLifecycle(rules)
	kindtest.Must(t, err)
	return out
}

func putRules(t *testing.T, r *kindtest.Rig, rules []v1alpha1.S3LifecycleRule) {
	t.Helper()
	_, err := api(r).PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{Bucket: aws.String(name),
		LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: toLifecycle(fromRules(t, &rules), nil)}})
	kindtest.Must(t, err)
}

// TestLifecycleOverlay: each row is a rule as S3 has it and the same rule after a write of the declared one.
func TestLifecycleOverlay(t *testing.T) {
	tag := types.Tag{Key: aws.String("k"), Value: aws.String("v")}
	filter := func(f types.LifecycleRuleFilter) types.LifecycleRule { return types.LifecycleRule{Filter: &f} }
	and := func(o types.LifecycleRuleAndOperator) types.LifecycleRule {
		return filter(types.LifecycleRuleFilter{And: &o})
	}
	size := aws.Int64(7)
	for _, c := range []struct {
		name        string
		declared    v1alpha1.S3LifecycleRule
		found, want types.LifecycleRule
	}{
		//lint:ignore SA1019 the older form of a rule
		{"an older rule's prefix stays where it is", v1alpha1.S3LifecycleRule{Prefix: "a"}, types.LifecycleRule{Prefix: aws.String("a")},
			types.LifecycleRule{Prefix: aws.String("a")}},
		//lint:ignore SA1019 the older form of a rule
		{"and moves into the filter when it changes", v1alpha1.S3LifecycleRule{Prefix: "b"}, types.LifecycleRule{Prefix: aws.String("a")},
			filter(types.LifecycleRuleFilter{Prefix: aws.String("b")})},
		{"a tag stays without a prefix", v1alpha1.S3LifecycleRule{}, filter(types.LifecycleRuleFilter{Tag: &tag}),
			filter(types.LifecycleRuleFilter{Tag: &tag})},
		{"a tag joins a prefix", v1alpha1.S3LifecycleRule{Prefix: "a"}, filter(types.LifecycleRuleFilter{Tag: &tag}),
			and(types.LifecycleRuleAndOperator{Prefix: aws.String("a"), Tags: []types.Tag{tag}})},
		{"a size joins a prefix", v1alpha1.S3LifecycleRule{Prefix: "a"}, filter(types.LifecycleRuleFilter{ObjectSizeLessThan: size}),
			and(types.LifecycleRuleAndOperator{Prefix: aws.String("a"), ObjectSizeLessThan: size})},
		{"several conditions stay", v1alpha1.S3LifecycleRule{Prefix: "b"},
			and(types.LifecycleRuleAndOperator{Prefix: aws.String("a"), Tags: []types.Tag{tag}, ObjectSizeGreaterThan: size}),
			and(types.LifecycleRuleAndOperator{Prefix: aws.String("b"), Tags: []types.Tag{tag}, ObjectSizeGreaterThan: size})},
		{"the expiration of delete markers stays", v1alpha1.S3LifecycleRule{},
			types.LifecycleRule{Expiration: &types.LifecycleExpiration{ExpiredObjectDeleteMarker: aws.Bool(true)}},
			types.LifecycleRule{Expiration: &types.LifecycleExpiration{ExpiredObjectDeleteMarker: aws.Bool(true)}}},
		{"an expiration by age goes", v1alpha1.S3LifecycleRule{}, types.LifecycleRule{Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)}},
			types.LifecycleRule{}},
		{"declared tags replace those of the rule", v1alpha1.S3LifecycleRule{Tags: map[string]v1alpha1.TagValue{"k": "other"}},
			filter(types.LifecycleRuleFilter{Tag: &tag}),
			filter(types.LifecycleRuleFilter{Tag: &types.Tag{Key: aws.String("k"), Value: aws.String("other")}})},
		{"empty tags and sizes of 0 remove the filter",
			v1alpha1.S3LifecycleRule{Tags: map[string]v1alpha1.TagValue{}, ObjectSizeGreaterThan: aws.Int64(0)},
			and(types.LifecycleRuleAndOperator{Tags: []types.Tag{tag}, ObjectSizeGreaterThan: size}),
			filter(types.LifecycleRuleFilter{Prefix: aws.String("")})},
		{"one size needs no And", v1alpha1.S3LifecycleRule{ObjectSizeLessThan: size}, types.LifecycleRule{},
			filter(types.LifecycleRuleFilter{ObjectSizeLessThan: size})},
		{"the order of tags means nothing", v1alpha1.S3LifecycleRule{Tags: map[string]v1alpha1.TagValue{"a": "1", "k": "v"}},
			and(types.LifecycleRuleAndOperator{Tags: []types.Tag{tag, {Key: aws.String("a"), Value: aws.String("1")}}}),
			and(types.LifecycleRuleAndOperator{Tags: []types.Tag{tag, {Key: aws.String("a"), Value: aws.String("1")}}})},
		{"a date replaces an age", v1alpha1.S3LifecycleRule{Expiration: &v1alpha1.S3Expiration{Date: "2030-01-31"}},
			types.LifecycleRule{Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)}},
			types.LifecycleRule{Expiration: &types.LifecycleExpiration{Date: aws.Time(time.Date(2030, 1, 31, 0, 0, 0, 0, time.UTC))}}},
		{"false ends the expiration of delete markers",
			v1alpha1.S3LifecycleRule{Expiration: &v1alpha1.S3Expiration{ExpiredObjectDeleteMarker: aws.Bool(false)}},
			types.LifecycleRule{Expiration: &types.LifecycleExpiration{ExpiredObjectDeleteMarker: aws.Bool(true)}}, types.LifecycleRule{}},
		{"0 retains no versions", v1alpha1.S3LifecycleRule{NoncurrentVersionExpirationDays: aws.Int32(3), NewerNoncurrentVersions: aws.Int32(0)},
			types.LifecycleRule{NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(3),
				NewerNoncurrentVersions: aws.Int32(5)}},
			types.LifecycleRule{NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(3)}}},
		{"the number of versions to retain stays", v1alpha1.S3LifecycleRule{NoncurrentVersionExpirationDays: aws.Int32(3)},
			types.LifecycleRule{NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(2),
				NewerNoncurrentVersions: aws.Int32(5)}},
			types.LifecycleRule{NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(3),
				NewerNoncurrentVersions: aws.Int32(5)}}},
	} {
		c.declared.ID = "rule"
		want := fromRules(t, &[]v1alpha1.S3LifecycleRule{c.declared})
		c.found.ID, c.want.ID, c.want.Status = aws.String("rule"), aws.String("rule"), types.ExpirationStatusDisabled
		got := toLifecycle(want, []types.LifecycleRule{c.found})
		if !reflect.DeepEqual(got, []types.LifecycleRule{c.want}) {
			t.Errorf("%s: got %+v", c.name, got[0])
		}
		if diff := engine.Compare(BucketState{Lifecycle: want}, BucketState{Lifecycle: fromLifecycle(got)}, nil, nil); len(diff) > 0 {
			t.Errorf("%s: reads back with %+v", c.name, diff)
		}
	}
}
