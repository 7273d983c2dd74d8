// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// dnsReader reads where the cluster's DNS is, from its Service, at most once a minute.
type dnsReader struct {
	service string // namespace/name
	ports   []int
	live    client.Reader
	clock   clock.PassiveClock

	mu    sync.Mutex
	known intent.ClusterDNS
	next  time.Time
}

// dnsEvery is how often the Service of the cluster's DNS is read.
const dnsEvery = time.Minute

func (d *dnsReader) read(ctx context.Context) (intent.ClusterDNS, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.clock.Now(); d.next.IsZero() || !now.Before(d.next) {
		known, err := d.ask(ctx)
		if err != nil {
			return d.known, err
		}
		d.known, d.next = known, now.Add(dnsEvery)
	}
	return d.known, nil
}

// ask reads the Service. One that does not exist, or selects no pods, leaves the usual labels and ports.
func (d *dnsReader) ask(ctx context.Context) (intent.ClusterDNS, error) {
	namespace, name, _ := strings.Cut(d.service, "/")
	out := intent.ClusterDNS{Source: "Service " + d.service}
	for _, p := range d.ports {
		out.Ports = append(out.Ports, int32(p))
	}
	s := &corev1.Service{}
	err := d.live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, s)
	if apierrors.IsNotFound(err) || err == nil && len(s.Spec.Selector) == 0 {
		out.Problem = fmt.Sprintf("Service %s, of the cluster's DNS, does not exist or selects no pods: pods k8s-app=kube-dns of kube-system on port 53 are taken for it; set --cluster-dns-service", d.service)
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("reading Service %s of the cluster's DNS: %w", d.service, err)
	}
	out.Namespace, out.Labels = namespace, s.Spec.Selector
	if len(out.Ports) > 0 {
		return out, nil
	}
	d.portsOf(s, &out)
	return out, nil
}

// portsOf reads the ports of the DNS pods from their Service.
func (d *dnsReader) portsOf(s *corev1.Service, out *intent.ClusterDNS) {
	for _, p := range s.Spec.Ports {
		switch {
		case p.Port != 53:
		case p.TargetPort.StrVal != "":
			out.Problem = fmt.Sprintf("Service %s, of the cluster's DNS, has the named target port %s: only port 53 of its pods is open; set --cluster-dns-ports if they answer on another", d.service, p.TargetPort.StrVal)
		case p.TargetPort.IntVal != 0 && !slices.Contains(out.Ports, p.TargetPort.IntVal):
			out.Ports = append(out.Ports, p.TargetPort.IntVal)
		}
	}
}
