// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// doomed holds the capabilities in deletion whose objects are deleted and not kept, so that a pass need not ask the API server for
// the owner references again. Nobody can decide otherwise later: the API server adds no finalizer to an object in deletion, neither
// by an update nor by another request to delete it, in Store.Delete of k8s.io/apiserver/pkg/registry/generic/registry.
type doomed struct {
	mu  sync.Mutex
	all map[types.NamespacedName]types.UID
}

func newDoomed() *doomed { return &doomed{all: map[types.NamespacedName]types.UID{}} }

func (d *doomed) add(c *nexusv1.NexusAICapability) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[client.ObjectKeyFromObject(c)] = c.UID
}

func (d *doomed) has(c *nexusv1.NexusAICapability) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	uid, ok := d.all[client.ObjectKeyFromObject(c)]
	return ok && uid == c.UID
}

func (d *doomed) forget(key types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.all, key)
}
