// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// clusterReader reads where the cluster's DNS is, what enforces NetworkPolicies, and how pods get credentials, at most once a
// minute.
type clusterReader struct {
	settings intentfacts.Settings
	live     client.Reader
	clock    clock.PassiveClock

	mu    sync.Mutex
	known intentfacts.Cluster
	next  time.Time
}

// clusterEvery is the interval between two reads of the facts of the cluster.
const clusterEvery = time.Minute

func (d *clusterReader) read(ctx context.Context) (intentfacts.Cluster, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.clock.Now(); d.next.IsZero() || !now.Before(d.next) {
		known, err := intentfacts.ReadCluster(ctx, d.live, d.settings)
		if err != nil {
			return d.known, err
		}
		d.known, d.next = known, now.Add(clusterEvery)
	}
	return d.known, nil
}

// followCluster divides every namespace again after the facts of the cluster have changed, until ctx ends.
func (r *Reconciler) followCluster(ctx context.Context) error {
	var divided intentfacts.Cluster
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		known, err := r.cluster.read(ctx)
		if err != nil || reflect.DeepEqual(known, divided) {
			return // a pass over a binding reports the error
		}
		divided = known
		r.enqueueNeighbors(ctx, r.neighborhoods(metav1.NamespaceAll))
	}, clusterEvery)
	return nil
}
