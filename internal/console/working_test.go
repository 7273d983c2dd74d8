// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestWorking_ShowsALineAndMakesRoomForOutput(t *testing.T) {
	var screen bytes.Buffer
	midday := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	w := &working{to: &screen, command: "nexusctl plan", began: midday}
	w.draw(midday.Add(time.Second))
	if screen.Len() > 0 {
		t.Errorf("shows %q within its patience", screen.String())
	}
	w.note("S3Bucket team-a/logs")
	w.draw(midday.Add(3 * time.Second))
	if got := screen.String(); got != eraseLine+"nexusctl plan: at work for 3s, now on S3Bucket team-a/logs" {
		t.Errorf("%q", got)
	}
	screen.Reset()
	_, _ = fmt.Fprint(erasing{&screen, w, false}, "a notice\n")
	w.draw(midday.Add(4 * time.Second))
	if got := screen.String(); !strings.HasPrefix(got, eraseLine+"a notice\n"+eraseLine+"nexusctl plan: at work for 4s") {
		t.Errorf("%q", got)
	}
	screen.Reset()
	_, _ = fmt.Fprint(erasing{&screen, w, true}, "the plan\n")
	w.draw(midday.Add(5 * time.Second))
	if got := screen.String(); got != eraseLine+"the plan\n" {
		t.Errorf("the result is %q", got)
	}
}
