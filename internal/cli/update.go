// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// annotationRestarted is the annotation that kubectl rollout restart sets, too, so that each tool shows the restarts of the other.
const annotationRestarted = "kubectl.kubernetes.io/restartedAt"

// updateFlags holds the flags of update.
type updateFlags struct {
	dryRun  bool
	timeout time.Duration
}

func updateCommand(s *connection.Connection) *cobra.Command {
	f := &updateFlags{}
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Replace the operator's pods, which pulls its image again",
		Long: "update replaces the pods of the operator's Deployment or StatefulSet one after the other, as kubectl rollout restart\n" +
			"does, waits until the new ones are ready, and prints the digests of the image before and after. The image stays the\n" +
			"one that the Deployment names. A node pulls it again only where imagePullPolicy is Always or the node does not have it.\n" +
			"Capabilities and AWS resources stay as they are.",
		Example: "  nexusctl update\n  nexusctl update --operator-namespace platform --timeout 10m\n  nexusctl update --dry-run",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return update(cmd.Context(), s, f) },
	}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "send the change as a server-side dry run, and change nothing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long to wait for the new pods")
	return cmd
}

func update(ctx context.Context, s *connection.Connection, f *updateFlags) error {
	if f.timeout <= 0 {
		return exit.Usage("--timeout: %s is not a duration above 0", f.timeout)
	}
	_, c, err := s.Connect()
	if err != nil {
		return err
	}
	namespace := s.NamespaceOfOperator()
	workloads, err := inspect.Workloads(ctx, c, namespace)
	if err != nil {
		return err
	}
	if len(workloads) == 0 {
		return exit.Precondition(fmt.Errorf("namespace %s has neither a Deployment nor a StatefulSet %s: install the operator, or name its namespace with --operator-namespace", namespace, connection.OperatorName))
	}
	for _, w := range workloads {
		if _, err := restart(ctx, s.Console, c, restartTarget{workload: w, namespace: namespace, dryRun: f.dryRun, timeout: f.timeout, seeAlso: "nexusctl status"}); err != nil {
			return err
		}
	}
	return nil
}

func digestText(digests []string) string {
	if len(digests) == 0 {
		return "digest not known"
	}
	return strings.Join(digests, ", ")
}
