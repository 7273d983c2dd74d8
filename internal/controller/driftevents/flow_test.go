// SPDX-License-Identifier: Apache-2.0

package driftevents

import (
	"fmt"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

const account = "123456789012"

func bucketOf(namespace, home, arn string) v1alpha1.Resource {
	o := &v1alpha1.S3Bucket{}
	o.Namespace, o.Status.Home, o.Status.ARN = namespace, home, arn
	return o
}

func TestFlow_CoversWhatHeartbeatsComeFrom(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	c := testingclock.NewFakePassiveClock(noon)
	f := NewFlow(c)
	f.beat(place{"", account, "eu-west-1"}, noon.Add(-time.Minute))
	f.beat(place{"team-a", "210987654321", "eu-west-1"}, noon.Add(time.Hour)) // counts as of now
	for _, x := range []struct {
		what, namespace, home, arn string
		want                       bool
	}{
		{"the account and region", "team-b", "aws/" + account + "/eu-west-1", "arn:aws:s3:::b", true},
		{"another region", "team-b", "aws/" + account + "/us-east-1", "arn:aws:s3:::b", false},
		{"a role, which is recorded in us-east-1", "team-b", "aws/" + account + "/eu-west-1", "arn:aws:iam::" + account + ":role/r", false},
		{"the queue of the namespace", "team-a", "aws/210987654321/eu-west-1", "arn:aws:s3:::b", true},
		{"the queue of another namespace", "team-b", "aws/210987654321/eu-west-1", "arn:aws:s3:::b", false},
		{"an unknown place", "team-a", "", "", false},
	} {
		if got := f.Covers(bucketOf(x.namespace, x.home, x.arn)); got != x.want {
			t.Errorf("%s: %v", x.what, got)
		}
	}
	if began, stopped := f.changes(); !began || stopped {
		t.Errorf("events began: %v, stopped: %v", began, stopped)
	}
	f.beat(place{"", account, "eu-west-1"}, noon.Add(-time.Hour)) // late
	c.SetTime(noon.Add(heartbeatPatience - time.Minute - time.Second))
	if began, stopped := f.changes(); began || stopped || !f.Covers(bucketOf("x", "aws/"+account+"/eu-west-1", "")) {
		t.Errorf("within the patience: began %v, stopped %v", began, stopped)
	}
	c.SetTime(noon.Add(heartbeatPatience + time.Second))
	if _, stopped := f.changes(); !stopped || f.Covers(bucketOf("x", "aws/"+account+"/eu-west-1", "")) {
		t.Error("events that stopped still count")
	}
}

func TestFlow_IsBounded(t *testing.T) {
	c := testingclock.NewFakePassiveClock(time.Now())
	f := NewFlow(c)
	shown := map[string]bool{}
	for round := range 3 { // each forgets the places of the one before
		for i := range 2 * mostPlaces {
			name := fmt.Sprintf("%02d%010d", round, i)
			if _, known := f.beat(place{"", name, "eu-west-1"}, c.Now()); known {
				shown[name] = true
			}
		}
		if len(f.last) != mostPlaces || len(shown) != mostPlaces {
			t.Errorf("round %d: %d places are remembered, and the metrics show %d", round, len(f.last), len(shown))
		}
		c.SetTime(c.Now().Add(2 * heartbeatPatience))
		f.changes()
	}
}
