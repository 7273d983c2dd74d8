// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/deploy"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func deleteCommand(s *connection.Connection) *cobra.Command {
	f := &deploy.DeleteOptions{}
	cmd := &cobra.Command{
		Use:   "delete",
		Short: "Remove the operator; with --full, also what deploy created in AWS",
		Long: "delete removes the operator that nexusctl deploy installed: its Deployment and its rights. With --full it also removes the definitions, the\n" +
			"namespace, the role, the image repository and the OIDC provider, if deploy created them and nothing else needs them, and what\n" +
			"install-alb-controller and drift-events install created.\n" +
			"What existed before deploy stays. delete refuses to run while objects need the operator to be deleted, and names them:\n" +
			"--cascade=delete deletes these objects first, by their deletion policies, and --cascade=orphan leaves them, and what they\n" +
			"stand for, for the next installation.",
		Example: "  nexusctl delete --dry-run\n  nexusctl delete --yes\n  nexusctl delete --full --cascade=delete --yes --timeout 1h",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(s, f, deploy.Delete),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.Full, "full", false, "also remove the definitions, the namespace, and what deploy created in AWS")
	flags.StringVar(&f.Cascade, "cascade", "", "what happens to objects that need the operator: delete or orphan; default: refuse")
	flags.BoolVar(&f.Yes, "yes", false, "really remove; without it, or --dry-run, the command is refused")
	flags.BoolVar(&f.DryRun, "dry-run", false, "print what would be removed, and remove nothing")
	flags.DurationVar(&f.Timeout, "timeout", 30*time.Minute, "how long to wait for objects to be deleted")
	return cmd
}

func deployCommand(s *connection.Connection) *cobra.Command {
	f := &deploy.Options{}
	cmd := &cobra.Command{
		Use:   "deploy",
		Short: "Install or upgrade the operator, with its role and its image repository in AWS",
		Long: "deploy creates what the operator needs in AWS: the image repository, the IAM OIDC provider of the cluster, and the operator's role with\n" +
			"the least rights. Then it applies the namespace " + install.Namespace +
			", the definitions, the rights and the Deployment, and waits\n" +
			"until the operator is ready. In a cluster of EKS without a load balancer controller it installs that too, as nexusctl install-alb-controller\n" +
			"does. It prints the differences before each change. A second run finds nothing to change. What it created is recorded\n" +
			"in ConfigMap " + install.Namespace + "/" + install.LedgerName + ", so that nexusctl delete removes that and nothing else.\n" +
			"With --image and --role-arn it makes no call to AWS, and installs no load balancer controller.",
		Example: "  nexusctl deploy --dry-run\n  nexusctl deploy --name-prefix team- --operator-arg=--capability-namespaces=team-*\n  nexusctl deploy --image registry.example.com/nexus-operator:v1 --role-arn arn:aws:iam::123456789012:role/operator",
		Args:    arguments(cobra.NoArgs),
		RunE:    runChecked(s, f, deploy.Run),
	}
	addDeploySettings(f, cmd, s)
	flags := cmd.Flags()
	flags.BoolVar(&f.DryRun, "dry-run", false, "print what would change, and change nothing")
	flags.BoolVar(&f.Export, "export", false, "print the manifests, and change nothing")
	flags.DurationVar(&f.Timeout, "timeout", enact.ReadyTimeout, "how long to wait until the operator is ready")
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	return cmd
}

// addDeploySettings adds the flags for the parts of the installation.
func addDeploySettings(f *deploy.Options, cmd *cobra.Command, s *connection.Connection) {
	flags := cmd.Flags()
	flags.StringVar(&f.Image, "image", "", "container image of the operator; default: that of this version in the account's repository "+
		connection.DefaultRepository)
	flags.IntVar(&f.Replicas, "replicas", 2, "number of pods; one leads, the others stand by")
	flags.StringVar(&f.RoleARN, "role-arn", "", "ARN of a role to use as it is, instead of creating one")
	flags.StringVar(&f.Scope.Role, "role", "NexusAIOperatorRole", "name of the operator's role, with which the names of its policies begin")
	flags.StringVar(&f.Scope.NamePrefix, "name-prefix", "",
		"beginning of the names of all AWS resources that the operator may touch; default: every name")
	flags.StringVar(&f.Scope.RolePath, "role-path", "", "path of all roles that the operator may touch, such as /teams/")
	flags.StringVar(&f.Scope.Boundary, "permissions-boundary", "",
		"ARN of the permissions boundary without which the operator may give a role no permissions")
	flags.BoolVar(&f.Scope.Adopt, "adopt", false,
		"let the operator put its tags on resources that it did not create, for AWSProviders with adoptableKinds")
	flags.StringSliceVar(&f.Scope.AssumeRoles, "assume-roles", nil, "ARNs of the roles that AWSProviders name")
	flags.StringVar(&f.Cluster, "cluster-name", "",
		"EKS cluster, asked for its issuer where the API server names none that AWS can reach (EKS_CLUSTER_NAME; default: that of the kubeconfig)")
	flags.StringArrayVar(&s.OperatorArgs, "operator-arg", nil,
		"a flag that the operator is to run with, such as --operator-arg=--capability-namespaces=team-*; may be repeated")
	flags.BoolVar(&f.Force, "force-conflicts", false, "take over fields that another tool has set")
	flags.BoolVar(&f.SkipController, "skip-alb-controller", false, "install no AWS Load Balancer Controller, also where the cluster has none")
	addChartFlags(&f.Chart, flags, "alb-")
	flags.StringVar(&f.VPC, "vpc-id", "",
		"ID of the cluster's network, for the AWS Load Balancer Controller; default: what EKS says of the cluster")
}

func fixIRSACommand(s *connection.Connection) *cobra.Command {
	f := &deploy.IRSAOptions{}
	cmd := &cobra.Command{
		Use:   "fix-irsa",
		Short: "Make IAM accept the tokens of the cluster's ServiceAccounts",
		Long: "fix-irsa creates the IAM OIDC provider of the cluster's issuer where it is missing, and adds the audience " + kind.STSAudience +
			".\n" +
			"It repairs the trust policy of the role that the operator's ServiceAccount names: statements for the ServiceAccount whose\n" +
			"provider does not exist any more, as after the cluster was created again, get the present one. It prints the difference\n" +
			"before each change. Statements about other clusters stay. The roles of capabilities are kept by the operator itself.",
		Example: "  nexusctl fix-irsa --dry-run\n  nexusctl fix-irsa --service-account team-a/reports",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return deploy.FixIRSA(cmd.Context(), s, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Cluster, "cluster-name", "",
		"EKS cluster, asked for its issuer where the API server names none that AWS can reach (EKS_CLUSTER_NAME; default: that of the kubeconfig)")
	flags.StringSliceVar(&f.Accounts, "service-account", nil,
		"NAMESPACE/NAME of another ServiceAccount whose role is repaired; may be repeated")
	flags.BoolVar(&f.DryRun, "dry-run", false, "print what would change, and change nothing")
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	return cmd
}
