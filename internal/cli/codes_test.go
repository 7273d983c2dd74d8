// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestExplain_EveryCodeNeedsNoCluster(t *testing.T) {
	for _, c := range status.Codes() {
		out, errs, code := run(t, "explain", strings.ToLower(c.ID))
		if code != 0 || errs != "" || !strings.HasPrefix(out, c.ID+": "+c.Reason+"\n\nCause:\n  ") ||
			!strings.Contains(out, "\nWhat to do:\n  ") {
			t.Errorf("%s: exit code %d, %q, %q", c.ID, code, out, errs)
		}
		for line := range strings.Lines(out) {
			if len([]rune(strings.TrimSpace(line))) > 80 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: a line is too long: %q", c.ID, line)
			}
		}
	}
}

func TestExplain_ACodeAsJSON(t *testing.T) {
	out, errs, code := run(t, "explain", "NX-IAM-001", "-o", "json")
	var got map[string]string
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || errs != "" {
		t.Fatalf("exit code %d, %q, %q: %v", code, out, errs, err)
	}
	if got["kind"] != "ErrorCode" || got["code"] != "NX-IAM-001" || got["reason"] != "AccessDenied" || got["cause"] == "" ||
		got["remedy"] == "" {
		t.Errorf("%v", got)
	}
}

func TestExplain_AnUnknownCodeIsAMistake(t *testing.T) {
	out, errs, code := run(t, "explain", "NX-IAM-999")
	if code != 2 || out != "" || !strings.Contains(errs, `"NX-IAM-999" is no error code`) {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}
