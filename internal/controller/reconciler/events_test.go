// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestEvents_WarningsEndWithTheCodeOfTheirReason(t *testing.T) {
	long := strings.Repeat("x", 2000)
	recorder := events.NewFakeRecorder(1)
	for name, tc := range map[string]struct{ kind, reason, note, want string }{
		"a warning of a failure": {"Warning", "Conflict", "100% taken", "Warning Conflict 100% taken (NX-SPEC-005)"},
		"a repeated message":     {"Warning", "Conflict", "taken (NX-SPEC-003)", "Warning Conflict taken (NX-SPEC-003)"},
		"a reason without code":  {"Warning", "DriftCorrected", "set back", "Warning DriftCorrected set back"},
		"a normal event":         {"Normal", "InUse", "the namespace stays", "Normal InUse the namespace stays"},
		"a long note":            {"Warning", "Conflict", long, "Warning Conflict " + long[:maxNote-len("… (NX-SPEC-005)")] + "… (NX-SPEC-005)"},
		"a long normal note":     {"Normal", "Updated", long, "Normal Updated " + long[:maxNote-len("…")] + "…"},
	} {
		record := Events{Recorder: recorder}.Normal
		if tc.kind == "Warning" {
			record = Events{Recorder: recorder}.Warning
		}
		record(&corev1.Pod{}, tc.reason, "Reconcile", tc.note)
		if got := <-recorder.Events; got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestReasonsOfApplyFailures(t *testing.T) {
	for want, err := range map[string]error{
		"Conflict":    &status.Stalled{Reason: "Conflict"},
		"Busy":        &status.Waiting{Reason: "Busy"},
		"InvalidSpec": apierrors.NewBadRequest("no"),
		"Retrying":    errors.New("boom"),
	} {
		if got := ReasonOf(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
