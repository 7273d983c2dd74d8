// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"cmp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// ruleOf returns the rule of a configuration, which has one at most, or an empty one.
func ruleOf(found *types.ServerSideEncryptionConfiguration) types.ServerSideEncryptionRule {
	return append(slices.Clone(kind.NonNil(found).Rules), types.ServerSideEncryptionRule{})[0]
}

func isDefaultEncryption(s BucketState) bool {
	return s.Encryption.Algorithm == "AES256" && !aws.ToBool(s.Encryption.BucketKeyEnabled)
}

// toEncryption overlays the found rule with the wanted settings, so that the write keeps the others.
func toEncryption(want v1alpha1.S3Encryption, found *types.ServerSideEncryptionConfiguration) *types.ServerSideEncryptionConfiguration {
	rule := ruleOf(found)
	rule.BucketKeyEnabled = cmp.Or(want.BucketKeyEnabled, rule.BucketKeyEnabled)
	rule.ApplyServerSideEncryptionByDefault = &types.ServerSideEncryptionByDefault{
		SSEAlgorithm: types.ServerSideEncryption(want.Algorithm), KMSMasterKeyID: kind.NonEmpty(&want.KMSKeyID)}
	return &types.ServerSideEncryptionConfiguration{Rules: []types.ServerSideEncryptionRule{rule}}
}

// fromEncryption returns SSE-S3, which is always on, where nothing is configured. The wanted key is
// given in the words of want.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html
func fromEncryption(found *types.ServerSideEncryptionConfiguration, want v1alpha1.S3Encryption) *v1alpha1.S3Encryption {
	rule := ruleOf(found)
	use := kind.NonNil(rule.ApplyServerSideEncryptionByDefault)
	key := kind.CustomerKMSKey("s3", aws.ToString(use.KMSMasterKeyID))
	return &v1alpha1.S3Encryption{Algorithm: string(cmp.Or(use.SSEAlgorithm, types.ServerSideEncryptionAes256)),
		KMSKeyID: *kind.KMSKeyAs(&want.KMSKeyID, &key), BucketKeyEnabled: kind.NonNil(rule.BucketKeyEnabled)}
}

// toLifecycle overlays the found rules of the same IDs with the wanted ones. The parts of a rule that the
// spec cannot declare, such as a filter by tag, are kept. Rules with other IDs are dropped.
func toLifecycle(want []v1alpha1.S3LifecycleRule, found []types.LifecycleRule) []types.LifecycleRule {
	return kind.OverlayEach(want, found, func(r v1alpha1.S3LifecycleRule, l types.LifecycleRule) bool { return r.ID == aws.ToString(l.ID) }, overlay)
}

func overlay(l *types.LifecycleRule, r v1alpha1.S3LifecycleRule) {
	if c := conditions(*l); l.ID == nil || aws.ToString(c.Prefix) != r.Prefix {
		c.Prefix = &r.Prefix
		alone := len(c.Tags) == 0 && c.ObjectSizeGreaterThan == nil && c.ObjectSizeLessThan == nil
		//lint:ignore SA1019 rules that others wrote may still have the prefix outside the filter
		l.Prefix, l.Filter = nil, kind.Either(alone, &types.LifecycleRuleFilter{Prefix: c.Prefix}, &types.LifecycleRuleFilter{And: &c})
	}
	l.ID, l.Status = &r.ID, kind.Either(r.Enabled, types.ExpirationStatusEnabled, types.ExpirationStatusDisabled)
	if r.Expiration != nil || hasExpiration(*l) {
		l.Expiration = kind.Convert[*types.LifecycleExpiration](r.Expiration)
	}
	l.Transitions = kind.Convert[[]types.Transition](r.Transitions)
	l.AbortIncompleteMultipartUpload = nil
	if days := r.AbortIncompleteMultipartUploadDays; days != nil {
		l.AbortIncompleteMultipartUpload = &types.AbortIncompleteMultipartUpload{DaysAfterInitiation: days}
	}
	kept := kind.NonNil(l.NoncurrentVersionExpiration).NewerNoncurrentVersions
	l.NoncurrentVersionExpiration = nil
	if days := r.NoncurrentVersionExpirationDays; days != nil {
		l.NoncurrentVersionExpiration = &types.NoncurrentVersionExpiration{NoncurrentDays: days, NewerNoncurrentVersions: kept}
	}
}

// hasExpiration reports whether the rule expires objects; otherwise its expiration concerns only delete markers.
func hasExpiration(l types.LifecycleRule) bool {
	return l.Expiration != nil && (l.Expiration.Days != nil || l.Expiration.Date != nil)
}

// conditions are what a rule's filter demands of objects: one condition, or several inside And. Older
// rules have the prefix outside the filter.
func conditions(l types.LifecycleRule) types.LifecycleRuleAndOperator {
	f := kind.NonNil(l.Filter)
	//lint:ignore SA1019 rules that others wrote may still have the prefix outside the filter
	all := types.LifecycleRuleAndOperator{Prefix: cmp.Or(f.Prefix, l.Prefix), ObjectSizeGreaterThan: f.ObjectSizeGreaterThan, ObjectSizeLessThan: f.ObjectSizeLessThan}
	if f.Tag != nil {
		all.Tags = []types.Tag{*f.Tag}
	}
	return *cmp.Or(f.And, &all)
}

// fromLifecycle reads rules in the terms of the spec. An action on a date shows as 0 days.
func fromLifecycle(found []types.LifecycleRule) []v1alpha1.S3LifecycleRule {
	out := make([]v1alpha1.S3LifecycleRule, 0, len(found))
	for _, l := range found {
		r := v1alpha1.S3LifecycleRule{ID: aws.ToString(l.ID), Enabled: l.Status == types.ExpirationStatusEnabled, Prefix: aws.ToString(conditions(l).Prefix),
			Transitions:                        kind.Convert[[]v1alpha1.S3Transition](l.Transitions),
			NoncurrentVersionExpirationDays:    kind.NonNil(l.NoncurrentVersionExpiration).NoncurrentDays,
			AbortIncompleteMultipartUploadDays: kind.NonNil(l.AbortIncompleteMultipartUpload).DaysAfterInitiation}
		if hasExpiration(l) {
			r.Expiration = kind.Convert[*v1alpha1.S3Expiration](l.Expiration)
		}
		out = append(out, r)
	}
	return out
}

// wantedPolicy returns the user's statements and, with tlsOnly, a further one behind them. Nil means that
// neither is declared; "" that the bucket is to have no policy. The user's Version stays: with another
// one, the document would change its meaning.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html
func wantedPolicy(in v1alpha1.S3BucketSpec, arn string) (*string, error) {
	if in.Policy == nil && in.TLSOnly == nil {
		return nil, nil
	}
	doc, err := iampolicy.New(), error(nil)
	if policy := aws.ToString(in.Policy); policy != "" {
		doc, err = iampolicy.ParseOfUser(policy)
	}
	if err != nil {
		return nil, err
	}
	if aws.ToBool(in.TLSOnly) {
		doc.Statement = append(doc.Statement, iampolicy.Statement{
			Sid: "NexusTLSOnly", Effect: iampolicy.Deny, Principal: iampolicy.Principals{iampolicy.Everyone: {iampolicy.Everyone}},
			Action: iampolicy.Values{"s3:*"}, Resource: iampolicy.Values{arn, arn + "/*"},
			Condition: iampolicy.Conditions{"Bool": {"aws:SecureTransport": {"false"}}},
		})
	}
	if len(doc.Statement) == 0 {
		return new(string), nil
	}
	text, err := doc.Encode()
	return &text, err
}
