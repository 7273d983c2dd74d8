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

// clusterReader reads the place of the cluster's DNS, the engine that enforces NetworkPolicies, the engines that run, and the way that pods
// get credentials, at most once a minute.
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

// followCluster enqueues all bindings after the facts of the cluster have changed, until ctx ends.
func (t *triggers) followCluster(ctx context.Context) error {
	var last *intentfacts.Cluster
	wait.UntilWithContext(ctx, func(ctx context.Context) { last = t.enqueueAfterChange(ctx, last) }, clusterEvery)
	return nil
}

// enqueueAfterChange enqueues all namespaces and bindings if the facts of the cluster are not the last ones any more, and returns those that
// are. Policies that do not restrict the network are no part of a namespace that is divided, and some of their claims depend on the facts.
func (t *triggers) enqueueAfterChange(ctx context.Context, last *intentfacts.Cluster) *intentfacts.Cluster {
	known, err := t.cluster.read(ctx)
	if err != nil || last != nil && reflect.DeepEqual(known, *last) {
		return last // a pass over a binding reports the error
	}
	requests := t.spaces.neighborhoods(metav1.NamespaceAll)
	if last != nil { // otherwise the first pass over each binding is yet to come, or has read the same
		bindings, err := bindingsOf(ctx, t.client, metav1.NamespaceAll)
		if err != nil {
			return last
		}
		for _, b := range bindings {
			requests = append(requests, requestOf(b))
		}
	}
	t.enqueueNeighbors(ctx, requests)
	return &known
}
