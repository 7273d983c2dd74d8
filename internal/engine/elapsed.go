// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// elapsedSteps are the durations that messages name, the longest first: a message that named each minute would be written to
// the status each minute. Read only.
var elapsedSteps = []struct {
	d    time.Duration
	text string
}{
	{8 * time.Hour, "8 hours"}, {4 * time.Hour, "4 hours"}, {2 * time.Hour, "2 hours"}, {time.Hour, "1 hour"},
	{40 * time.Minute, "40 minutes"},
	{20 * time.Minute, "20 minutes"}, {10 * time.Minute, "10 minutes"}, {5 * time.Minute, "5 minutes"},
}

// addElapsed adds to the message of a resource that AWS creates how long that has taken so far. Other errors stay as they are: no record
// has the start of later operations in AWS.
func (a *advance) addElapsed(err error) error {
	w, ok := status.AsWaiting(err)
	i := a.o.Record.Intent
	if !ok || w.Reason != status.ReasonBusy || a.o.Record.SyncedGeneration != 0 || a.o.Deleting || i == nil || i.At.IsZero() {
		return err
	}
	for _, step := range elapsedSteps {
		if a.h.Now().Sub(a.o.Record.Intent.At) >= step.d {
			out := *w
			out.For += ", for more than " + step.text
			return &out
		}
	}
	return err
}
