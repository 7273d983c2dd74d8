// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// completeOutput has a shell complete the value of --output.
func completeOutput(cmd *cobra.Command, formats ...string) {
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// outputFlag gives a verb the flag --output. The value of the flag is checked before the verb runs. The first format is the default. The
// text after the name of a format explains it.
func outputFlag(cmd *cobra.Command, into *string, formats ...string) {
	last := len(formats) - 1
	var known []string
	for _, f := range formats {
		name, _, _ := strings.Cut(f, " ")
		known = append(known, name)
	}
	cmd.Flags().StringVarP(into, "output", "o", known[0], "output format: "+strings.Join(formats[:last], ", ")+" or "+formats[last])
	completeOutput(cmd, known...)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if slices.Contains(known, *into) {
			return nil
		}
		return exit.Usage("--output: %q is none of %s and %s", *into, strings.Join(known[:last], ", "), known[last])
	}
}
