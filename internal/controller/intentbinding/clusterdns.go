// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
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
		known, err := intentfacts.ReadDNS(ctx, d.live, d.service, d.ports)
		if err != nil {
			return d.known, err
		}
		d.known, d.next = known, now.Add(dnsEvery)
	}
	return d.known, nil
}
