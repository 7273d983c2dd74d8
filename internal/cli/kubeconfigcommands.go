// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/kubeconfig"
)

func kubeconfigCommand(s *connection.Connection) *cobra.Command {
	f := &kubeconfig.Options{}
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Write the entry of an EKS cluster into the kubeconfig, or refresh it",
		Long: "kubeconfig asks EKS for the endpoint and the certificate authority of a cluster, and writes them into the kubeconfig with a user\n" +
			"whose tokens come from nexusctl token. A user that is there and gets its tokens from another program stays as it is,\n" +
			"and so do the namespace of a context and every other entry.",
		Example: "  nexusctl kubeconfig --cluster-name prod --region eu-west-1\n  nexusctl kubeconfig --dry-run",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return kubeconfig.Write(cmd.Context(), s, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Cluster, "cluster-name", "", "EKS cluster (EKS_CLUSTER_NAME; default: that of the kubeconfig's context)")
	flags.StringVar(&f.Alias, "alias", "", "name of the context; default: the ARN of the cluster")
	flags.BoolVar(&f.KeepCurrent, "keep-current", false, "do not make the context the current one")
	flags.BoolVar(&f.DryRun, "dry-run", false, "say what would be written, and write nothing")
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	return cmd
}

func tokenCommand(s *connection.Connection) *cobra.Command {
	var cluster string
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print a token for an EKS cluster, as kubectl asks for it",
		Long: "token prints an ExecCredential with a token by which EKS knows the holder of the AWS credentials. Kubeconfig entries that\n" +
			"nexusctl kubeconfig wrote call it. It calls neither AWS nor the cluster.",
		Example: "  nexusctl token --cluster-name prod --region eu-west-1",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return kubeconfig.PrintToken(cmd.Context(), s, cluster)
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster-name", "", "EKS cluster (EKS_CLUSTER_NAME)")
	return cmd
}
