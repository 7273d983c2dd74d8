// SPDX-License-Identifier: Apache-2.0

package monitor

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestWatches_WakeOnceAllObjectsAreThere(t *testing.T) {
	w := newWatches(nil)
	w.wake() // of the first object, before the informer is synced
	<-w.changed
	var synced atomic.Bool
	go w.wakeWhenSynced(t.Context(), synced.Load)
	synced.Store(true)
	select {
	case <-w.changed:
	case <-time.After(30 * time.Second):
		t.Error("nobody is woken by a list that is complete")
	}
}
