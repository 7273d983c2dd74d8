// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"cmp"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// declareLifecycle returns the rules by their IDs; nil when they are not managed.
func declareLifecycle(rules *[]v1alpha1.S3LifecycleRule) (map[string]v1alpha1.S3LifecycleRule, error) {
	if rules == nil {
		return nil, nil
	}
	out := make(map[string]v1alpha1.S3LifecycleRule, len(*rules))
	for _, r := range *rules {
		out[r.ID] = complete(r)
	}
	if len(out) < len(*rules) {
		return nil, status.Invalid("spec.lifecycleRules", "two rules have the same id")
	}
	return out, nil
}

// complete sets fields to zero that a rule does not have and that are managed all the same. Members that stay nil are left as they are in
// AWS: a filter that became wider would delete objects.
func complete(r v1alpha1.S3LifecycleRule) v1alpha1.S3LifecycleRule {
	e := *kind.NonNil(r.Expiration)
	e.Days = kind.NonNil(e.Days)
	r.Expiration, r.Transitions = &e, append([]v1alpha1.S3Transition{}, r.Transitions...)
	r.NoncurrentVersionExpirationDays, r.AbortIncompleteMultipartUploadDays = kind.NonNil(r.NoncurrentVersionExpirationDays), kind.NonNil(r.AbortIncompleteMultipartUploadDays)
	return r
}

// toLifecycle overlays the found rules of the same IDs with the wanted ones. Rules with other IDs are dropped.
func toLifecycle(want map[string]v1alpha1.S3LifecycleRule, found []types.LifecycleRule) []types.LifecycleRule {
	return kind.OverlayEach(kind.SortedValues(want), found, func(r v1alpha1.S3LifecycleRule, l types.LifecycleRule) bool { return r.ID == aws.ToString(l.ID) }, overlay)
}

func overlay(l *types.LifecycleRule, r v1alpha1.S3LifecycleRule) {
	overlayFilter(l, r)
	overlayExpiration(l, *r.Expiration)
	l.ID, l.Status = &r.ID, kind.Either(r.Enabled, types.ExpirationStatusEnabled, types.ExpirationStatusDisabled)
	l.Transitions = nil
	for _, t := range r.Transitions {
		l.Transitions = append(l.Transitions, types.Transition{Days: t.Days, Date: kind.TimeOf(t.Date), StorageClass: types.TransitionStorageClass(t.StorageClass)})
	}
	l.AbortIncompleteMultipartUpload = nil
	if days := kind.NonZero(r.AbortIncompleteMultipartUploadDays); days != nil {
		l.AbortIncompleteMultipartUpload = &types.AbortIncompleteMultipartUpload{DaysAfterInitiation: days}
	}
	retained := kind.NonZero(cmp.Or(r.NewerNoncurrentVersions, kind.NonNil(l.NoncurrentVersionExpiration).NewerNoncurrentVersions))
	l.NoncurrentVersionExpiration = nil
	if days := kind.NonZero(r.NoncurrentVersionExpirationDays); days != nil {
		l.NoncurrentVersionExpiration = &types.NoncurrentVersionExpiration{NoncurrentDays: days, NewerNoncurrentVersions: retained}
	}
	if r.NoncurrentVersionTransitions != nil {
		l.NoncurrentVersionTransitions = kind.Convert[[]types.NoncurrentVersionTransition](*r.NoncurrentVersionTransitions)
	}
}

// overlayFilter replaces the filter when a condition changes. S3 takes one condition alone, and several inside And.
func overlayFilter(l *types.LifecycleRule, r v1alpha1.S3LifecycleRule) {
	found := conditions(*l)
	c := found
	c.Prefix = kind.NonEmpty(&r.Prefix)
	if r.Tags != nil {
		c.Tags = kind.SDKTags[types.Tag](kind.Convert[map[string]string](r.Tags))
	}
	c.ObjectSizeGreaterThan = kind.NonZero(cmp.Or(r.ObjectSizeGreaterThan, c.ObjectSizeGreaterThan))
	c.ObjectSizeLessThan = kind.NonZero(cmp.Or(r.ObjectSizeLessThan, c.ObjectSizeLessThan))
	found.Prefix = kind.NonEmpty(found.Prefix)
	if l.ID != nil && reflect.DeepEqual(describeConditions(c), describeConditions(found)) {
		return
	}
	//lint:ignore SA1019 rules that others wrote may still have the prefix outside the filter
	l.Prefix, l.Filter = nil, &types.LifecycleRuleFilter{And: &c}
	if tags, others := len(c.Tags), countSet(c.Prefix != nil, c.ObjectSizeGreaterThan != nil, c.ObjectSizeLessThan != nil); tags+others <= 1 {
		l.Filter = &types.LifecycleRuleFilter{Prefix: c.Prefix, ObjectSizeGreaterThan: c.ObjectSizeGreaterThan, ObjectSizeLessThan: c.ObjectSizeLessThan}
		if tags == 1 {
			l.Filter.Tag = &c.Tags[0]
		} else if others == 0 {
			l.Filter.Prefix = &r.Prefix // of all objects
		}
	}
}

// describeConditions returns conditions in a form without an order of tags.
func describeConditions(c types.LifecycleRuleAndOperator) any {
	return []any{c.Prefix, c.ObjectSizeGreaterThan, c.ObjectSizeLessThan, kind.TagMap(c.Tags)}
}

func countSet(all ...bool) (n int) {
	for _, set := range all {
		n += kind.Either(set, 1, 0)
	}
	return n
}

// overlayExpiration keeps the removal of delete markers in a rule that declares no expiration.
func overlayExpiration(l *types.LifecycleRule, e v1alpha1.S3Expiration) {
	switch {
	case *e.Days > 0 || e.Date != "":
		l.Expiration = &types.LifecycleExpiration{Days: kind.NonZero(e.Days), Date: kind.TimeOf(e.Date)}
	case aws.ToBool(e.ExpiredObjectDeleteMarker):
		l.Expiration = &types.LifecycleExpiration{ExpiredObjectDeleteMarker: e.ExpiredObjectDeleteMarker}
	case e.ExpiredObjectDeleteMarker != nil || l.Expiration != nil && !aws.ToBool(l.Expiration.ExpiredObjectDeleteMarker):
		l.Expiration = nil
	}
}

// conditions returns the conditions in a rule's filter: one condition, or several inside And. Older rules have the prefix outside the
// filter.
func conditions(l types.LifecycleRule) types.LifecycleRuleAndOperator {
	f := kind.NonNil(l.Filter)
	//lint:ignore SA1019 rules that others wrote may still have the prefix outside the filter
	all := types.LifecycleRuleAndOperator{Prefix: cmp.Or(f.Prefix, l.Prefix), ObjectSizeGreaterThan: f.ObjectSizeGreaterThan, ObjectSizeLessThan: f.ObjectSizeLessThan}
	if f.Tag != nil {
		all.Tags = []types.Tag{*f.Tag}
	}
	return *cmp.Or(f.And, &all)
}

// fromLifecycle reads rules in the terms of the spec, with a zero for everything that a rule does not have.
func fromLifecycle(found []types.LifecycleRule) map[string]v1alpha1.S3LifecycleRule {
	out := make(map[string]v1alpha1.S3LifecycleRule, len(found))
	for _, l := range found {
		c, e, old := conditions(l), kind.NonNil(l.Expiration), kind.NonNil(l.NoncurrentVersionExpiration)
		r := v1alpha1.S3LifecycleRule{ID: aws.ToString(l.ID), Enabled: l.Status == types.ExpirationStatusEnabled,
			Prefix: aws.ToString(c.Prefix), Tags: kind.Convert[map[string]v1alpha1.TagValue](kind.TagMap(c.Tags)),
			ObjectSizeGreaterThan: kind.NonNil(c.ObjectSizeGreaterThan), ObjectSizeLessThan: kind.NonNil(c.ObjectSizeLessThan),
			Expiration:                      &v1alpha1.S3Expiration{Days: e.Days, Date: kind.DateOf(e.Date), ExpiredObjectDeleteMarker: kind.NonNil(e.ExpiredObjectDeleteMarker)},
			NoncurrentVersionExpirationDays: old.NoncurrentDays, NewerNoncurrentVersions: kind.NonNil(old.NewerNoncurrentVersions),
			NoncurrentVersionTransitions:       kind.NonNil(kind.Convert[*[]v1alpha1.S3NoncurrentVersionTransition](&l.NoncurrentVersionTransitions)),
			AbortIncompleteMultipartUploadDays: kind.NonNil(l.AbortIncompleteMultipartUpload).DaysAfterInitiation}
		for _, t := range l.Transitions {
			r.Transitions = append(r.Transitions, v1alpha1.S3Transition{Days: t.Days, Date: kind.DateOf(t.Date), StorageClass: string(t.StorageClass)})
		}
		out[r.ID] = complete(r)
	}
	return out
}
