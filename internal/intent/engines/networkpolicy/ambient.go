// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// hbone is the port that carries all traffic between pods of the mesh in ambient mode: a NetworkPolicy sees the pods' own addresses, and
// this port instead of the application's.
// https://istio.io/latest/docs/ambient/usage/networkpolicy/
const hbone = 15008

// kubelet is the source address of the kubelet's probes in ambient mode. Without it, pods with restricted ingress would never be ready.
func kubelet() peer {
	return peer{kind: networkPeer, network: netip.MustParsePrefix("169.254.7.127/32")}
}

// inAmbientMesh reports whether a node's proxy carries the traffic of a namespace's pods.
func inAmbientMesh(namespaceLabels map[string]string) bool {
	return intent.MeshOf(namespaceLabels) == intent.AmbientMesh
}

// throughMesh keeps the flows open, in an ambient mesh, that the demand leaves open.
func (d *demand) throughMesh() {
	if d.ingress == nil {
		return
	}
	in := slices.Clone(*d.ingress)
	for _, a := range *d.ingress {
		if a.ports != nil {
			in = append(in, allowance{peers: a.peers, ports: ports{{corev1.ProtocolTCP, hbone, hbone}}})
			if d.short == "" {
				d.short = "in an ambient mesh a NetworkPolicy sees port 15008 instead of the application's: it holds who may talk, and only Istio on which ports"
			}
		}
	}
	in = append(in, allowance{peers: []peer{kubelet()}})
	d.ingress = &in
}
