// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/secretset"
)

func secretsCommand(s *connection.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "secrets",
		Short:   "Show which secrets wait for people, and fill them in",
		Example: "  nexusctl secrets status -n team-a\n  nexusctl secrets set awssecret/myapp-dev-openai --from-file apiKey=-",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage("name what to do: secrets status or secrets set")
		},
	}
	cmd.AddCommand(secretsStatusCommand(s), secretsSetCommand(s))
	return cmd
}

func secretsStatusCommand(s *connection.Connection) *cobra.Command {
	f := &driftFlags{}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "List the secrets with values that people fill in",
		Long: "status lists the secrets that the operator created with placeholders, with the keys to fill in. It reads the\n" +
			"statuses of the objects, and no value.",
		Example: "  nexusctl secrets status -n team-a\n  nexusctl secrets status -A --exit-code",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return (&secretsVerb{Connection: s}).secretsStatus(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVarP(&f.everywhere, "all-namespaces", "A", false, "look in every namespace")
	cmd.Flags().BoolVar(&f.exitCode, "exit-code", false, "exit with 1 when a secret is not filled in")
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

func secretsSetCommand(s *connection.Connection) *cobra.Command {
	var files []string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "set awssecret/NAME --from-file KEY=PATH...",
		Short: "Fill in values of a secret, from files or from standard input",
		Long: "set puts values into a secret that the operator created with placeholders, and leaves its other keys as they are.\n" +
			"A value is read from a file, or with the path - from standard input; a terminal does not show it, and set prints\n" +
			"no value. One newline at the end is not part of the value.\n\n" +
			"It uses your own AWS credentials, which must lead to the account of the AWSProvider and allow\n" +
			"secretsmanager:DescribeSecret, GetSecretValue and PutSecretValue.",
		Example: "  nexusctl secrets set awssecret/myapp-dev-openai -n team-a --from-file apiKey=-\n" +
			"  nexusctl secrets set awssecret/myapp-dev-wxcc --from-file clientId=id.txt --from-file clientSecret=secret.txt",
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&secretset.Setter{Connection: s}).Set(cmd.Context(), args, files, dryRun)
		},
	}
	cmd.Flags().StringArrayVar(&files, "from-file", nil, "a key and the file with its value, as KEY=PATH; - is standard input")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check everything, and change nothing")
	return cmd
}
