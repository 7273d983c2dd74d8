// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
)

// Every command that reads for long is shown at work, and a command that reads a person's typing is not.
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
