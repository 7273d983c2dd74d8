// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestAdvance_SaysHowLongACreateHasTaken(t *testing.T) {
	for after, want := range map[time.Duration]string{
		time.Minute: "", 5 * time.Minute: ", for more than 5 minutes", 19 * time.Minute: ", for more than 10 minutes",
		61 * time.Minute: ", for more than 1 hour", 30 * time.Hour: ", for more than 8 hours",
	} {
		o := known()
		o.Record.SyncedGeneration, o.Record.Intent.At = 0, noon.Add(-after)
		b := boxOf(o)
		b.busy = "the box is creating"
		_, _, err := advanceBox(t, b, o, map[string]string{"color": "red"})
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || w.For != "AWS: the box is creating"+want {
			t.Errorf("after %s: %v, want %q", after, err, want)
		}
		b.busy, b.fail = "", map[string]error{"observe": &status.Waiting{Reason: status.ReasonBusy, For: "the box to be available"}}
		_, _, err = advanceBox(t, b, o, map[string]string{"color": "red"})
		if w, ok := status.AsWaiting(err); !ok || w.For != "the box to be available"+want {
			t.Errorf("after %s: %v, want %q", after, err, want)
		}
	}
}

func TestAdvance_SaysNoTimeOfWhatHasNoRecordedBeginning(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.busy = "the box is modifying"
	if _, _, err := advanceBox(t, b, o, map[string]string{"color": "green"}); err == nil || strings.Contains(err.Error(), "more than") {
		t.Errorf("%v", err)
	}
	o.Record.SyncedGeneration, o.Deleting = 0, true
	if _, _, err := advanceBox(t, b, o, nil); err == nil || strings.Contains(err.Error(), "more than") {
		t.Errorf("%v", err)
	}
}
