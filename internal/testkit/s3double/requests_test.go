// SPDX-License-Identifier: Apache-2.0

package s3double_test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const readers = `{"Version":"2012-10-17","Statement":[{"Sid":"r","Effect":"Allow","Principal":{"AWS":"123456789012"},` +
	`"Action":["s3:GetObject"],"Resource":"arn:aws:s3:::` + name + `/*"}]}`

// life is a bucket's life, with the refused requests at each stage.
func life(region string) []request {
	out := []request{get("tagging"), get("versioning"), remove("bucket"), create(region), create(region)}
	out = append(out, parts()...)
	out = append(out,
		request{"put tags", func(ctx context.Context, c *s3.Client) (any, error) { return putTags(ctx, c, "b", "2", "a", "1") }},
		request{"put tags twice the same", func(ctx context.Context, c *s3.Client) (any, error) { return putTags(ctx, c, "a", "1", "a", "2") }},
		versioning(types.BucketVersioningStatusEnabled), get("versioning"),
		versioning(types.BucketVersioningStatusSuspended), get("versioning"),
		encryption(types.ServerSideEncryptionAwsKms), get("encryption"),
		publicAccessBlock(true, false), get("publicAccessBlock"), publicAccessBlock(true, true),
		ownership("ObjectWriter"), get("ownershipControls"),
		policy(readers), get("policy"),
		lifecycle("Enabled"), get("lifecycle"))
	out = append(out, parts()...)
	for _, sub := range []string{"tagging", "encryption", "publicAccessBlock", "ownershipControls", "policy", "lifecycle"} {
		out = append(out, remove(sub), get(sub), remove(sub))
	}
	out = append(out, parts()...)
	out = append(out,
		request{"list versions", func(ctx context.Context, c *s3.Client) (any, error) {
			return c.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: aws.String(name), MaxKeys: aws.Int32(1000)})
		}},
		request{"head", func(ctx context.Context, c *s3.Client) (any, error) {
			_, err := c.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String(name)})
			return struct{}{}, err
		}},
		listed("double-"), listed("another-"), remove("bucket"), remove("bucket"), listed("double-"), get("policy"))
	return out
}

func parts() []request {
	var out []request
	for _, sub := range []string{"tagging", "versioning", "encryption", "publicAccessBlock", "ownershipControls", "policy", "lifecycle"} {
		out = append(out, get(sub))
	}
	return out
}

func create(region string) request {
	return request{"create", func(ctx context.Context, c *s3.Client) (any, error) {
		in := &s3.CreateBucketInput{Bucket: aws.String(name), CreateBucketConfiguration: &types.CreateBucketConfiguration{
			Tags: []types.Tag{{Key: aws.String("nexus.ai/owner"), Value: aws.String("S3Bucket/a/b")}}}}
		if region != "us-east-1" {
			in.CreateBucketConfiguration.LocationConstraint = types.BucketLocationConstraint(region)
		}
		return c.CreateBucket(ctx, in)
	}}
}

func putTags(ctx context.Context, c *s3.Client, pairs ...string) (any, error) {
	var tags []types.Tag
	for i := 0; i < len(pairs); i += 2 {
		tags = append(tags, types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return c.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: aws.String(name), Tagging: &types.Tagging{TagSet: tags}})
}

func versioning(status types.BucketVersioningStatus) request {
	return request{"put versioning " + string(status), func(ctx context.Context, c *s3.Client) (any, error) {
		return c.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: aws.String(name),
			VersioningConfiguration: &types.VersioningConfiguration{Status: status}})
	}}
}

func encryption(algorithm types.ServerSideEncryption) request {
	return request{"put encryption", func(ctx context.Context, c *s3.Client) (any, error) {
		return c.PutBucketEncryption(ctx, &s3.PutBucketEncryptionInput{Bucket: aws.String(name),
			ServerSideEncryptionConfiguration: &types.ServerSideEncryptionConfiguration{Rules: []types.ServerSideEncryptionRule{{
				BucketKeyEnabled: aws.Bool(true), ApplyServerSideEncryptionByDefault: &types.ServerSideEncryptionByDefault{
					SSEAlgorithm: algorithm, KMSMasterKeyID: aws.String("arn:aws:kms:us-east-1:123456789012:key/k")}}}}})
	}}
}

func publicAccessBlock(acls, policies bool) request {
	return request{"put public access block", func(ctx context.Context, c *s3.Client) (any, error) {
		return c.PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{Bucket: aws.String(name),
			PublicAccessBlockConfiguration: &types.PublicAccessBlockConfiguration{BlockPublicAcls: &acls, IgnorePublicAcls: &acls,
				BlockPublicPolicy: &policies, RestrictPublicBuckets: &policies}})
	}}
}

func ownership(o types.ObjectOwnership) request {
	return request{"put ownership", func(ctx context.Context, c *s3.Client) (any, error) {
		return c.PutBucketOwnershipControls(ctx, &s3.PutBucketOwnershipControlsInput{Bucket: aws.String(name),
			OwnershipControls: &types.OwnershipControls{Rules: []types.OwnershipControlsRule{{ObjectOwnership: o}}}})
	}}
}

func policy(text string) request {
	return request{"put policy", func(ctx context.Context, c *s3.Client) (any, error) {
		return c.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: aws.String(name), Policy: &text})
	}}
}

func lifecycle(status types.ExpirationStatus) request {
	return request{"put lifecycle", func(ctx context.Context, c *s3.Client) (any, error) {
		return c.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{Bucket: aws.String(name),
			LifecycleConfiguration: &types.BucketLifecycleConfiguration{Rules: []types.LifecycleRule{{ID: aws.String("old"), Status: status,
				Filter: &types.LifecycleRuleFilter{Prefix: aws.String("logs/")}, Expiration: &types.LifecycleExpiration{Days: aws.Int32(30)}}}}})
	}}
}

func listed(prefix string) request {
	return request{"list buckets " + prefix, func(ctx context.Context, c *s3.Client) (any, error) {
		out, err := c.ListBuckets(ctx, &s3.ListBucketsInput{Prefix: &prefix})
		if err != nil {
			return nil, err
		}
		found := map[string][]string{}
		for _, b := range out.Buckets {
			found["names"] = append(found["names"], aws.ToString(b.Name))
		}
		return found, nil
	}}
}

func get(sub string) request {
	owner := aws.String("123456789012")
	return request{"get " + sub, func(ctx context.Context, c *s3.Client) (any, error) {
		switch sub {
		case "tagging":
			return c.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String(name), ExpectedBucketOwner: owner})
		case "versioning":
			return c.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: aws.String(name), ExpectedBucketOwner: owner})
		case "encryption":
			return c.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: aws.String(name), ExpectedBucketOwner: owner})
		case "publicAccessBlock":
			return c.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: aws.String(name), ExpectedBucketOwner: owner})
		case "ownershipControls":
			return c.GetBucketOwnershipControls(ctx, &s3.GetBucketOwnershipControlsInput{Bucket: aws.String(name), ExpectedBucketOwner: owner})
		case "policy":
			return c.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: aws.String(name), ExpectedBucketOwner: owner})
		}
		return c.GetBucketLifecycleConfiguration(ctx,
			&s3.GetBucketLifecycleConfigurationInput{Bucket: aws.String(name), ExpectedBucketOwner: owner})
	}}
}

func remove(sub string) request {
	return request{"delete " + sub, func(ctx context.Context, c *s3.Client) (any, error) {
		switch sub {
		case "tagging":
			return c.DeleteBucketTagging(ctx, &s3.DeleteBucketTaggingInput{Bucket: aws.String(name)})
		case "encryption":
			return c.DeleteBucketEncryption(ctx, &s3.DeleteBucketEncryptionInput{Bucket: aws.String(name)})
		case "publicAccessBlock":
			return c.DeletePublicAccessBlock(ctx, &s3.DeletePublicAccessBlockInput{Bucket: aws.String(name)})
		case "ownershipControls":
			return c.DeleteBucketOwnershipControls(ctx, &s3.DeleteBucketOwnershipControlsInput{Bucket: aws.String(name)})
		case "policy":
			return c.DeleteBucketPolicy(ctx, &s3.DeleteBucketPolicyInput{Bucket: aws.String(name)})
		case "lifecycle":
			return c.DeleteBucketLifecycle(ctx, &s3.DeleteBucketLifecycleInput{Bucket: aws.String(name)})
		}
		return c.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: aws.String(name)})
	}}
}
