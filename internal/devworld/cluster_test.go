// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestPoliciesAreWaitedFor: a capability with intents does not run before its
// policies do, and without intents it waits for none.
func TestPoliciesAreWaitedFor(t *testing.T) {
	capability := func(intents []any, policies string) *unstructured.Unstructured {
		conditions := []any{map[string]any{"type": "Ready", "status": "True"}}
		if policies != "" {
			conditions = append(conditions, map[string]any{"type": "PoliciesReady", "status": policies, "message": "no such intent"})
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"spec":   map[string]any{"security": map[string]any{"intents": intents}},
			"status": map[string]any{"phase": "Running", "progress": "11/11", "conditions": conditions},
		}}
	}
	two := []any{map[string]any{"name": "dns"}, map[string]any{"name": "guard", "component": "backend"}}
	for _, c := range []struct {
		intents  []any
		policies string
		runs     bool
	}{{nil, "", true}, {nil, "False", true}, {two, "", false}, {two, "Unknown", false}, {two, "False", false}, {two, "True", true}} {
		if got := isRunning(capability(c.intents, c.policies)); got != c.runs {
			t.Errorf("%d intents, PoliciesReady %q: runs %v", len(c.intents), c.policies, got)
		}
	}
	if line := progress(capability(two, "False")); !strings.HasSuffix(line, "policies: no such intent") {
		t.Errorf("progress says %q", line)
	}
}

func TestWhatHasNoEngineSaysSo(t *testing.T) {
	var text strings.Builder
	c := &cluster{out: &text}
	if c.sayWhatIsMissing(nil); !strings.Contains(text.String(), "No policy engine is installed here.") {
		t.Errorf("says %q", text.String())
	}
}
