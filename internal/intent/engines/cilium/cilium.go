// SPDX-License-Identifier: Apache-2.0

// Package cilium makes CiliumNetworkPolicies from the security intents that need DNS names: intents that Kubernetes' own NetworkPolicies
// hold are left to these, which Cilium enforces too. A pod has the flows that any policy of either kind allows
// (https://docs.cilium.io/en/stable/network/kubernetes/policy/), so an object allows only the egress that intent.ReadNamesOutward leaves
// open.
package cilium

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const (
	name = "Cilium"
	// namespaceLabel holds the namespace of a pod among Cilium's labels.
	namespaceLabel = "k8s:io.kubernetes.pod.namespace"
	// credentialsPort is that of the EKS Pod Identity Agent.
	credentialsPort = "80"
	// maxPorts is the maximum number of ports in one rule of Cilium.
	maxPorts = 40
)

// New returns the engine.
func New() intent.Engine {
	return intent.NamesEngine{
		Engine: name, Kind: schema.GroupVersionKind{Group: "cilium.io", Version: "v2", Kind: "CiliumNetworkPolicy"},
		Others: "Cilium enforces the NetworkPolicies of intents; its own kind is for DNS names only",
		// An uninstall of Cilium leaves its kinds behind.
		Holds:   func(f intent.Facts) bool { return f.Enforcer.MayBe(name) },
		Missing: "something else enforces NetworkPolicies, and no pod of Cilium's DaemonSet is ready, without which its kinds hold nothing: install Cilium, or, if it runs by another name, set --network-policy-enforcer to " + name,
		Spec:    spec, Limit: limit,
	}
}

// limit returns the claim for a rule that Cilium does not hold completely, or nil. Nodes of EKS Auto Mode have their own network plugin.
func limit(r intent.Rule, _ intent.NamesOutward, f intent.Facts) *intent.Claim {
	if c := f.Enforcer.Limit(r); c != nil || f.AutoMode != intent.SomeNodes {
		return c
	}
	c := intent.Partly(r, intent.ReasonNodesNotCovered,
		"Cilium does not run on the nodes of EKS Auto Mode, and pods there are not restricted: have them run on other nodes")
	return &c
}

func spec(p intent.Policy, r intent.Rule, open intent.NamesOutward, f intent.Facts) (map[string]any, *intent.Claim) {
	var no intent.Claim
	switch key := ignoredLabel(p.Selector); {
	case key != "":
		no = intent.Not(r, intent.ReasonSelectorUnsupported,
			fmt.Sprintf("Cilium does not tell pods apart by label %s unless it is configured to: select them by another label", key))
		return nil, &no
	case len(open.Ports) > maxPorts:
		no = intent.Not(r, intent.ReasonInvalidParams, fmt.Sprintf("params.ports: Cilium takes at most %d", maxPorts))
		return nil, &no
	}
	out := map[string]any{"endpointSelector": p.Selector.Unstructured(), "egress": egress(open, f)}
	if r.Description != "" {
		out["description"] = r.Description
	}
	return out, nil
}

// egress lists the rules. Cilium learns the addresses of names from the answers of the cluster's DNS, which it reads where a rule
// has a part for DNS. Every name may be asked for: a refused question about a search domain ends the search in some
// resolvers (https://docs.cilium.io/en/stable/security/policy/layer3/#dns-based).
func egress(open intent.NamesOutward, f intent.Facts) []any {
	dns := f.DNS
	readDNS := map[string]any{"dns": []any{map[string]any{"matchPattern": "*"}}}
	var out []any
	if dns.Namespace != "" || len(dns.Networks) == 0 {
		out = append(out, map[string]any{
			"toEndpoints": []any{map[string]any{"matchLabels": dnsLabels(dns)}},
			"toPorts":     []any{map[string]any{"ports": ports("ANY", dnsPorts(dns)), "rules": readDNS}},
		})
	}
	if len(dns.Networks) > 0 {
		out = append(out, map[string]any{"toCIDR": networks(dns.Networks),
			"toPorts": []any{map[string]any{"ports": ports("ANY", []string{"53"}), "rules": readDNS}}})
	}
	if len(dns.OnNodes) > 0 {
		// Networks do not select addresses of nodes (cilium/cilium#16308). Pods of DNS may have that of another node.
		out = append(out, map[string]any{"toEntities": []any{"host", "remote-node"},
			"toPorts": []any{map[string]any{"ports": ports("ANY", dnsPorts(dns)), "rules": readDNS}}})
	}
	if len(open.Names) > 0 {
		out = append(out, map[string]any{"toFQDNs": fqdns(open.Names), "toPorts": []any{map[string]any{"ports": ports("TCP", open.Ports)}}})
	}
	if open.InCluster {
		anyNamespace := map[string]any{"key": namespaceLabel, "operator": "Exists"}
		out = append(out, map[string]any{"toEndpoints": []any{map[string]any{"matchExpressions": []any{anyNamespace}}}})
	}
	if open.Credentials && len(f.Credentials) > 0 {
		// The address of the agent, 169.254.170.23, is one of the node's, which networks do not select
		// (cilium/cilium#34387).
		out = append(out, map[string]any{"toEntities": []any{"host"},
			"toPorts": []any{map[string]any{"ports": ports("TCP", []string{credentialsPort})}}})
	}
	return out
}

func networks(prefixes []netip.Prefix) []any {
	out := make([]any, len(prefixes))
	for i, p := range prefixes {
		out[i] = p.String()
	}
	return out
}

func fqdns(names []string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		field := "matchName"
		if strings.HasPrefix(n, "*.") {
			field = "matchPattern"
		}
		out[i] = map[string]any{field: n}
	}
	return out
}

func ports(protocol string, numbers []string) []any {
	out := make([]any, len(numbers))
	for i, n := range numbers {
		out[i] = map[string]any{"port": n, "protocol": protocol}
	}
	return out
}

// dnsLabels select the pods of the cluster's DNS.
func dnsLabels(dns intent.ClusterDNS) map[string]any {
	labels := dns.Labels
	if dns.Namespace == "" {
		labels = map[string]string{"k8s-app": "kube-dns"}
	}
	out := map[string]any{namespaceLabel: cmp.Or(dns.Namespace, "kube-system")}
	for k, v := range labels {
		out["k8s:"+k] = v
	}
	return out
}

// dnsPorts are the ports of the DNS pods: Cilium judges a packet after the Service's address has become a pod's.
func dnsPorts(dns intent.ClusterDNS) []string {
	out := []string{"53"}
	for _, n := range dns.Ports {
		if port := strconv.Itoa(int(n)); !slices.Contains(out, port) {
			out = append(out, port)
		}
	}
	return out
}

// ignoredLabel returns a label of a selector that Cilium does not use for the identity of pods by default, or "".
// https://docs.cilium.io/en/stable/operations/performance/scalability/identity-relevant-labels/
func ignoredLabel(s intent.Selector) string {
	var keys []string
	for k := range s.Labels {
		keys = append(keys, k)
	}
	for _, e := range s.Expressions {
		keys = append(keys, e.Key)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if strings.Contains(k, "beta.kubernetes.io") ||
			slices.ContainsFunc(ignoredPrefixes(), func(p string) bool { return strings.HasPrefix(k, p) }) {
			return k
		}
	}
	return ""
}

func ignoredPrefixes() []string {
	return []string{
		"io.kubernetes", "kubernetes.io", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index",
		"batch.kubernetes.io/job-completion-index",
		"batch.kubernetes.io/controller-uid", "k8s.io", "pod-template-generation", "pod-template-hash", "controller-revision-hash", "annotation",
		"controller-uid", "etcd_node", "topology.kubernetes.io",
	}
}
