// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// ReadDNS reads where the cluster's DNS is, from its Service, which service names as namespace/name. One that does not exist, or selects no pods, leaves the usual labels and ports.
func ReadDNS(ctx context.Context, c client.Reader, service string, ports []int) (intent.ClusterDNS, error) {
	namespace, name, _ := strings.Cut(service, "/")
	out := intent.ClusterDNS{Source: "Service " + service}
	for _, p := range ports {
		out.Ports = append(out.Ports, int32(p))
	}
	s := &corev1.Service{}
	err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, s)
	if apierrors.IsNotFound(err) || err == nil && len(s.Spec.Selector) == 0 {
		out.Problem = fmt.Sprintf("Service %s, of the cluster's DNS, does not exist or selects no pods: pods k8s-app=kube-dns of kube-system on port 53 are taken for it; set --cluster-dns-service", service)
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("reading Service %s of the cluster's DNS: %w", service, err)
	}
	out.Namespace, out.Labels = namespace, s.Spec.Selector
	if len(out.Ports) > 0 {
		return out, nil
	}
	readDNSPorts(s, service, &out)
	return out, nil
}

// readDNSPorts reads the ports of the DNS pods from their Service.
func readDNSPorts(s *corev1.Service, service string, out *intent.ClusterDNS) {
	for _, p := range s.Spec.Ports {
		switch {
		case p.Port != 53:
		case p.TargetPort.StrVal != "":
			out.Problem = fmt.Sprintf("Service %s, of the cluster's DNS, has the named target port %s: only port 53 of its pods is open; set --cluster-dns-ports if they answer on another", service, p.TargetPort.StrVal)
		case p.TargetPort.IntVal != 0 && !slices.Contains(out.Ports, p.TargetPort.IntVal):
			out.Ports = append(out.Ports, p.TargetPort.IntVal)
		}
	}
}
