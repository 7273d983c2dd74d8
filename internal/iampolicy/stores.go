// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"regexp"
	"strings"
)

// storePattern is that of allowedExternalARNs of an AWSProvider, but for the account, which --allowed-external-arns may leave open: an
// AWSProvider reaches one account only.
var storePattern = regexp.MustCompile(`^arn:aws(-[a-z]+)*:(s3:::[a-z0-9.*-]+|dynamodb:[a-z0-9*-]+:([0-9]{12}|[*]):table/[A-Za-z0-9_.*-]+|` +
	`(sqs|sns):[a-z0-9*-]+:([0-9]{12}|[*]):[A-Za-z0-9_.*-]+|secretsmanager:[a-z0-9*-]+:([0-9]{12}|[*]):secret:[A-Za-z0-9/_+=.@*-]+|iam::([0-9]{12}|[*]):role/[A-Za-z0-9/_+=,.@*-]+)$`)

// IsStorePattern reports whether a text is an ARN of a table, bucket, queue, topic, secret or role. A * in it stands for any characters
// within one part, and with anyAccount for the account.
func IsStorePattern(pattern string, anyAccount bool) bool {
	return storePattern.MatchString(pattern) && (anyAccount || strings.Split(pattern, ":")[4] != "*")
}

// MatchesStore reports whether such a pattern matches an ARN. Parts are compared one by one, so that no * reaches from one part into
// another.
func MatchesStore(pattern, arn string) bool {
	p, a := strings.SplitN(pattern, ":", 6), strings.SplitN(arn, ":", 6)
	if len(p) != 6 || len(a) != 6 || !storePattern.MatchString(pattern) {
		return false
	}
	return p[1] == a[1] && p[2] == a[2] && MatchesPattern(p[3], a[3]) && (p[4] == a[4] || p[4] == "*") && MatchesPattern(p[5], a[5])
}
