// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// SettingsOf are the settings of an operator with these options, for compilations without a cluster.
func SettingsOf(o options.Options) capabilityfacts.Settings {
	s := capabilityfacts.SettingsOf(o, o.ClusterID, append(awsclient.Regions(), o.AWS.AdditionalRegions...))
	if s.EKSCluster == "" { // without a cluster, the operator there may know its name
		s.EKSCluster, s.EKSRegion = "EKS_CLUSTER_NAME", ""
	}
	return s
}
