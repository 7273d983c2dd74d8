// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// Labels that every cluster has: the API server puts the first on namespaces, kubeadm and the managed
// services the second on the pods of the cluster's DNS, CoreDNS among them.
const (
	namespaceName = corev1.LabelMetadataName
	dnsLabel      = "k8s-app"
	dnsApp        = "kube-dns"
)

// demand is a rule that can be enforced: its pods, and the flows that it allows them.
type demand struct {
	policy   string
	rule     intent.Rule
	selector metav1.LabelSelector
	// pods are the selector's; nil when it contradicts itself.
	pods            podSet
	ingress, egress *flows
	// note is added to a claim that holds.
	note string
	// unlocated says why the demand may close the cluster's DNS although it keeps it open; empty if it does not.
	unlocated string
	// hidden says which addresses of nodes the demand keeps open and the network plugin closes, or nothing.
	hidden string
	// short names the part of the intent that NetworkPolicies cannot hold, or "".
	short string
}

// in returns the flows that the demand allows in a direction, or nil when it does not restrict it.
func (d demand) in(direction intent.Direction) *flows {
	if direction == intent.Ingress {
		return d.ingress
	}
	return d.egress
}

func (d demand) String() string { return d.policy + "/" + d.rule.ID }

// readDemand reads a rule: it is a demand, or the claim says why not.
func readDemand(p intent.Policy, r intent.Rule, f intent.Facts) (demand, *intent.Claim) {
	d, reason, message := demandOf(p, r, f)
	switch {
	case reason != "":
	case p.Namespace == "":
		reason, message = intent.ReasonElsewhere, "NetworkPolicies live in namespaces: the binding's policies there hold it"
	case p.Namespace == f.OperatorNamespace:
		reason, message = intent.ReasonNotCovered, "the operator's own namespace is never touched"
	}
	if reason != "" {
		c := intent.Not(r, reason, message)
		return demand{}, &c
	}
	if inAmbientMesh(f.NamespaceLabels) {
		d.throughMesh()
	}
	d.policy, d.rule = p.Name, r
	d.selector = metav1.LabelSelector{MatchLabels: p.Selector.Labels, MatchExpressions: p.Selector.Expressions}
	if _, err := metav1.LabelSelectorAsSelector(&d.selector); err != nil {
		c := intent.Not(r, intent.ReasonSelectorUnsupported, "not a selector of pods: "+err.Error())
		return demand{}, &c
	}
	d.pods, _, _ = podSetOf(&d.selector)
	return d, nil
}

// demandOf returns the flows that a rule allows, or why NetworkPolicies cannot hold it.
func demandOf(p intent.Policy, r intent.Rule, f intent.Facts) (d demand, reason, message string) {
	entry, known := intent.Lookup(r.ID)
	reader := readers()[entry.ID]
	switch {
	case !known:
		return d, intent.ReasonUnknownIntent, fmt.Sprintf("%q is not the id of an intent", r.ID)
	case len(p.NodeSelector) > 0:
		return d, intent.ReasonNodeSelectorUnsupported, "a NetworkPolicy selects pods, not nodes: remove selector.nodeSelector"
	case reader == nil:
		return d, intent.ReasonNotCovered, unsupportedReasons()[entry.ID]
	case r.Audit():
		return d, intent.ReasonAuditUnsupported, "a NetworkPolicy can only block: use action Block, or an engine that can watch"
	}
	d, problem := reader(r, f)
	if checked := entry.Check(r.Params); checked != "" {
		problem = checked
	}
	if problem != "" {
		return d, intent.ReasonInvalidParams, problem
	}
	return d, "", ""
}

// readers holds, for each intent that NetworkPolicies can hold, the function that turns its parameters into flows. The string is the
// problem of the parameters.
func readers() map[string]func(intent.Rule, intent.Facts) (demand, string) {
	return map[string]func(intent.Rule, intent.Facts) (demand, string){
		"dnsManipulation":           onlyClusterDNS,
		"denyExternalNetworkAccess": onlyInternal,
		"networkSegmentation":       onlyFrom,
	}
}

// unsupportedReasons names, for each other intent, the kind of engine that can hold it.
func unsupportedReasons() map[string]string {
	const node = "a NetworkPolicy sees no processes and no files: an engine on the nodes, such as KubeArmor, does"
	const mesh = "a NetworkPolicy sees addresses and ports only: a service mesh, such as Istio, sees more"
	return map[string]string{
		"swDeploymentTools":                     node,
		"pkgMgrs":                               node,
		"unAuthorizedSaTokenAccess":             node,
		"virtualPatch":                          node,
		"preventExecutionFromTempOrLogsFolders": node,
		"escapeToHost":                          "a NetworkPolicy sees no privileges: admission, such as Kyverno, and an engine on the nodes, such as KubeArmor, do",
		"cocoWorkload":                          "a NetworkPolicy does not change pods: admission, such as Kyverno, does",
		"ensureTLS":                             mesh,
		"apiSegmentation":                       mesh,
		intent.EgressToNames:                    "a NetworkPolicy knows addresses, not names: the policies of a network plugin, such as Cilium or that of EKS Auto Mode, know them",
		"assessTLS":                             "a NetworkPolicy looks at nothing: an assessor, such as TLSAssessor, does",
	}
}

// onlyClusterDNS is dnsManipulation.
func onlyClusterDNS(r intent.Rule, facts intent.Facts) (demand, string) {
	networks, problem := networksOf(r.Params["dnsPeers"])
	aws, wrong := networksOf(r.Params["awsCIDRs"])
	f, agent := clusterDNS(facts.DNS, networks...), facts.Credentials
	if r.Param("otherEgress", "deny") == "allow" {
		var rest ports
		for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP} {
			rest = append(rest, portRange{protocol, 1, 52}, portRange{protocol, 54, 65535})
		}
		f, agent = append(f, allowance{peers: []peer{{kind: everybody}}, ports: rest}), nil
	} else {
		f = slices.Concat(f, https(aws), credentials(agent))
	}
	d := demand{egress: &f, note: dnsNote(facts.DNS), hidden: hiddenNodes(facts, agent)}
	if len(networks) == 0 {
		d.unlocated = facts.DNS.Problem
	}
	return d, cmp.Or(problem, wrong)
}

// https are the flows to networks on the port of AWS.
func https(to []peer) flows {
	if len(to) == 0 {
		return nil
	}
	return flows{{peers: to, ports: ports{{corev1.ProtocolTCP, 443, 443}}}}
}

// dnsPods are the pods of the cluster's DNS: the known ones, or the usual ones if none is known.
func dnsPods(where intent.ClusterDNS) []peer {
	switch {
	case where.Namespace != "":
		pods, _, _ := podSetOf(&metav1.LabelSelector{MatchLabels: where.Labels})
		return []peer{{kind: podPeer, namespaces: namespacesNamed(where.Namespace), pods: pods}}
	case len(where.Networks) > 0:
		return nil
	}
	return []peer{{kind: podPeer, namespaces: namespacesNamed("kube-system"), pods: podsWith(dnsLabel, values{listed: []string{dnsApp}})}}
}

// clusterDNS are the flows to the cluster's DNS: to its pods, on their ports, and to other resolvers on port 53, including those in the
// additional networks.
func clusterDNS(where intent.ClusterDNS, more ...peer) flows {
	pods := dnsPods(where)
	f := flows{{peers: slices.Concat(pods, networkPeers(where.Networks), more), ports: dnsPorts()}}
	if ports := podPorts(where); ports != nil && len(pods) > 0 {
		f = append(f, allowance{peers: pods, ports: ports})
	}
	return f
}

// credentials are the flows to the agent of EKS Pod Identity on the node.
func credentials(at []netip.Prefix) flows {
	if len(at) == 0 {
		return nil
	}
	return flows{{peers: networkPeers(at), ports: ports{{corev1.ProtocolTCP, 80, 80}}}}
}

// hiddenNodes names the services at addresses of nodes that stay closed, because the network plugin does not match addresses of nodes with
// networks; empty for none. agent holds the networks of the EKS Pod Identity Agent, if the demand opens it by networks.
func hiddenNodes(f intent.Facts, agent []netip.Prefix) string {
	var closed []string
	if len(f.DNS.OnNodes) > 0 {
		closed = append(closed, "the cluster's DNS at "+networkNames(f.DNS.OnNodes))
	}
	if len(agent) > 0 {
		closed = append(closed, "the EKS Pod Identity Agent, which gives pods their credentials")
	}
	if f.Enforcer.HidesNodes == "" || len(closed) == 0 {
		return ""
	}
	return "closed as well: " + strings.Join(closed, ", and ") + "; " + f.Enforcer.HidesNodes
}

func networkPeers(networks []netip.Prefix) []peer {
	var out []peer
	for _, n := range networks {
		out = append(out, peer{kind: networkPeer, network: n})
	}
	return out
}

// podPorts are the ports of the DNS pods beside 53, or nil.
func podPorts(where intent.ClusterDNS) ports {
	var out ports
	for _, n := range where.Ports {
		if n != 53 {
			out = append(out, portRange{corev1.ProtocolUDP, n, n}, portRange{corev1.ProtocolTCP, n, n})
		}
	}
	return out
}

// dnsNote says where the cluster's DNS is when that is not where it usually is, or not known.
func dnsNote(where intent.ClusterDNS) string {
	switch {
	case where.Namespace == "" && len(where.Networks) > 0:
		return fmt.Sprintf("DNS is open at %s: %s", networkNames(where.Networks), where.Source)
	case podPorts(where) != nil:
		return fmt.Sprintf("%s: its pods answer on port %d, which is open beside 53", where.Source, where.Ports)
	}
	return ""
}

func networkNames(networks []netip.Prefix) string {
	names := make([]string, len(networks))
	for i, n := range networks {
		names[i] = n.String()
	}
	return joinNames(names)
}

func dnsPorts() ports {
	return ports{{corev1.ProtocolUDP, 53, 53}, {corev1.ProtocolTCP, 53, 53}}
}

// namespacesNamed are the namespaces of these names.
func namespacesNamed(names ...string) podSet {
	return podsWith(namespaceName, values{listed: slices.Compact(slices.Sorted(slices.Values(names)))})
}

// onlyInternal is denyExternalNetworkAccess. "All pods" include those of the cluster's DNS; the object has a rule for them all the same,
// because people look for it first.
func onlyInternal(r intent.Rule, facts intent.Facts) (demand, string) {
	networks, problem := networksOf(slices.Concat(
		[]string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"}, r.Params["allowCIDRs"]))
	outward, wrong := networksOf(r.Params["allowEgressCIDRs"])
	aws, wrongAWS := networksOf(r.Params["awsCIDRs"])
	inside := allowance{peers: append([]peer{{kind: podPeer}}, networks...)}
	to := append(flows{inside}, clusterDNS(facts.DNS)...)
	if len(outward) > 0 {
		to = append(to, allowance{peers: outward})
	}
	to = slices.Concat(to, https(aws), credentials(facts.Credentials))
	return demand{ingress: &flows{inside}, egress: &to, unlocated: facts.DNS.Problem, hidden: hiddenNodes(facts, facts.Credentials)},
		cmp.Or(problem, wrong, wrongAWS)
}

// networksOf reads networks, in order and each once.
func networksOf(cidrs []string) ([]peer, string) {
	var out []peer
	for _, c := range cidrs {
		network, err := netip.ParsePrefix(c)
		if err != nil || network.Addr().Is4In6() {
			return nil, fmt.Sprintf("%q is not a network such as 169.254.20.10/32", c)
		}
		if !slices.ContainsFunc(out, func(p peer) bool { return p.network == network }) {
			out = append(out, peer{kind: networkPeer, network: network})
		}
	}
	return out, ""
}

// onlyFrom is networkSegmentation. Where namespaces and accounts are given, either may talk.
func onlyFrom(r intent.Rule, _ intent.Facts) (demand, string) {
	whole := r.Params["fromNamespaces"]
	var partly []string
	for _, account := range r.Params["fromServiceAccounts"] {
		if namespace, _, _ := strings.Cut(account, "/"); !slices.Contains(whole, namespace) {
			partly = append(partly, namespace)
		}
	}
	if len(whole)+len(partly) == 0 {
		return demand{}, "params.fromNamespaces or params.fromServiceAccounts must say who may talk to the pods"
	}
	from := namespacesNamed(slices.Concat(whole, partly)...)
	d := demand{ingress: &flows{{peers: []peer{{kind: podPeer, namespaces: from}}, ports: portsNumbered(r.Params["ports"])}}}
	if len(partly) > 0 {
		d.short = fmt.Sprintf("a NetworkPolicy cannot tell ServiceAccounts apart: every pod of %s may talk to the pods; a service mesh, such as Istio, can tell them", joinNames(namespacesNamed(partly...).at(namespaceName).listed))
	}
	return d, ""
}

// portsNumbered are ports of both protocols that a Service commonly has: the parameter names none.
func portsNumbered(list []string) ports {
	var numbers []int32
	for _, p := range list {
		if n, err := strconv.ParseUint(p, 10, 16); err == nil {
			numbers = append(numbers, int32(n))
		}
	}
	var out ports
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		out = append(out, portRange{corev1.ProtocolTCP, n, n}, portRange{corev1.ProtocolUDP, n, n})
	}
	return out
}
