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
			LogHolder(ctx, c.before, "refused", "shop-dev",
				&nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "secretive", Name: "holder"}})
			if c.logs != (len(lines) == 1) || c.logs && (!strings.Contains(lines[0], "shop-dev") || !strings.Contains(lines[0], "holder")) {
				t.Errorf("logged %q", lines)
			}
		})
	}
}
