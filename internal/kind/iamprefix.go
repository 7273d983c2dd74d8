// SPDX-License-Identifier: Apache-2.0

package kind

import "cmp"

// iamPrefixes are the names of services in IAM's actions, by those in the SDK, where they differ:
// docs.aws.amazon.com/service-authorization/latest/reference. Read only.
var iamPrefixes = map[string]string{
	"cloudcontrol":             "cloudformation",
	"cloudwatchlogs":           "logs",
	"cognitoidentityprovider":  "cognito-idp",
	"elasticloadbalancingv2":   "elasticloadbalancing",
	"eventbridge":              "events",
	"resourcegroupstaggingapi": "tag",
	"s3control":                "s3",
}

// IAMPrefix returns the name of a service in IAM's actions. The service is the SDK's service id in lower case without spaces, which is also
// the last element of the SDK's import path.
func IAMPrefix(service string) string { return cmp.Or(iamPrefixes[service], service) }
