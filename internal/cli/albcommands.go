// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/albcontroller"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/deploy"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// addChartFlags adds the flags --chart, --chart-repo and --chart-version, with a prefix.
func addChartFlags(c *albcontroller.ChartSource, flags *pflag.FlagSet, prefix string) {
	c.Flag = "--" + prefix + "chart"
	flags.StringVar(&c.Chart, prefix+"chart", albcontroller.Release,
		"chart of the AWS Load Balancer Controller: a name in "+c.Flag+"-repo, a folder or archive (./PATH), or oci://REGISTRY/REPOSITORY")
	flags.StringVar(&c.Repo, prefix+"chart-repo", albcontroller.DefaultChartRepo, "URL of the chart repository")
	flags.StringVar(&c.Version, prefix+"chart-version", albcontroller.DefaultChartVersion, "version of the chart in a repository or registry")
}

func installControllerCommand(s *connection.Connection) *cobra.Command {
	f := &albcontroller.Options{}
	cmd := &cobra.Command{
		Use:   "install-alb-controller",
		Short: "Install or upgrade the AWS Load Balancer Controller, with its role",
		Long: "install-alb-controller creates the role of the AWS Load Balancer Controller with the least rights, applies the definitions of its Helm\n" +
			"chart, installs or upgrades its release in namespace " + albcontroller.Namespace +
			", and waits until it is ready. It prints the differences before each\n" +
			"change. A second run finds nothing to change. What it created is recorded in ConfigMap " + albcontroller.Namespace + "/" +
			install.LedgerName + ", so that\n" +
			"nexusctl delete-alb-controller removes that and nothing else. A controller that another tool installed, and that of EKS\n" +
			"Auto Mode, is only checked. Where EKS Auto Mode is enabled and has no IngressClass, the command refuses and says how to make\n" +
			"one. The values of the release are those of the command line: name them again at each run.",
		Example: "  nexusctl install-alb-controller --dry-run\n  nexusctl install-alb-controller --cluster-name production --set replicaCount=3\n" +
			"  nexusctl install-alb-controller --chart oci://registry.example.com/charts/aws-load-balancer-controller\n  nexusctl install-alb-controller --chart ./aws-load-balancer-controller-" + albcontroller.DefaultChartVersion + ".tgz",
		Args: arguments(cobra.NoArgs),
		RunE: runChecked(s, f, albcontroller.Install),
	}
	flags := cmd.Flags()
	addChartFlags(&f.Chart, flags, "")
	flags.StringArrayVar(&f.Set, "set", nil, "value of the chart, such as --set replicaCount=3; may be repeated")
	flags.StringArrayVarP(&f.Values, "values", "f", nil, "YAML file with values of the chart; may be repeated")
	flags.StringVar(&f.Cluster, "cluster-name", "",
		"EKS cluster whose load balancers these are (EKS_CLUSTER_NAME; default: that of the kubeconfig)")
	flags.StringVar(&f.VPC, "vpc-id", "", "ID of the cluster's network; default: what EKS says of the cluster")
	flags.StringVar(&f.RoleARN, "role-arn", "", "ARN of a role to use as it is, instead of creating one")
	flags.StringVar(&f.Role, "role", permissions.DefaultControllerRole,
		"name of the controller's role, with which the names of its policies begin")
	flags.BoolVar(&f.Force, "force-conflicts", false, "take over fields that another tool has set")
	flags.BoolVar(&f.BesideAutoMode, "beside-auto-mode", false,
		"install the controller although EKS Auto Mode creates load balancers in the cluster")
	flags.BoolVar(&f.DryRun, "dry-run", false, "print what would change, and change nothing")
	flags.DurationVar(&f.Timeout, "timeout", enact.ReadyTimeout, "how long to wait until the controller is ready")
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	return cmd
}

func deleteControllerCommand(s *connection.Connection) *cobra.Command {
	f := &deploy.DeleteOptions{}
	cmd := &cobra.Command{
		Use:   "delete-alb-controller",
		Short: "Remove the AWS Load Balancer Controller that nexusctl installed, with its role",
		Long: "delete-alb-controller removes what nexusctl install-alb-controller created: the release, the definitions of which no objects are left, and\n" +
			"the role with its policies. It refuses to run while Ingresses, Services, Gateways or TargetGroupBindings need the controller: without it, they\n" +
			"could not be deleted, and their load balancers would stay in AWS. A controller that another tool installed stays.",
		Example: "  nexusctl delete-alb-controller --dry-run\n  nexusctl delete-alb-controller --yes",
		Args:    arguments(cobra.NoArgs),
		RunE: runChecked(s, f, func(ctx context.Context, s *connection.Connection, f *deploy.DeleteOptions) error {
			return albcontroller.Delete(ctx, s, f.DryRun, f.Timeout)
		}),
	}
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "really remove; without it, or --dry-run, the command is refused")
	cmd.Flags().BoolVar(&f.DryRun, "dry-run", false, "print what would be removed, and remove nothing")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", enact.ReadyTimeout, "how long to wait for objects to be deleted")
	return cmd
}
