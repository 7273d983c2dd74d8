// SPDX-License-Identifier: Apache-2.0

// Package kubeconfig writes the entries of EKS clusters into kubeconfigs, and prints the tokens that those entries request from nexusctl.
package kubeconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// Options holds the flags of kubeconfig.
type Options struct {
	Cluster, Alias, Output string
	KeepCurrent, DryRun    bool
}

// entry is the report of kubeconfig.
type entry struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Context is the name of the cluster for kubectl --context.
	Context string `json:"context"`
	// Cluster is the ARN of the cluster, and the name of its entry and of the user's.
	Cluster string `json:"cluster"`
	Server  string `json:"server"`
	File    string `json:"file"`
	// Changed is false when the file was up to date; with DryRun, whether it would be changed.
	Changed bool `json:"changed"`
	DryRun  bool `json:"dryRun"`
}

// Write writes the entry of an EKS cluster, and prints it.
func Write(ctx context.Context, s *connection.Connection, f *Options) error {
	access := s.Cluster.ToRawKubeConfigLoader().ConfigAccess()
	config, err := access.GetStartingConfig()
	if err != nil {
		return exit.Precondition(fmt.Errorf("reading the kubeconfig (--kubeconfig, KUBECONFIG): %w", err))
	}
	name := s.EKSCluster(f.Cluster)
	if name == "" {
		return exit.Usage("no cluster is named, and the kubeconfig's context is none of an EKS cluster: add --cluster-name NAME")
	}
	c, err := findCluster(ctx, s, name, regionOf(s, f, config))
	if err != nil {
		return err
	}
	before := config.DeepCopy()
	e := &entry{APIVersion: enact.APIVersion, Kind: "KubeconfigEntry", Cluster: c.ARN, Server: c.Endpoint, Context: cmp.Or(f.Alias, c.ARN),
		File: access.GetDefaultFilename(), DryRun: f.DryRun}
	if other := config.Contexts[e.Context]; other != nil && other.Cluster != c.ARN {
		return exit.Usage("--alias: the kubeconfig has a context %s already, of the cluster %s: choose another name", e.Context, other.Cluster)
	}
	e.enter(s, config, c, name, !f.KeepCurrent)
	e.Changed = !reflect.DeepEqual(before, config)
	if e.Changed && !f.DryRun {
		if err := clientcmd.ModifyConfig(access, *config, true); err != nil {
			return exit.Precondition(fmt.Errorf("writing the kubeconfig: %w", err))
		}
	}
	return console.PrintAs(s.Out, f.Output, e, e.Text)
}

// regionOf is the region to look in. Where neither flag nor environment names one, it is that of the cluster in the
// kubeconfig.
func regionOf(s *connection.Connection, f *Options, config *clientcmdapi.Config) string {
	if region := cmp.Or(s.Region, s.Getenv("AWS_REGION")); region != "" || f.Cluster != "" {
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
func findCluster(ctx context.Context, s *connection.Connection, name, region string) (install.Cluster, error) {
	o, err := s.OfflineOptions()
	if err != nil {
		return install.Cluster{}, err
	}
	session, err := s.Sessions().Open(ctx, awsclient.Identity{Key: "caller", Region: cmp.Or(region, o.AWS.Region)})
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
func (e *entry) enter(s *connection.Connection, config *clientcmdapi.Config, c install.Cluster, name string, makeCurrent bool) {
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
		user.Exec = tokenExec(s, c.ARN, name)
		config.AuthInfos[context.AuthInfo] = user
	}
	if user.Exec != nil && user.Exec.Command == tokenProgram {
		user.Exec = tokenExec(s, c.ARN, name)
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
