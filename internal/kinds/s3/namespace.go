// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"fmt"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// accountRegional is the form of the names of the account regional namespace, which only one account can use in one region:
// PREFIX-ACCOUNT-REGION-an.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/gpbucketnamespaces.html
var accountRegional = regexp.MustCompile(`-([0-9]{12})-([a-z]+(?:-[a-z]+)+-[0-9]+)-an$`)

// namespaceOf returns the namespace of a name, which S3 asks for in a create; empty for the global one.
func namespaceOf(name string) types.BucketNamespace {
	return kind.Either(accountRegional.MatchString(name), types.BucketNamespaceAccountRegional, "")
}

// checkNamespace refuses a name of another account or region, because S3 creates no bucket with it.
func checkNamespace(s BucketState) error {
	m := accountRegional.FindStringSubmatch(s.Name)
	if m == nil || m[1] == s.Account && m[2] == s.Region {
		return nil
	}
	return status.Invalid("spec.bucketName", "%s", fmt.Sprintf("is a name of the account regional namespace of account %s in %s, and the provider uses account %s in %s: end the name in -%s-%s-an, or use another provider",
		m[1], m[2], s.Account, s.Region, s.Account, s.Region))
}
