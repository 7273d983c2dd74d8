// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
)

func TestWorking_ShowsALineAndMakesRoomForOutput(t *testing.T) {
	var screen bytes.Buffer
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

// Everything that reads for long is shown at work, and what reads what a person types is not.
func TestWorking_CommandsThatReadForLongAreShown(t *testing.T) {
	root := Program{Kinds: catalog.Kinds, Getenv: func(string) string { return "" }}.Command("nexusctl")
	for _, name := range slowVerbs {
		if cmd, _, err := root.Find([]string{name}); err != nil || cmd.Name() != name || cmd.RunE == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	cmd, _, err := root.Find([]string{"plan"})
	if err != nil || readsTerminal(cmd) {
		t.Fatalf("plan without a file reads the terminal, %v", err)
	}
	if err := cmd.Flags().Parse([]string{"-f", "-"}); err != nil || !readsTerminal(cmd) {
		t.Errorf("plan -f - does not read the terminal, %v", err)
	}
}
