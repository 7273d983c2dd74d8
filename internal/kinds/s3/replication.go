// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// replicationPart follows the versioning that it needs. S3 does not suspend versioning while there are rules, so that
// removing them comes first.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication-and-other-bucket-configs.html
func (b *bucket) replicationPart() kind.Part[BucketState] {
	return kind.Part[BucketState]{Fields: []string{"ReplicationRole", "Replication"}, Reads: "s3:GetReplicationConfiguration",
		Stage: func(want, _ BucketState) int { return min(len(want.Replication), 1) },
		Read:  read(b.api.GetBucketReplication, fromReplication),
		Write: write("s3:PutReplicationConfiguration", b.api.PutBucketReplication, func(in *s3.PutBucketReplicationInput, want, have BucketState) {
			in.ReplicationConfiguration = toReplication(want, have.FoundReplication)
		}),
		Clear: write("s3:PutReplicationConfiguration", b.api.DeleteBucketReplication, func(*s3.DeleteBucketReplicationInput, BucketState, BucketState) {})}
}

// rolesOf reads the role that copies objects to other buckets, also where the object declares no replication.
func (b *bucket) rolesOf(ctx context.Context, have BucketState) ([]string, error) {
	err := read(b.api.GetBucketReplication, fromReplication)(ctx, have, &have)
	return kind.Present(have.ReplicationRole), err
}

func declareReplication(sc kind.Scope, cr *v1alpha1.S3Bucket, s *BucketState) error {
	in := cr.Spec.Replication
	if in == nil {
		return nil
	}
	role, err := replicationRole(sc, in)
	if err != nil {
		return err
	}
	s.ReplicationRole, s.Replication = &role, make(map[string]v1alpha1.S3ReplicationRule, len(in.Rules))
	for _, r := range in.Rules {
		if ref := r.Destination.BucketRef; ref != nil && ref.Name != cr.Name {
			target, err := sc.Ref("S3Bucket", ref.Name)
			if err != nil {
				return err
			}
			r.Destination.BucketARN, r.Destination.BucketRef = target.ARN, nil
		}
		if r.Destination.BucketRef != nil || r.Destination.BucketARN == s.ARN {
			return status.Invalid("spec.replication.rules["+r.ID+"].destination", "S3 does not replicate a bucket to itself: name another bucket")
		}
		s.Replication[r.ID] = completeReplication(r)
	}
	if len(s.Replication) < len(in.Rules) {
		return status.Invalid("spec.replication.rules", "two rules have the same id")
	}
	return nil
}

// replicationRole returns the ARN of the role; "" where there are no rules.
func replicationRole(sc kind.Scope, in *v1alpha1.S3Replication) (string, error) {
	if why := kind.WhyNotPassed(sc, in.RoleARN); why != "" {
		return "", &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.replication.roleArn",
			Message: why + ": name an IAMRole of this namespace in spec.replication.roleRef"}
	}
	if in.RoleRef == nil {
		return in.RoleARN, nil
	}
	target, err := sc.Ref("IAMRole", in.RoleRef.Name)
	return target.ARN, err
}

// completeReplication makes the absence of tags a setting of the rule.
func completeReplication(r v1alpha1.S3ReplicationRule) v1alpha1.S3ReplicationRule {
	if r.Tags == nil {
		r.Tags = map[string]v1alpha1.TagValue{}
	}
	return r
}

func fromReplication(out *s3.GetBucketReplicationOutput, _ BucketState, have *BucketState) {
	have.FoundReplication = kind.NonNil(out.ReplicationConfiguration).Rules
	have.ReplicationRole = kind.Ptr(aws.ToString(kind.NonNil(out.ReplicationConfiguration).Role))
	have.Replication = make(map[string]v1alpha1.S3ReplicationRule, len(have.FoundReplication))
	for _, f := range have.FoundReplication {
		//lint:ignore SA1019 rules of the earlier version have the prefix outside the filter
		c, to := conditions(types.LifecycleRule{Prefix: f.Prefix, Filter: kind.Convert[*types.LifecycleRuleFilter](f.Filter)}), kind.NonNil(f.Destination)
		r := v1alpha1.S3ReplicationRule{ID: aws.ToString(f.ID), Enabled: f.Status == types.ReplicationRuleStatusEnabled, Priority: aws.ToInt32(f.Priority), Prefix: aws.ToString(c.Prefix),
			Tags: kind.Convert[map[string]v1alpha1.TagValue](kind.TagMap(c.Tags)), ReplicateDeleteMarkers: replicatesDeleteMarkers(f),
			Destination: v1alpha1.S3ReplicationDestination{BucketARN: aws.ToString(to.Bucket), StorageClass: string(to.StorageClass)}}
		if copiesEncrypted := kind.NonNil(kind.NonNil(f.SourceSelectionCriteria).SseKmsEncryptedObjects); copiesEncrypted.Status == types.SseKmsEncryptedObjectsStatusEnabled {
			r.Destination.KMSKeyARN = aws.ToString(kind.NonNil(to.EncryptionConfiguration).ReplicaKmsKeyID)
		}
		have.Replication[r.ID] = completeReplication(r)
	}
}

// replicatesDeleteMarkers knows that rules of the earlier version, which have no filter, replicate them.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication-add-config.html#replication-backward-compat-considerations
func replicatesDeleteMarkers(f types.ReplicationRule) bool {
	return f.DeleteMarkerReplication == nil && f.Filter == nil || kind.NonNil(f.DeleteMarkerReplication).Status == types.DeleteMarkerReplicationStatusEnabled
}

// toReplication overlays the found rules of the same IDs with the wanted ones. Rules with other IDs are dropped. All get
// the version with a filter, because S3 accepts only one version in a bucket.
func toReplication(want BucketState, found []types.ReplicationRule) *types.ReplicationConfiguration {
	same := func(w v1alpha1.S3ReplicationRule, h types.ReplicationRule) bool { return w.ID == aws.ToString(h.ID) }
	return &types.ReplicationConfiguration{Role: want.ReplicationRole, Rules: kind.OverlayEach(kind.SortedValues(want.Replication), found, same, overlayReplication)}
}

func overlayReplication(f *types.ReplicationRule, r v1alpha1.S3ReplicationRule) {
	var filter types.LifecycleRule // the two filters have the same members
	overlayFilter(&filter, v1alpha1.S3LifecycleRule{Prefix: r.Prefix, Tags: r.Tags})
	//lint:ignore SA1019 rules of the earlier version have the prefix outside the filter
	f.Prefix, f.Filter = nil, kind.Convert[*types.ReplicationRuleFilter](filter.Filter)
	f.ID, f.Priority, f.Status = &r.ID, &r.Priority, kind.Either(r.Enabled, types.ReplicationRuleStatusEnabled, types.ReplicationRuleStatusDisabled)
	f.DeleteMarkerReplication = &types.DeleteMarkerReplication{
		Status: kind.Either(r.ReplicateDeleteMarkers, types.DeleteMarkerReplicationStatusEnabled, types.DeleteMarkerReplicationStatusDisabled)}
	to := *kind.NonNil(f.Destination)
	if aws.ToString(to.Bucket) != r.Destination.BucketARN { // these name the owner of the bucket before
		to.Account, to.AccessControlTranslation = nil, nil
	}
	to.Bucket, to.StorageClass, to.EncryptionConfiguration = &r.Destination.BucketARN, types.StorageClass(r.Destination.StorageClass), nil
	selection := *kind.NonNil(f.SourceSelectionCriteria)
	selection.SseKmsEncryptedObjects = nil
	if key := r.Destination.KMSKeyARN; key != "" {
		to.EncryptionConfiguration = &types.EncryptionConfiguration{ReplicaKmsKeyID: &key}
		selection.SseKmsEncryptedObjects = &types.SseKmsEncryptedObjects{Status: types.SseKmsEncryptedObjectsStatusEnabled}
	}
	f.Destination, f.SourceSelectionCriteria = &to, kind.NonZero(&selection)
}
