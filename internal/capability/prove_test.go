// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/buckets"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// A tenant cannot change a child of a capability so that the roles of the capability get rights on a resource that the child does not own.
func TestProve_OnlyWhatTheChildOwnsNow(t *testing.T) {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shop", UID: "shop-uid"}}
	now := metav1.Now()
	for _, tc := range []struct {
		name  string
		edit  func(*awsv1.S3Bucket)
		proof bool
	}{
		{"owned", func(*awsv1.S3Bucket) {}, true},
		{"in deletion", func(o *awsv1.S3Bucket) {
			o.DeletionTimestamp, o.Finalizers = &now, []string{awsv1.FinalizerOf("S3Bucket"), "example.com/keep"}
		}, true},
		{"deleted, and kept by another's finalizer", func(o *awsv1.S3Bucket) { o.DeletionTimestamp, o.Finalizers = &now, []string{"example.com/keep"} }, false},
		{"observed", func(o *awsv1.S3Bucket) { o.Spec.ManagementPolicy = awsv1.ManageObserve }, false},
		{"not proven", func(o *awsv1.S3Bucket) { o.Status.Ownership = awsv1.OwnershipDisputed }, false},
		{"in conflict", func(o *awsv1.S3Bucket) {
			o.Status.Conditions = []metav1.Condition{{Type: status.Ready, Status: metav1.ConditionFalse, Reason: status.ReasonConflict}}
		}, false},
		{"of another capability", func(o *awsv1.S3Bucket) { o.OwnerReferences[0].UID = "other" }, false},
		{"through another provider", func(o *awsv1.S3Bucket) { o.Spec.ProviderRef.Name = "other" }, false},
	} {
		o := &awsv1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shop-data", UID: "child",
			OwnerReferences: []metav1.OwnerReference{{UID: c.UID, Controller: new(true)}}}}
		o.Spec.ProviderRef.Name = part.ProviderName(c)
		o.Status.ARN, o.Status.Ownership = "arn:aws:s3:::shop-data", awsv1.OwnershipOwned
		tc.edit(o)
		if _, p, ok := Prove(c, buckets.KindBucket, o); ok != tc.proof || ok && p.ARN != o.Status.ARN {
			t.Errorf("%s: %+v, %v", tc.name, p, ok)
		}
	}
}
