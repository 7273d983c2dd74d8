// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"slices"

	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Regions lists the regions of the commercial, China and GovCloud partitions that this version of the SDK knows. It is
// S3's list, which names all but us-east-1, and one region by an alias.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucketConfiguration.html
func Regions() []string {
	out := []string{"us-east-1"}
	for _, r := range s3types.BucketLocationConstraint("").Values() {
		if r != s3types.BucketLocationConstraintEu {
			out = append(out, string(r))
		}
	}
	slices.Sort(out)
	return out
}
