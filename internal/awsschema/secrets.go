// SPDX-License-Identifier: Apache-2.0

package awsschema

import (
	"regexp"
	"slices"
)

var (
	// secretName matches the names of members that hold a secret, or contain members that do.
	secretName = regexp.MustCompile(`(?i)secret|password|passphrase|token|credential|activation_?code|(api|access|private|stream)_?key`)
	// publicName matches the names of members that describe a secret and do not hold it.
	publicName = regexp.MustCompile(`(Arn|ARN|Id|ID|Identifier|Name|JsonKey|Source|Status|Type|Url|URL|Endpoint)$`)
)

// IsNamedAsSecret reports whether the names of a path are those of a secret.
func IsNamedAsSecret(at ...string) bool {
	return !publicName.MatchString(LastName(at)) && slices.ContainsFunc(at, secretName.MatchString)
}

// LastName returns the last name in a path that is not that of an element; empty where it has none.
func LastName(at []string) string {
	for _, name := range slices.Backward(at) {
		if name != Every {
			return name
		}
	}
	return ""
}
