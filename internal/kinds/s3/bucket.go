// Package s3 is the S3 kinds.
package s3

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// BucketState is a bucket as both the spec and S3 can say it.
type BucketState struct {
	Name, Account, Partition, Region string `drift:"id"`
	Deleting, ForceDestroy           bool   `drift:"id"`
	// Objects is the first page of versions and delete markers, read only while deleting.
	Objects []types.ObjectIdentifier `drift:"observed"`

	ObjectOwnership   *string
	Versioning        *bool
	Encryption        *Encryption
	PublicAccessBlock *v1alpha1.S3PublicAccessBlock
	Policy            *string `drift:"json"`
	Lifecycle         *[]v1alpha1.S3LifecycleRule
	Tags              map[string]string `drift:"tags"`
}

// Encryption is the bucket's default encryption in S3's own words.
type Encryption struct {
	Algorithm string
	KMSKeyID  *string
	BucketKey *bool
}

type bucket struct{ api *s3.Client }

// NewBucket binds the S3Bucket kind to an identity.
func NewBucket(cfg aws.Config) kind.Kind[*v1alpha1.S3Bucket, BucketState] {
	return &bucket{api: s3.NewFromConfig(cfg)}
}

// Meta lists the IAM actions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
func (b *bucket) Meta() kind.Meta {
	return kind.Meta{
		Reads: []string{"s3:GetBucketTagging", "s3:GetBucketVersioning", "s3:GetEncryptionConfiguration", "s3:GetBucketPublicAccessBlock",
			"s3:GetBucketPolicy", "s3:GetLifecycleConfiguration", "s3:GetBucketOwnershipControls", "s3:ListBucketVersions", "s3:ListAllMyBuckets"},
		Writes: []string{"s3:CreateBucket", "s3:PutBucketTagging", "s3:PutBucketVersioning", "s3:PutEncryptionConfiguration",
			"s3:PutBucketPublicAccessBlock", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy", "s3:PutLifecycleConfiguration",
			"s3:PutBucketOwnershipControls", "s3:DeleteObjectVersion", "s3:DeleteBucket"},
		Implied:   []string{"s3:TagResource", "s3:DeleteObject"},
		Identity:  kind.ByName,
		HoldsData: true,
	}
}

func (b *bucket) Desired(sc kind.Scope, cr *v1alpha1.S3Bucket) (BucketState, error) {
	in := cr.Spec
	s := BucketState{
		Name: in.BucketName, Account: sc.Account, Partition: sc.Partition, Region: sc.Region,
		Deleting: sc.Deleting, ForceDestroy: in.ForceDestroy,
		ObjectOwnership: in.ObjectOwnership, PublicAccessBlock: in.PublicAccessBlock, Tags: sc.Tags,
	}
	if in.Versioning != nil {
		s.Versioning = &in.Versioning.Enabled
	}
	if e := in.Encryption; e != nil {
		s.Encryption = &Encryption{Algorithm: e.Algorithm, BucketKey: e.BucketKeyEnabled}
		if e.Algorithm == "aws_kms" {
			s.Encryption.Algorithm = "aws:kms"
		}
		if e.KMSKeyID != "" {
			s.Encryption.KMSKeyID = &e.KMSKeyID
		}
	}
	s.Lifecycle = in.LifecycleRules
	policy, err := wantedPolicy(in, s.arn())
	if err != nil {
		return s, status.Invalid("spec.policy", "%v", err)
	}
	s.Policy = policy
	return s, nil
}

func (s BucketState) arn() string { return fmt.Sprintf("arn:%s:s3:::%s", s.Partition, s.Name) }

func (b *bucket) Converge(want BucketState, seen kind.Seen[BucketState], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return []kind.Step{{Action: "s3:CreateBucket", Do: b.create(want)}}
	}
	var steps []kind.Step
	add := func(field, action string, do func(ctx context.Context) error) {
		if diff.Under(field) {
			steps = append(steps, kind.Step{Action: action, Fixes: []string{field},
				Do: func(ctx context.Context, _ string) (string, error) { return "", do(ctx) }})
		}
	}
	owner, name := &want.Account, &want.Name
	add("Tags", "s3:PutBucketTagging", func(ctx context.Context) error {
		_, remove := diff.Keys("Tags")
		_, err := b.api.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: name, ExpectedBucketOwner: owner,
			Tagging: &types.Tagging{TagSet: tagSet(kind.MergeTags(seen.Tags, want.Tags, remove))}})
		return err
	})
	add("PublicAccessBlock", "s3:PutBucketPublicAccessBlock", func(ctx context.Context) error {
		_, err := b.api.PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{Bucket: name, ExpectedBucketOwner: owner,
			PublicAccessBlockConfiguration: toPublicAccessBlock(*want.PublicAccessBlock)})
		return err
	})
	add("ObjectOwnership", "s3:PutBucketOwnershipControls", func(ctx context.Context) error {
		_, err := b.api.PutBucketOwnershipControls(ctx, &s3.PutBucketOwnershipControlsInput{Bucket: name, ExpectedBucketOwner: owner,
			OwnershipControls: &types.OwnershipControls{Rules: []types.OwnershipControlsRule{{ObjectOwnership: types.ObjectOwnership(*want.ObjectOwnership)}}}})
		return err
	})
	add("Versioning", "s3:PutBucketVersioning", func(ctx context.Context) error {
		_, err := b.api.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: name, ExpectedBucketOwner: owner,
			VersioningConfiguration: &types.VersioningConfiguration{Status: toVersioning(*want.Versioning)}})
		return err
	})
	add("Encryption", "s3:PutEncryptionConfiguration", func(ctx context.Context) error {
		_, err := b.api.PutBucketEncryption(ctx, &s3.PutBucketEncryptionInput{Bucket: name, ExpectedBucketOwner: owner,
			ServerSideEncryptionConfiguration: toEncryption(*want.Encryption)})
		return err
	})
	if diff.Under("Policy") {
		steps = append(steps, b.policyStep(want))
	}
	add("Lifecycle", "s3:PutLifecycleConfiguration", func(ctx context.Context) error { return b.putLifecycle(ctx, want) })
	return steps
}

func (b *bucket) create(want BucketState) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		in := &s3.CreateBucketInput{Bucket: &want.Name, CreateBucketConfiguration: &types.CreateBucketConfiguration{Tags: tagSet(want.Tags)}}
		if want.Region != "us-east-1" { // the one region that refuses to be named
			in.CreateBucketConfiguration.LocationConstraint = types.BucketLocationConstraint(want.Region)
		}
		if want.ObjectOwnership != nil {
			in.ObjectOwnership = types.ObjectOwnership(*want.ObjectOwnership)
		}
		_, err := b.api.CreateBucket(ctx, in)
		return "", err
	}
}

func (b *bucket) policyStep(want BucketState) kind.Step {
	if *want.Policy == "" {
		return kind.Step{Action: "s3:DeleteBucketPolicy", Fixes: []string{"Policy"}, Do: func(ctx context.Context, _ string) (string, error) {
			_, err := b.api.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
			return "", err
		}}
	}
	return kind.Step{Action: "s3:PutBucketPolicy", Fixes: []string{"Policy"}, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := b.api.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account, Policy: want.Policy})
		return "", err
	}}
}

func (b *bucket) putLifecycle(ctx context.Context, want BucketState) error {
	if len(*want.Lifecycle) == 0 {
		_, err := b.api.DeleteBucketLifecycle(ctx, &s3.DeleteBucketLifecycleInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
		return err
	}
	_, err := b.api.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account,
		LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: toLifecycle(*want.Lifecycle)}})
	return err
}

// Remove empties the bucket a page at a time, and only where forceDestroy says so (Observe holds the
// deletion otherwise); then it deletes the bucket.
func (b *bucket) Remove(seen kind.Seen[BucketState]) []kind.Step {
	s := seen.State
	if len(s.Objects) > 0 {
		return []kind.Step{{Action: "s3:DeleteObjectVersion", Risk: kind.Destroys, Do: func(ctx context.Context, _ string) (string, error) {
			out, err := b.api.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &s.Name, ExpectedBucketOwner: &s.Account,
				Delete: &types.Delete{Objects: s.Objects, Quiet: aws.Bool(true)}})
			if err == nil && len(out.Errors) > 0 {
				e := out.Errors[0]
				err = &smithy.GenericAPIError{Code: aws.ToString(e.Code), Message: "object " + aws.ToString(e.Key) + ": " + aws.ToString(e.Message)}
			}
			return "", err
		}}}
	}
	return []kind.Step{{Action: "s3:DeleteBucket", Risk: kind.Destroys, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := b.api.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &s.Name, ExpectedBucketOwner: &s.Account})
		return "", err
	}}}
}

func (b *bucket) Publish(cr *v1alpha1.S3Bucket, s BucketState) {
	cr.Status.ARN, cr.Status.ID = s.arn(), s.Name
	cr.Status.Region = s.Region
	cr.Status.BucketDomainName = s.Name + ".s3." + s.Region + ".amazonaws.com"
	if s.Partition == "aws-cn" {
		cr.Status.BucketDomainName += ".cn"
	}
}
