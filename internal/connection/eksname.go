// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
)

// EKSCluster is the name of the EKS cluster: that of a flag, of the environment variable EKS_CLUSTER_NAME, or of the kubeconfig. It is
// empty when nothing does, as outside EKS.
func (s *Connection) EKSCluster(flag string) string {
	if flag != "" {
		return flag
	}
	if name := s.Getenv("EKS_CLUSTER_NAME"); name != "" {
		return name
	}
	config, err := s.Cluster.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return "" // the caller that connects reports it
	}
	current := config.CurrentContext
	if s.Cluster.Context != nil && *s.Cluster.Context != "" {
		current = *s.Cluster.Context
	}
	return clusterNameIn(config, current)
}

// AutoModeOf returns a function that asks EKS about EKS Auto Mode in the cluster, with the caller's own credentials. It answers no where
// the name of the cluster is not known, and without credentials or the right to ask.
func (s *Connection) AutoModeOf(flag string) clusterfacts.AutoMode {
	o, err := s.OfflineOptions()
	if err != nil {
		return nil // the caller that needs the options reports it
	}
	return awssession.NewAutoMode(s.EKSCluster(flag), o.AWS.Region, s.Sessions(), s.Clock).IsEnabled
}

// clusterNameIn reads the name of an EKS cluster from a kubeconfig: from the arguments of the program that gets the
// tokens (aws eks get-token --cluster-name NAME, aws-iam-authenticator token -i NAME), or from the ARN that
// aws eks update-kubeconfig gives the cluster.
func clusterNameIn(config clientcmdapi.Config, current string) string {
	c := config.Contexts[current]
	if c == nil {
		return ""
	}
	if user := config.AuthInfos[c.AuthInfo]; user != nil && user.Exec != nil {
		for _, flag := range []string{"--cluster-name", "--cluster-id", "-i"} {
			if name := argumentOf(user.Exec.Args, flag); name != "" {
				return name
			}
		}
	}
	for _, name := range []string{c.Cluster, current} {
		if parsed, err := arn.Parse(name); err == nil && parsed.Service == "eks" {
			return strings.TrimPrefix(parsed.Resource, "cluster/")
		}
	}
	return ""
}

// argumentOf is the value of a flag in a command line.
func argumentOf(args []string, flag string) string {
	for _, a := range args {
		if value, ok := strings.CutPrefix(a, flag+"="); ok {
			return value
		}
	}
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}
