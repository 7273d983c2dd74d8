// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const name = "myapp-dev-call-data"

type spec = v1alpha1.S3BucketSpec

func bucketOf(edit func(s *spec)) *v1alpha1.S3Bucket {
	b := &v1alpha1.S3Bucket{}
	b.Name = name
	b.Spec.BucketName = name
	if edit != nil {
		edit(&b.Spec)
	}
	return b
}

// capability is a bucket as a capability compiles it.
func capability(s *spec) {
	s.Versioning = &v1alpha1.S3Versioning{Enabled: true}
	s.Encryption = &v1alpha1.S3Encryption{Algorithm: "AES256"}
	s.PublicAccessBlock = blocked()
	s.ObjectOwnership = aws.String("BucketOwnerEnforced")
	s.TLSOnly = aws.Bool(true)
}

func blocked() *v1alpha1.S3PublicAccessBlock {
	return &v1alpha1.S3PublicAccessBlock{BlockPublicAcls: true, IgnorePublicAcls: true, BlockPublicPolicy: true, RestrictPublicBuckets: true}
}

func rules() *[]v1alpha1.S3LifecycleRule {
	return &[]v1alpha1.S3LifecycleRule{{ID: "old", Enabled: true, Prefix: "logs/", Expiration: &v1alpha1.S3Expiration{Days: aws.Int32(90)},
		Transitions:                     []v1alpha1.S3Transition{{Days: aws.Int32(30), StorageClass: "STANDARD_IA"}},
		NoncurrentVersionExpirationDays: aws.Int32(7), AbortIncompleteMultipartUploadDays: aws.Int32(3)}}
}

func twoRules() *[]v1alpha1.S3LifecycleRule {
	two := append(*rules(), v1alpha1.S3LifecycleRule{ID: "new", Enabled: true, Expiration: &v1alpha1.S3Expiration{Days: aws.Int32(1)}})
	return &two
}

const reader = `{"Version":"2012-10-17","Statement":[{"Sid":"r","Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":["s3:GetObject"],"Resource":"arn:aws:s3:::myapp-dev-call-data/*"}]}`

// delivery is a statement that AWS adds where logs are delivered into a bucket.
const delivery = `{"Sid":"AWSLogDeliveryWrite1","Effect":"Allow","Principal":{"Service":"delivery.logs.amazonaws.com"},"Action":"s3:PutObject",` +
	`"Resource":"arn:aws:s3:::myapp-dev-call-data/AWSLogs/123456789012/*","Condition":{"StringEquals":{"s3:x-amz-acl":"bucket-owner-full-control"}}}`

func putPolicy(text string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: aws.String(name), Policy: &text})
		kindtest.Must(t, err)
	}
}

// addStatement adds a statement to the policy of the bucket, as others do.
func addStatement(statement string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		putPolicy(strings.Replace(policyOf(t, r), `"Statement":[`, `"Statement":[`+statement+",", 1))(t, r)
	}
}

func policyOf(t *testing.T, r *kindtest.Rig) string {
	t.Helper()
	out, err := api(r).GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	return *out.Policy
}

const key = "arn:aws:kms:ap-southeast-1:123456789012:key/k"

func encrypted(keyID string) *v1alpha1.S3Bucket {
	return bucketOf(func(s *spec) { s.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: keyID} })
}

// public is a bucket with a policy that the public access block of a new bucket refuses.
func public(s *spec) {
	s.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{BlockPublicAcls: true, IgnorePublicAcls: true}
	s.Policy = aws.String(strings.ReplaceAll(reader, `{"AWS":"123456789012"}`, `"*"`))
}

func setKey(id string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).PutBucketEncryption(t.Context(), &s3.PutBucketEncryptionInput{Bucket: aws.String(name),
			ServerSideEncryptionConfiguration: toEncryption(v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: id}, nil)})
		kindtest.Must(t, err)
	}
}

func api(r *kindtest.Rig) *s3.Client { return s3.NewFromConfig(r.Config) }

func putTags(t *testing.T, r *kindtest.Rig, tags map[string]string) {
	t.Helper()
	_, err := api(r).PutBucketTagging(t.Context(),
		&s3.PutBucketTaggingInput{Bucket: aws.String(name), Tagging: &types.Tagging{TagSet: kind.SDKTags[types.Tag](tags)}})
	kindtest.Must(t, err)
}

func createBucket(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: kindtest.Region}})
	kindtest.Must(t, err)
}

func putObject(t *testing.T, r *kindtest.Rig, key string) {
	t.Helper()
	_, err := api(r).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(name), Key: aws.String(key)})
	kindtest.Must(t, err)
}

func drift(op func(t *testing.T, r *kindtest.Rig) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { t.Helper(); kindtest.Must(t, op(t, r)) }
}

func TestBucket(t *testing.T) {
	both := func(edit func(s *spec)) *v1alpha1.S3Bucket {
		return bucketOf(func(s *spec) { capability(s); edit(s) })
	}
	kindtest.Run(t, engine.For(NewBucket), slices.Concat(settingsRows(), replicationRows(), []kindtest.Case{
		{Name: "absent is created with the settings that are not AWS's defaults", Object: bucketOf(capability), Cause: engine.New,
			Actions: []string{"s3:CreateBucket", "s3:PutBucketPolicy", "s3:PutBucketVersioning"}},
		{Name: "undeclared settings are not managed", Object: bucketOf(nil), Existing: bucketOf(nil), Cause: engine.InSync, Drift: true,
			Before: drift(func(t *testing.T, r *kindtest.Rig) error {
				_, err := api(r).PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: aws.String(name),
					VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
				return err
			})},
		{Name: "versioning is suspended", Existing: bucketOf(capability), Object: both(func(s *spec) { s.Versioning.Enabled = false }),
			Cause: engine.Edited, Diff: []string{"Versioning.Enabled"}, Actions: []string{"s3:PutBucketVersioning"}},
		{Name: "versioning never switched on counts as suspended", Existing: bucketOf(nil),
			Object: bucketOf(func(s *spec) { s.Versioning = &v1alpha1.S3Versioning{} }), Cause: engine.InSync},
		{Name: "the public access block is closed again", Existing: bucketOf(capability), Object: bucketOf(capability), Drift: true,
			Before: drift(func(t *testing.T, r *kindtest.Rig) error {
				_, err := api(r).DeletePublicAccessBlock(t.Context(), &s3.DeletePublicAccessBlockInput{Bucket: aws.String(name)})
				return err
			}),
			Cause: engine.Drifted, Diff: []string{"PublicAccessBlock.BlockPublicAcls", "PublicAccessBlock.IgnorePublicAcls",
				"PublicAccessBlock.BlockPublicPolicy",
				"PublicAccessBlock.RestrictPublicBuckets"}, Actions: []string{"s3:PutBucketPublicAccessBlock"}},
		{Name: "encryption by KMS", Existing: bucketOf(capability), Object: both(func(s *spec) {
			s.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws_kms", KMSKeyID: "arn:aws:kms:ap-southeast-1:123456789012:key/k",
				BucketKeyEnabled: aws.Bool(true)}
		}), Cause: engine.Edited, Diff: []string{"Encryption.Algorithm", "Encryption.KMSKeyID", "Encryption.BucketKeyEnabled"},
			Actions: []string{"s3:PutEncryptionConfiguration"}},
		{Name: "without kmsKeyID, the AWS-managed key is restored", Existing: encrypted(key), Object: encrypted(""),
			Cause: engine.Edited, Diff: []string{"Encryption.KMSKeyID"}, Actions: []string{"s3:PutEncryptionConfiguration"}},
		{Name: "a key set by hand is removed again", Existing: encrypted(""), Object: encrypted(""), Drift: true, Before: setKey(key),
			Cause: engine.Drifted, Diff: []string{"Encryption.KMSKeyID"}, Actions: []string{"s3:PutEncryptionConfiguration"}},
		{Name: "the wanted key is restored", Existing: encrypted(key), Object: encrypted(key), Drift: true, Before: setKey(key + "2"),
			Cause: engine.Drifted, Diff: []string{"Encryption.KMSKeyID"}, Actions: []string{"s3:PutEncryptionConfiguration"}},
		{Name: "the alias of the AWS-managed key is that key", Existing: encrypted(""), Object: encrypted("alias/aws/s3"),
			Before: setKey("arn:aws:kms:ap-southeast-1:123456789012:alias/aws/s3"), Cause: engine.InSync},
		{Name: "a key by its ID is the key by its ARN", Existing: encrypted(key), Object: encrypted("k"), Cause: engine.InSync},
		{Name: "from a KMS key to SSE-S3", Existing: encrypted(key),
			Object: bucketOf(func(s *spec) { s.Encryption = &v1alpha1.S3Encryption{Algorithm: "AES256"} }),
			Cause:  engine.Edited, Diff: []string{"Encryption.Algorithm", "Encryption.KMSKeyID"},
			Actions: []string{"s3:PutEncryptionConfiguration"}},
		{Name: "object ownership", Existing: bucketOf(capability), Object: both(func(s *spec) { s.ObjectOwnership = aws.String("ObjectWriter") }),
			Cause: engine.Edited, Diff: []string{"ObjectOwnership"}, Actions: []string{"s3:PutBucketOwnershipControls"}},
		{Name: "a policy of the user's joins the TLS statement", Existing: bucketOf(capability),
			Object: both(func(s *spec) { s.Policy = aws.String(reader) }),
			Cause:  engine.Edited, Diff: []string{"Policy"}, Actions: []string{"s3:PutBucketPolicy"}},
		{Name: "an empty policy clears it", Existing: bucketOf(func(s *spec) { s.Policy = aws.String(reader) }),
			Object: bucketOf(func(s *spec) { s.Policy = aws.String("") }),
			Cause:  engine.Edited, Diff: []string{"Policy"}, Actions: []string{"s3:DeleteBucketPolicy"}},
		{Name: "the TLS statement alone leaves those of others", Existing: bucketOf(capability), Object: bucketOf(capability), Drift: true,
			Before: addStatement(delivery), Cause: engine.InSync},
		{Name: "the TLS statement is restored beside those of others", Existing: bucketOf(capability), Object: bucketOf(capability), Drift: true,
			Before: putPolicy(`{"Version":"2012-10-17","Statement":[` + delivery + `]}`), Cause: engine.Drifted, Diff: []string{"TLSOnly"},
			Actions: []string{"s3:PutBucketPolicy"}},
		{Name: "a TLS statement that was weakened is restored", Existing: bucketOf(capability), Object: bucketOf(capability), Drift: true,
			Before: putPolicy(`{"Version":"2012-10-17","Statement":[` + strings.ReplaceAll(delivery, "AWSLogDeliveryWrite1", "NexusTLSOnly") + `]}`),
			Cause:  engine.Drifted, Diff: []string{"TLSOnly"}, Actions: []string{"s3:PutBucketPolicy"}},
		{Name: "tlsOnly false removes its statement alone", Existing: bucketOf(capability),
			Object: both(func(s *spec) { s.TLSOnly = aws.Bool(false) }),
			Before: addStatement(delivery), Cause: engine.Edited, Diff: []string{"TLSOnly"}, Actions: []string{"s3:PutBucketPolicy"}},
		{Name: "tlsOnly false removes a policy without other statements", Existing: bucketOf(capability),
			Object: both(func(s *spec) { s.TLSOnly = aws.Bool(false) }),
			Cause:  engine.Edited, Diff: []string{"TLSOnly"}, Actions: []string{"s3:DeleteBucketPolicy"}},
		{Name: "a declared policy is exact", Existing: bucketOf(func(s *spec) { s.Policy = aws.String(reader) }),
			Object: bucketOf(func(s *spec) { s.Policy = aws.String(reader) }), Drift: true,
			Before: addStatement(delivery), Cause: engine.Drifted, Diff: []string{"Policy"}, Actions: []string{"s3:PutBucketPolicy"}},
		{Name: "a canonical user, of which S3 shows an ARN", Stalled: status.ReasonInvalidSpec, Object: bucketOf(func(s *spec) {
			s.Policy = aws.String(strings.ReplaceAll(reader, `{"AWS":"123456789012"}`,
				`{"CanonicalUser":"79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be"}`))
		})},
		{Name: "an identity of CloudFront by its ARN", Cause: engine.New, Actions: []string{"s3:CreateBucket", "s3:PutBucketPolicy"},
			Object: bucketOf(func(s *spec) {
				s.Policy = aws.String(strings.ReplaceAll(reader, "123456789012",
					"arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity E2QWRUHAPOMQZL"))
			})},
		{Name: "a name of the account regional namespace", Cause: engine.New, Actions: []string{"s3:CreateBucket"},
			Object: bucketOf(func(s *spec) { s.BucketName = "media-" + kindtest.Account + "-" + kindtest.Region + "-an" })},
		{Name: "a name of another account's regional namespace", Stalled: status.ReasonInvalidSpec,
			Object: bucketOf(func(s *spec) { s.BucketName = "media-999999999999-" + kindtest.Region + "-an" })},
		{Name: "a name of another region's namespace", Stalled: status.ReasonInvalidSpec,
			Object: bucketOf(func(s *spec) { s.BucketName = "media-" + kindtest.Account + "-eu-west-1-an" })},
		{Name: "a malformed policy names its field", Object: bucketOf(func(s *spec) { s.Policy = aws.String("{") }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "lifecycle rules", Existing: bucketOf(nil), Object: bucketOf(func(s *spec) { s.LifecycleRules = rules() }),
			Cause: engine.Edited, Diff: []string{"Lifecycle[old]"}, Actions: []string{"s3:PutLifecycleConfiguration"}},
		{Name: "a rule that AWS refuses is reported with AWS's text", Existing: bucketOf(nil),
			Object: bucketOf(func(s *spec) { s.LifecycleRules = rules() }),
			Before: func(_ *testing.T, r *kindtest.Rig) {
				r.AWS.Fault(emulator.Match{Service: "s3", Op: "PutBucketLifecycle*"}, emulator.Fail(400, "InvalidArgument",
					"'Days' in the Expiration action for filter '(prefix=logs/)' must be greater than 'Days' in the Transition action"))
			}, OnRun: true, Stalled: status.ReasonRefusedByAWS},
		{Name: "the order of the rules means nothing", Existing: bucketOf(func(s *spec) { s.LifecycleRules = twoRules() }),
			Object: bucketOf(func(s *spec) { s.LifecycleRules = twoRules(); slices.Reverse(*s.LifecycleRules) }), Cause: engine.InSync},
		{Name: "an empty list of rules clears them", Existing: bucketOf(func(s *spec) { s.LifecycleRules = rules() }),
			Object: bucketOf(func(s *spec) { s.LifecycleRules = &[]v1alpha1.S3LifecycleRule{} }),
			Cause:  engine.Edited, Diff: []string{"Lifecycle[old]"}, Actions: []string{"s3:PutLifecycleConfiguration"}},
		{Name: "tags are added and dropped, and others' stay",
			Existing: bucketOf(func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"old": "1"} }),
			Object:   bucketOf(func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a"} }),
			Cause:    engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{"s3:PutBucketTagging"}},
		{Name: "a bucket that vanished is reported, not created again", Existing: bucketOf(nil), Object: bucketOf(nil), Drift: true,
			Before: drift(func(t *testing.T, r *kindtest.Rig) error {
				_, err := api(r).DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(name)})
				return err
			}), Stalled: status.ReasonMissing},
		{Name: "and created again where that was asked for", Existing: bucketOf(func(s *spec) { s.RecreateOnLoss = true }),
			Object: bucketOf(func(s *spec) { s.RecreateOnLoss = true }), Drift: true,
			Before: drift(func(t *testing.T, r *kindtest.Rig) error {
				_, err := api(r).DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(name)})
				return err
			}), Cause: engine.New, Actions: []string{"s3:CreateBucket"}},
		{Name: "deleting", Existing: bucketOf(capability), Object: bucketOf(capability), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{"s3:DeleteBucket"}},
		{Name: "system tags are kept when tags change", Existing: bucketOf(nil),
			Object: bucketOf(func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a"} }),
			Before: func(_ *testing.T, r *kindtest.Rig) {
				r.AWS.S3.SetSystemTag(name, "aws:cloudformation:stack-name", "stack")
			},
			Cause: engine.Edited, Diff: []string{"Tags[team]"}, Actions: []string{"s3:PutBucketTagging"}},
		{Name: "tags that control access are added and dropped one by one",
			Existing: bucketOf(func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"old": "1", "same": "1"} }),
			Object:   bucketOf(func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a", "same": "1"} }), Before: controlByTags,
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{"s3:PutBucketTagging"}},
		{Name: "owner tags that control access are taken off with Orphan",
			Existing: bucketOf(func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }), Before: controlByTags,
			Object: bucketOf(func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }), Deleting: true, Drift: true, Cause: engine.Deleting,
			Diff:    []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"},
			Actions: []string{"s3:PutBucketTagging"}},
		{Name: "a policy and its public access block are set with the create", Object: bucketOf(public), Cause: engine.New,
			Actions: []string{"s3:CreateBucket", "s3:PutBucketPublicAccessBlock", "s3:PutBucketPolicy"}},
		{Name: "deleting what holds objects waits", Existing: bucketOf(nil), Object: bucketOf(nil), Deleting: true, Drift: true, OnRun: true,
			Before: func(t *testing.T, r *kindtest.Rig) { putObject(t, r, "a"); putObject(t, r, "a") }, Waiting: status.ReasonBucketNotEmpty},
		{Name: "deleting what holds objects, whose data is guarded, waits", Existing: bucketOf(func(s *spec) { s.ForceDestroy = true }),
			Object:   bucketOf(func(s *spec) { s.ForceDestroy = true }),
			Deleting: true, Drift: true, OnRun: true, Before: func(t *testing.T, r *kindtest.Rig) { putObject(t, r, "a") },
			Facts: func(s *kindtest.Subject) { s.Guarded = true }, Waiting: status.ReasonDataWouldBeLost},
		{Name: "forceDestroy empties it first", Existing: bucketOf(func(s *spec) { s.ForceDestroy = true }),
			Object: bucketOf(func(s *spec) { s.ForceDestroy = true }), Deleting: true, Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) { putObject(t, r, "a"); putObject(t, r, "a") },
			Cause:  engine.Deleting, Actions: []string{"s3:DeleteBucket"}},
		{Name: "deleting with Orphan takes our tags off and nothing else",
			Existing: bucketOf(func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }),
			Object:   bucketOf(func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }), Deleting: true, Drift: true, Cause: engine.Deleting,
			Diff:    []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"},
			Actions: []string{"s3:PutBucketTagging"}},
		{Name: "left by an earlier object of this name, it is taken over", Object: bucketOf(nil),
			Before: func(t *testing.T, r *kindtest.Rig) { createBucket(t, r); putTags(t, r, leftBehind()) },
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{"s3:PutBucketTagging"}},
		{Name: "unless adoption is refused", Object: bucketOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: func(t *testing.T, r *kindtest.Rig) { createBucket(t, r); putTags(t, r, leftBehind()) }, Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: bucketOf(nil), Before: func(t *testing.T, r *kindtest.Rig) {
			createBucket(t, r)
			tags := leftBehind()
			tags[wellknown.TagCluster] = "another"
			putTags(t, r, tags)
		}, Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: bucketOf(nil), Before: createBucket, Stalled: status.ReasonConflict},
		{Name: "one without an owner is adopted where user and provider say so", Before: createBucket,
			Facts:  func(s *kindtest.Subject) { s.AllowAdoption = true },
			Object: bucketOf(func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]",
				"Tags[nexus.ai/owner-uid]"},
			Actions: []string{"s3:PutBucketTagging"}},
	}))
}

// controlByTags turns attribute-based access control of the bucket on, which has a tag of AWS's own, too.
func controlByTags(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	r.AWS.S3.SetSystemTag(name, "aws:cloudformation:stack-name", "stack")
	_, err := api(r).PutBucketAbac(t.Context(),
		&s3.PutBucketAbacInput{Bucket: aws.String(name), AbacStatus: &types.AbacStatus{Status: types.BucketAbacStatusEnabled}})
	kindtest.Must(t, err)
}

func leftBehind() map[string]string {
	return map[string]string{wellknown.TagManagedBy: "nexus-operator", wellknown.TagCluster: kindtest.Cluster,
		wellknown.TagOwner: "S3Bucket/" + kindtest.Namespace + "/" + name, wellknown.TagOwnerUID: "an-earlier-one"}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: bucketOf(capability),
		Edited: bucketOf(func(s *spec) {
			capability(s)
			s.Versioning.Enabled, s.Tags = false, map[string]v1alpha1.TagValue{"team": "a"}
			s.PublicAccessBlock.RestrictPublicBuckets = false
		}),
		Invalid: []v1alpha1.Resource{bucketOf(func(s *spec) { s.Policy = aws.String("{") })},
		Foreign: func(t *testing.T, r *kindtest.Rig) {
			createBucket(t, r)
			putTags(t, r, map[string]string{"owner": "somebody"})
		},
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			out, err := api(r).ListBuckets(t.Context(), &s3.ListBucketsInput{})
			kindtest.Must(t, err)
			return slices.ContainsFunc(out.Buckets, func(b types.Bucket) bool { return *b.Name == name })
		},
	}
}

func TestTLSOnly_KeepsTheStatementsOfOthers(t *testing.T) {
	for _, tls := range []bool{true, false} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(capability))
		_, err := s.Settle(t.Context(), nil)
		kindtest.Must(t, err)
		addStatement(delivery)(t, r)
		s.Edit(bucketOf(func(s *spec) {
			capability(s)
			s.TLSOnly, s.Versioning.Enabled = &tls, false
		}))
		_, err = s.Settle(t.Context(), nil)
		kindtest.Must(t, err)
		if have := policyOf(t, r); !strings.Contains(have, "AWSLogDeliveryWrite1") || strings.Contains(have, "NexusTLSOnly") != tls {
			t.Errorf("with tlsOnly %t the policy is %s", tls, have)
		}
	}
}

func TestBucketSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewBucket), life()) }

func TestBucketSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewBucket), life()) }

// TestBucketCosts counts the calls of a bucket's life: the budgets of the design.
func TestBucketCosts(t *testing.T) {
	standard := func(s *spec) {
		capability(s)
		s.ObjectOwnership, s.TLSOnly, s.Tags = nil, nil, map[string]v1alpha1.TagValue{"team": "a"}
	}
	for _, c := range []struct {
		name                  string
		edit                  func(s *spec)
		create, check, remove int
	}{
		{"versioning, SSE-S3, public access block and tags", standard, 5, 4, 2},
		{"with ownership and a policy", capability, 8, 6, 2},
		{"versioning and replication", replicated, 5, 3, 2},
		{"nothing declared", nil, 2, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := kindtest.NewRig(t)
			s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(c.edit))
			replicas(s)
			calls := func(what string, want int, run func() (engine.Outcome, error)) {
				t.Helper()
				mark := r.AWS.Mark()
				out, err := run()
				kindtest.Must(t, err)
				if n := r.AWS.Since(mark).Count(); n != want || !out.Synced && !out.Gone {
					t.Errorf("%s took %d calls, want %d:\n%s", what, n, want, r.AWS.Since(mark))
				}
			}
			pass := func() (engine.Outcome, error) { return s.Pass(t.Context(), nil) }
			calls("create", c.create, pass)
			calls("a check", c.check, pass)
			s.Deleting = true
			calls("delete", c.remove, pass)
		})
	}
}

func TestAnUntaggedBucketIsNotOursByTheRecord(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(nil))
	s.Intent = &engine.Intent{Home: engine.Home(kindtest.Partition, kindtest.Account, kindtest.Region), Attempt: 1, At: s.Clock}
	createBucket(t, r)
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonOwnershipUnknown {
		t.Fatalf("the record, which a tenant could have written, was believed: %v", err)
	}
}

func TestASessionElsewhereBelievesNothing(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(nil))
	s.Intent = &engine.Intent{Home: "aws/999999999999/eu-west-1", Attempt: 1}
	for _, s.Deleting = range []bool{false, true} {
		_, err := s.Pass(t.Context(), nil)
		if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonProviderMoved {
			t.Fatalf("got %v, want ProviderMoved", err)
		}
	}
	if n := r.AWS.Calls().Count(); n != 0 {
		t.Fatalf("%d calls were made", n)
	}
}

// settle makes a bucket as declared and returns its subject.
func settle(t *testing.T, r *kindtest.Rig, b *v1alpha1.S3Bucket) *kindtest.Subject {
	t.Helper()
	s := kindtest.NewSubject(r, engine.For(NewBucket), b)
	out, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if !out.Synced {
		t.Fatal("not in sync")
	}
	return s
}

func TestPublicAccessBlockIsOrderedAroundThePolicy(t *testing.T) {
	private := func(s *spec) { s.PublicAccessBlock, s.Policy = blocked(), aws.String(reader) }
	for _, c := range []struct {
		name     string
		from, to func(s *spec)
		want     []string
	}{
		{"opening: before the policy", private, public, []string{"s3.PutPublicAccessBlock(" + name + ")", "s3.PutBucketPolicy(" + name + ")"}},
		{"closing: after the policy", public, private, []string{"s3.PutBucketPolicy(" + name + ")", "s3.PutPublicAccessBlock(" + name + ")"}},
		{"creating an open one", nil, public,
			[]string{"s3.CreateBucket(" + name + ")", "s3.PutPublicAccessBlock(" + name + ")", "s3.PutBucketPolicy(" + name + ")"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := kindtest.NewRig(t)
			mark := r.AWS.Mark()
			if c.from == nil {
				settle(t, r, bucketOf(c.to))
			} else {
				s := settle(t, r, bucketOf(c.from))
				s.Edit(bucketOf(c.to))
				mark = r.AWS.Mark()
				_, err := s.Settle(t.Context(), nil)
				kindtest.Must(t, err)
			}
			var got []string
			for _, w := range r.AWS.Since(mark).Writes() {
				got = append(got, w.Label())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// AWS refuses one setting, and the public access block is closed all the same.
func TestARefusedSettingDoesNotKeepABucketOpen(t *testing.T) {
	r := kindtest.NewRig(t)
	s := settle(t, r, bucketOf(func(s *spec) { s.PublicAccessBlock, s.LifecycleRules = &v1alpha1.S3PublicAccessBlock{}, rules() }))
	s.Edit(bucketOf(func(s *spec) { s.PublicAccessBlock, s.LifecycleRules = blocked(), &[]v1alpha1.S3LifecycleRule{} }))
	r.AWS.Fault(emulator.Match{Service: "s3", Op: "DeleteBucketLifecycle"}, emulator.Fail(403, "AccessDenied", "Access Denied"))
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonAccessDenied {
		t.Fatalf("got %v, want AccessDenied", err)
	}
	out, err := api(r).GetPublicAccessBlock(t.Context(), &s3.GetPublicAccessBlockInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	if !*out.PublicAccessBlockConfiguration.BlockPublicPolicy {
		t.Error("the bucket is still open")
	}
}

func TestWritesKeepSettingsThatTheSpecCannotDeclare(t *testing.T) {
	r := kindtest.NewRig(t)
	s := settle(t, r, bucketOf(func(s *spec) {
		s.Encryption, s.LifecycleRules = &v1alpha1.S3Encryption{Algorithm: "AES256"}, rules()
	}))
	_, err := api(r).PutBucketEncryption(t.Context(), &s3.PutBucketEncryptionInput{Bucket: aws.String(name),
		ServerSideEncryptionConfiguration: toEncryption(v1alpha1.S3Encryption{Algorithm: "AES256", BucketKeyEnabled: aws.Bool(true)}, nil)})
	kindtest.Must(t, err)
	rule := toLifecycle(fromRules(t, rules()), nil)[0]
	rule.Filter = &types.LifecycleRuleFilter{And: &types.LifecycleRuleAndOperator{Prefix: aws.String("logs/"),
		Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}}}
	rule.NoncurrentVersionTransitions = []types.NoncurrentVersionTransition{{NoncurrentDays: aws.Int32(5),
		StorageClass: types.TransitionStorageClassGlacier}}
	_, err = api(r).PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{Bucket: aws.String(name),
		LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{rule}}})
	kindtest.Must(t, err)
	mark := r.AWS.Mark()
	_, err = s.Pass(t.Context(), nil)
	kindtest.Must(t, err)
	if w := r.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Fatalf("settings that are not declared caused writes:\n%s", w)
	}
	s.Edit(bucketOf(func(s *spec) {
		s.Encryption, s.LifecycleRules = &v1alpha1.S3Encryption{Algorithm: "aws:kms"}, rules()
		(*s.LifecycleRules)[0].Prefix = "traces/"
	}))
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	e, err := api(r).GetBucketEncryption(t.Context(), &s3.GetBucketEncryptionInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	if got := e.ServerSideEncryptionConfiguration.Rules[0]; !aws.ToBool(got.BucketKeyEnabled) ||
		got.ApplyServerSideEncryptionByDefault.SSEAlgorithm != "aws:kms" {
		t.Errorf("encryption %+v", got)
	}
	l, err := api(r).GetBucketLifecycleConfiguration(t.Context(), &s3.GetBucketLifecycleConfigurationInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	got := l.Rules[0]
	if and := got.Filter.And; and == nil || *and.Prefix != "traces/" || len(and.Tags) != 1 || len(got.NoncurrentVersionTransitions) != 1 {
		t.Errorf("lifecycle rule %+v", got)
	}
}

func versioned(s *spec) { s.Versioning = &v1alpha1.S3Versioning{Enabled: true} }

// versions returns the number of versions in the bucket, delete markers included.
func versions(t *testing.T, r *kindtest.Rig) int {
	t.Helper()
	out, err := api(r).ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	return len(out.Versions) + len(out.DeleteMarkers)
}

func fill(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	putObject(t, r, "a")
	putObject(t, r, "a")
	_, err := api(r).DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(name), Key: aws.String("a")})
	kindtest.Must(t, err)
}

func TestABucketWithOneObjectIsCountedAsOne(t *testing.T) {
	r := kindtest.NewRig(t)
	s := settle(t, r, bucketOf(nil))
	putObject(t, r, "a")
	s.Deleting = true
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || !strings.Contains(w.For, "it holds 1 object version or delete marker;") {
		t.Errorf("%v", err)
	}
}

func TestDeletingAVersionedBucketLosesNothing(t *testing.T) {
	r := kindtest.NewRig(t)
	s := settle(t, r, bucketOf(versioned))
	fill(t, r)
	s.Deleting = true
	mark := r.AWS.Mark()
	for range 3 { // a restart of the operator in between changes nothing
		_, err := s.Pass(t.Context(), nil)
		w, ok := status.AsWaiting(err)
		if !ok || w.Reason != status.ReasonBucketNotEmpty || !strings.Contains(w.For, "holds 3 object versions and delete markers") {
			t.Fatalf("got %v, want BucketNotEmpty with the count", err)
		}
		s.Clock = s.Clock.Add(w.After)
		s.Forget()
	}
	if n := versions(t, r); n != 3 {
		t.Fatalf("%d versions are left of 3", n)
	}
	for _, w := range r.AWS.Since(mark).Writes() {
		if w.Op != "DeleteBucket" || w.Error != "BucketNotEmpty" {
			t.Errorf("a write: %s", w)
		}
	}
	mark = r.AWS.Mark()
	for range 3 { // one process asks for the deletion once and then looks at the contents
		_, _ = s.Pass(t.Context(), nil)
	}
	if n := r.AWS.Since(mark).Writes().Count(); n != 1 {
		t.Errorf("%d deletions were tried, want 1:\n%s", n, r.AWS.Since(mark))
	}
}

func TestABucketThatWasEmptiedIsDeleted(t *testing.T) {
	for _, force := range []bool{false, true} {
		r := kindtest.NewRig(t)
		s := settle(t, r, bucketOf(func(s *spec) { versioned(s); s.ForceDestroy = force }))
		fill(t, r)
		s.Deleting = true
		if !force {
			_, err := s.Pass(t.Context(), nil)
			if _, ok := status.AsWaiting(err); !ok {
				t.Fatalf("got %v, want to wait", err)
			}
			out, err := api(r).ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(name)})
			kindtest.Must(t, err)
			for _, v := range out.Versions {
				_, err = api(r).DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(name), Key: v.Key, VersionId: v.VersionId})
				kindtest.Must(t, err)
			}
			for _, m := range out.DeleteMarkers {
				_, err = api(r).DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(name), Key: m.Key, VersionId: m.VersionId})
				kindtest.Must(t, err)
			}
		}
		out, err := s.Settle(t.Context(), nil)
		kindtest.Must(t, err)
		if !out.Gone {
			t.Errorf("forceDestroy %v: not gone", force)
		}
	}
}

// In us-east-1 CreateBucket answers 200 for an existing bucket of the same account.
func TestInUSEast1AForeignBucketIsNotTakenForANewOne(t *testing.T) {
	r := kindtest.NewRig(t)
	r.Config.Region = "us-east-1"
	_, err := api(r).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	putTags(t, r, map[string]string{"owner": "somebody"})
	r.AWS.Fault(emulator.At("s3.GetBucketTagging("+name+")#1"), emulator.Fail(404, "NoSuchBucket", "The specified bucket does not exist"))
	mark := r.AWS.Mark()
	s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(capability))
	_, err = s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict && st.Reason != status.ReasonOwnershipUnknown {
		t.Fatalf("got %v, want Conflict or OwnershipUnknown", err)
	}
	for _, w := range r.AWS.Since(mark).Writes() {
		if w.Op != "CreateBucket" {
			t.Errorf("a write to a foreign bucket: %s", w)
		}
	}
}

// A read that does not show the new bucket yet is neither an unset setting nor an absent bucket.
func TestANewBucketThatAReadDoesNotShowIsWaitedFor(t *testing.T) {
	r := kindtest.NewRig(t)
	r.AWS.Fault(emulator.At("s3.GetBucketVersioning("+name+")#1"), emulator.Fail(404, "NoSuchBucket", "The specified bucket does not exist"))
	s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(capability))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonProgressing {
		t.Fatalf("got %v, want to wait", err)
	}
	writes := r.AWS.Calls().Writes().Count()
	out, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if n := r.AWS.Calls().Writes().Count(); !out.Synced || n != writes {
		t.Errorf("%d writes instead of %d:\n%s", n, writes, r.AWS.Calls())
	}
}

// There the answer to a create does not tell a new bucket from an existing one, so a look comes first.
func TestInUSEast1ALookPrecedesTheFirstCreate(t *testing.T) {
	r := kindtest.NewRig(t)
	r.Config.Region = "us-east-1"
	_, err := api(r).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	putTags(t, r, map[string]string{"owner": "somebody"})
	mark := r.AWS.Mark()
	_, err = kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(capability)).Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict {
		t.Fatalf("got %v, want Conflict", err)
	}
	if w := r.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Errorf("wrote:\n%s", w)
	}
}

// There CreateBucket resets the access control list of an existing bucket, as after a create with a lost answer.
func TestInUSEast1ARepeatedCreateKeepsTheACL(t *testing.T) {
	r := kindtest.NewRig(t)
	r.Config.Region = "us-east-1"
	s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(publicACL))
	r.AWS.Fault(emulator.At("s3.CreateBucket("+name+")#1"), emulator.LoseAnswer())
	r.AWS.Fault(emulator.At("s3.GetBucketTagging("+name+")#2"), emulator.Fail(404, "NoSuchBucket", "The specified bucket does not exist"))
	r.AWS.Fault(emulator.At("s3.GetBucketTagging("+name+")#3"), emulator.Fail(404, "NoSuchBucket", "The specified bucket does not exist"))
	kindtest.Settled(t, s)
	out, err := api(r).GetBucketAcl(t.Context(), &s3.GetBucketAclInput{Bucket: aws.String(name)})
	kindtest.Must(t, err)
	if got, n := cannedACL(out), r.AWS.Calls().Match("s3", "CreateBucket", "").Count(); got != "public-read" || n != 2 {
		t.Errorf("%d creates, and the list is %s\n%s", n, got, r.AWS.Calls())
	}
}

// The domain of a bucket ends as its partition says.
func TestPublish_NamesTheDomainOfThePartition(t *testing.T) {
	for partition, want := range map[string]string{"aws": "logs.s3.r.amazonaws.com", "aws-cn": "logs.s3.r.amazonaws.com.cn",
		"aws-eusc": "logs.s3.r.amazonaws.eu"} {
		cr := &v1alpha1.S3Bucket{}
		publish(cr, BucketState{Name: "logs", Region: "r", ARN: "arn:" + partition + ":s3:::logs"})
		if got := cr.Status.BucketDomainName; got != want {
			t.Errorf("%s: %s, want %s", partition, got, want)
		}
	}
}
