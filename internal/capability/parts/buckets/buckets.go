// SPDX-License-Identifier: Apache-2.0

// Package buckets is spec.dataServices.s3.
package buckets

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the buckets: of their kind, step, access and purposes.
const (
	KindBucket = "S3Bucket"
	StepS3     = "S3"
	OfBuckets  = "s3"
)

// bucketNames fits the names of buckets in S3.
var bucketNames = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]+[a-z0-9]$`)

// existingBuckets describes the ARNs of buckets that exist already.
var existingBuckets = part.ExistingKind{Noun: "bucket", Service: "s3", Names: bucketNames, Most: maxBucketName, IsGlobal: true,
	HasNoAccount: true, ARN: func(h part.Home, e part.Existing) string { return h.BucketARN(e.NameIn()) }}

// Part is spec.dataServices.s3.
func Part() part.Part {
	return part.Part{
		Steps: []part.Step{{Number: 2, Name: StepS3, Phase: nexusv1.PhaseProvisioningDataServices,
			Condition: nexusv1.ConditionDataServicesReady}},
		Kinds: []part.KindFacts{{
			Kind: KindBucket, Step: StepS3, Removed: part.Removal{Stage: part.RemovesData + 70, Steps: []string{StepS3}},
			Grants: true, Store: true, IsBilled: true, Refusal: "is declared in spec.dataServices.s3",
			Existing: &existingBuckets,
			Doom:     doomBucket,
		}},
		Checks: []part.Turn[part.Checking]{part.At(20, func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) {
			if d := part.DataOf(&c.Spec).S3; d != nil {
				checkBuckets(v, "spec.dataServices.s3", d)
			}
		})},
		Surroundings: func(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts, _ *part.Compiler) {
			if b := Spec(&c.Spec); b != nil {
				v.Local("spec.dataServices.s3.kmsKeyArn", "key", b.KMSKeyArn, f.RegionOf(c), f)
			}
			checkBucketNames(v, c, f)
		},
		Compile: []func(*part.Compiler){addBuckets},
		Rights:  []part.Turn[part.Granting]{part.At(20, bucketStatements)},
		Values:  bucketValues,
		Entries: part.Stores[nexusv1.BucketSpec]{
			Place: 20, Field: OfBuckets, EncryptedBy: "s3", At: "spec.dataServices.s3.buckets", Of: existingBucket,
			Declared: bucketsOf, Selected: Selected, Keep: keepBuckets, ObjectOf: func(c *nexusv1.NexusAICapability, b nexusv1.BucketSpec) string {
				return Object(c, b.Name)
			},
			Describes: func(b nexusv1.BucketSpec) map[string]bool {
				return map[string]bool{"forceDestroy": b.ForceDestroy != nil, "lifecycle": b.Lifecycle != nil}
			},
		}.Entries(),
	}
}

func nameOfBucketSpec(b nexusv1.BucketSpec) string { return b.Name }

// bucketsOf returns the declared buckets; none when S3 is off.
func bucketsOf(s *nexusv1.NexusAICapabilitySpec) []nexusv1.BucketSpec {
	if d := Spec(s); d != nil {
		return d.Buckets
	}
	return nil
}

func keepBuckets(a part.AccessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
	d := Spec(s)
	if d == nil {
		return
	}
	limited := *d
	limited.Buckets, data.S3 = part.Keep(a, OfBuckets, Selected(s), nameOfBucketSpec), &limited
	if len(limited.Buckets) == 0 { // an empty list would stand for the default buckets
		data.S3 = nil
	}
}

func doomBucket(c *nexusv1.NexusAICapability, want awsv1.Resource, mayDeleteData bool) {
	o := want.(*awsv1.S3Bucket)
	force, known := ForceDestroy(c, o.Name)
	part.AllowForce(&o.Spec.ForceDestroy, mayDeleteData, force, known)
}

// bucketValues returns the settings with the names of the buckets.
func bucketValues(k *part.Compiler) (out []part.Value) {
	for _, b := range Selected(k.Spec) {
		out = append(out, part.Value{Parameter: "s3/" + b.Name + "-bucket", Variable: "NEXUS_S3_BUCKET_" + part.EnvironmentVariable(b.Name),
			Text: nameOfStore(k, b)})
	}
	return out
}

// reservedEndings end the names that S3 reserves.
var reservedEndings = []string{"-s3alias", "--ol-s3", "--x-s3", "--table-s3"}

// defaultBuckets are the buckets of a capability that lists none.
var defaultBuckets = []string{part.CallData, "journey-logs", "journey-reports", "wxcc-simulator"}

// Spec returns the declared buckets' settings, or nil when S3 is off.
func Spec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.S3Spec {
	if s.DataServices == nil || !part.IsEnabled(s.DataServices.S3, func(d *nexusv1.S3Spec) *bool { return d.Enabled }) {
		return nil
	}
	return s.DataServices.S3
}

// Selected returns the wanted buckets by name; none when S3 is off.
func Selected(s *nexusv1.NexusAICapabilitySpec) []nexusv1.BucketSpec {
	d := Spec(s)
	if d == nil {
		return nil
	}
	return part.Selected(d.Buckets, defaultBuckets, func(b *nexusv1.BucketSpec) *string { return &b.Name })
}

func addBuckets(k *part.Compiler) {
	for _, b := range Selected(k.Spec) {
		if e := existingBucket(b); e.Store != nil {
			k.Observe(e, StepS3, "s3", &awsv1.S3Bucket{Spec: awsv1.S3BucketSpec{BucketName: e.NameIn()}})
			continue
		}
		all := Spec(k.Spec)
		o := &awsv1.S3Bucket{Spec: bucketSpec(k, b, all)}
		k.AddGrant(k.Resource(part.Child{Kind: KindBucket, Name: Object(k.Capability, b.Name), Step: StepS3, Component: "s3"}, o,
			k.AfterKey(all.KMSKeyArn)...))
	}
}

// inAccountNamespace reports whether the names of the buckets are those of the account regional namespace.
func inAccountNamespace(s *nexusv1.NexusAICapabilitySpec) bool {
	d := Spec(s)
	return d != nil && d.Naming == nexusv1.BucketsAccountRegional
}

// Object names the object of a bucket. The name of a bucket never changes, so that another naming is another object.
func Object(c *nexusv1.NexusAICapability, purpose string) string {
	name := part.NamesOf(c).Of(purpose)
	if inAccountNamespace(&c.Spec) {
		name += accountSuffix
	}
	return name
}

// NameInS3 is the name of a bucket in S3, which with the account regional namespace depends on account and region.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html#account-regional-naming-rules
func NameInS3(k *part.Compiler, purpose string) string {
	name := k.Names.Of(purpose)
	if inAccountNamespace(k.Spec) {
		name += "-" + k.Home.Account + "-" + k.Home.Region + accountSuffix
	}
	return name
}

// bucketSpec sets every field, so that a setting that a user removes returns to its default.
func bucketSpec(k *part.Compiler, b nexusv1.BucketSpec, all *nexusv1.S3Spec) awsv1.S3BucketSpec {
	encryption := &awsv1.S3Encryption{Algorithm: "AES256"}
	if key := k.StoreKey(all.KMSKeyArn); key != "" {
		encryption = &awsv1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: key, BucketKeyEnabled: new(true)}
	}
	rules := b.Lifecycle
	if rules == nil {
		rules = all.Lifecycle
	}
	return awsv1.S3BucketSpec{
		BucketName:      NameInS3(k, b.Name),
		ObjectOwnership: new("BucketOwnerEnforced"),
		Versioning:      &awsv1.S3Versioning{Enabled: true},
		Encryption:      encryption,
		LifecycleRules:  new(lifecycle(rules)),
		PublicAccessBlock: &awsv1.S3PublicAccessBlock{
			BlockPublicAcls: true, IgnorePublicAcls: true, BlockPublicPolicy: true, RestrictPublicBuckets: true,
		},
		TLSOnly:        new(true),
		ForceDestroy:   part.BoolOr(b.ForceDestroy, all.ForceDestroy),
		RecreateOnLoss: all.RecreateOnLoss,
	}
}

// ForceDestroy reports whether the objects of a bucket may be deleted with it; known is false for a bucket that the
// capability does not declare.
func ForceDestroy(c *nexusv1.NexusAICapability, bucket string) (force, known bool) {
	for _, b := range Selected(&c.Spec) {
		if b.Existing == nil && Object(c, b.Name) == bucket {
			return part.BoolOr(b.ForceDestroy, Spec(&c.Spec).ForceDestroy), true
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

func existingBucket(b nexusv1.BucketSpec) part.Existing {
	return part.Existing{Kind: KindBucket, Of: &existingBuckets, Purpose: b.Name, Store: b.Existing}
}

// nameOfStore is the name of a bucket in S3.
func nameOfStore(k *part.Compiler, b nexusv1.BucketSpec) string {
	if e := existingBucket(b); e.Store != nil {
		return e.NameIn()
	}
	return NameInS3(k, b.Name)
}

func bucketStatements(k *part.Compiler) []iampolicy.Statement {
	var own, whole, objects []string
	for _, b := range Selected(k.Spec) {
		if e := existingBucket(b); e.Store != nil {
			whole = part.AppendARN(whole, k.External(e))
			continue
		}
		arn := k.Owned(KindBucket+"/"+Object(k.Capability, b.Name), k.Home.BucketARN(NameInS3(k, b.Name)))
		own, whole = part.AppendARN(own, arn), part.AppendARN(whole, arn)
	}
	for _, arn := range whole {
		objects = append(objects, arn+"/*")
	}
	if len(whole) == 0 {
		return nil
	}
	out := []iampolicy.Statement{
		{Sid: "Buckets", Action: []string{"s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"}, Resource: whole},
		{Sid: "Objects", Action: []string{
			"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject",
		}, Resource: objects},
	}
	if key := Spec(k.Spec).KMSKeyArn; key != "" && len(own) > 0 {
		out = append(out, KeyStatement(k, part.KeyUse, key, own))
	}
	return out
}

// KeyStatement allows the use of a key through S3 and for the buckets alone. S3 encrypts with the ARN of the bucket, if
// it has a bucket key, or of the object as context.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func KeyStatement(k *part.Compiler, actions []string, key string, buckets []string) iampolicy.Statement {
	var contexts []string
	for _, b := range k.ByPrefix(buckets, k.Home.BucketARN("")) {
		contexts = append(contexts, b, b+"/*")
	}
	return iampolicy.Statement{Sid: "BucketKey", Action: actions, Resource: []string{key}, Condition: iampolicy.Conditions{
		"StringEquals": {"kms:ViaService": {k.Home.Service("s3")}},
		"StringLike":   {"kms:EncryptionContext:aws:s3:arn": contexts},
	}}
}

func checkBuckets(v *part.Verdict, at string, d *nexusv1.S3Spec) {
	checkLifecycle(v, at+".lifecycle", d.Lifecycle)
	for i, b := range d.Buckets {
		field := fmt.Sprintf("%s.buckets[%d]", at, i)
		for _, ending := range reservedEndings {
			v.Require(!strings.HasSuffix("-"+b.Name, ending), field+".name", "S3 reserves names that end in %s", ending)
		}
		v.Require(d.Naming != nexusv1.BucketsAccountRegional || !strings.HasSuffix(b.Name, accountSuffix), field+".name",
			"must not end in %s, with which the operator marks the names of naming: AccountRegional", accountSuffix)
		checkLifecycle(v, field+".lifecycle", b.Lifecycle)
	}
}

func checkLifecycle(v *part.Verdict, at string, rules []nexusv1.LifecycleRule) {
	for i, r := range rules {
		field := fmt.Sprintf("%s[%d]", at, i)
		v.Require(len(r.Transitions) > 0 || r.ExpirationDays != nil || r.NoncurrentVersionExpirationDays != nil ||
			r.AbortIncompleteMultipartUploadDays != nil, field, "needs an action")
		checkTransitions(v, field, r)
	}
}

// infrequent are the storage classes that take objects only after 30 days, and keep them for as long.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html
var infrequent = []string{"STANDARD_IA", "ONEZONE_IA"}

const infrequentDays = 30

func checkTransitions(v *part.Verdict, field string, r nexusv1.LifecycleRule) {
	seen := map[string]bool{}
	for i, t := range r.Transitions {
		at := fmt.Sprintf("%s.transitions[%d]", field, i)
		v.Require(!seen[t.StorageClass], at+".storageClass", "%s is there twice", t.StorageClass)
		seen[t.StorageClass] = true
		v.Require(!slices.Contains(infrequent, t.StorageClass) || t.Days >= infrequentDays, at+".days",
			"S3 moves objects to %s after at least %d days, not %d", t.StorageClass, infrequentDays, t.Days)
		v.Require(r.ExpirationDays == nil || *r.ExpirationDays > t.Days, field+".expirationDays",
			"must be more than the %d days of the transition to %s", t.Days, t.StorageClass)
	}
}

// maxBucketName is the limit of S3 for the name of a bucket.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
const maxBucketName = 63

// checkBucketNames requires that the names of the account regional namespace are not too long, once the region is known.
func checkBucketNames(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	region := f.RegionOf(c)
	if !inAccountNamespace(&c.Spec) || region == "" {
		return
	}
	listed := Spec(&c.Spec).Buckets
	for _, b := range Selected(&c.Spec) {
		if b.Existing != nil {
			continue
		}
		at := "spec.dataServices.s3.naming"
		if i := slices.IndexFunc(listed, func(l nexusv1.BucketSpec) bool { return l.Name == b.Name }); i >= 0 {
			at = fmt.Sprintf("spec.dataServices.s3.buckets[%d].name", i)
		}
		length := len(part.NamesOf(c).Of(b.Name)) + len("-123456789012-") + len(region) + len(accountSuffix)
		v.Require(length <= maxBucketName, at,
			"the name of bucket %s would have %d characters with account and region, and S3 allows %d: choose a shorter name, capabilityName or environment, or naming: Global",
			b.Name, length, maxBucketName)
	}
}

// accountSuffix ends the names of the account regional namespace of S3.
const accountSuffix = "-an"
