// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/validate"
)

func validateCommand(s *connection.Connection) *cobra.Command {
	var files resource.FilenameOptions
	var output string
	cmd := &cobra.Command{
		Use:   "validate (-f FILE | -k DIR)",
		Short: "Check manifests against schemas, rules and the compiler; needs no cluster",
		Long: "validate checks the objects of our kinds in the manifests: unknown fields, the schema, the rules that the API\n" +
			"server evaluates, and for a NexusAICapability everything that the operator itself would refuse. The properties of\n" +
			"an AWSResource are checked against the schema of its type, as AWS published it when this version was built.\n" +
			"It exits with 2 when an object is invalid. Objects of other kinds are passed over.",
		Example: "  nexusctl validate -f examples/\n  nexusctl validate -f capability.yaml -o json",
		Args:    noFiles,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return (&validate.Validator{Connection: s}).Validate(cmd.Context(), &files, output)
		},
	}
	addFileFlags(s, cmd, &files)
	outputFlag(cmd, &output, "text", "json", "yaml")
	return cmd
}

// noFiles refuses arguments of a command that takes its files by a flag.
func noFiles(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usage("%q: name files with -f", args[0])
	}
	return nil
}
