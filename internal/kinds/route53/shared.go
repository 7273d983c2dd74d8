// SPDX-License-Identifier: Apache-2.0

// Package route53 is the Route 53 kinds.
package route53

import (
	"strconv"
	"strings"
)

// canonicalName returns a name of the DNS as the operator compares and sends it: with a trailing dot, in lowercase letters, and
// with the characters that Route 53 answers with as octal codes, such as \052 for *.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DomainNameFormat.html
func canonicalName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if code, err := strconv.ParseUint(name[min(i+1, len(name)):min(i+4, len(name))], 8, 8); name[i] == '\\' && i+4 <= len(name) && err == nil {
			b.WriteByte(byte(code))
			i += 3
			continue
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(strings.TrimSuffix(b.String(), ".")) + "."
}

// zoneIDOf returns the ID of a zone, which Route 53 answers with as /hostedzone/ID.
func zoneIDOf(id *string) string {
	if id == nil {
		return ""
	}
	return strings.TrimPrefix(*id, "/hostedzone/")
}
