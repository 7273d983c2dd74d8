// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestPrecedes_OrdersClaimsOnANameStably(t *testing.T) {
	type edit func(*nexusv1.NexusAICapability)
	at := func(sec int64, name string, edits ...edit) *nexusv1.NexusAICapability {
		c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.Unix(sec, 0), Namespace: "ns", Name: name}}
		for _, e := range edits {
			e(c)
		}
		return c
	}
	ran := func(c *nexusv1.NexusAICapability) {
		c.Status.History = []nexusv1.PhaseChange{{Phase: nexusv1.PhaseRunning}, {Phase: nexusv1.PhaseFailed}}
	}
	created := func(c *nexusv1.NexusAICapability) {
		c.Status.Resources = []nexusv1.ResourceStatus{{Kind: "S3Bucket", ARN: "arn:aws:s3:::a"}}
	}
	stalled := func(reason string) edit {
		return func(c *nexusv1.NexusAICapability) {
			c.Status.Conditions = []metav1.Condition{{Type: status.Stall, Status: metav1.ConditionTrue, Reason: reason}}
		}
	}
	for name, tc := range map[string]struct{ first, second *nexusv1.NexusAICapability }{
		"the older":                             {at(1, "b"), at(2, "a")},
		"in one second, by name":                {at(1, "a"), at(1, "b")},
		"one that runs":                         {at(2, "b", ran), at(1, "a")},
		"one that runs, though stalled":         {at(2, "b", ran, stalled("AccessDenied")), at(1, "a")},
		"one that has created something":        {at(2, "b", created), at(1, "a")},
		"one that is not invalid":               {at(2, "b"), at(1, "a", stalled(status.ReasonInvalidSpec))},
		"one that is not suspended":             {at(2, "b"), at(1, "a", func(c *nexusv1.NexusAICapability) { c.Spec.Suspend = true })},
		"the older, though stalled by the name": {at(1, "b", stalled(status.ReasonNameConflict)), at(2, "a")},
	} {
		if !ClaimsBefore(tc.first, tc.second) || ClaimsBefore(tc.second, tc.first) {
			t.Errorf("%s does not precede, or both do", name)
		}
	}
}

// A tenant may not know who holds a name: the log alone names the holder, once for each refusal.
func TestLogHolder_LogsTheBeginningOfARefusal(t *testing.T) {
	refused := metav1.Condition{Type: status.Stall, Status: metav1.ConditionTrue, Reason: status.ReasonNameConflict}
	ended, other := refused, refused
	ended.Status, other.Reason = metav1.ConditionFalse, status.ReasonInvalidSpec
	for name, c := range map[string]struct {
		before []metav1.Condition
		logs   bool
	}{
		"a new object":                      {nil, true},
		"refused before":                    {[]metav1.Condition{refused}, false},
		"refused once, and accepted since":  {[]metav1.Condition{ended}, true},
		"stalled before for another reason": {[]metav1.Condition{other}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			ctx := logr.NewContext(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
			LogHolder(ctx, c.before, "refused", "shop-dev", &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "secretive", Name: "holder"}})
			if c.logs != (len(lines) == 1) || c.logs && (!strings.Contains(lines[0], "shop-dev") || !strings.Contains(lines[0], "holder")) {
				t.Errorf("logged %q", lines)
			}
		})
	}
}
