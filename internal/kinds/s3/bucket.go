// SPDX-License-Identifier: Apache-2.0

// Package s3 implements the S3 kinds.
package s3

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// BucketState is a bucket as both the spec and S3 can express it.
type BucketState struct {
	Name                 string `drift:"identity"`
	ARN, Account, Region string `drift:"id"`
	// Guarded is set while the bucket must not be emptied, whatever ForceDestroy says.
	// Locked is set where the spec has object lock, which explains why S3 refuses to delete versions.
	ForceDestroy, Guarded, Locked bool `drift:"id"`
	// Objects is a page of versions and delete markers, read once S3 refused to delete the bucket.
	Objects []types.ObjectIdentifier `drift:"observed"`
	// FoundEncryption and the others of these names are S3's answers, for the writes that replace them: they have
	// more settings than the spec can declare.
	// IsBlockConfigured and VersioningStatus tell a setting that a person made from one that is absent and reads alike.
	IsBlockConfigured bool                                        `drift:"observed"`
	VersioningStatus  types.BucketVersioningStatus                `drift:"observed"`
	FoundPolicy       string                                      `drift:"observed"`
	FoundEncryption   *types.ServerSideEncryptionConfiguration    `drift:"observed"`
	FoundLifecycle    s3.GetBucketLifecycleConfigurationOutput    `drift:"observed"`
	FoundCORS         []types.CORSRule                            `drift:"observed"`
	FoundLogging      *types.LoggingEnabled                       `drift:"observed"`
	FoundNotification s3.GetBucketNotificationConfigurationOutput `drift:"observed"`
	FoundLock         *types.ObjectLockConfiguration              `drift:"observed"`
	FoundRoutes       []types.RoutingRule                         `drift:"observed"`
	FoundReplication  []types.ReplicationRule                     `drift:"observed"`
	// TagsOneByOne is true for a bucket if its tags control access, as far as it is known.
	TagsOneByOne bool `drift:"observed"`

	ObjectOwnership   *string
	ACL               *string
	Versioning        *v1alpha1.S3Versioning
	Encryption        *v1alpha1.S3Encryption
	PublicAccessBlock *v1alpha1.S3PublicAccessBlock
	Policy            *string `drift:"json"`
	// TLSOnly is true where the policy has the statement of tlsOnly. It is declared where Policy is not: the other statements
	// belong to others then.
	TLSOnly *bool
	// Lifecycle are the rules by their IDs.
	Lifecycle map[string]v1alpha1.S3LifecycleRule `drift:"exact,set"`
	CORSRules *[]v1alpha1.S3CORSRule
	Logging   *Logging
	// Queues, Topics and Functions are the notifications by their IDs.
	Queues, Topics, Functions map[string]Notification `drift:"exact,set"`
	EventBridge               *bool
	ObjectLock                *bool
	Retention                 *v1alpha1.S3DefaultRetention
	Website                   *Website
	ReplicationRole           *string
	// Replication are the rules by their IDs.
	Replication map[string]v1alpha1.S3ReplicationRule `drift:"exact,set"`
	Tags        map[string]string                     `drift:"tags"`
}

// usEast1 is the region that must not be named when a bucket is created. There, creating an existing bucket of the same account succeeds.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html
const usEast1 = "us-east-1"

// page is S3's limit for one listing and for one DeleteObjects call.
const page = 1000

// noSuchBucket is the code of S3 for a missing bucket, as opposed to a part that is not configured.
const noSuchBucket = "NoSuchBucket"

type bucket struct {
	api     *s3.Client
	control *s3control.Client
	// oneByOne has the names of buckets that refused to have all their tags replaced.
	oneByOne sync.Map
}

// NewBucket binds the S3Bucket kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
func NewBucket(cfg aws.Config) kind.Kind[*v1alpha1.S3Bucket, BucketState] {
	b := &bucket{api: s3.NewFromConfig(cfg), control: awsclient.NewS3Control(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.S3Bucket, BucketState]{
		Meta:     kind.Meta{Facts: bucketFacts(), Identity: kind.ByName, HoldsData: true, NoCreationTime: true, Reads: []string{"s3:GetBucketAbac"}, References: []string{"IAMRole", "S3Bucket", "SNSTopic", "SQSQueue"}, CreatesFirst: cfg.Region != usEast1},
		Identify: identify, Declare: declare, Publish: publish, Explain: explain, Refuse: refuse, Export: kind.Export[*v1alpha1.S3Bucket, BucketState]{Identity: []string{"bucketName"}, Spec: exported, Separate: b.separateSettings()},
		Roles:            kind.Roles[BucketState]{Of: func(s BucketState) []string { return kind.Present(s.ReplicationRole) }, Read: b.rolesOf},
		Describe:         kind.Read[BucketState]{Actions: []string{"s3:GetBucketTagging", "s3:ListAllMyBuckets", "s3:ListBucketVersions"}, Do: b.describe},
		Create:           kind.Call[BucketState]{Action: "s3:CreateBucket", Effect: kind.Either(cfg.Region == usEast1, kind.Ensures, kind.Creates), Do: kind.Send(b.api.CreateBucket, creation)},
		SettleWithCreate: func(BucketState) bool { return true },
		Tagging:          b.tagging(),
		Parts:            b.parts(),
		Delete: []kind.Ending[BucketState]{
			{When: func(_, have BucketState) bool { return len(have.Objects) > 0 },
				Call: kind.Call[BucketState]{Action: "s3:DeleteObjectVersion", Effect: kind.Empties, Do: b.deleteObjects}},
			{Call: kind.Call[BucketState]{Action: "s3:DeleteBucket", Effect: kind.Ends, Spares: func(BucketState) bool { return true }, Do: b.deleteBucket}},
		},
	})
}

// parts are the settings of a bucket.
func (b *bucket) parts() []kind.Part[BucketState] {
	return append(slices.Concat(b.accessParts(), b.policyParts(), b.storageParts(), b.serviceParts()), b.replicationPart())
}

// accessParts say who may use the bucket. A public access block that no longer refuses public policies is
// written before the policy, any other after it. New buckets block all public access; a bucket without
// the configuration blocks none.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
func (b *bucket) accessParts() []kind.Part[BucketState] {
	closed := v1alpha1.S3PublicAccessBlock{BlockPublicAcls: true, IgnorePublicAcls: true, BlockPublicPolicy: true, RestrictPublicBuckets: true}
	return []kind.Part[BucketState]{
		{Fields: []string{"PublicAccessBlock"}, Default: func(want BucketState) bool { return *want.PublicAccessBlock == closed }, Stage: stageOfBlock, Reads: "s3:GetBucketPublicAccessBlock",
			Read: read(b.api.GetPublicAccessBlock, func(out *s3.GetPublicAccessBlockOutput, _ BucketState, have *BucketState) {
				have.IsBlockConfigured = out.PublicAccessBlockConfiguration != nil
				have.PublicAccessBlock = kind.Convert[*v1alpha1.S3PublicAccessBlock](kind.NonNil(out.PublicAccessBlockConfiguration))
			}),
			Write: write("s3:PutBucketPublicAccessBlock", b.api.PutPublicAccessBlock, func(in *s3.PutPublicAccessBlockInput, want, _ BucketState) {
				in.PublicAccessBlockConfiguration = kind.Convert[*types.PublicAccessBlockConfiguration](want.PublicAccessBlock)
			})},
		{Fields: []string{"ACL"}, Default: isPrivate, Stage: stageOfACL, Reads: "s3:GetBucketAcl",
			Read: read(b.api.GetBucketAcl, func(out *s3.GetBucketAclOutput, _ BucketState, have *BucketState) {
				have.ACL = kind.Ptr(cannedACL(out))
			}),
			Write: write("s3:PutBucketAcl", b.api.PutBucketAcl, func(in *s3.PutBucketAclInput, want, _ BucketState) { in.ACL = types.BucketCannedACL(*want.ACL) })},
		{Fields: []string{"ObjectOwnership"}, InCreate: true, Stage: func(want, have BucketState) int { return kind.Either(isPrivate(want) && !isPrivate(have), 1, 0) }, Reads: "s3:GetBucketOwnershipControls",
			Read: read(b.api.GetBucketOwnershipControls, func(out *s3.GetBucketOwnershipControlsOutput, _ BucketState, have *BucketState) {
				for _, r := range kind.NonNil(out.OwnershipControls).Rules { // one at most
					have.ObjectOwnership = kind.Ptr(string(r.ObjectOwnership))
				}
			}),
			Write: write("s3:PutBucketOwnershipControls", b.api.PutBucketOwnershipControls, func(in *s3.PutBucketOwnershipControlsInput, want, _ BucketState) {
				in.OwnershipControls = &types.OwnershipControls{Rules: []types.OwnershipControlsRule{{ObjectOwnership: types.ObjectOwnership(*want.ObjectOwnership)}}}
			})},
	}
}

// storageParts say how objects are kept. New buckets have SSE-S3; the write of the encryption replaces settings of
// theirs that the spec cannot declare, such as blocked encryption types, so that they must be read first.
// Versioning that was never enabled counts as suspended. A bucket that is created with object lock has versioning; later,
// versioning comes first.
func (b *bucket) storageParts() []kind.Part[BucketState] {
	return []kind.Part[BucketState]{
		{Fields: []string{"Versioning"}, Default: func(want BucketState) bool { return want.Versioning.Enabled == aws.ToBool(want.ObjectLock) },
			Stage: func(want, _ BucketState) int { return kind.Either(want.Versioning.Enabled, 0, 1) }, Reads: "s3:GetBucketVersioning",
			Read: read(b.api.GetBucketVersioning, func(out *s3.GetBucketVersioningOutput, _ BucketState, have *BucketState) {
				have.VersioningStatus = out.Status
				have.Versioning = &v1alpha1.S3Versioning{Enabled: out.Status == types.BucketVersioningStatusEnabled}
			}),
			Write: write("s3:PutBucketVersioning", b.api.PutBucketVersioning, func(in *s3.PutBucketVersioningInput, want, _ BucketState) {
				in.VersioningConfiguration = &types.VersioningConfiguration{Status: kind.Either(want.Versioning.Enabled, types.BucketVersioningStatusEnabled, types.BucketVersioningStatusSuspended)}
			})},
		{Fields: []string{"Encryption"}, NeedsLook: true, Default: isDefaultEncryption, Reads: "s3:GetEncryptionConfiguration",
			Read: read(b.api.GetBucketEncryption, func(out *s3.GetBucketEncryptionOutput, want BucketState, have *BucketState) {
				have.FoundEncryption = out.ServerSideEncryptionConfiguration
				have.Encryption = fromEncryption(out.ServerSideEncryptionConfiguration, *want.Encryption)
			}),
			Write: write("s3:PutEncryptionConfiguration", b.api.PutBucketEncryption, func(in *s3.PutBucketEncryptionInput, want, have BucketState) {
				in.ServerSideEncryptionConfiguration = toEncryption(*want.Encryption, have.FoundEncryption)
			})},
		{Fields: []string{"Lifecycle"}, Reads: "s3:GetLifecycleConfiguration",
			Read: read(b.api.GetBucketLifecycleConfiguration, func(out *s3.GetBucketLifecycleConfigurationOutput, _ BucketState, have *BucketState) {
				have.FoundLifecycle, have.Lifecycle = *out, fromLifecycle(out.Rules)
			}),
			Write: write("s3:PutLifecycleConfiguration", b.api.PutBucketLifecycleConfiguration, func(in *s3.PutBucketLifecycleConfigurationInput, want, have BucketState) {
				in.TransitionDefaultMinimumObjectSize = have.FoundLifecycle.TransitionDefaultMinimumObjectSize
				in.LifecycleConfiguration = &types.BucketLifecycleConfiguration{Rules: toLifecycle(want.Lifecycle, have.FoundLifecycle.Rules)}
			}),
			Clear: write("s3:PutLifecycleConfiguration", b.api.DeleteBucketLifecycle, func(*s3.DeleteBucketLifecycleInput, BucketState, BucketState) {})},
		{Fields: []string{"ObjectLock", "Retention"}, Default: func(want BucketState) bool { return *kind.NonNil(want.Retention) == v1alpha1.S3DefaultRetention{} },
			Stage: func(BucketState, BucketState) int { return 1 }, Reads: "s3:GetBucketObjectLockConfiguration",
			Read: b.readLock,
			Write: write("s3:PutBucketObjectLockConfiguration", b.api.PutObjectLockConfiguration, func(in *s3.PutObjectLockConfigurationInput, want, have BucketState) {
				in.ObjectLockConfiguration = toLock(want.Retention, have.FoundLock)
			})},
	}
}

// readLock also reads the versioning that object lock needs, where the spec leaves it unmanaged.
func (b *bucket) readLock(ctx context.Context, want BucketState, have *BucketState) error {
	err := read(b.api.GetObjectLockConfiguration, func(out *s3.GetObjectLockConfigurationOutput, _ BucketState, have *BucketState) {
		have.FoundLock, have.ObjectLock = out.ObjectLockConfiguration, kind.Ptr(kind.NonNil(out.ObjectLockConfiguration).ObjectLockEnabled == types.ObjectLockEnabledEnabled)
		have.Retention = kind.Ptr(kind.Convert[v1alpha1.S3DefaultRetention](kind.NonNil(kind.NonNil(kind.NonNil(out.ObjectLockConfiguration).Rule).DefaultRetention)))
	})(ctx, want, have)
	if err != nil || *have.ObjectLock || want.Versioning != nil {
		return err
	}
	return read(b.api.GetBucketVersioning, func(out *s3.GetBucketVersioningOutput, _ BucketState, have *BucketState) {
		have.VersioningStatus = out.Status
	})(ctx, want, have)
}

// serviceParts are the settings for S3's treatment of requests and objects.
func (b *bucket) serviceParts() []kind.Part[BucketState] {
	return []kind.Part[BucketState]{
		{Fields: []string{"CORSRules"}, Reads: "s3:GetBucketCORS",
			Read: read(b.api.GetBucketCors, func(out *s3.GetBucketCorsOutput, want BucketState, have *BucketState) {
				have.FoundCORS, have.CORSRules = out.CORSRules, fromCORS(out.CORSRules, *want.CORSRules)
			}),
			Write: write("s3:PutBucketCORS", b.api.PutBucketCors, func(in *s3.PutBucketCorsInput, want, have BucketState) {
				in.CORSConfiguration = &types.CORSConfiguration{CORSRules: toCORS(*want.CORSRules, have.FoundCORS)}
			}),
			Clear: write("s3:PutBucketCORS", b.api.DeleteBucketCors, func(*s3.DeleteBucketCorsInput, BucketState, BucketState) {})},
		{Fields: []string{"Logging"}, Reads: "s3:GetBucketLogging",
			Read: read(b.api.GetBucketLogging, func(out *s3.GetBucketLoggingOutput, _ BucketState, have *BucketState) {
				have.FoundLogging, have.Logging = out.LoggingEnabled, kind.Ptr(kind.Convert[Logging](kind.NonNil(out.LoggingEnabled)))
			}),
			Write: write("s3:PutBucketLogging", b.api.PutBucketLogging, func(in *s3.PutBucketLoggingInput, want, have BucketState) {
				in.BucketLoggingStatus = toLogging(*want.Logging, have.FoundLogging)
			})},
		{Fields: []string{"Queues", "Topics", "Functions", "EventBridge"}, Reads: "s3:GetBucketNotification",
			Read: read(b.api.GetBucketNotificationConfiguration, fromNotification),
			Write: write("s3:PutBucketNotification", b.api.PutBucketNotificationConfiguration, func(in *s3.PutBucketNotificationConfigurationInput, want, have BucketState) {
				in.NotificationConfiguration = toNotification(want, have.FoundNotification)
			}).Explained(explainTargets)},
		{Fields: []string{"Website"}, Reads: "s3:GetBucketWebsite",
			Read: read(b.api.GetBucketWebsite, func(out *s3.GetBucketWebsiteOutput, _ BucketState, have *BucketState) {
				have.FoundRoutes, have.Website = out.RoutingRules, fromWebsite(out)
			}),
			Write: write("s3:PutBucketWebsite", b.api.PutBucketWebsite, func(in *s3.PutBucketWebsiteInput, want, have BucketState) {
				in.WebsiteConfiguration = toWebsite(*want.Website, have.FoundRoutes)
			}),
			Clear: write("s3:DeleteBucketWebsite", b.api.DeleteBucketWebsite, func(*s3.DeleteBucketWebsiteInput, BucketState, BucketState) {})},
	}
}

// isPrivate reports whether the state has an access control list that grants nothing to others.
func isPrivate(s BucketState) bool {
	return aws.ToString(s.ACL) == string(types.BucketCannedACLPrivate)
}

// stageOfACL sends a private list before BucketOwnerEnforced, which S3 refuses for a bucket that grants rights to others, and
// any other one after the object ownership and the public access block that admit it.
func stageOfACL(want, _ BucketState) int { return kind.Either(isPrivate(want), 0, 2) }

func identify(sc kind.Scope, cr *v1alpha1.S3Bucket) (BucketState, error) {
	return BucketState{Name: cr.Spec.BucketName, ARN: fmt.Sprintf("arn:%s:s3:::%s", sc.Partition, cr.Spec.BucketName),
		Account: sc.Account, Region: sc.Region, ForceDestroy: cr.Spec.ForceDestroy, Guarded: sc.Data.Guarded,
		Locked: kind.NonNil(cr.Spec.ObjectLock).Enabled}, nil
}

func declare(sc kind.Scope, cr *v1alpha1.S3Bucket, s *BucketState) (err error) {
	in := cr.Spec
	if err := checkNamespace(*s); err != nil {
		return err
	}
	s.ObjectOwnership, s.ACL, s.Versioning, s.PublicAccessBlock, s.CORSRules = in.ObjectOwnership, in.ACL, in.Versioning, in.PublicAccessBlock, in.CORSRules
	if e := in.Encryption; e != nil {
		s.Encryption = &v1alpha1.S3Encryption{Algorithm: strings.ReplaceAll(e.Algorithm, "_", ":"), KMSKeyID: kind.CustomerKMSKey("s3", e.KMSKeyID), BucketKeyEnabled: e.BucketKeyEnabled}
	}
	if s.Policy, err = wantedPolicy(in, s.ARN); err != nil {
		return status.Invalid("spec.policy", "%v", err)
	}
	if s.Policy == nil {
		s.TLSOnly = in.TLSOnly
	}
	s.Website = declareWebsite(in.Website)
	if lock := in.ObjectLock; lock != nil {
		s.ObjectLock, s.Retention = &lock.Enabled, lock.DefaultRetention
	}
	if s.Logging, err = declareLogging(sc, cr); err != nil {
		return err
	}
	if s.Lifecycle, err = declareLifecycle(in.LifecycleRules); err != nil {
		return err
	}
	if err := declareReplication(sc, cr, s); err != nil {
		return err
	}
	return declareNotification(sc, in.Notification, s)
}

// refuse rejects a spec that asks S3 for the impossible: turn object lock off, or on without versioning.
func refuse(want, have BucketState, diff kind.Diff) error {
	if diff.Under("ObjectLock") && !*want.ObjectLock {
		return &status.Stalled{Reason: status.ReasonImmutable, Field: "spec.objectLock.enabled", Message: "S3 cannot turn object lock off: set enabled: true, or remove objectLock"}
	}
	if diff.Under("ObjectLock") && want.Versioning == nil && have.VersioningStatus != types.BucketVersioningStatusEnabled {
		return &status.Stalled{Reason: status.ReasonRefusedByAWS, Field: "spec.objectLock", Message: "S3 turns object lock on only in buckets with versioning, which this one has not: set versioning.enabled: true"}
	}
	return nil
}

func publish(cr *v1alpha1.S3Bucket, s BucketState) {
	cr.Status.ARN, cr.Status.ID, cr.Status.Region = s.ARN, s.Name, s.Region
	cr.Status.BucketDomainName = s.Name + ".s3." + s.Region + "." + wellknown.DNSSuffix(kind.PartitionOf(s.ARN))
}

func creation(want, _ BucketState) *s3.CreateBucketInput {
	return &s3.CreateBucketInput{Bucket: &want.Name, BucketNamespace: namespaceOf(want.Name), ObjectOwnership: types.ObjectOwnership(aws.ToString(want.ObjectOwnership)), ObjectLockEnabledForBucket: kind.NonZero(want.ObjectLock),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{Tags: kind.SDKTags[types.Tag](want.Tags),
			LocationConstraint: types.BucketLocationConstraint(kind.Either(want.Region == usEast1, "", want.Region))}}
}

// describe reads the tags, which show existence and owner in one call. After a create that AWS
// acknowledged, the declared settings show the existence instead.
func (b *bucket) describe(ctx context.Context, want BucketState, look kind.Look) (kind.Seen[BucketState], error) {
	seen := kind.Seen[BucketState]{Exists: true, Tags: want.Tags,
		State: BucketState{Name: want.Name, ARN: want.ARN, Account: want.Account, Region: want.Region, TagsOneByOne: b.tagsOneByOne(want.Name)}}
	if look.TagsKnown && declaresSettings(want) {
		return seen, nil
	}
	err := read(b.api.GetBucketTagging, func(out *s3.GetBucketTaggingOutput, _ BucketState, _ *BucketState) {
		seen.Tags = kind.TagMap(out.TagSet)
	})(ctx, want, &seen.State)
	if err != nil {
		return b.unseen(ctx, want.Name, err)
	}
	if len(seen.Tags) == 0 { // the creation time costs a further call and matters only here
		_, seen.Created, err = b.listed(ctx, want.Name)
	}
	if err == nil && look.Contents {
		err = b.contents(ctx, want, &seen)
	}
	return seen, err
}

func declaresSettings(s BucketState) bool {
	return !reflect.DeepEqual(s, BucketState{Name: s.Name, ARN: s.ARN, Account: s.Account, Region: s.Region, ForceDestroy: s.ForceDestroy, Guarded: s.Guarded, Locked: s.Locked, Tags: s.Tags})
}

// unseen interprets the failure to read the tags. S3 answers 403 for a bucket of another account and
// for a missing permission alike; only the account's own list of buckets distinguishes them.
func (b *bucket) unseen(ctx context.Context, name string, err error) (kind.Seen[BucketState], error) {
	class := awsclient.Classify(err).Class
	if class == awsclient.Denied {
		mine, _, lerr := b.listed(ctx, name)
		class = kind.Either(lerr == nil && !mine, awsclient.NotFound, class)
	}
	return kind.Seen[BucketState]{}, kind.Either(class == awsclient.NotFound, nil, err)
}

// listed reports whether the bucket belongs to the account, and when it was created.
func (b *bucket) listed(ctx context.Context, name string) (mine bool, created time.Time, err error) {
	in := &s3.ListBucketsInput{Prefix: &name}
	all, err := kind.Pages(ctx, b.api.ListBuckets, in, &in.ContinuationToken, func(out *s3.ListBucketsOutput) ([]types.Bucket, *string) { return out.Buckets, out.ContinuationToken })
	for _, e := range all {
		if aws.ToString(e.Name) == name {
			mine, created = true, aws.ToTime(e.CreationDate)
		}
	}
	return mine, created, err
}

// explain waits where S3 does not show a bucket to one read that it showed to another.
func explain(err error, _ kind.Seen[BucketState]) error {
	if awsclient.Classify(err).Code == noSuchBucket {
		return &status.Waiting{Reason: status.ReasonProgressing, For: "AWS to show the bucket", After: time.Second}
	}
	return err
}

// contents lists the contents that keep S3 from deleting the bucket; only forceDestroy consents to deleting them.
func (b *bucket) contents(ctx context.Context, want BucketState, seen *kind.Seen[BucketState]) error {
	out, err := send(ctx, want, b.api.ListObjectVersions, &s3.ListObjectVersionsInput{MaxKeys: aws.Int32(page)})
	if err != nil {
		return err
	}
	objects := make([]types.ObjectIdentifier, 0, page)
	for _, v := range out.Versions {
		objects = append(objects, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
	}
	for _, m := range out.DeleteMarkers {
		objects = append(objects, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
	}
	seen.State.Objects = objects
	n := len(objects)
	held := "the bucket to be empty: it holds " + kind.Either(n < page, "", "at least ") +
		status.Counted(n, "object version or delete marker", "object versions and delete markers")
	switch {
	case n == 0:
	case want.Guarded:
		seen.Holds = []kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: held}}
	case !want.ForceDestroy:
		seen.Holds = []kind.Hold{{Reason: status.ReasonBucketNotEmpty, Message: held + "; empty it, set forceDestroy: true, or set deletionPolicy: Retain"}}
	}
	return nil
}

func (b *bucket) deleteObjects(ctx context.Context, want, have BucketState) error {
	out, err := send(ctx, want, b.api.DeleteObjects, &s3.DeleteObjectsInput{Delete: &types.Delete{Objects: have.Objects, Quiet: aws.Bool(true)}})
	if err == nil && len(out.Errors) > 0 {
		return keptObjects(want, len(have.Objects), out.Errors)
	}
	return err
}

// lockedAfter sets how long a deletion waits before it tries again to delete locked versions, which are retained for days.
const lockedAfter = 5 * time.Minute

// keptObjects waits for locks to end. Governance could be bypassed, which forceDestroy does not consent to.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock-managing.html
func keptObjects(want BucketState, of int, kept []types.Error) error {
	e := kept[0]
	if want.Locked || strings.Contains(strings.ToLower(aws.ToString(e.Message)), "object lock") {
		return &status.Waiting{Reason: status.ReasonBucketNotEmpty, After: lockedAfter, For: fmt.Sprintf(
			"the locks of %d of %s to end, such as of %s: S3 refuses to delete versions under retention or a legal hold, and forceDestroy does not bypass governance", len(kept), status.Counted(of, "object version", "object versions"), aws.ToString(e.Key))}
	}
	return &smithy.GenericAPIError{Code: aws.ToString(e.Code), Message: "object " + aws.ToString(e.Key) + ": " + aws.ToString(e.Message)}
}

// deleteBucket relies on S3, which never deletes a bucket that holds a version or a delete marker.
func (b *bucket) deleteBucket(ctx context.Context, want, _ BucketState) error {
	_, err := send(ctx, want, b.api.DeleteBucket, &s3.DeleteBucketInput{})
	return awsclient.MarkNotEmpty(err)
}

// operation is a method of the S3 client.
type operation[In, Out any] func(context.Context, *In, ...func(*s3.Options)) (*Out, error)

// send makes a call for the bucket. ExpectedBucketOwner guards every call: bucket names are global, and
// another account could create a bucket of this name and copy the tags.
func send[In, Out any](ctx context.Context, s BucketState, op operation[In, Out], in *In) (*Out, error) {
	v := reflect.ValueOf(in).Elem()
	v.FieldByName("Bucket").Set(reflect.ValueOf(&s.Name))
	v.FieldByName("ExpectedBucketOwner").Set(reflect.ValueOf(&s.Account))
	return op(ctx, in)
}

// read returns the read of a part. A part that is not configured gives an empty answer.
func read[In, Out any](op operation[In, Out], use func(out *Out, want BucketState, have *BucketState)) func(context.Context, BucketState, *BucketState) error {
	return func(ctx context.Context, want BucketState, have *BucketState) error {
		out, err := send(ctx, want, op, new(In))
		if f := awsclient.Classify(err); f.Class == awsclient.NotFound && f.Code != noSuchBucket {
			out, err = new(Out), nil
		}
		if err == nil {
			use(out, want, have)
		}
		return err
	}
}

// write returns the call that writes a part; fill completes its input.
func write[In, Out any](action string, op operation[In, Out], fill func(in *In, want, have BucketState)) kind.Call[BucketState] {
	return kind.Call[BucketState]{Action: action, Do: func(ctx context.Context, want, have BucketState) error {
		in := new(In)
		fill(in, want, have)
		_, err := send(ctx, want, op, in)
		return err
	}}
}
