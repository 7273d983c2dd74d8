package s3

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Observe reads the tags, which tell existence and owner in one call, and then every declared part at
// once. ExpectedBucketOwner guards each call: names are global, and anybody could have made the bucket
// and copied our tags.
func (b *bucket) Observe(ctx context.Context, want BucketState) (kind.Seen[BucketState], error) {
	s := BucketState{Name: want.Name, Account: want.Account, Partition: want.Partition, Region: want.Region}
	var err error
	if s.Tags, err = b.tags(ctx, want); err != nil {
		return b.unseen(ctx, want.Name, err)
	}
	if err := b.parts(ctx, want, &s); err != nil {
		return kind.Seen[BucketState]{}, err
	}
	seen := kind.Seen[BucketState]{Exists: true, State: s, Tags: s.Tags}
	if len(s.Tags) == 0 {
		_, created, err := b.listed(ctx, want.Name)
		if err != nil {
			return seen, err
		}
		seen.Created = aws.ToTime(created)
	}
	if len(s.Objects) > 0 && !want.ForceDestroy {
		seen.Holds = []kind.Hold{notEmpty(len(s.Objects))}
	}
	return seen, nil
}

// unseen reads the failure to get the tags. Somebody else's bucket of this name answers 403, as does a
// missing permission of ours: only the account's own list tells them apart.
func (b *bucket) unseen(ctx context.Context, name string, err error) (kind.Seen[BucketState], error) {
	switch awsclient.Classify(err).Class {
	case awsclient.NotFound:
		return kind.Seen[BucketState]{}, nil
	case awsclient.Denied:
		if mine, _, lerr := b.listed(ctx, name); lerr == nil && !mine {
			return kind.Seen[BucketState]{}, nil
		}
	}
	return kind.Seen[BucketState]{}, err
}

func notEmpty(n int) kind.Hold {
	count := fmt.Sprint(n)
	if n >= page {
		count = fmt.Sprintf("at least %d", page)
	}
	return kind.Hold{Reason: status.ReasonBucketNotEmpty, Message: "the bucket to be empty: it holds " + count +
		" object versions; empty it, set forceDestroy: true, or set deletionPolicy: Retain"}
}

// page is S3's limit for one listing and for one DeleteObjects call.
const page = 1000

// parts reads each declared sub-configuration, all at once; while deleting, only what stands in the way.
func (b *bucket) parts(ctx context.Context, want BucketState, s *BucketState) error {
	group := errgroup.Group{}
	if want.Deleting {
		return b.objects(ctx, want, s)
	}
	for _, r := range []struct {
		declared bool
		read     func(context.Context, BucketState, *BucketState) error
	}{
		{want.Versioning != nil, b.versioning},
		{want.Encryption != nil, b.encryption},
		{want.PublicAccessBlock != nil, b.publicAccessBlock},
		{want.Policy != nil, b.policy},
		{want.Lifecycle != nil, b.lifecycle},
		{want.ObjectOwnership != nil, b.ownership},
	} {
		if r.declared {
			group.Go(func() error { return r.read(ctx, want, s) })
		}
	}
	return group.Wait()
}

func (b *bucket) tags(ctx context.Context, want BucketState) (map[string]string, error) {
	out, err := b.api.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
	if awsclient.Classify(err).Code == "NoSuchTagSet" { // it exists and has none
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	tags := make(map[string]string, len(out.TagSet))
	for _, t := range out.TagSet {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return tags, nil
}

// listed says whether the bucket is one of this account's, and when it was made.
func (b *bucket) listed(ctx context.Context, name string) (bool, *time.Time, error) {
	pages := s3.NewListBucketsPaginator(b.api, &s3.ListBucketsInput{Prefix: &name})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return false, nil, err
		}
		for _, e := range out.Buckets {
			if aws.ToString(e.Name) == name {
				return true, e.CreationDate, nil
			}
		}
	}
	return false, nil, nil
}

func (b *bucket) objects(ctx context.Context, want BucketState, s *BucketState) error {
	out, err := b.api.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account, MaxKeys: aws.Int32(page)})
	if awsclient.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, v := range out.Versions {
		s.Objects = append(s.Objects, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
	}
	for _, m := range out.DeleteMarkers {
		s.Objects = append(s.Objects, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
	}
	return nil
}

func (b *bucket) versioning(ctx context.Context, want BucketState, s *BucketState) error {
	out, err := b.api.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
	if err == nil {
		s.Versioning = aws.Bool(out.Status == types.BucketVersioningStatusEnabled)
	}
	return ifFound(err)
}

func (b *bucket) encryption(ctx context.Context, want BucketState, s *BucketState) error {
	out, err := b.api.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
	switch {
	case awsclient.IsNotFound(err):
		// SSE-S3 is always on: https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html
		s.Encryption = &Encryption{Algorithm: string(types.ServerSideEncryptionAes256), BucketKey: aws.Bool(false)}
		return nil
	case err != nil:
		return err
	}
	s.Encryption = fromEncryption(out.ServerSideEncryptionConfiguration)
	return nil
}

// A missing public access block is an open one; the zero value says so.
func (b *bucket) publicAccessBlock(ctx context.Context, want BucketState, s *BucketState) error {
	s.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{}
	out, err := b.api.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
	if err == nil {
		s.PublicAccessBlock = fromPublicAccessBlock(out.PublicAccessBlockConfiguration)
	}
	return ifFound(err)
}

func (b *bucket) policy(ctx context.Context, want BucketState, s *BucketState) error {
	out, err := b.api.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
	if err == nil {
		s.Policy = out.Policy
	}
	return ifFound(err)
}

func (b *bucket) lifecycle(ctx context.Context, want BucketState, s *BucketState) error {
	out, err := b.api.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
	if err == nil {
		rules := fromLifecycle(out.Rules)
		s.Lifecycle = &rules
	}
	return ifFound(err)
}

func (b *bucket) ownership(ctx context.Context, want BucketState, s *BucketState) error {
	out, err := b.api.GetBucketOwnershipControls(ctx, &s3.GetBucketOwnershipControlsInput{Bucket: &want.Name, ExpectedBucketOwner: &want.Account})
	if err == nil && out.OwnershipControls != nil && len(out.OwnershipControls.Rules) > 0 {
		s.ObjectOwnership = aws.String(string(out.OwnershipControls.Rules[0].ObjectOwnership))
	}
	return ifFound(err)
}

// ifFound drops the error that says that a part is not configured.
func ifFound(err error) error {
	if awsclient.IsNotFound(err) {
		return nil
	}
	return err
}
