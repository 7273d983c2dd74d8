// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// WayIn describes how a load balancer of AWS, which calls pods in plain text and from its own addresses, reaches them.
type WayIn struct {
	// IPv6 says that the pods have IPv6 addresses.
	IPv6 bool
	// Mesh says that the pods are in Istio's mesh.
	Mesh bool
	// Ports are the ports of the containers that the load balancer calls.
	Ports []string
}

// ClosedWayIn says how an intent closes pods to load balancers.
type ClosedWayIn struct {
	// To completes "the intent lets ... call the pods".
	To string
	// Remedy opens the way.
	Remedy string
}

// ClosesWayIn says how a SecurityIntent closes the pods that it is bound to for a load balancer of AWS; nil where the way is open. An
// intent with invalid parameters closes nothing, because no engine enforces it.
func ClosesWayIn(i *v1alpha1.SecurityIntent, way WayIn) *ClosedWayIn {
	if i == nil {
		return nil
	}
	r := ruleOf(i)
	e, _ := Lookup(r.ID)
	if r.Audit() || e.Check(r.Params) != "" {
		return nil
	}
	switch e.ID {
	case segmentation:
		if len(r.Params["fromNamespaces"])+len(r.Params["fromServiceAccounts"]) == 0 {
			return nil
		}
		return &ClosedWayIn{To: "only pods", Remedy: "set ingress.gateway to a Gateway whose proxies are pods in one of its fromNamespaces"}
	case "ensureTLS":
		return way.closedByTLS(r)
	case "denyExternalNetworkAccess":
		// The networks of a VPC are private ones with IPv4, and hardly ever with IPv6.
		if !way.IPv6 || slices.ContainsFunc(prefixesOf(r.Params["allowCIDRs"]), isIPv6) {
			return nil
		}
		return &ClosedWayIn{To: "no public IPv6 address", Remedy: "add the IPv6 network of the VPC to its parameter allowCIDRs"}
	}
	return nil
}

// closedByTLS says how a rule about mutual TLS closes the way: nothing outside a mesh enforces it.
func (w WayIn) closedByTLS(r Rule) *ClosedWayIn {
	strict := r.Param("mode", "strict") == "strict" || r.Param("requireIdentity", "false") == "true"
	closed := slices.DeleteFunc(slices.Clone(w.Ports), func(p string) bool { return slices.Contains(r.Params["exceptPorts"], p) })
	if !w.Mesh || !strict || len(closed) == 0 {
		return nil
	}
	return &ClosedWayIn{To: "only callers with mutual TLS of the mesh",
		Remedy: "add " + strings.Join(closed, " and ") + " to its parameter exceptPorts"}
}

// segmentation is the intent that names the namespaces and ServiceAccounts of the pods that may call.
const segmentation = "networkSegmentation"

func isIPv6(p netip.Prefix) bool { return p.Addr().Is6() }
