// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestOperator_ReadsTheQueueOfDriftEventsAlone(t *testing.T) {
	metas := []kind.Meta{{Writes: []string{"eks:CreateCluster"}}}
	scope := Scope{Region: "eu-west-1", Account: "123456789012", NamePrefix: "team-"}
	for queue, want := range map[string]int{"": 0, "nexus-drift-events": 1} {
		scope.DriftQueue = queue
		documents, _, err := operator(t, metas, scope)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Text(documents)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "arn:aws:sqs:eu-west-1:123456789012:nexus-drift-events"} {
			if got := strings.Count(text, part); got != want {
				t.Errorf("queue %q: %s occurs %d times, want %d:\n%s", queue, part, got, want, text)
			}
		}
	}
}
