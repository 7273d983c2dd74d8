// SPDX-License-Identifier: Apache-2.0

package intent

// Mesh says how the pods of a namespace take part in Istio's mesh.
type Mesh int

const (
	// OutsideMesh says that pods are in no mesh.
	OutsideMesh Mesh = iota
	// SidecarMesh has a proxy in every pod, which knows HTTP.
	SidecarMesh
	// AmbientMesh has a proxy on every node, ztunnel, which knows connections only.
	AmbientMesh
)

// MeshOf reads a namespace's labels as Istio does: istio-injection is asked before istio.io/rev, and a pod with a sidecar is not taken by
// ztunnel. In ambient mode, istio.io/rev is no sign of sidecars: there it selects the revision of the waypoints. It does not look at the
// labels of single pods, which may differ.
func MeshOf(labels map[string]string) Mesh {
	injection, said := labels["istio-injection"]
	switch {
	case injection == "enabled":
		return SidecarMesh
	case labels["istio.io/dataplane-mode"] == "ambient":
		return AmbientMesh
	case !said && labels["istio.io/rev"] != "":
		return SidecarMesh
	}
	return OutsideMesh
}
