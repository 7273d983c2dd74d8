// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/undo"
)

func undoCommand(s *connection.Connection) *cobra.Command {
	f := &undo.Options{}
	cmd := &cobra.Command{
		Use:   "undo ncap/NAME",
		Short: "Bring a deleted capability back with its stores and secrets",
		Long: "undo has the operator keep the AWS resources of a capability that was deleted with spec.deletion.graceful, waits until the\n" +
			"deleted object is gone, and creates the capability again as it was. The new object takes the AWS resources over, with\n" +
			"their data. Run it again after an interruption. Where the object is gone, the operator's record in its namespace has\n" +
			"what is needed; where the namespace is gone as well, undo creates it. Of a capability that is not deleted, undo keeps the\n" +
			"stores that an edit dropped: declare them again to use them.",
		Example: "  nexusctl undo ncap/myapp -n team-a\n  nexusctl undo --list",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.List && len(args) > 0:
				return exit.Usage("--list lists all deletions, and takes no name")
			case f.List:
				return (&undo.Undoing{Connection: s}).List(cmd.Context())
			case len(args) == 0:
				return exit.Usage("name the capability to bring back, or list the deletions with --list")
			default:
				return (&undo.Undoing{Connection: s}).Run(cmd.Context(), f, args)
			}
		},
	}
	cmd.Flags().BoolVar(&f.List, "list", false,
		"list the deletions that the operator has recorded, with their state and the end of their time")
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "send the changes as server-side dry runs, and change nothing")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", 5*time.Minute, "how long the deleted object may take to go")
	return cmd
}

func deleteNowCommand(s *connection.Connection) *cobra.Command {
	f := &undo.Options{}
	cmd := &cobra.Command{
		Use:   "delete-now ncap/NAME",
		Short: "End the time for which the stores of a deleted capability are kept",
		Long: "delete-now has the operator delete the stores and secrets of a deleted capability at once, as its deletionPolicy says. This\n" +
			"cannot be undone. Where the namespace was deleted meanwhile, delete-now creates the capability again from the operator's\n" +
			"record, without pods and traffic, so that it takes its AWS resources over, and then deletes it. Run it again after an\n" +
			"interruption.",
		Example: "  nexusctl delete-now ncap/myapp -n team-a",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&undo.Undoing{Connection: s}).DeleteNow(cmd.Context(), f, args)
		},
	}
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "send the changes as server-side dry runs, and change nothing")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", 30*time.Minute, "how long the deletion of what a deleted namespace left may take")
	return cmd
}
