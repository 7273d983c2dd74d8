// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a bucket as it is, and what it has none of as absent.
func exported(cr *v1alpha1.S3Bucket, have BucketState) {
	out := &cr.Spec
	out.ObjectOwnership, out.Versioning, out.Encryption, out.PublicAccessBlock = have.ObjectOwnership, have.Versioning, have.Encryption, have.PublicAccessBlock
	out.Policy = kind.NonEmpty(have.Policy)
	if out.Policy == nil {
		out.Policy = aws.String("")
	}
	out.LifecycleRules, out.CORSRules = exportedLifecycle(have.Lifecycle), have.CORSRules
	out.Logging = kind.Convert[*v1alpha1.S3Logging](have.Logging)
}

// exportedLifecycle leaves out what a rule does not have.
func exportedLifecycle(rules map[string]v1alpha1.S3LifecycleRule) *[]v1alpha1.S3LifecycleRule {
	out := make([]v1alpha1.S3LifecycleRule, 0, len(rules))
	for _, id := range kind.SortedKeys(rules) {
		r := rules[id]
		r.ObjectSizeGreaterThan, r.ObjectSizeLessThan, r.NewerNoncurrentVersions = nonZero(r.ObjectSizeGreaterThan), nonZero(r.ObjectSizeLessThan), nonZero(r.NewerNoncurrentVersions)
		r.NoncurrentVersionExpirationDays, r.AbortIncompleteMultipartUploadDays = nonZero(r.NoncurrentVersionExpirationDays), nonZero(r.AbortIncompleteMultipartUploadDays)
		e := *r.Expiration
		e.Days, e.ExpiredObjectDeleteMarker = nonZero(e.Days), nonZero(e.ExpiredObjectDeleteMarker)
		if r.Expiration = nonZero(&e); len(*r.NoncurrentVersionTransitions) == 0 {
			r.NoncurrentVersionTransitions = nil
		}
		out = append(out, r)
	}
	return &out
}
