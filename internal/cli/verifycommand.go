// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/verify"
)

func verifyCommand(s *connection.Connection) *cobra.Command {
	f := &verify.Options{}
	var groups strings.Builder
	for _, g := range verify.Groups {
		fmt.Fprintf(&groups, "  %-11s %s\n", g.Name, g.What)
	}
	cmd := &cobra.Command{
		Use:     "verify-capability [NAMESPACE/NAME | ncap/NAME]",
		Aliases: []string{"verify"},
		Short:   "Check that a capability is in AWS and Kubernetes what it declares to be",
		Long: "verify-capability checks a capability with your own rights in the cluster and in AWS, and changes nothing. Without a\n" +
			"name it takes the only capability of the namespace. The groups of checks, for --only:\n\n" + groups.String() + "\n" +
			"Each check ends with PASS, WARN, FAIL or SKIP, with what was seen and, after a failure, what to do. The exit code is\n" +
			"0 when no check failed, 1 when one failed, 4 when none failed and some could not be made for want of a right,\n" +
			"and 124 when --timeout is over. Skipped checks that follow from\n" +
			"another one are printed as one line. Secret values and tokens are never printed.",
		Example: "  nexusctl verify-capability\n" +
			"  nexusctl verify-capability team-a/myapp --junit report.xml\n" +
			"  nexusctl verify-capability ncap/myapp -n team-a --only resources,identity --fail-fast\n" +
			"  nexusctl verify-capability -o json",
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return verify.Run(cmd.Context(), s, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.Output, "output", "o", "text", "output format: text, json or yaml")
	completeOutput(cmd, "text", "json", "yaml")
	flags.StringVar(&f.JUnit, "junit", "", "also write the results to this file, as JUnit XML")
	flags.StringSliceVar(&f.Only, "only", nil, "names of groups of checks to make; default: all")
	flags.BoolVar(&f.FailFast, "fail-fast", false, "stop after the first check that fails")
	flags.BoolVarP(&f.Verbose, "verbose", "v", false, "print every skipped check, also those that follow from another one")
	flags.DurationVar(&f.Timeout, "timeout", 5*time.Minute, "how long all checks may take")
	flags.StringArrayVar(&s.OperatorArgs, "operator-arg", nil,
		"a flag that the operator runs with, beside those of its Deployment, such as --operator-arg=--region=eu-west-1")
	return cmd
}
