// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/rollout"
)

func rolloutCommand(s *connection.Connection) *cobra.Command {
	f := &rollout.Options{}
	cmd := &cobra.Command{
		Use:   "rollout [NAMESPACE/NAME | ncap/NAME]",
		Short: "Replace the pods of a capability, after building an image again",
		Long: "rollout replaces the pods of a capability's components one after the other, as kubectl rollout restart does, waits until the new ones\n" +
			"are ready, and prints the digests of the image and the revisions of the Deployment before and after. With --build it first\n" +
			"builds the image of a component and pushes it to where the capability pulls it from, and replaces the pods of that component only;\n" +
			"the flags for that are those of nexusctl build app. The capability stays as it is declared, and the operator leaves the restart alone.",
		Example: "  nexusctl rollout ncap/myapp -n team-a --build backend --source ../backend\n  nexusctl rollout team-a/myapp --component frontend\n  nexusctl rollout --dry-run",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return rollout.Run(cmd.Context(), s, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Build, "build", "", "component whose image is built and pushed first")
	flags.StringSliceVar(&f.Components, "component", nil, "components whose pods are replaced; default: the one of --build, else all")
	flags.BoolVar(&f.DryRun, "dry-run", false, "send the changes as server-side dry runs, build nothing, and change nothing")
	flags.DurationVar(&f.Timeout, "timeout", 10*time.Minute,
		"how long to wait for the new pods of each component; building may take 30 minutes besides")
	addSourceFlags(&f.App, cmd)
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	return cmd
}

func updateCommand(s *connection.Connection) *cobra.Command {
	f := &rollout.UpdateOptions{}
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Replace the operator's pods, which pulls its image again",
		Long: "update replaces the pods of the operator's Deployment or StatefulSet one after the other, as kubectl rollout restart\n" +
			"does, waits until the new ones are ready, and prints the digests of the image before and after. The image stays the\n" +
			"one that the Deployment names. A node pulls it again only where imagePullPolicy is Always or the node does not have it.\n" +
			"Capabilities and AWS resources stay as they are.",
		Example: "  nexusctl update\n  nexusctl update --operator-namespace platform --timeout 10m\n  nexusctl update --dry-run",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return rollout.Update(cmd.Context(), s, f) },
	}
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "send the change as a server-side dry run, and change nothing")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", 5*time.Minute, "how long to wait for the new pods")
	return cmd
}
