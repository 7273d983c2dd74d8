// SPDX-License-Identifier: Apache-2.0

package options

import (
	"strings"
	"testing"
)

func TestDriftEventsQueue(t *testing.T) {
	const url = "https://sqs.eu-west-1.amazonaws.com/123456789012/nexus-drift-events"
	none := func(string) string { return "" }
	for _, c := range []struct{ flags, queue, refused string }{
		{"", "", ""}, {"--drift-events-queue=" + url, url, ""}, {"--drift-events-queue=" + url + "-{shard} --shard=1/2", url + "-1", ""},
		{"--drift-events-queue=" + url + " --shard=1/2", "", "{shard}"}, {"--drift-events-queue=nexus-drift-events", "", "--drift-events-queue"},
		{"--drift-events-queue=" + url + "?a=b", "", "--drift-events-queue"},
		{"--check-interval-with-events=1ms", "", "--check-interval-with-events"},
	} {
		o, err := Parse(strings.Fields(c.flags), none)
		if c.refused == "" && (err != nil || o.DriftQueue() != c.queue) {
			t.Errorf("%s: %q, %v", c.flags, o.DriftQueue(), err)
		}
		if c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%s was accepted: %v", c.flags, err)
		}
	}
}
