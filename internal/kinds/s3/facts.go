// SPDX-License-Identifier: Apache-2.0

package s3

import "github.com/nexus-operator/nexus-operator/internal/kind"

// bucketFacts declares what other packages know about an S3Bucket.
func bucketFacts() kind.Facts {
	return kind.Facts{
		ARN: kind.ARNForm{
			Service: "s3",
			Without: "/:",
		},
		Terraform: kind.Terraform{
			Type:     "aws_s3_bucket",
			Identity: []string{"bucket"},
			Parts: []string{
				"aws_s3_bucket_",
				"aws_s3_object",
			},
		},
	}
}
