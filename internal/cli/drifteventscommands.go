// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/deploy"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

func driftEventsCommand(s *connection.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "drift-events",
		Short:   "Make the queue and the rules that report changes in AWS within seconds",
		Example: "  nexusctl drift-events install\n  nexusctl drift-events status",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage("name what to do: install, status or uninstall")
		},
	}
	cmd.AddCommand(installEventsCommand(s), eventsStatusCommand(s), uninstallEventsCommand(s))
	return cmd
}

func installEventsCommand(s *connection.Connection) *cobra.Command {
	f := &deploy.EventsOptions{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Make the queue, its policy and its rules, or set them right",
		Long: "install makes a queue of Amazon SQS, and two rules of EventBridge that send to it: one for the changes that CloudTrail records, and one\n" +
			"on a schedule for the heartbeat. The queue policy lets these two rules send, and no other sender. It prints the differences\n" +
			"before each change, and the rights of the identity that reads the queue. A second run finds nothing to change. What it\n" +
			"created is recorded in ConfigMap " + install.LedgerName +
			" in the namespace of the operator, so that nexusctl drift-events uninstall,\n" +
			"and nexusctl delete --full, remove that and nothing else. It makes no trail: CloudTrail needs one that records management events.",
		Example: "  nexusctl drift-events install --dry-run\n  nexusctl drift-events install --region eu-west-1",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(s, f, deploy.InstallEvents),
	}
	addEventsFlags(f, cmd)
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "print what would change, and change nothing")
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	return cmd
}

func eventsStatusCommand(s *connection.Connection) *cobra.Command {
	f := &deploy.EventsOptions{}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the queue, its rules, and whether events arrive",
		Long:    "status shows the queue with the messages that wait in it, the rules, what install would change, and the condition DriftEvents of\neach AWSProvider.",
		Example: "  nexusctl drift-events status",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(s, f, deploy.EventsStatus),
	}
	addEventsFlags(f, cmd)
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	return cmd
}

func uninstallEventsCommand(s *connection.Connection) *cobra.Command {
	f := &deploy.EventsOptions{Removes: true}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the queue and the rules that install made",
		Long: "uninstall removes the queue and the rules that nexusctl drift-events install created. Take the queue from the operator first: while it\n" +
			"names a queue that does not exist, AWSProviders show QueueUnusable. Checks return to the ordinary interval.",
		Example: "  nexusctl drift-events uninstall --dry-run\n  nexusctl drift-events uninstall --yes",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(s, f, deploy.UninstallEvents),
	}
	addEventsFlags(f, cmd)
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "really remove; without it, or --dry-run, the command is refused")
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "print what would be removed, and remove nothing")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", time.Minute, "how long the removal may take")
	return cmd
}

func addEventsFlags(f *deploy.EventsOptions, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Name, "name", deploy.DefaultDriftQueue, "name of the queue, with which the names of the rules begin")
}
