// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// hbone is the port on which ambient mode carries all traffic between pods of the mesh: a NetworkPolicy sees
// the pods' own addresses, and this port whatever the application's is.
// https://istio.io/latest/docs/ambient/usage/networkpolicy/
const hbone = 15008

// kubelet is the address from which ambient mode lets the kubelet's probes come. Without it, pods whose ingress
// is restricted would never be ready.
func kubelet() peer {
	return peer{kind: networkPeer, network: netip.MustParsePrefix("169.254.7.127/32")}
}

// inAmbientMesh reports whether a node's proxy carries the traffic of a namespace's pods.
func inAmbientMesh(namespaceLabels map[string]string) bool {
	return intent.MeshOf(namespaceLabels) == intent.AmbientMesh
}

// throughMesh keeps open, in an ambient mesh, what the demand means to keep open.
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
