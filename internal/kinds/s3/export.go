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
	out.LifecycleRules = have.Lifecycle
}
