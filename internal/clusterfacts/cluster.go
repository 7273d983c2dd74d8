// SPDX-License-Identifier: Apache-2.0

package clusterfacts

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster holds the facts about a cluster.
type Cluster struct {
	Nodes Nodes
	// Families are the IP families of Services, the primary one first: IPv4, IPv6 or both.
	Families []corev1.IPFamily
	DNS      DNS
	Enforcer Enforcer
	// NotRunning gives the reason, by the name of a policy engine, that none of its programs run. It lacks engines with a program that
	// runs, and engines with an unknown state.
	NotRunning map[string]string
}

// Reader reads the facts of a cluster.
type Reader struct {
	// Live reads the API server itself.
	Live client.Reader
	// DNSService is namespace/name of the Service of the cluster's DNS, and DNSPorts are its pods' ports; none are read
	// from the Service.
	DNSService string
	DNSPorts   []int
	// Enforcer is the name of the program that enforces NetworkPolicies; empty finds it out.
	Enforcer string
	// AutoMode asks EKS about Auto Mode; nil leaves it to the nodes.
	AutoMode AutoMode
	// Clock measures how long pods of network plugins have not been ready; nil gives them no time.
	Clock clock.PassiveClock
}

// Read reads all facts. A right that the reader lacks makes the facts that need it unknown, which the problems of DNS and
// Enforcer say; every other error is returned.
func (r Reader) Read(ctx context.Context) (Cluster, error) {
	var out Cluster
	var err error
	var denied error
	if out.Nodes, err = ReadNodes(ctx, r.Live, r.AutoMode); err != nil && !apierrors.IsForbidden(err) {
		return out, err
	}
	denied = err
	sets, err := r.daemonSets(ctx)
	if err != nil && !apierrors.IsForbidden(err) {
		return out, fmt.Errorf("listing DaemonSets: %w", err)
	}
	denied = errors.Join(denied, err)
	addresses, err := r.serviceAddresses(ctx)
	if err != nil {
		return out, err
	}
	for _, a := range addresses {
		family := corev1.IPv4Protocol
		if a.Is6() {
			family = corev1.IPv6Protocol
		}
		out.Families = append(out.Families, family)
	}
	if out.DNS, err = r.dns(ctx, out.Nodes, sets.network, addresses); err != nil {
		return out, err
	}
	if out.Enforcer, err = r.enforcer(ctx, out.Nodes, sets.network, denied); err != nil {
		return out, err
	}
	out.NotRunning, err = r.enginesNotRunning(ctx, out.Nodes, sets)
	return out, err
}

// IsIPv6 reports whether the pods of a cluster have IPv6 addresses first.
func IsIPv6(ctx context.Context, live client.Reader) (bool, error) {
	addresses, err := Reader{Live: live}.serviceAddresses(ctx)
	return len(addresses) > 0 && addresses[0].Is6(), err
}

// serviceAddresses are the cluster IPs of Service default/kubernetes, the first address of each network of Services.
func (r Reader) serviceAddresses(ctx context.Context) ([]netip.Addr, error) {
	s := &corev1.Service{}
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"},
		s); client.IgnoreNotFound(err) != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("reading Service default/kubernetes: %w", err)
	}
	return clusterIPs(s), nil
}

// clusterIPs are the addresses of a Service; none of one without.
func clusterIPs(s *corev1.Service) []netip.Addr {
	var out []netip.Addr
	for _, text := range append([]string{s.Spec.ClusterIP}, s.Spec.ClusterIPs...) {
		if a, err := netip.ParseAddr(text); err == nil && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// pageOfSets bounds how many DaemonSets are in memory at a time: tenants may create large ones.
const pageOfSets = 20

// daemonSets holds the DaemonSets of a cluster that its facts are read from.
type daemonSets struct {
	// network lists those in the namespaces of networkNamespaces, and kubeArmor those with the label of KubeArmor's agents in any.
	network, kubeArmor []appsv1.DaemonSet
	// listed says that they could be listed.
	listed bool
}

// daemonSets lists the DaemonSets that the facts of the cluster are read from.
func (r Reader) daemonSets(ctx context.Context) (daemonSets, error) {
	var out daemonSets
	for next := ""; ; {
		page := &appsv1.DaemonSetList{}
		if err := r.Live.List(ctx, page, client.Limit(pageOfSets), client.Continue(next)); err != nil {
			return daemonSets{}, err
		}
		for _, d := range page.Items {
			if isOfTheCluster(d.Namespace) {
				out.network = append(out.network, d)
			}
			if isKubeArmor(d) {
				out.kubeArmor = append(out.kubeArmor, d)
			}
		}
		if next = page.Continue; next == "" {
			out.listed = true
			return out, nil
		}
	}
}

// networkNamespaces are patterns of the namespaces of network plugins and NodeLocal DNSCache, by their documentation.
var networkNamespaces = []string{"kube-*", "calico-*", "tigera-*", "cilium", "cilium-*", "openshift-*", "ovn-kubernetes"}

// isOfTheCluster reports whether a DaemonSet of a namespace may be believed by its name: a user who may create DaemonSets in a
// namespace may call one node-local-dns, and name any address as that of the cluster's DNS.
func isOfTheCluster(namespace string) bool {
	return slices.ContainsFunc(networkNamespaces, func(pattern string) bool {
		ok, err := path.Match(pattern, namespace)
		return ok && err == nil
	})
}
