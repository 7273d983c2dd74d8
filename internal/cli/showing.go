// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/console"
)

// showing has a command show on a terminal that it is at work.
func showing(s *console.Console, cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !readsTerminal(cmd) {
			defer s.ShowWork(cmd.CommandPath())()
		}
		return run(cmd, args)
	}
	return cmd
}

// readsTerminal reports whether a command reads standard input, which a person may be typing.
func readsTerminal(cmd *cobra.Command) bool {
	files, err := cmd.Flags().GetStringSlice("filename")
	state := cmd.Flags().Lookup("from-terraform")
	return err == nil && slices.Contains(files, "-") || state != nil && state.Value.String() == "-"
}
