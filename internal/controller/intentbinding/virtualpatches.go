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

// patchesEvery is the interval between two reads of the catalog, and between two looks at bindings that use it.
const patchesEvery = time.Minute

// patchReader reads the administrator's catalog of virtual patches.
type patchReader struct {
	configMap string // namespace/name; empty is none
	live      client.Reader
	clock     clock.PassiveClock

	mu    sync.Mutex
	known intent.Patches
	next  time.Time
}

func (r *patchReader) read(ctx context.Context) (intent.Patches, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.clock.Now(); r.next.IsZero() || !now.Before(r.next) {
		known, err := intentfacts.ReadPatches(ctx, r.live, r.configMap)
		if err != nil {
			return r.known, err
		}
		r.known, r.next = known, now.Add(patchesEvery/2)
	}
	return r.known, nil
}
