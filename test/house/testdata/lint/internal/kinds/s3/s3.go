// SPDX-License-Identifier: Apache-2.0

// Package s3 may import the SDK of its service.
package s3

import "github.com/aws/aws-sdk-go-v2/service/s3"

var _ = s3.NewListBucketsPaginator // want forbidigo: kind.Pages takes one method
