// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"context"
	"net/netip"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// Cluster holds the facts of the cluster that policies are translated in.
type Cluster struct {
	DNS         intent.ClusterDNS
	Credentials []netip.Prefix
	Enforcer    intent.Enforcer
	AppArmor    bool
	SELinux     intent.NodeShare
	NoAgents    intent.NodeShare
	AutoMode    intent.NodeShare
	NotRunning  map[string]string
	// others are policies of others that are no NetworkPolicies, in all namespaces.
	others []otherPolicy
}

// ReadCluster reads the facts of the cluster with an uncached reader.
func ReadCluster(ctx context.Context, live client.Reader, s Settings) (Cluster, error) {
	read, err := clusterfacts.Reader{Live: live, DNSService: s.DNSService, DNSPorts: s.DNSPorts, Enforcer: s.Enforcer, AutoMode: s.AutoMode,
		Clock: s.Clock}.Read(ctx)
	if err != nil {
		return Cluster{}, err
	}
	d := read.DNS
	out := Cluster{
		DNS: intent.ClusterDNS{Namespace: d.Namespace, Labels: d.Labels, Ports: d.Ports, Source: d.Source, Problem: d.Problem},
		Enforcer: intent.Enforcer{Names: read.Enforcer.Names, Problem: read.Enforcer.Problem, Off: read.Enforcer.Off,
			HidesNodes: read.Enforcer.HidesNodes},
		AppArmor: read.Nodes.AppArmor, NotRunning: read.NotRunning,
	}
	out.DNS.Networks, out.DNS.OnNodes = singleAddresses(d.Addresses), singleAddresses(d.OnNodes)
	switch {
	case read.Nodes.IsAuto():
		out.AutoMode = intent.AllNodes
	case read.Nodes.IsMixed():
		out.AutoMode = intent.SomeNodes
	}
	out.SELinux = shareOf(len(read.Nodes.SELinux), read.Nodes)
	out.NoAgents = shareOf(len(read.Nodes.Windows)+len(read.Nodes.Fargate), read.Nodes)
	if read.Nodes.GiveCredentials() || read.Nodes.MayBeAuto() {
		out.Credentials = intent.PodIdentityNetworks()
	}
	out.others, err = readOtherPolicies(ctx, live)
	return out, err
}

// shareOf returns which share of the nodes a number of them is.
func shareOf(n int, nodes clusterfacts.Nodes) intent.NodeShare {
	switch n {
	case 0:
		return intent.NoNodes
	case nodes.All():
		return intent.AllNodes
	default:
		return intent.SomeNodes
	}
}

// singleAddresses returns a network for each address.
func singleAddresses(addresses []netip.Addr) []netip.Prefix {
	var out []netip.Prefix
	for _, a := range addresses {
		out = append(out, netip.PrefixFrom(a, a.BitLen()))
	}
	return out
}

// AddTo adds the facts of the cluster to those of a policy in a namespace. The facts already have the labels of the namespace.
func (c Cluster) AddTo(f *intent.Facts, namespace string) {
	f.DNS, f.Credentials, f.Enforcer, f.AppArmor, f.SELinux, f.NoAgents, f.AutoMode = c.DNS, c.Credentials, c.Enforcer, c.AppArmor, c.SELinux,
		c.NoAgents, c.AutoMode
	f.NotRunning = c.NotRunning
	f.OtherPolicies = nil
	for _, o := range c.others {
		if o.selects(namespace, f.NamespaceLabels) {
			f.OtherPolicies = append(f.OtherPolicies, o.OtherPolicy)
		}
	}
}
