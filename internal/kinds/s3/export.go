// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a bucket as it is. Settings that it does not have are not declared: an empty list would remove settings that others add
// later.
func exported(cr *v1alpha1.S3Bucket, have BucketState) {
	out := &cr.Spec
	out.ObjectOwnership, out.Encryption = have.ObjectOwnership, have.Encryption
	if have.IsBlockConfigured {
		out.PublicAccessBlock = have.PublicAccessBlock
	}
	if have.VersioningStatus != "" {
		out.Versioning = have.Versioning
	}
	exportPolicy(out, have)
	out.LifecycleRules, out.CORSRules = exportedLifecycle(have.Lifecycle), kind.NonEmptyList(have.CORSRules)
	if acl := aws.ToString(have.ACL); strings.HasPrefix(acl, "public-read") || acl == "authenticated-read" { // other lists cannot be declared
		out.ACL = have.ACL
	}
	if aws.ToBool(have.ObjectLock) { // false says nothing
		out.ObjectLock = &v1alpha1.S3ObjectLock{Enabled: true, DefaultRetention: kind.NonZero(have.Retention)}
	}
	out.Website = exportedWebsite(*kind.NonNil(have.Website))
	if len(have.Replication) > 0 {
		out.Replication = exportedReplication(have)
	}
	out.Logging = kind.Convert[*v1alpha1.S3Logging](kind.NonZero(have.Logging))
	out.Notification = exportedNotification(have)
}

// exportPolicy declares the statement of tlsOnly alone as such, and any other policy as a whole.
func exportPolicy(out *v1alpha1.S3BucketSpec, have BucketState) {
	found, err := iampolicy.Parse(have.FoundPolicy)
	if err == nil && len(found.Statement) == 1 && found.Contains(tlsStatement(have.ARN)) {
		out.TLSOnly = aws.Bool(true)
		return
	}
	out.Policy = kind.NonEmpty(have.Policy)
}

func exportedWebsite(w Website) *v1alpha1.S3Website {
	if w == (Website{}) {
		return nil
	}
	out := &v1alpha1.S3Website{IndexDocument: w.IndexDocument, ErrorDocument: w.ErrorDocument}
	if w.RedirectHost != "" {
		out.RedirectAllRequestsTo = &v1alpha1.S3WebsiteRedirect{HostName: w.RedirectHost, Protocol: w.RedirectProtocol}
	}
	return out
}

// exportedNotification declares the lists that have elements; nil where there are no notifications at all.
func exportedNotification(have BucketState) *v1alpha1.S3Notification {
	var queues []v1alpha1.S3QueueNotification
	eachNotification(have.Queues, func(e v1alpha1.S3NotificationEvents, arn string) {
		queues = append(queues, v1alpha1.S3QueueNotification{S3NotificationEvents: e, QueueARN: arn})
	})
	var topics []v1alpha1.S3TopicNotification
	eachNotification(have.Topics, func(e v1alpha1.S3NotificationEvents, arn string) {
		topics = append(topics, v1alpha1.S3TopicNotification{S3NotificationEvents: e, TopicARN: arn})
	})
	var functions []v1alpha1.S3LambdaFunctionNotification
	eachNotification(have.Functions, func(e v1alpha1.S3NotificationEvents, arn string) {
		functions = append(functions, v1alpha1.S3LambdaFunctionNotification{S3NotificationEvents: e, LambdaFunctionARN: arn})
	})
	return kind.NonZero(&v1alpha1.S3Notification{EventBridge: kind.NonZero(have.EventBridge), Queues: kind.NonEmptyList(&queues), Topics: kind.NonEmptyList(&topics),
		LambdaFunctions: kind.NonEmptyList(&functions)})
}

// exportedLifecycle leaves out fields that a rule does not have.
func exportedLifecycle(rules map[string]v1alpha1.S3LifecycleRule) *[]v1alpha1.S3LifecycleRule {
	out := make([]v1alpha1.S3LifecycleRule, 0, len(rules))
	for _, id := range kind.SortedKeys(rules) {
		r := rules[id]
		r.ObjectSizeGreaterThan, r.ObjectSizeLessThan, r.NewerNoncurrentVersions = kind.NonZero(r.ObjectSizeGreaterThan), kind.NonZero(r.ObjectSizeLessThan), kind.NonZero(r.NewerNoncurrentVersions)
		r.NoncurrentVersionExpirationDays, r.AbortIncompleteMultipartUploadDays = kind.NonZero(r.NoncurrentVersionExpirationDays), kind.NonZero(r.AbortIncompleteMultipartUploadDays)
		e := *r.Expiration
		e.Days, e.ExpiredObjectDeleteMarker = kind.NonZero(e.Days), kind.NonZero(e.ExpiredObjectDeleteMarker)
		if r.Expiration = kind.NonZero(&e); len(*r.NoncurrentVersionTransitions) == 0 {
			r.NoncurrentVersionTransitions = nil
		}
		if len(r.Tags) == 0 {
			r.Tags = nil
		}
		out = append(out, r)
	}
	return kind.NonEmptyList(&out)
}

// exportedReplication leaves out tags that a rule does not have.
func exportedReplication(have BucketState) *v1alpha1.S3Replication {
	out := &v1alpha1.S3Replication{RoleARN: aws.ToString(have.ReplicationRole)}
	for _, id := range kind.SortedKeys(have.Replication) {
		r := have.Replication[id]
		if len(r.Tags) == 0 {
			r.Tags = nil
		}
		out.Rules = append(out.Rules, r)
	}
	return out
}

// eachNotification calls add with each notification in the order of their IDs.
func eachNotification(all map[string]Notification, add func(events v1alpha1.S3NotificationEvents, arn string)) {
	for _, id := range kind.SortedKeys(all) {
		n := all[id]
		add(v1alpha1.S3NotificationEvents{ID: id, Events: n.Events, FilterPrefix: n.Prefix, FilterSuffix: n.Suffix}, n.TargetARN)
	}
}

// separateSettings are the settings of a bucket that no field says, with one read for each.
func (b *bucket) separateSettings() []kind.SeparateSetting[BucketState] {
	return []kind.SeparateSetting[BucketState]{
		separate("abacStatus", "s3:GetBucketAbac", b.api.GetBucketAbac, func(out *s3.GetBucketAbacOutput) bool {
			return kind.NonNil(out.AbacStatus).Status == types.BucketAbacStatusEnabled
		}),
		separate("accelerateConfiguration", "s3:GetAccelerateConfiguration", b.api.GetBucketAccelerateConfiguration, func(out *s3.GetBucketAccelerateConfigurationOutput) bool {
			return out.Status == types.BucketAccelerateStatusEnabled
		}),
		separate("analyticsConfigurations", "s3:GetAnalyticsConfiguration", b.api.ListBucketAnalyticsConfigurations, func(out *s3.ListBucketAnalyticsConfigurationsOutput) bool {
			return len(out.AnalyticsConfigurationList) > 0
		}),
		separate("intelligentTieringConfigurations", "s3:GetIntelligentTieringConfiguration", b.api.ListBucketIntelligentTieringConfigurations, func(out *s3.ListBucketIntelligentTieringConfigurationsOutput) bool {
			return len(out.IntelligentTieringConfigurationList) > 0
		}),
		separate("inventoryConfigurations", "s3:GetInventoryConfiguration", b.api.ListBucketInventoryConfigurations, func(out *s3.ListBucketInventoryConfigurationsOutput) bool {
			return len(out.InventoryConfigurationList) > 0
		}),
		separate("metadataConfiguration", "s3:GetBucketMetadataTableConfiguration", b.api.GetBucketMetadataConfiguration, func(out *s3.GetBucketMetadataConfigurationOutput) bool {
			return out.GetBucketMetadataConfigurationResult != nil
		}),
		separate("metricsConfigurations", "s3:GetMetricsConfiguration", b.api.ListBucketMetricsConfigurations, func(out *s3.ListBucketMetricsConfigurationsOutput) bool {
			return len(out.MetricsConfigurationList) > 0
		}),
		separate("requestPayment", "s3:GetBucketRequestPayment", b.api.GetBucketRequestPayment, func(out *s3.GetBucketRequestPaymentOutput) bool {
			return out.Payer == types.PayerRequester
		}),
	}
}

func separate[In, Out any](setting, action string, op operation[In, Out], has func(*Out) bool) kind.SeparateSetting[BucketState] {
	return kind.SeparateSetting[BucketState]{ImportRead: kind.ImportRead{Setting: setting, Action: action}, Read: func(ctx context.Context, have BucketState) (bool, error) {
		out, err := send(ctx, have, op, new(In))
		return err == nil && has(out), err
	}}
}
