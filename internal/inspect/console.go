// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"net/url"
	"strings"
)

// consoles are the hosts of the AWS Management Console by partition.
// https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
var consoles = map[string]string{
	"aws":        "console.aws.amazon.com",
	"aws-cn":     "console.amazonaws.cn",
	"aws-us-gov": "console.amazonaws-us-gov.com",
	"aws-eusc":   "console.amazonaws-eusc.eu",
}

// ConsoleURL returns the address of a resource in the AWS Management Console of its partition; empty for an identifier that is no ARN, and
// in a partition without a known console.
func ConsoleURL(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || consoles[parts[1]] == "" {
		return ""
	}
	return "https://" + consoles[parts[1]] + "/go/view?arn=" + url.QueryEscape(arn)
}
