// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// sortedKeys makes the first field at fault the same one every time.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// distinct requires legal names, each once.
func (v *verdict) distinct(at string, names []string, most int) {
	v.require(len(names) <= maxList, at, "at most %d", maxList)
	seen := map[string]bool{}
	for i, n := range names {
		field := fmt.Sprintf("%s[%d].name", at, i)
		v.matches(field, n, most, namePattern)
		v.require(!seen[n], field, "%q is there twice", n)
		seen[n] = true
	}
}

func namesIn[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = name(item)
	}
	return out
}

func (v *verdict) data(d *nexusv1.DataServicesSpec) {
	if d == nil {
		return
	}
	if d.DynamoDB != nil {
		v.tables("spec.dataServices.dynamodb", d.DynamoDB)
	}
	if d.S3 != nil {
		v.buckets("spec.dataServices.s3", d.S3)
	}
	v.key("spec.dataServices.kms", d.KMS)
	v.queues("spec.dataServices.queues", d.Queues)
	v.topics("spec.dataServices.topics", d)
	v.roles("spec.dataServices.roles", d.Roles)
	spec := &nexusv1.NexusAICapabilitySpec{DataServices: d}
	v.require(!glueWanted(spec) || glueEnabled(spec), "spec.dataServices.glue", "needs dataServices.s3 with the bucket %s", callData)
	if c := crawlerSpec(spec); c != nil {
		const at = "spec.dataServices.glue.crawler.schedule"
		v.matches(at, c.Schedule, 255, schedulePattern)
		if c.Schedule != "" {
			fault := cronFault(c.Schedule)
			v.require(fault == "", at, "%s; write it as cron(15 12 * * ? *)", fault)
		}
	}
}

func (v *verdict) tables(at string, d *nexusv1.DynamoDBSpec) {
	v.optional(at+".kmsKeyArn", d.KMSKeyArn, 2048, keyPattern)
	v.distinct(at+".tables", namesIn(d.Tables, func(t nexusv1.TableSpec) string { return t.Name }), maxTablePurpose)
	for i, t := range d.Tables {
		field := fmt.Sprintf("%s.tables[%d]", at, i)
		v.require(t.RangeKey == nil || t.HashKey != nil, field+".rangeKey", "needs hashKey")
		v.attribute(field+".hashKey", t.HashKey)
		v.attribute(field+".rangeKey", t.RangeKey)
		if t.HashKey != nil && t.RangeKey != nil {
			v.require(t.HashKey.Name != t.RangeKey.Name, field+".rangeKey.name", "is the hashKey's name too")
		}
		if t.TTL != nil {
			v.require(len(t.TTL.AttributeName) <= 255, field+".ttl.attributeName", "at most 255 characters")
		}
	}
}

func (v *verdict) attribute(at string, a *nexusv1.KeyAttribute) {
	if a == nil {
		return
	}
	v.require(a.Name != "" && len(a.Name) <= 255, at+".name", "1 to 255 characters")
	oneOf(v, at+".type", a.Type, "S", "N", "B")
}

func (v *verdict) buckets(at string, d *nexusv1.S3Spec) {
	oneOf(v, at+".naming", d.Naming, "", nexusv1.BucketsGlobal, nexusv1.BucketsAccountRegional)
	v.optional(at+".kmsKeyArn", d.KMSKeyArn, 2048, keyPattern)
	v.distinct(at+".buckets", namesIn(d.Buckets, func(b nexusv1.BucketSpec) string { return b.Name }), maxBucketPurpose)
	v.lifecycle(at+".lifecycle", d.Lifecycle)
	for i, b := range d.Buckets {
		field := fmt.Sprintf("%s.buckets[%d]", at, i)
		for _, ending := range reservedEndings {
			v.require(!strings.HasSuffix("-"+b.Name, ending), field+".name", "S3 reserves names that end in %s", ending)
		}
		v.require(d.Naming != nexusv1.BucketsAccountRegional || !strings.HasSuffix(b.Name, accountSuffix), field+".name",
			"must not end in %s, with which the operator marks the names of naming: AccountRegional", accountSuffix)
		v.lifecycle(field+".lifecycle", b.Lifecycle)
	}
}

func (v *verdict) lifecycle(at string, rules []nexusv1.LifecycleRule) {
	v.require(len(rules) <= maxList, at, "at most %d", maxList)
	seen := map[string]bool{}
	for i, r := range rules {
		field := fmt.Sprintf("%s[%d]", at, i)
		v.require(r.ID != "" && len(r.ID) <= 255, field+".id", "1 to 255 characters")
		v.require(!seen[r.ID], field+".id", "%q is there twice", r.ID)
		seen[r.ID] = true
		days := []*int32{r.ExpirationDays, r.NoncurrentVersionExpirationDays, r.AbortIncompleteMultipartUploadDays}
		acts := len(r.Transitions) > 0
		for _, d := range days {
			acts = acts || d != nil
			v.require(d == nil || *d >= 1, field, "days are at least 1")
		}
		v.require(acts, field, "needs an action")
		v.require(len(r.Transitions) <= 8, field+".transitions", "at most 8")
		v.transitions(field, r)
	}
}

// infrequent are the storage classes that take objects only after 30 days, and keep them for as long.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html
var infrequent = []string{"STANDARD_IA", "ONEZONE_IA"}

const infrequentDays = 30

func (v *verdict) transitions(field string, r nexusv1.LifecycleRule) {
	seen := map[string]bool{}
	for i, t := range r.Transitions {
		at := fmt.Sprintf("%s.transitions[%d]", field, i)
		v.require(t.Days >= 0, at+".days", "days are at least 0")
		oneOf(v, at+".storageClass", t.StorageClass, "GLACIER", "DEEP_ARCHIVE", "INTELLIGENT_TIERING", "STANDARD_IA", "ONEZONE_IA", "GLACIER_IR")
		v.require(!seen[t.StorageClass], at+".storageClass", "%s is there twice", t.StorageClass)
		seen[t.StorageClass] = true
		v.require(!slices.Contains(infrequent, t.StorageClass) || t.Days >= infrequentDays, at+".days",
			"S3 moves objects to %s after at least %d days, not %d", t.StorageClass, infrequentDays, t.Days)
		v.require(r.ExpirationDays == nil || *r.ExpirationDays > t.Days, field+".expirationDays",
			"must be more than the %d days of the transition to %s", t.Days, t.StorageClass)
	}
}

// keys requires KMS keys in the region and account of the stores.
func (v *verdict) keys(c *nexusv1.NexusAICapability, f Facts) {
	s := &c.Spec
	if d := dynamodbSpec(s); d != nil {
		v.local("spec.dataServices.dynamodb.kmsKeyArn", "key", d.KMSKeyArn, f.region(c), f)
	}
	if b := s3Spec(s); b != nil {
		v.local("spec.dataServices.s3.kmsKeyArn", "key", b.KMSKeyArn, f.region(c), f)
	}
}

// maxBucketName is the limit of S3 for the name of a bucket.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
const maxBucketName = 63

// bucketNames requires that the names of the account regional namespace are not too long, once the region is known.
func (v *verdict) bucketNames(c *nexusv1.NexusAICapability, f Facts) {
	region := f.region(c)
	if !inAccountNamespace(&c.Spec) || region == "" {
		return
	}
	listed := s3Spec(&c.Spec).Buckets
	for _, b := range selectedBuckets(&c.Spec) {
		if b.Existing != nil {
			continue
		}
		at := "spec.dataServices.s3.naming"
		if i := slices.IndexFunc(listed, func(l nexusv1.BucketSpec) bool { return l.Name == b.Name }); i >= 0 {
			at = fmt.Sprintf("spec.dataServices.s3.buckets[%d].name", i)
		}
		length := len(NamesOf(c).Of(b.Name)) + len("-123456789012-") + len(region) + len(accountSuffix)
		v.require(length <= maxBucketName, at,
			"the name of bucket %s would have %d characters with account and region, and S3 allows %d: choose a shorter name, capabilityName or environment, or naming: Global",
			b.Name, length, maxBucketName)
	}
}

// local requires that an ARN is of a region and of the provider's account, as far as those are known. It ignores a
// text that is no ARN, which a pattern refuses.
func (v *verdict) local(at, noun, arn, region string, f Facts) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return
	}
	if region != "" {
		v.require(parts[3] == region, at, "the %s is in region %s and the capability in %s: name a %s of %s", noun, parts[3], region, noun, region)
	}
	v.require(f.Account == "" || parts[4] == f.Account, at, "the %s belongs to account %s and the capability to %s: name a %s of that account", noun, parts[4], f.Account, noun)
}

func (v *verdict) secrets(s *nexusv1.NexusAICapabilitySpec) {
	if s.DefaultSecrets != "" {
		oneOf(v, "spec.defaultSecrets", s.DefaultSecrets, nexusv1.DefaultSecretsAll, nexusv1.DefaultSecretsNone)
	}
	list := s.Secrets
	v.distinct("spec.secrets", namesIn(list, func(s nexusv1.SecretSpec) string { return s.Name }), maxSecretPurpose)
	for i, s := range list {
		at := fmt.Sprintf("spec.secrets[%d]", i)
		v.require(hasSource(s) || isDefaultSecret(s.Name), at, "an additional secret needs valueFrom, generate, placeholder or existing")
		v.require(s.ValueFrom == nil || s.Generate == nil && s.Placeholder == nil, at, "set valueFrom, or generate and placeholder, not both")
		if s.ValueFrom != nil {
			v.require(s.ValueFrom.Name != "" && s.ValueFrom.Key != "", at+".valueFrom", "needs name and key")
			v.matches(at+".valueFrom.name", s.ValueFrom.Name, 253, subdomainPattern)
		}
		v.sources(at, s)
	}
}

func (v *verdict) sources(at string, s nexusv1.SecretSpec) {
	var keys []nexusv1.SecretKey
	if g := s.Generate; g != nil {
		v.require(g.Length == nil || *g.Length >= 16 && *g.Length <= 1024, at+".generate.length", "16 to 1024")
		v.require(s.Placeholder == nil || len(g.Keys) > 0, at+".generate.keys", "are needed beside placeholder")
		keys = append(keys, g.Keys...)
	}
	if p := s.Placeholder; p != nil {
		v.require(len(p.Keys) > 0, at+".placeholder.keys", "at least one")
		keys = append(keys, p.Keys...)
	}
	v.require(len(keys) <= 32, at, "at most 32 keys")
	seen := map[nexusv1.SecretKey]bool{}
	for _, k := range keys {
		v.require(secretKeyPattern.MatchString(string(k)), at, "the key %q does not match %s", status.Truncate(string(k), 64), secretKeyPattern)
		v.require(!seen[k], at, "the key %q is there twice", k)
		seen[k] = true
	}
}
