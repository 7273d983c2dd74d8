// SPDX-License-Identifier: Apache-2.0

package kind

import "cmp"

// iamPrefixes are the names in IAM's actions of services that no kind calls, by those in the SDK, where they differ:
// docs.aws.amazon.com/service-authorization/latest/reference. Those that kinds call are in kindPrefixes. Read only.
var iamPrefixes = map[string]string{
	"eventbridge":              "events",
	"resourcegroupstaggingapi": "tag",
}

// IAMPrefix returns the name of a service in IAM's actions. The service is the SDK's service id in lower case without spaces, which is also
// the last element of the SDK's import path.
func IAMPrefix(service string) string {
	return cmp.Or(kindPrefixes[service], iamPrefixes[service], service)
}
