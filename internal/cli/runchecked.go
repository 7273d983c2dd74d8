// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// runChecked runs a command after a check of its flags. Missing rights in AWS are a precondition.
func runChecked[F interface{ Check() error }](s *connection.Connection, f F,
	run func(context.Context, *connection.Connection, F) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		if err := f.Check(); err != nil {
			return err
		}
		return exit.DeniedFirst(run(cmd.Context(), s, f))
	}
}
