// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/scan"
)

func scanCommand(s *connection.Connection) *cobra.Command {
	f := &scan.Options{}
	var groups strings.Builder
	for _, g := range scan.Groups {
		fmt.Fprintf(&groups, "  %-11s %s\n", g.Name, g.What)
	}
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Check that a cluster and an AWS account are ready for the operator",
		Long: "scan checks what the operator and its capabilities need from a cluster and an AWS account, with your own rights, and\n" +
			"changes nothing. The groups of checks, for --only:\n\n" + groups.String() + "\n" +
			"Each check ends with PASS, WARN, FAIL or SKIP, with what was seen and what to do. The exit code is 0 when no check\n" +
			"failed, 1 when one failed, and 4 when none failed and some could not be made for want of a right or of credentials.",
		Example: "  nexusctl scan\n  nexusctl scan --cluster-name production --only aws,identity,network\n  nexusctl scan -o json",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return scan.Run(cmd.Context(), s, f) },
	}
	flags := cmd.Flags()
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	flags.StringVar(&f.EKS, "cluster-name", "", "name of the EKS cluster (EKS_CLUSTER_NAME; default: that of the kubeconfig)")
	flags.StringVar(&f.Image, "image", "", "container image of the operator; default: that of this version in the account's repository "+
		connection.DefaultRepository)
	flags.StringSliceVar(&f.Only, "only", nil, "names of groups of checks to make; default: all")
	flags.DurationVar(&f.Timeout, "timeout", 2*time.Minute, "how long all checks may take")
	return cmd
}
