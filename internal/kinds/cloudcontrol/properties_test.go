// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"strings"
	"testing"
)

func TestStatus_HoldsNoMoreThanItCan(t *testing.T) {
	published := publishedProperties(map[string]any{"Arn": "arn:aws:a", "Text": strings.Repeat("x", maxPublished),
		"Url": "https://example.com"})
	if got := string(published.Raw); got != `{"Arn":"arn:aws:a","Url":"https://example.com"}` {
		t.Error(got)
	}
	if publishedProperties(nil) != nil {
		t.Error("nothing is published as an empty object")
	}
}

func TestARN_IsFoundAmongTheProperties(t *testing.T) {
	for want, f := range map[string]*found{
		"arn:aws:kinesis:r:1:stream/events": {"events",
			map[string]any{"Arn": "arn:aws:kinesis:r:1:stream/events", "KeyArn": "arn:aws:kms:r:1:key/2"}},
		"arn:aws:ec2:r:1:prefix-list/pl-1": {"pl-1",
			map[string]any{"PrefixListArn": "arn:aws:ec2:r:1:prefix-list/pl-1", "KeyArn": "arn:aws:kms:r:1:key/2"}},
		"arn:aws:sns:r:1:topic": {"arn:aws:sns:r:1:topic", nil},
		"":                      {"shop|errors", map[string]any{"RoleArn": "arn:aws:iam::1:role/x"}},
	} {
		if got := arnOf(f); got != want {
			t.Errorf("%+v: %q", f, got)
		}
	}
}
