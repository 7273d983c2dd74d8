// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/catalog"
)

// eachVerb calls do for every command that people see.
func eachVerb(cmd *cobra.Command, do func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			do(c)
			eachVerb(c, do)
		}
	}
}

func TestEveryVerb_HasAnExampleAndCompletesItsArguments(t *testing.T) {
	root := Program{Kinds: catalog.Kinds, Getenv: func(string) string { return "" }}.Command("nexusctl")
	seen, completed := 0, 0
	eachVerb(root, func(cmd *cobra.Command) {
		seen++
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		_, takes, _ := strings.Cut(cmd.Use, " ")
		if !strings.Contains(takes, "NAME") && !strings.Contains(takes, "COMPONENT") {
			return
		}
		completed++
		if cmd.ValidArgsFunction == nil {
			t.Errorf("%s completes no argument", cmd.CommandPath())
		}
	})
	if seen < 35 || completed < 14 {
		t.Errorf("%d verbs, of which %d take names", seen, completed)
	}
}
