// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// dynamodbSpec returns the declared tables' settings, or nil when DynamoDB is off.
func dynamodbSpec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.DynamoDBSpec {
	if s.DataServices == nil || !isEnabled(s.DataServices.DynamoDB, func(d *nexusv1.DynamoDBSpec) *bool { return d.Enabled }) {
		return nil
	}
	return s.DataServices.DynamoDB
}

// s3Spec returns the declared buckets' settings, or nil when S3 is off.
func s3Spec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.S3Spec {
	if s.DataServices == nil || !isEnabled(s.DataServices.S3, func(d *nexusv1.S3Spec) *bool { return d.Enabled }) {
		return nil
	}
	return s.DataServices.S3
}

// selectedTables returns the wanted tables by name; none when DynamoDB is off.
func selectedTables(s *nexusv1.NexusAICapabilitySpec) []nexusv1.TableSpec {
	d := dynamodbSpec(s)
	if d == nil {
		return nil
	}
	return selected(d.Tables, defaultTables, func(t *nexusv1.TableSpec) *string { return &t.Name })
}

// selectedBuckets returns the wanted buckets by name; none when S3 is off.
func selectedBuckets(s *nexusv1.NexusAICapabilitySpec) []nexusv1.BucketSpec {
	d := s3Spec(s)
	if d == nil {
		return nil
	}
	return selected(d.Buckets, defaultBuckets, func(b *nexusv1.BucketSpec) *string { return &b.Name })
}

// selected returns what is listed, or where nothing is listed an element for each default name, by name.
func selected[T any](listed []T, defaults []string, name func(*T) *string) []T {
	out := slices.Clone(listed)
	if len(out) == 0 {
		out = make([]T, len(defaults))
		for i, d := range defaults {
			*name(&out[i]) = d
		}
	}
	return byName(out, func(t T) string { return *name(&t) })
}

// byName sorts a list, in which a name counts once.
func byName[T any](list []T, name func(T) string) []T {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return name(a) == name(b) })
}

func (k *compiler) dynamodb() {
	for _, t := range selectedTables(k.spec) {
		if e := existingTable(t); e.store != nil {
			k.observe(e, StepDynamoDB, "dynamodb", &awsv1.DynamoDBTable{Spec: awsv1.DynamoDBTableSpec{TableName: e.nameIn()}})
			continue
		}
		all := dynamodbSpec(k.spec)
		o := &awsv1.DynamoDBTable{Spec: k.table(t, all)}
		k.addGrant(k.resource(part{kindTable, k.names.Of(t.Name), StepDynamoDB, "dynamodb"}, o, k.afterKey(all.KMSKeyArn)...))
	}
}

// table says every setting, so that what a user removes goes back to its default.
func (k *compiler) table(t nexusv1.TableSpec, all *nexusv1.DynamoDBSpec) awsv1.DynamoDBTableSpec {
	key := k.storeKey(all.KMSKeyArn)
	out := awsv1.DynamoDBTableSpec{
		TableName: k.names.Of(t.Name),
		HashKey:   awsv1.DynamoDBAttribute{Name: "pk", Type: "S"}, RangeKey: &awsv1.DynamoDBAttribute{Name: "sk", Type: "S"},
		BillingMode:         "PAY_PER_REQUEST",
		PointInTimeRecovery: new(boolOr(t.PointInTimeRecovery, boolOr(all.PointInTimeRecovery, true))),
		TTL:                 &awsv1.DynamoDBTTL{AttributeName: "expiresAt"},
		SSE:                 &awsv1.DynamoDBSSE{Enabled: key != "", KMSKeyID: key},
		DeletionProtection:  new(EffectiveDeletionPolicy(k.c) != nexusv1.DeletionDelete),
		RecreateOnLoss:      all.RecreateOnLoss,
	}
	if t.HashKey != nil {
		out.HashKey, out.RangeKey = awsv1.DynamoDBAttribute(*t.HashKey), nil
	}
	if t.RangeKey != nil {
		out.RangeKey = new(awsv1.DynamoDBAttribute(*t.RangeKey))
	}
	if t.TTL != nil {
		out.TTL = &awsv1.DynamoDBTTL{Enabled: t.TTL.Enabled, AttributeName: cmp.Or(t.TTL.AttributeName, "expiresAt")}
	}
	return out
}

func (k *compiler) s3() {
	for _, b := range selectedBuckets(k.spec) {
		if e := existingBucket(b); e.store != nil {
			k.observe(e, StepS3, "s3", &awsv1.S3Bucket{Spec: awsv1.S3BucketSpec{BucketName: e.nameIn()}})
			continue
		}
		all := s3Spec(k.spec)
		o := &awsv1.S3Bucket{Spec: k.bucket(b, all)}
		k.addGrant(k.resource(part{kindBucket, bucketObject(k.c, b.Name), StepS3, "s3"}, o, k.afterKey(all.KMSKeyArn)...))
	}
}

// inAccountNamespace reports whether the names of the buckets are those of the account regional namespace.
func inAccountNamespace(s *nexusv1.NexusAICapabilitySpec) bool {
	d := s3Spec(s)
	return d != nil && d.Naming == nexusv1.BucketsAccountRegional
}

// bucketObject names the object of a bucket. The name of a bucket never changes, so that another naming is another object.
func bucketObject(c *nexusv1.NexusAICapability, purpose string) string {
	name := NamesOf(c).Of(purpose)
	if inAccountNamespace(&c.Spec) {
		name += accountSuffix
	}
	return name
}

// bucketName is the name of a bucket in S3, which with the account regional namespace depends on account and region.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html#account-regional-naming-rules
func (k *compiler) bucketName(purpose string) string {
	name := k.names.Of(purpose)
	if inAccountNamespace(k.spec) {
		name += "-" + k.home.account + "-" + k.home.region + accountSuffix
	}
	return name
}

// bucket says every setting, so that what a user removes goes back to its default.
func (k *compiler) bucket(b nexusv1.BucketSpec, all *nexusv1.S3Spec) awsv1.S3BucketSpec {
	encryption := &awsv1.S3Encryption{Algorithm: "AES256"}
	if key := k.storeKey(all.KMSKeyArn); key != "" {
		encryption = &awsv1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: key, BucketKeyEnabled: new(true)}
	}
	rules := b.Lifecycle
	if rules == nil {
		rules = all.Lifecycle
	}
	return awsv1.S3BucketSpec{
		BucketName:      k.bucketName(b.Name),
		ObjectOwnership: new("BucketOwnerEnforced"),
		Versioning:      &awsv1.S3Versioning{Enabled: true},
		Encryption:      encryption,
		LifecycleRules:  new(lifecycle(rules)),
		PublicAccessBlock: &awsv1.S3PublicAccessBlock{
			BlockPublicAcls: true, IgnorePublicAcls: true, BlockPublicPolicy: true, RestrictPublicBuckets: true,
		},
		TLSOnly:        new(true),
		ForceDestroy:   boolOr(b.ForceDestroy, all.ForceDestroy),
		RecreateOnLoss: all.RecreateOnLoss,
	}
}

// ForceDestroy reports whether the objects of a bucket may be deleted with it; known is false for a bucket that the
// capability does not declare.
func ForceDestroy(c *nexusv1.NexusAICapability, bucket string) (force, known bool) {
	for _, b := range selectedBuckets(&c.Spec) {
		if b.Existing == nil && bucketObject(c, b.Name) == bucket {
			return boolOr(b.ForceDestroy, s3Spec(&c.Spec).ForceDestroy), true
		}
	}
	return false, false
}

func lifecycle(rules []nexusv1.LifecycleRule) []awsv1.S3LifecycleRule {
	out := make([]awsv1.S3LifecycleRule, 0, len(rules))
	for _, r := range rules {
		rule := awsv1.S3LifecycleRule{
			ID: r.ID, Enabled: true, Prefix: r.Prefix,
			NoncurrentVersionExpirationDays:    r.NoncurrentVersionExpirationDays,
			AbortIncompleteMultipartUploadDays: r.AbortIncompleteMultipartUploadDays,
		}
		if r.ExpirationDays != nil {
			rule.Expiration = &awsv1.S3Expiration{Days: r.ExpirationDays}
		}
		for _, t := range r.Transitions {
			rule.Transitions = append(rule.Transitions, awsv1.S3Transition{Days: new(t.Days), StorageClass: t.StorageClass})
		}
		out = append(out, rule)
	}
	return out
}

func boolOr(b *bool, other bool) bool {
	if b != nil {
		return *b
	}
	return other
}
