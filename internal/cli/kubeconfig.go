// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// kubeconfigFlags holds the flags of kubeconfig.
type kubeconfigFlags struct {
	cluster, alias, output string
	keepCurrent, dryRun    bool
}

// entry is the report of kubeconfig.
type entry struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Context is the name by which kubectl --context finds the cluster.
	Context string `json:"context"`
	// Cluster is the ARN of the cluster, and the name of its entry and of the user's.
	Cluster string `json:"cluster"`
	Server  string `json:"server"`
	File    string `json:"file"`
	// Changed is false when the file was up to date; with DryRun, whether it would be changed.
	Changed bool `json:"changed"`
	DryRun  bool `json:"dryRun"`
}

func (s *shared) kubeconfigCommand() *cobra.Command {
	f := &kubeconfigFlags{}
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Write the entry of an EKS cluster into the kubeconfig, or refresh it",
		Long: "kubeconfig asks EKS for the endpoint and the certificate authority of a cluster, and writes them into the kubeconfig with a user\n" +
			"whose tokens come from nexusctl token. A user that is there and gets its tokens from another program stays as it is,\n" +
			"and so do the namespace of a context and every other entry.",
		Example: "  nexusctl kubeconfig --cluster-name prod --region eu-west-1\n  nexusctl kubeconfig --dry-run",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.kubeconfig(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.cluster, "cluster-name", "", "EKS cluster (EKS_CLUSTER_NAME; default: that of the kubeconfig's context)")
	flags.StringVar(&f.alias, "alias", "", "name of the context; default: the ARN of the cluster")
	flags.BoolVar(&f.keepCurrent, "keep-current", false, "do not make the context the current one")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be written, and write nothing")
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

func (s *shared) kubeconfig(ctx context.Context, f *kubeconfigFlags) error {
	access := s.Cluster.ToRawKubeConfigLoader().ConfigAccess()
	config, err := access.GetStartingConfig()
	if err != nil {
		return exit.Precondition(fmt.Errorf("reading the kubeconfig (--kubeconfig, KUBECONFIG): %w", err))
	}
	name := s.EKSCluster(f.cluster)
	if name == "" {
		return exit.Usage("no cluster is named, and the kubeconfig's context is none of an EKS cluster: add --cluster-name NAME")
	}
	c, err := s.findCluster(ctx, name, s.regionOf(f, config))
	if err != nil {
		return err
	}
	before := config.DeepCopy()
	e := &entry{APIVersion: enact.APIVersion, Kind: "KubeconfigEntry", Cluster: c.ARN, Server: c.Endpoint, Context: cmp.Or(f.alias, c.ARN),
		File: access.GetDefaultFilename(), DryRun: f.dryRun}
	if other := config.Contexts[e.Context]; other != nil && other.Cluster != c.ARN {
		return exit.Usage("--alias: the kubeconfig has a context %s already, of the cluster %s: choose another name", e.Context, other.Cluster)
	}
	s.enter(config, e, c, name, !f.keepCurrent)
	e.Changed = !reflect.DeepEqual(before, config)
	if e.Changed && !f.dryRun {
		if err := clientcmd.ModifyConfig(access, *config, true); err != nil {
			return exit.Precondition(fmt.Errorf("writing the kubeconfig: %w", err))
		}
	}
	return console.PrintAs(s.Out, f.output, e, e.Text)
}

// regionOf is the region to look in. Where neither flag nor environment names one, it is that of the cluster in the
// kubeconfig.
func (s *shared) regionOf(f *kubeconfigFlags, config *clientcmdapi.Config) string {
	if region := cmp.Or(s.Region, s.Getenv("AWS_REGION")); region != "" || f.cluster != "" {
		return region
	}
	current := config.CurrentContext
	if s.Cluster.Context != nil && *s.Cluster.Context != "" {
		current = *s.Cluster.Context
	}
	if c := config.Contexts[current]; c != nil {
		if parsed, err := arn.Parse(c.Cluster); err == nil {
			return parsed.Region
		}
	}
	return ""
}

// findCluster asks EKS with the caller's own credentials.
func (s *shared) findCluster(ctx context.Context, name, region string) (install.Cluster, error) {
	o, err := s.OfflineOptions()
	if err != nil {
		return install.Cluster{}, err
	}
	session, err := s.Sessions().Open(ctx, awsclient.Identity{Key: "caller", Region: cmp.Or(region, o.Region)})
	if err != nil {
		return install.Cluster{}, exit.Precondition(err)
	}
	c, err := install.FindCluster(ctx, session, name)
	if none, ok := errors.AsType[*install.NoClusterError](err); ok {
		return c, exit.Precondition(fmt.Errorf("%w: correct --cluster-name (EKS_CLUSTER_NAME) or --region (AWS_REGION)", none))
	}
	if err != nil {
		return c, exit.DeniedFirst(err)
	}
	return c, nil
}

// enter puts a cluster into a kubeconfig. Of an entry that is there only the cluster's address changes.
func (s *shared) enter(config *clientcmdapi.Config, e *entry, c install.Cluster, name string, makeCurrent bool) {
	cluster := config.Clusters[c.ARN]
	if cluster == nil {
		cluster = clientcmdapi.NewCluster()
		config.Clusters[c.ARN] = cluster
	}
	cluster.Server, cluster.CertificateAuthority, cluster.CertificateAuthorityData = c.Endpoint, "", c.CA
	context := config.Contexts[e.Context]
	if context == nil {
		context = clientcmdapi.NewContext()
		config.Contexts[e.Context] = context
	}
	context.Cluster, context.AuthInfo = c.ARN, cmp.Or(context.AuthInfo, c.ARN)
	user := config.AuthInfos[context.AuthInfo]
	if user == nil {
		user = clientcmdapi.NewAuthInfo()
		user.Exec = s.tokenExec(c.ARN, name)
		config.AuthInfos[context.AuthInfo] = user
	}
	if user.Exec != nil && user.Exec.Command == tokenProgram {
		user.Exec = s.tokenExec(c.ARN, name)
	}
	if makeCurrent {
		config.CurrentContext = e.Context
	}
}

// Text describes the entry for people.
func (e *entry) Text() string {
	switch {
	case !e.Changed:
		return fmt.Sprintf("The kubeconfig is up to date: context %s is the cluster at %s.\n", e.Context, e.Server)
	case e.DryRun:
		return fmt.Sprintf("Would write context %s for the cluster at %s into %s.\n", e.Context, e.Server, e.File)
	default:
		return fmt.Sprintf("Wrote context %s for the cluster at %s into %s.\n", e.Context, e.Server, e.File)
	}
}
