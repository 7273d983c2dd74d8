// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	controltypes "github.com/aws/aws-sdk-go-v2/service/s3control/types"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// tagging replaces the tags of a bucket, or sets them one by one where S3 refuses that: with attribute-based access control, tags decide
// who may use the bucket.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/buckets-tagging-enable-abac.html
func (b *bucket) tagging() kind.Tagging[BucketState] {
	return kind.Tagging[BucketState]{
		Replaces: "s3:PutBucketTagging", Replace: b.putTags,
		OneByOne: func(have BucketState) bool { return have.TagsOneByOne },
		Sets:     "s3:TagResource",
		Set: func(ctx context.Context, have BucketState, tags map[string]string) error {
			_, err := b.control.TagResource(ctx, &s3control.TagResourceInput{AccountId: &have.Account, ResourceArn: &have.ARN, Tags: kind.SDKTags[controltypes.Tag](tags)})
			return err
		},
		Removes: "s3:UntagResource",
		Remove: func(ctx context.Context, have BucketState, keys []string) error {
			_, err := b.control.UntagResource(ctx, &s3control.UntagResourceInput{AccountId: &have.Account, ResourceArn: &have.ARN, TagKeys: keys})
			return err
		},
	}
}

// putTags replaces the tags of the bucket. S3 does not document the code of the refusal for buckets with attribute-based access
// control, so that any refusal makes the operator ask for the setting.
func (b *bucket) putTags(ctx context.Context, have BucketState, all map[string]string) error {
	_, err := send(ctx, have, b.api.PutBucketTagging, &s3.PutBucketTaggingInput{Tagging: &types.Tagging{TagSet: kind.SDKTags[types.Tag](all)}})
	if err == nil || !awsclient.HadNoEffect(err) || awsclient.IsNotFound(err) || awsclient.Is(err, awsclient.Throttled) {
		return err
	}
	setting, readErr := send(ctx, have, b.api.GetBucketAbac, &s3.GetBucketAbacInput{})
	if readErr != nil || kind.NonNil(setting.AbacStatus).Status != types.BucketAbacStatusEnabled {
		return err // the refusal has another cause
	}
	b.oneByOne.Store(have.Name, true)
	return &status.Waiting{Reason: status.ReasonProgressing, For: "the tags to be set one by one, because they control the access to the bucket", After: time.Second}
}

func (b *bucket) tagsOneByOne(name string) bool {
	_, refused := b.oneByOne.Load(name)
	return refused
}
