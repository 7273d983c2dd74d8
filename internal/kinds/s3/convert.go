package s3

import (
	"encoding/json"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func tagSet(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range kind.SortedKeys(tags) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	return out
}

func toVersioning(enabled bool) types.BucketVersioningStatus {
	if enabled {
		return types.BucketVersioningStatusEnabled
	}
	return types.BucketVersioningStatusSuspended
}

func toEncryption(e Encryption) *types.ServerSideEncryptionConfiguration {
	return &types.ServerSideEncryptionConfiguration{Rules: []types.ServerSideEncryptionRule{{
		BucketKeyEnabled:                   e.BucketKey,
		ApplyServerSideEncryptionByDefault: &types.ServerSideEncryptionByDefault{SSEAlgorithm: types.ServerSideEncryption(e.Algorithm), KMSMasterKeyID: e.KMSKeyID},
	}}}
}

func fromEncryption(c *types.ServerSideEncryptionConfiguration) *Encryption {
	if c == nil || len(c.Rules) == 0 || c.Rules[0].ApplyServerSideEncryptionByDefault == nil {
		return nil
	}
	r := c.Rules[0]
	return &Encryption{
		Algorithm: string(r.ApplyServerSideEncryptionByDefault.SSEAlgorithm),
		KMSKeyID:  r.ApplyServerSideEncryptionByDefault.KMSMasterKeyID,
		BucketKey: aws.Bool(aws.ToBool(r.BucketKeyEnabled)),
	}
}

func toPublicAccessBlock(p v1alpha1.S3PublicAccessBlock) *types.PublicAccessBlockConfiguration {
	return &types.PublicAccessBlockConfiguration{BlockPublicAcls: &p.BlockPublicAcls, IgnorePublicAcls: &p.IgnorePublicAcls,
		BlockPublicPolicy: &p.BlockPublicPolicy, RestrictPublicBuckets: &p.RestrictPublicBuckets}
}

func fromPublicAccessBlock(c *types.PublicAccessBlockConfiguration) *v1alpha1.S3PublicAccessBlock {
	if c == nil {
		return &v1alpha1.S3PublicAccessBlock{}
	}
	return &v1alpha1.S3PublicAccessBlock{BlockPublicAcls: aws.ToBool(c.BlockPublicAcls), IgnorePublicAcls: aws.ToBool(c.IgnorePublicAcls),
		BlockPublicPolicy: aws.ToBool(c.BlockPublicPolicy), RestrictPublicBuckets: aws.ToBool(c.RestrictPublicBuckets)}
}

func toLifecycle(rules []v1alpha1.S3LifecycleRule) []types.LifecycleRule {
	out := make([]types.LifecycleRule, 0, len(rules))
	for _, r := range rules {
		l := types.LifecycleRule{ID: aws.String(r.ID), Status: types.ExpirationStatusDisabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String(r.Prefix)}}
		if r.Enabled {
			l.Status = types.ExpirationStatusEnabled
		}
		if r.Expiration != nil {
			l.Expiration = &types.LifecycleExpiration{Days: aws.Int32(r.Expiration.Days)}
		}
		for _, t := range r.Transitions {
			l.Transitions = append(l.Transitions, types.Transition{Days: aws.Int32(t.Days), StorageClass: types.TransitionStorageClass(t.StorageClass)})
		}
		if r.NoncurrentVersionExpirationDays != nil {
			l.NoncurrentVersionExpiration = &types.NoncurrentVersionExpiration{NoncurrentDays: r.NoncurrentVersionExpirationDays}
		}
		if r.AbortIncompleteMultipartUploadDays != nil {
			l.AbortIncompleteMultipartUpload = &types.AbortIncompleteMultipartUpload{DaysAfterInitiation: r.AbortIncompleteMultipartUploadDays}
		}
		out = append(out, l)
	}
	return out
}

func fromLifecycle(rules []types.LifecycleRule) []v1alpha1.S3LifecycleRule {
	out := make([]v1alpha1.S3LifecycleRule, 0, len(rules))
	for _, l := range rules {
		r := v1alpha1.S3LifecycleRule{ID: aws.ToString(l.ID), Enabled: l.Status == types.ExpirationStatusEnabled}
		if l.Filter != nil {
			r.Prefix = aws.ToString(l.Filter.Prefix)
		}
		if l.Expiration != nil && l.Expiration.Days != nil {
			r.Expiration = &v1alpha1.S3Expiration{Days: *l.Expiration.Days}
		}
		for _, t := range l.Transitions {
			r.Transitions = append(r.Transitions, v1alpha1.S3Transition{Days: aws.ToInt32(t.Days), StorageClass: string(t.StorageClass)})
		}
		if l.NoncurrentVersionExpiration != nil {
			r.NoncurrentVersionExpirationDays = l.NoncurrentVersionExpiration.NoncurrentDays
		}
		if l.AbortIncompleteMultipartUpload != nil {
			r.AbortIncompleteMultipartUploadDays = l.AbortIncompleteMultipartUpload.DaysAfterInitiation
		}
		out = append(out, r)
	}
	return out
}

type document struct {
	Version   string            `json:"Version,omitempty"`
	ID        string            `json:"Id,omitempty"`
	Statement []json.RawMessage `json:"Statement"`
}

type denyWithoutTLS struct {
	Sid, Effect, Principal, Action string
	Resource                       []string
	Condition                      map[string]map[string]string
}

// wantedPolicy is the bucket policy to be: the user's statements and, with tlsOnly, ours behind them.
// Nil means that neither is declared; "" that there shall be none.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html
func wantedPolicy(in v1alpha1.S3BucketSpec, arn string) (*string, error) {
	policy := aws.ToString(in.Policy)
	switch {
	case in.Policy == nil && in.TLSOnly == nil:
		return nil, nil
	case policy != "" && !json.Valid([]byte(policy)):
		return nil, errors.New("is not JSON")
	case !aws.ToBool(in.TLSOnly):
		return &policy, nil
	}
	doc := document{Version: "2012-10-17"}
	if policy != "" {
		if err := json.Unmarshal([]byte(policy), &doc); err != nil {
			return nil, errors.New("is not a policy document whose Statement is a list")
		}
	}
	deny, err := json.Marshal(denyWithoutTLS{Sid: "NexusTLSOnly", Effect: "Deny", Principal: "*", Action: "s3:*", Resource: []string{arn, arn + "/*"},
		Condition: map[string]map[string]string{"Bool": {"aws:SecureTransport": "false"}}})
	if err != nil {
		return nil, err
	}
	doc.Statement = append(doc.Statement, deny)
	b, err := json.Marshal(doc)
	return aws.String(string(b)), err
}
