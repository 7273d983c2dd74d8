// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

func TestEncryptionKeepsBlockedEncryptionTypes(t *testing.T) {
	blocked := &types.BlockedEncryptionTypes{EncryptionType: []types.EncryptionType{types.EncryptionTypeSseC}}
	found := &types.ServerSideEncryptionConfiguration{Rules: []types.ServerSideEncryptionRule{{BlockedEncryptionTypes: blocked, BucketKeyEnabled: aws.Bool(true),
		ApplyServerSideEncryptionByDefault: &types.ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryptionAwsKms, KMSMasterKeyID: aws.String("k")}}}}
	got := toEncryption(v1alpha1.S3Encryption{Algorithm: "AES256"}, found).Rules[0]
	if got.BlockedEncryptionTypes != blocked || !aws.ToBool(got.BucketKeyEnabled) || got.ApplyServerSideEncryptionByDefault.KMSMasterKeyID != nil {
		t.Errorf("got %+v", got)
	}
	if got := toEncryption(v1alpha1.S3Encryption{Algorithm: "aws:kms", BucketKeyEnabled: aws.Bool(false)}, found).Rules[0]; *got.BucketKeyEnabled {
		t.Error("a declared bucket key is not written")
	}
	if *found.Rules[0].ApplyServerSideEncryptionByDefault.KMSMasterKeyID != "k" {
		t.Error("the answer was changed")
	}
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
		{"an older rule's prefix stays where it is", v1alpha1.S3LifecycleRule{Prefix: "a"}, types.LifecycleRule{Prefix: aws.String("a")}, types.LifecycleRule{Prefix: aws.String("a")}},
		//lint:ignore SA1019 the older form of a rule
		{"and moves into the filter when it changes", v1alpha1.S3LifecycleRule{Prefix: "b"}, types.LifecycleRule{Prefix: aws.String("a")}, filter(types.LifecycleRuleFilter{Prefix: aws.String("b")})},
		{"a tag stays without a prefix", v1alpha1.S3LifecycleRule{}, filter(types.LifecycleRuleFilter{Tag: &tag}), filter(types.LifecycleRuleFilter{Tag: &tag})},
		{"a tag joins a prefix", v1alpha1.S3LifecycleRule{Prefix: "a"}, filter(types.LifecycleRuleFilter{Tag: &tag}), and(types.LifecycleRuleAndOperator{Prefix: aws.String("a"), Tags: []types.Tag{tag}})},
		{"a size joins a prefix", v1alpha1.S3LifecycleRule{Prefix: "a"}, filter(types.LifecycleRuleFilter{ObjectSizeLessThan: size}), and(types.LifecycleRuleAndOperator{Prefix: aws.String("a"), ObjectSizeLessThan: size})},
		{"several conditions stay", v1alpha1.S3LifecycleRule{Prefix: "b"}, and(types.LifecycleRuleAndOperator{Prefix: aws.String("a"), Tags: []types.Tag{tag}, ObjectSizeGreaterThan: size}),
			and(types.LifecycleRuleAndOperator{Prefix: aws.String("b"), Tags: []types.Tag{tag}, ObjectSizeGreaterThan: size})},
		{"the expiration of delete markers stays", v1alpha1.S3LifecycleRule{}, types.LifecycleRule{Expiration: &types.LifecycleExpiration{ExpiredObjectDeleteMarker: aws.Bool(true)}},
			types.LifecycleRule{Expiration: &types.LifecycleExpiration{ExpiredObjectDeleteMarker: aws.Bool(true)}}},
		{"an expiration by age goes", v1alpha1.S3LifecycleRule{}, types.LifecycleRule{Expiration: &types.LifecycleExpiration{Days: aws.Int32(1)}}, types.LifecycleRule{}},
		{"the number of versions to retain stays", v1alpha1.S3LifecycleRule{NoncurrentVersionExpirationDays: aws.Int32(3)},
			types.LifecycleRule{NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(2), NewerNoncurrentVersions: aws.Int32(5)}},
			types.LifecycleRule{NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(3), NewerNoncurrentVersions: aws.Int32(5)}}},
	} {
		c.declared.ID = "rule"
		c.found.ID, c.want.ID, c.want.Status = aws.String("rule"), aws.String("rule"), types.ExpirationStatusDisabled
		got := toLifecycle([]v1alpha1.S3LifecycleRule{c.declared}, []types.LifecycleRule{c.found})
		if !reflect.DeepEqual(got, []types.LifecycleRule{c.want}) {
			t.Errorf("%s: got %+v", c.name, got[0])
		}
		if back := fromLifecycle(got); !reflect.DeepEqual(back, []v1alpha1.S3LifecycleRule{c.declared}) {
			t.Errorf("%s: reads back as %+v", c.name, back[0])
		}
	}
}

func TestAnExpirationOnADateIsNoExpirationByAge(t *testing.T) {
	found := []types.LifecycleRule{{ID: aws.String("r"), Expiration: &types.LifecycleExpiration{Date: aws.Time(aws.ToTime(nil))}}}
	if got := fromLifecycle(found)[0].Expiration; got == nil || got.Days != 0 {
		t.Errorf("got %+v, want a difference to every declared expiration", got)
	}
}
