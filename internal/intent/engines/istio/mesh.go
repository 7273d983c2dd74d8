// SPDX-License-Identifier: Apache-2.0

package istio

// mesh says how the pods of a namespace take part in the mesh.
type mesh int

const (
	// outside: neither way.
	outside mesh = iota
	// sidecar: a proxy in every pod, which knows HTTP.
	sidecar
	// ambient: a proxy on every node, ztunnel, which knows connections only.
	ambient
)

// meshOf reads a namespace's labels as Istio does: istio-injection is asked before istio.io/rev, and a pod
// with a sidecar is not taken by ztunnel. Beside ambient mode, istio.io/rev is no sign of sidecars: there it
// says whose waypoints are used. Single pods may be labeled otherwise; those are not looked at.
func meshOf(labels map[string]string) mesh {
	injection, said := labels["istio-injection"]
	switch {
	case injection == "enabled":
		return sidecar
	case labels["istio.io/dataplane-mode"] == "ambient":
		return ambient
	case !said && labels["istio.io/rev"] != "":
		return sidecar
	}
	return outside
}

// waypointOf is the waypoint that a namespace's traffic goes through, or empty.
func waypointOf(labels map[string]string) string {
	if w := labels["istio.io/use-waypoint"]; w != "none" {
		return w
	}
	return ""
}
