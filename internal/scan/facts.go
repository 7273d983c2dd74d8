// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// scanFacts reports the facts of the cluster that affect claims about security intents, as the operator reads them with the default
// settings.
func (x *scanner) scanFacts(ctx context.Context) error {
	defaults, err := options.Parse(nil, func(string) string { return "" })
	if err != nil {
		return err
	}
	found, err := clusterfacts.Reader{Live: x.client, DNSService: defaults.Intents.ClusterDNSService,
		DNSPorts: defaults.Intents.ClusterDNSPorts,
		AutoMode: x.autoMode}.Read(ctx)
	if err != nil {
		return err
	}
	x.add(check.Fact("the sort of nodes is known", sortOfNodes(found)))
	const dns = "the cluster's DNS is located"
	if found.DNS.Problem != "" {
		x.add(check.Warn(dns, found.DNS.Problem, "install CoreDNS, or set --cluster-dns-service of the operator"))
	} else {
		x.add(check.Fact(dns, placeOfDNS(found.DNS)))
	}
	x.scanRunning(found)
	return x.scanEnforcer(ctx, found)
}

// scanRunning reports the policy engines that have only their kinds in the cluster.
func (x *scanner) scanRunning(found clusterfacts.Cluster) {
	for _, e := range x.Engines() {
		why := found.NotRunning[e.Name()]
		if why == "" || slices.ContainsFunc(intent.VariantOf(e, x.serves).Requires(),
			func(k schema.GroupVersionKind) bool { return !x.serves(k) }) {
			continue
		}
		x.add(check.Warn(e.Name()+" runs, whose kinds are there", why, "do what the message says; until then no intent is Enforced by "+e.Name()))
	}
}

// scanEnforcer reports the enforcer of NetworkPolicies, and the behavior of nodes of Auto Mode before there are any.
func (x *scanner) scanEnforcer(ctx context.Context, found clusterfacts.Cluster) error {
	const title = "NetworkPolicies are enforced"
	if p := found.Enforcer.Problem; p != "" {
		x.add(check.Warn(title, p, "do what the message says; until then no intent is Enforced by a NetworkPolicy"))
		return nil
	}
	if h := found.Enforcer.HidesNodes; h != "" && (len(found.DNS.OnNodes) > 0 || found.Nodes.GiveCredentials()) {
		x.add(check.Warn(title, h, "do what the message says; until then policies close DNS or the EKS Pod Identity Agent on the nodes"))
		return nil
	}
	text := "by " + strings.Join(found.Enforcer.Names, ", ")
	for _, version := range []string{"v1", "v1beta1"} {
		classes := &unstructured.UnstructuredList{}
		classes.SetGroupVersionKind(schema.GroupVersionKind{Group: "eks.amazonaws.com", Version: version, Kind: "NodeClassList"})
		if err := x.client.List(ctx, classes); meta.IsNoMatchError(err) {
			continue
		} else if err != nil {
			return err
		}
		for _, c := range classes.Items {
			mode, _, _ := unstructured.NestedString(c.Object, "spec", "networkPolicy")
			if mode != "" {
				text += fmt.Sprintf("; NodeClass %s has networkPolicy %s", c.GetName(), mode)
			}
		}
		break
	}
	x.add(check.Fact(title, text))
	return nil
}

// sortOfNodes describes the nodes, the addresses of Services, and where pods get credentials of EKS Pod Identity.
func sortOfNodes(c clusterfacts.Cluster) string {
	n := c.Nodes
	text := fmt.Sprintf("%d nodes of EKS Auto Mode, %d others", len(n.Auto), len(n.Others))
	if n.Enabled {
		text += "; EKS Auto Mode is enabled and starts nodes as pods need them"
	}
	for i, f := range c.Families {
		text += map[bool]string{true: "; Services have ", false: " and "}[i == 0] + string(f)
	}
	if lacking := n.WithoutAgent(); n.GiveCredentials() && len(lacking) > 0 {
		return text + "; pods get no credentials of EKS Pod Identity on " + strings.Join(lacking, ", ")
	}
	return text + map[bool]string{true: "; pods get credentials of EKS Pod Identity",
		false: "; no ready EKS Pod Identity Agent"}[n.GiveCredentials()]
}

// placeOfDNS describes where the cluster's DNS answers.
func placeOfDNS(d clusterfacts.DNS) string {
	var parts []string
	if d.Namespace != "" {
		parts = append(parts, "pods of "+d.Source)
	}
	if len(d.Addresses) > 0 {
		parts = append(parts, addressList(d.Addresses))
	}
	return strings.Join(parts, ", and ")
}

func addressList(addresses []netip.Addr) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
	}
	return strings.Join(texts, ", ")
}
