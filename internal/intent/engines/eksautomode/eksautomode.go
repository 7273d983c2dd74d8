// SPDX-License-Identifier: Apache-2.0

// Package eksautomode makes the ApplicationNetworkPolicies of EKS Auto Mode from the security intents that need DNS names. They are
// NetworkPolicies that may also name the other end by DNS name. A pod has the flows that any policy of either kind allows
// (https://docs.aws.amazon.com/eks/latest/userguide/auto-net-pol.html), so an object allows only the egress that intent.ReadNamesOutward
// leaves open. Every EKS cluster may serve the kind; only nodes of Auto Mode enforce it.
package eksautomode

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const (
	name            = "EKSAutoMode"
	dnsPort         = 53
	credentialsPort = 80
)

// New returns the engine.
func New() intent.Engine {
	return intent.NamesEngine{
		Engine: name, Kind: schema.GroupVersionKind{Group: "networking.k8s.aws", Version: "v1alpha1", Kind: "ApplicationNetworkPolicy"},
		Others:  "EKS Auto Mode enforces the NetworkPolicies of intents; its own kind is for DNS names only",
		Holds:   func(f intent.Facts) bool { return f.AutoMode != intent.NoNodes },
		Missing: "EKS Auto Mode runs none of the cluster's nodes, and no others enforce ApplicationNetworkPolicies",
		Spec:    spec, Limit: limit,
	}
}

func spec(p intent.Policy, _ intent.Rule, open intent.NamesOutward, f intent.Facts) (map[string]any, *intent.Claim) {
	return map[string]any{"podSelector": p.Selector.Unstructured(), "policyTypes": []any{"Egress"}, "egress": egress(open, f)}, nil
}

// limit returns the claim for a rule that nodes of Auto Mode do not hold completely, or nil.
func limit(r intent.Rule, open intent.NamesOutward, f intent.Facts) *intent.Claim {
	i := slices.IndexFunc(open.Names, func(n string) bool { return strings.HasPrefix(n, "*.") })
	if c := f.Enforcer.Limit(r); c != nil {
		return c
	}
	var c intent.Claim
	switch {
	case f.AutoMode == intent.SomeNodes:
		c = intent.Partly(r, intent.ReasonNodesNotCovered,
			"EKS Auto Mode runs some of the nodes only, and pods on the others are not restricted: have them run on its nodes, by node selector eks.amazonaws.com/compute-type: auto")
	case i >= 0:
		c = intent.Partly(r, intent.ReasonNotCovered,
			fmt.Sprintf("EKS Auto Mode takes the wildcard of %s for one or more labels, not for exactly one: name the hosts", open.Names[i]))
	default:
		return nil
	}
	return &c
}

// egress lists the rules. On nodes of Auto Mode no pod serves DNS: it answers at the address of the cluster's DNS.
func egress(open intent.NamesOutward, f intent.Facts) []any {
	dns := f.DNS
	to := networks(dns.Networks)
	if len(to) == 0 || dns.Namespace != "" {
		to = append(to, dnsPods(dns))
	}
	out := []any{rule(to, dnsPorts(dns))}
	if len(open.Names) > 0 {
		out = append(out, rule([]any{map[string]any{"domainNames": texts(open.Names)}}, numbered("TCP", open.Ports)))
	}
	if open.InCluster {
		out = append(out, map[string]any{"to": []any{map[string]any{"namespaceSelector": map[string]any{}}}})
	}
	if open.Credentials && len(f.Credentials) > 0 {
		out = append(out, rule(networks(f.Credentials), []any{port("TCP", credentialsPort)}))
	}
	return out
}

func rule(to, ports []any) map[string]any { return map[string]any{"to": to, "ports": ports} }

func port(protocol string, number int64) map[string]any {
	return map[string]any{"protocol": protocol, "port": number}
}

func networks(prefixes []netip.Prefix) []any {
	var out []any
	for _, p := range prefixes {
		out = append(out, map[string]any{"ipBlock": map[string]any{"cidr": p.String()}})
	}
	return out
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func numbered(protocol string, numbers []string) []any {
	var out []any
	for _, s := range numbers {
		if n, err := strconv.ParseUint(s, 10, 16); err == nil {
			out = append(out, port(protocol, int64(n)))
		}
	}
	return out
}

// dnsPods selects the pods of the cluster's DNS.
func dnsPods(dns intent.ClusterDNS) map[string]any {
	namespace, labels := dns.Namespace, dns.Labels
	if namespace == "" {
		namespace, labels = "kube-system", map[string]string{"k8s-app": "kube-dns"}
	}
	return map[string]any{
		"namespaceSelector": intent.Selector{Labels: map[string]string{"kubernetes.io/metadata.name": namespace}}.Unstructured(),
		"podSelector":       intent.Selector{Labels: labels}.Unstructured(),
	}
}

func dnsPorts(dns intent.ClusterDNS) []any {
	out := []any{port("UDP", dnsPort), port("TCP", dnsPort)}
	for _, n := range dns.Ports {
		if n != dnsPort {
			out = append(out, port("UDP", int64(n)), port("TCP", int64(n)))
		}
	}
	return out
}
