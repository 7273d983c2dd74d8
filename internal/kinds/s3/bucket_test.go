package s3

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
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
	return &[]v1alpha1.S3LifecycleRule{{ID: "old", Enabled: true, Prefix: "logs/", Expiration: &v1alpha1.S3Expiration{Days: 30},
		Transitions:                     []v1alpha1.S3Transition{{Days: 10, StorageClass: "STANDARD_IA"}},
		NoncurrentVersionExpirationDays: aws.Int32(7), AbortIncompleteMultipartUploadDays: aws.Int32(3)}}
}

const reader = `{"Version":"2012-10-17","Statement":[{"Sid":"r","Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":["s3:GetObject"],"Resource":"arn:aws:s3:::myapp-dev-call-data/*"}]}`

func api(r *kindtest.Rig) *s3.Client { return s3.NewFromConfig(r.Config) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func putTags(t *testing.T, r *kindtest.Rig, tags map[string]string) {
	t.Helper()
	_, err := api(r).PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{Bucket: aws.String(name), Tagging: &types.Tagging{TagSet: tagSet(tags)}})
	must(t, err)
}

func createBucket(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: kindtest.Region}})
	must(t, err)
}

func putObject(t *testing.T, r *kindtest.Rig, key string) {
	t.Helper()
	_, err := api(r).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(name), Key: aws.String(key)})
	must(t, err)
}

func drift(op func(t *testing.T, r *kindtest.Rig) error) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { t.Helper(); must(t, op(t, r)) }
}

func TestBucket(t *testing.T) {
	both := func(edit func(s *spec)) *v1alpha1.S3Bucket {
		return bucketOf(func(s *spec) { capability(s); edit(s) })
	}
	kindtest.Run(t, engine.For(NewBucket), []kindtest.Case{
		{Name: "absent is created, and only the create is planned", Object: bucketOf(capability), Cause: engine.New, Actions: []string{"s3:CreateBucket"}},
		{Name: "what is not declared is not managed", Object: bucketOf(nil), Existing: bucketOf(nil), Cause: engine.InSync, Drift: true,
			Before: drift(func(t *testing.T, r *kindtest.Rig) error {
				_, err := api(r).PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: aws.String(name),
					VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
				return err
			})},
		{Name: "versioning is suspended", Existing: bucketOf(capability), Object: both(func(s *spec) { s.Versioning.Enabled = false }),
			Cause: engine.Edited, Diff: []string{"Versioning"}, Actions: []string{"s3:PutBucketVersioning"}},
		{Name: "versioning never switched on counts as suspended", Existing: bucketOf(nil), Object: bucketOf(func(s *spec) { s.Versioning = &v1alpha1.S3Versioning{} }), Cause: engine.InSync},
		{Name: "the public access block is closed again", Existing: bucketOf(capability), Object: bucketOf(capability), Drift: true,
			Before: drift(func(t *testing.T, r *kindtest.Rig) error {
				_, err := api(r).DeletePublicAccessBlock(t.Context(), &s3.DeletePublicAccessBlockInput{Bucket: aws.String(name)})
				return err
			}),
			Cause: engine.Drifted, Diff: []string{"PublicAccessBlock.BlockPublicAcls", "PublicAccessBlock.IgnorePublicAcls", "PublicAccessBlock.BlockPublicPolicy",
				"PublicAccessBlock.RestrictPublicBuckets"}, Actions: []string{"s3:PutBucketPublicAccessBlock"}},
		{Name: "encryption by KMS", Existing: bucketOf(capability), Object: both(func(s *spec) {
			s.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws_kms", KMSKeyID: "arn:aws:kms:ap-southeast-1:123456789012:key/k", BucketKeyEnabled: aws.Bool(true)}
		}), Cause: engine.Edited, Diff: []string{"Encryption.Algorithm", "Encryption.KMSKeyID", "Encryption.BucketKey"}, Actions: []string{"s3:PutEncryptionConfiguration"}},
		{Name: "object ownership", Existing: bucketOf(capability), Object: both(func(s *spec) { s.ObjectOwnership = aws.String("ObjectWriter") }),
			Cause: engine.Edited, Diff: []string{"ObjectOwnership"}, Actions: []string{"s3:PutBucketOwnershipControls"}},
		{Name: "a policy of the user's joins the TLS statement", Existing: bucketOf(capability), Object: both(func(s *spec) { s.Policy = aws.String(reader) }),
			Cause: engine.Edited, Diff: []string{"Policy"}, Actions: []string{"s3:PutBucketPolicy"}},
		{Name: "an empty policy clears it", Existing: bucketOf(func(s *spec) { s.Policy = aws.String(reader) }), Object: bucketOf(func(s *spec) { s.Policy = aws.String("") }),
			Cause: engine.Edited, Diff: []string{"Policy"}, Actions: []string{"s3:DeleteBucketPolicy"}},
		{Name: "a malformed policy names its field", Object: bucketOf(func(s *spec) { s.Policy = aws.String("{") }), Stalled: status.ReasonInvalidSpec},
		{Name: "lifecycle rules", Existing: bucketOf(nil), Object: bucketOf(func(s *spec) { s.LifecycleRules = rules() }),
			Cause: engine.Edited, Diff: []string{"Lifecycle"}, Actions: []string{"s3:PutLifecycleConfiguration"}},
		{Name: "an empty list of rules clears them", Existing: bucketOf(func(s *spec) { s.LifecycleRules = rules() }),
			Object: bucketOf(func(s *spec) { s.LifecycleRules = &[]v1alpha1.S3LifecycleRule{} }),
			Cause:  engine.Edited, Diff: []string{"Lifecycle"}, Actions: []string{"s3:PutLifecycleConfiguration"}},
		{Name: "tags are added and dropped, and others' stay", Existing: bucketOf(func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"old": "1"} }),
			Object: bucketOf(func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a"} }),
			Cause:  engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{"s3:PutBucketTagging"}},
		{Name: "a bucket that vanished is reported, not made anew", Existing: bucketOf(nil), Object: bucketOf(nil), Drift: true,
			Before: drift(func(t *testing.T, r *kindtest.Rig) error {
				_, err := api(r).DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(name)})
				return err
			}), Stalled: status.ReasonMissing},
		{Name: "and made anew where that was asked for", Existing: bucketOf(func(s *spec) { s.RecreateOnLoss = true }), Object: bucketOf(func(s *spec) { s.RecreateOnLoss = true }), Drift: true,
			Before: drift(func(t *testing.T, r *kindtest.Rig) error {
				_, err := api(r).DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(name)})
				return err
			}), Cause: engine.New, Actions: []string{"s3:CreateBucket"}},
		{Name: "deleting", Existing: bucketOf(capability), Object: bucketOf(capability), Deleting: true, Drift: true, Cause: engine.Deleting, Actions: []string{"s3:DeleteBucket"}},
		{Name: "deleting what holds objects waits", Existing: bucketOf(nil), Object: bucketOf(nil), Deleting: true, Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) { putObject(t, r, "a"); putObject(t, r, "a") }, Waiting: status.ReasonBucketNotEmpty},
		{Name: "forceDestroy empties it first", Existing: bucketOf(func(s *spec) { s.ForceDestroy = true }), Object: bucketOf(func(s *spec) { s.ForceDestroy = true }), Deleting: true, Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) { putObject(t, r, "a"); putObject(t, r, "a") },
			Cause:  engine.Deleting, Actions: []string{"s3:DeleteObjectVersion"}},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: bucketOf(func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }),
			Object: bucketOf(func(s *spec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }), Deleting: true, Drift: true, Cause: engine.Deleting,
			Diff: []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}, Actions: []string{"s3:PutBucketTagging"}},
		{Name: "left by an earlier object of this name, it is taken over", Object: bucketOf(nil),
			Before: func(t *testing.T, r *kindtest.Rig) { createBucket(t, r); putTags(t, r, leftBehind()) },
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{"s3:PutBucketTagging"}},
		{Name: "unless adoption is refused", Object: bucketOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: func(t *testing.T, r *kindtest.Rig) { createBucket(t, r); putTags(t, r, leftBehind()) }, Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: bucketOf(nil), Before: func(t *testing.T, r *kindtest.Rig) {
			createBucket(t, r)
			tags := leftBehind()
			tags[engine.TagCluster] = "another"
			putTags(t, r, tags)
		}, Stalled: status.ReasonConflict},
		{Name: "nobody's is left alone", Object: bucketOf(nil), Before: createBucket, Stalled: status.ReasonConflict},
		{Name: "nobody's is adopted where user and provider say so", Before: createBucket, Facts: func(s *kindtest.Subject) { s.AllowAdoption = true },
			Object: bucketOf(func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"},
			Actions: []string{"s3:PutBucketTagging"}},
	})
}

func leftBehind() map[string]string {
	return map[string]string{engine.TagManagedBy: "nexus-operator", engine.TagCluster: kindtest.Cluster,
		engine.TagOwner: "S3Bucket/" + kindtest.Namespace + "/" + name, engine.TagOwnerUID: "an-earlier-one"}
}

func TestBucketSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewBucket), kindtest.Life{
		Sample: bucketOf(capability),
		Foreign: func(t *testing.T, r *kindtest.Rig) {
			createBucket(t, r)
			putTags(t, r, map[string]string{"owner": "somebody"})
		},
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			out, err := api(r).ListBuckets(t.Context(), &s3.ListBucketsInput{})
			must(t, err)
			return len(out.Buckets) > 0
		},
	})
}

func TestBucketCosts(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(capability))
	_, err := s.Settle(t.Context(), nil)
	must(t, err)
	if n := r.AWS.Calls().Writes().Count(); n > 4 {
		t.Errorf("create took %d writes, want at most 4:\n%s", n, r.AWS.Calls())
	}
	mark := r.AWS.Mark()
	_, err = s.Pass(t.Context(), nil)
	must(t, err)
	if n := r.AWS.Since(mark).Count(); n > 6 { // five declared parts and the tags
		t.Errorf("a check took %d calls, want at most 6:\n%s", n, r.AWS.Since(mark))
	}
	mark = r.AWS.Mark()
	s.Deleting = true
	_, err = s.Settle(t.Context(), nil)
	must(t, err)
	if n := r.AWS.Since(mark).Writes().Count(); n != 1 {
		t.Errorf("delete took %d writes, want 1:\n%s", n, r.AWS.Since(mark))
	}
}

func TestAnUntaggedBucketOfOurOwnAttemptIsOursOnlyWhereCreatesDropTags(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewBucket), bucketOf(nil))
	s.Intent = &engine.Intent{Home: engine.Home(kindtest.Partition, kindtest.Account, kindtest.Region), Attempt: 1, At: s.Clock}
	createBucket(t, r)
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict {
		t.Fatalf("the record, which a tenant could have written, was believed: %v", err)
	}
	s.TrustAttempts = true
	out, err := s.Settle(t.Context(), nil)
	must(t, err)
	if !out.Synced {
		t.Fatal("not taken for ours")
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

var _ kind.Kind[*v1alpha1.S3Bucket, BucketState] = (*bucket)(nil)
