// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"slices"
	"testing"
	"time"
)

func TestOwners_ServeAMinute(t *testing.T) {
	known, now := &owners{tags: map[string]tagsAt{}}, time.Unix(0, 0)
	known.remember("a", map[string]string{"k": "v"}, now)
	known.remember("b", nil, now.Add(30*time.Second))
	got, unknown := known.of([]string{"a", "b", "c"}, now.Add(59*time.Second))
	if got["a"]["k"] != "v" || !slices.Equal(unknown, []string{"c"}) {
		t.Errorf("%v, unknown %v", got, unknown)
	}
	if got, unknown = known.of([]string{"a", "b"}, now.Add(time.Minute)); len(got) != 1 || !slices.Equal(unknown, []string{"a"}) {
		t.Errorf("after a minute: %v, unknown %v", got, unknown)
	}
	known.remember("c", nil, now.Add(time.Hour))
	if len(known.tags) != 1 {
		t.Errorf("old answers stay: %v", known.tags)
	}
}

func TestOwners_RegionsOfARNs(t *testing.T) {
	for _, c := range []struct{ partition, arn, want string }{
		{"aws", "arn:aws:ec2:eu-west-1:1:vpc/v", "eu-west-1"}, {"aws", "arn:aws:s3:::b", "ap-southeast-1"}, {"aws", "arn:aws:route53:::hostedzone/Z", "us-east-1"},
		{"aws-cn", "arn:aws-cn:route53:::hostedzone/Z", "cn-northwest-1"}, {"aws-us-gov", "arn:aws-us-gov:route53:::hostedzone/Z", "us-gov-west-1"},
	} {
		if got := regionOf(&Session{Partition: c.partition, Region: "ap-southeast-1"}, c.arn); got != c.want {
			t.Errorf("%s: %s, want %s", c.arn, got, c.want)
		}
	}
}
