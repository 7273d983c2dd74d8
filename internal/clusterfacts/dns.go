// SPDX-License-Identifier: Apache-2.0

package clusterfacts

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DNS says where the cluster's DNS answers.
type DNS struct {
	// Namespace and Labels select the pods that answer; both are empty where no pods are known.
	Namespace string
	Labels    map[string]string
	// Ports lists the ports of the pods.
	Ports []int32
	// Addresses answer on port 53 without being addresses of pods that a NetworkPolicy can select: a resolver on the node, the
	// address of a Service that nodes answer themselves, or endpoints outside of the pod network. Sorted.
	Addresses []netip.Addr
	// OnNodes lists those of Addresses that nodes have: of NodeLocal DNSCache, and of pods that use the network of their node. Sorted.
	OnNodes []netip.Addr
	// Source says how this is known, for people.
	Source string
	// Problem says why DNS could not be located, or not on all nodes; empty where it was.
	Problem string
}

// nodeLocal are the usual names of DaemonSets of NodeLocal DNSCache, nodeLocalImage is a part of its image's name, and nodeLocalAddress
// is its usual address. https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/
var (
	nodeLocal        = []string{"node-local-dns", "nodelocaldns", "nodelocal-dns"}
	nodeLocalImage   = "k8s-dns-node-cache"
	nodeLocalAddress = netip.MustParseAddr("169.254.20.10")
)

// dns locates the cluster's DNS. Addresses are those of Service default/kubernetes.
func (r Reader) dns(ctx context.Context, nodes Nodes, sets []appsv1.DaemonSet, addresses []netip.Addr) (DNS, error) {
	namespace, name, _ := strings.Cut(r.DNSService, "/")
	out := DNS{Source: "Service " + r.DNSService}
	for _, p := range r.DNSPorts {
		out.Ports = append(out.Ports, int32(p))
	}
	s := &corev1.Service{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s)
	switch {
	case apierrors.IsNotFound(err):
		out.withoutService(r.DNSService, nodes, addresses)
	case err != nil:
		return out, fmt.Errorf("reading Service %s of the cluster's DNS: %w", r.DNSService, err)
	default:
		if err := r.behind(ctx, s, &out); err != nil {
			return out, err
		}
	}
	cached := out.besideNodeLocal(sets)
	out.Addresses = append(out.Addresses, out.OnNodes...)
	if cached || nodes.MayBeAuto() {
		// Such nodes answer at the Service's own address, which no pod takes the place of.
		out.Addresses = append(out.Addresses, clusterIPs(s)...)
	}
	out.Addresses, out.OnNodes = sortedAddresses(out.Addresses), sortedAddresses(out.OnNodes)
	return out, nil
}

func sortedAddresses(addresses []netip.Addr) []netip.Addr {
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses)
}

// withoutService derives the address of the cluster's DNS in EKS Auto Mode, where each node answers at the tenth address of the
// network of Services without a pod or a Service.
// https://docs.aws.amazon.com/eks/latest/userguide/auto-networking.html
func (d *DNS) withoutService(service string, nodes Nodes, first []netip.Addr) {
	d.Problem = fmt.Sprintf("the cluster's DNS cannot be located, because Service %s does not exist: set --cluster-dns-service, or name its addresses in params.dnsPeers", service)
	if !nodes.MayBeAuto() || len(first) == 0 {
		return
	}
	for _, a := range first {
		d.Addresses = append(d.Addresses, tenth(a))
	}
	d.Source, d.Problem = "the tenth address of the network of Services, at which nodes of EKS Auto Mode answer", ""
	if nodes.IsMixed() {
		d.Problem = fmt.Sprintf("DNS is known on nodes of EKS Auto Mode only, because Service %s does not exist: install CoreDNS for node %s, or set --cluster-dns-service", service, someOf(nodes.Others))
	}
}

// tenth is the address nine after the first one of a network.
func tenth(first netip.Addr) netip.Addr {
	for range 9 {
		first = first.Next()
	}
	return first
}

// behind reads the endpoints of a Service: its pods and their ports, and endpoints that no selector of pods selects.
func (r Reader) behind(ctx context.Context, s *corev1.Service, out *DNS) error {
	endpoints := &discoveryv1.EndpointSliceList{}
	err := r.Live.List(ctx, endpoints, client.InNamespace(s.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: s.Name})
	if err != nil && !apierrors.IsForbidden(err) {
		return fmt.Errorf("listing EndpointSlices of Service %s: %w", r.DNSService, err)
	}
	if len(s.Spec.Selector) == 0 {
		out.Addresses = append(clusterIPs(s), addressesOf(endpoints.Items)...)
		if len(addressesOf(endpoints.Items)) == 0 {
			out.Addresses, out.Problem = nil,
				fmt.Sprintf("the cluster's DNS cannot be located, because Service %s selects no pods and has no endpoints: set --cluster-dns-service, or name its addresses in params.dnsPeers", r.DNSService)
		}
		return nil
	}
	out.Namespace, out.Labels = s.Namespace, s.Spec.Selector
	if len(out.Ports) == 0 {
		out.readPorts(s, endpoints.Items)
	}
	return r.onHostNetwork(ctx, s, out)
}

// onHostNetwork adds the addresses of DNS pods that have their node's: network plugins do not select those as pods.
func (r Reader) onHostNetwork(ctx context.Context, s *corev1.Service, out *DNS) error {
	pods := &corev1.PodList{}
	err := r.Live.List(ctx, pods, client.InNamespace(s.Namespace), client.MatchingLabels(s.Spec.Selector))
	if err != nil && !apierrors.IsForbidden(err) {
		return fmt.Errorf("listing the pods of Service %s: %w", r.DNSService, err)
	}
	for _, p := range pods.Items {
		for _, ip := range p.Status.PodIPs {
			if a, err := netip.ParseAddr(ip.IP); err == nil && p.Spec.HostNetwork {
				out.OnNodes = append(out.OnNodes, a)
			}
		}
	}
	return nil
}

// readPorts reads the ports of the DNS pods from their Service, and those that it gives by name from its endpoints.
func (d *DNS) readPorts(s *corev1.Service, endpoints []discoveryv1.EndpointSlice) {
	for _, p := range s.Spec.Ports {
		if p.Port != 53 {
			continue
		}
		found := []int32{p.TargetPort.IntVal}
		if p.TargetPort.StrVal != "" {
			if found = portsNamed(endpoints, p.Name); len(found) == 0 {
				d.Problem = fmt.Sprintf("Service %s/%s of the cluster's DNS has the named target port %s and no endpoints: only port 53 of its pods is open; set --cluster-dns-ports", s.Namespace, s.Name, p.TargetPort.StrVal)
			}
		}
		for _, n := range found {
			if n != 0 && !slices.Contains(d.Ports, n) {
				d.Ports = append(d.Ports, n)
			}
		}
	}
	slices.Sort(d.Ports)
}

// portsNamed are the numbers that a port of a Service has at its endpoints.
func portsNamed(endpoints []discoveryv1.EndpointSlice, name string) []int32 {
	var out []int32
	for _, e := range endpoints {
		for _, p := range e.Ports {
			if p.Port != nil && p.Name != nil && *p.Name == name {
				out = append(out, *p.Port)
			}
		}
	}
	return out
}

func addressesOf(endpoints []discoveryv1.EndpointSlice) []netip.Addr {
	var out []netip.Addr
	for _, e := range endpoints {
		for _, p := range e.Endpoints {
			for _, text := range p.Addresses {
				if a, err := netip.ParseAddr(text); err == nil {
					out = append(out, a)
				}
			}
		}
	}
	return out
}

// besideNodeLocal adds the addresses that the DaemonSets of NodeLocal DNSCache listen on, and reports whether there is one. Where their
// pods have addresses of pods, as behind a CiliumLocalRedirectPolicy, these answer in place of the Service's, and no address stands for
// them.
func (d *DNS) besideNodeLocal(sets []appsv1.DaemonSet) (found bool) {
	for _, set := range sets {
		if !isNodeLocal(set) {
			continue
		}
		found = true
		addresses := nodeLocalAddresses(set)
		of := fmt.Sprintf("DaemonSet %s/%s caches DNS ", set.Namespace, set.Name)
		switch {
		case d.Problem != "":
		case !set.Spec.Template.Spec.HostNetwork:
			d.Problem = of + "in pods that do not have their node's network, and policies leave these closed: set hostNetwork: true, or name their addresses in params.dnsPeers"
		case len(addresses) == 0:
			d.Problem = of + "on addresses that its argument -localip does not tell, and policies leave these closed: write the addresses there, or name them in params.dnsPeers"
		}
		if set.Spec.Template.Spec.HostNetwork {
			d.OnNodes = append(d.OnNodes, addresses...)
		} else {
			d.Addresses = append(d.Addresses, addresses...)
		}
	}
	return found
}

func isNodeLocal(d appsv1.DaemonSet) bool {
	return slices.Contains(nodeLocal, d.Name) ||
		slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool { return strings.Contains(c.Image, nodeLocalImage) })
}

// nodeLocalAddresses returns the addresses that a NodeLocal DNSCache listens on: those of its argument, and none if one of them cannot be
// read, such as a variable of the environment.
func nodeLocalAddresses(d appsv1.DaemonSet) []netip.Addr {
	args := argumentsOf(d)
	for j, a := range args {
		flag, value, joined := strings.Cut(a, "=")
		if strings.TrimLeft(flag, "-") != "localip" {
			continue
		}
		if !joined && j+1 < len(args) {
			value = args[j+1]
		}
		var out []netip.Addr
		for _, text := range strings.Split(value, ",") {
			address, err := netip.ParseAddr(strings.TrimSpace(text))
			if err != nil {
				return nil
			}
			out = append(out, address)
		}
		return out
	}
	return []netip.Addr{nodeLocalAddress}
}

// argumentsOf are the commands and arguments of all containers of a DaemonSet.
func argumentsOf(d appsv1.DaemonSet) []string {
	var out []string
	for _, c := range d.Spec.Template.Spec.Containers {
		out = append(append(out, c.Command...), c.Args...)
	}
	return out
}

// someOf names the first few.
func someOf(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
