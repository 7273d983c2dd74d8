// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/monitor"
	"github.com/nexus-operator/nexus-operator/internal/progress"
)

func monitorCommand(s *connection.Connection) *cobra.Command {
	f := &monitor.Options{}
	cmd := &cobra.Command{
		Use:   "monitor [NAMESPACE/NAME | ncap/NAME]",
		Short: "Watch a capability until it runs, step by step",
		Long: "monitor shows the steps of a capability with their state and duration, its Deployments, the address of its\n" +
			"load balancer and its last events, until it runs. Without a name it takes the only capability of the namespace.\n\n" +
			"On a terminal it draws a table; otherwise it prints a line for each change. It exits with 0 when the capability\n" +
			"has reached what --wait-for names, with 1 when the operator reports a failure that a person must solve, and with\n" +
			"124 when --timeout is over. It changes nothing, and may be interrupted and started again at any time.",
		Example: "  nexusctl monitor\n" +
			"  nexusctl monitor team-a/myapp --timeout 10m\n" +
			"  nexusctl monitor ncap/myapp -n team-a --wait-for running -o ndjson",
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return monitor.Run(cmd.Context(), s, f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.Output, "output", "o", "text", "output format: text; ndjson or json, an object of "+progress.APIVersion+
		" per line for each change")
	completeOutput(cmd, "text", "ndjson", "json")
	flags.StringVar(&f.Until, "wait-for", progress.UntilAddress,
		"what to wait for: running; pods, also that all pods are of the declared version and available; address, also that the load balancer has one")
	flags.DurationVar(&f.Timeout, "timeout", 30*time.Minute, "how long to wait")
	return cmd
}
