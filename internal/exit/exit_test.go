// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"strings"
	"testing"
)

func TestInterruption_SaysWhatWasDone(t *testing.T) {
	var none *Interruption
	for want, i := range map[string]*Interruption{
		"The command was interrupted and has changed nothing.": none,
		"All its requests were made":                           {Waiting: true},
	} {
		if !strings.Contains(i.Said(), want) {
			t.Errorf("%q, want %q", i.Said(), want)
		}
	}
	if got := (&Interruption{Left: 3}).Said(); got != none.Said() {
		t.Errorf("before the first change: %q", got)
	}
}
