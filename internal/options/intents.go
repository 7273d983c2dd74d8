// SPDX-License-Identifier: Apache-2.0

package options

import "github.com/spf13/pflag"

// Intents are the settings of security intents.
type Intents struct {
	// Adapters are the policy engines that security intents are translated for, in lower case; AllAdapters
	// stands for every one, none leaves the core alone.
	Adapters []string
	// ClusterDNSService is namespace/name of the Service of the cluster's DNS. Intents keep its pods and ports open. ClusterDNSPorts are the
	// pods' ports where the Service does not define them.
	ClusterDNSService string
	ClusterDNSPorts   []int
	// NetworkPolicyEnforcer is the name of the enforcer of NetworkPolicies in the cluster; empty finds the common ones.
	NetworkPolicyEnforcer string
	// VirtualPatches is namespace/name of the ConfigMap with the catalog of virtual patches; empty is none.
	VirtualPatches string
	// TLSAssessorImage is the container image that assesses TLS for intent assessTLS; empty is none.
	TLSAssessorImage string
	// MeshRootNamespace and MeshTrustDomain are Istio's.
	MeshRootNamespace, MeshTrustDomain string
}

func addIntentFlags(fs *pflag.FlagSet, i *Intents) {
	fs.StringSliceVar(&i.Adapters, "adapters", []string{AllAdapters},
		"policy engines to use: all, or a list of networkpolicy, kubearmor, kyverno, istio, cilium, eksautomode and tlsassessor; objects of other engines are removed")
	fs.StringVar(&i.ClusterDNSService, "cluster-dns-service", "kube-system/kube-dns",
		"namespace/name of the Service of the cluster DNS; security intents always allow traffic to its pods")
	fs.IntSliceVar(&i.ClusterDNSPorts, "cluster-dns-ports", nil,
		"ports on which the pods of the cluster DNS listen; default: the target ports of the Service")
	fs.StringVar(&i.NetworkPolicyEnforcer, "network-policy-enforcer", "",
		"name of what enforces NetworkPolicies in the cluster; default: found by the DaemonSets of the common network plugins and the settings of EKS")
	fs.StringVar(&i.VirtualPatches, "virtual-patches", "",
		"namespace/name of the ConfigMap with the catalog of virtual patches; without it, the intent virtualPatch is not enforced")
	fs.StringVar(&i.TLSAssessorImage, "tls-assessor-image", "",
		"container image that runs TLS assessments for the intent assessTLS; without it, that intent is not enforced")
	fs.StringVar(&i.MeshRootNamespace, "mesh-root-namespace", "istio-system",
		"root namespace of Istio, in which the operator creates no policies")
	fs.StringVar(&i.MeshTrustDomain, "mesh-trust-domain", "cluster.local",
		"trust domain of Istio, used in principals of AuthorizationPolicies")
}
