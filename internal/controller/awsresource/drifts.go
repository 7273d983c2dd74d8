// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// drifts counts each drift of a kind's objects once, however many passes see it or work on its correction.
type drifts struct {
	mu sync.Mutex
	// drifted holds the objects with an AWS resource that was changed outside, and whether the operator has written since.
	drifted map[types.NamespacedName]bool
}

func newDrifts() *drifts { return &drifts{drifted: map[types.NamespacedName]bool{}} }

// observe notes how a pass ended and reports whether it found a new drift, and whether a drift is corrected now. Corrects is
// true when the pass wrote changed fields.
func (d *drifts) observe(key types.NamespacedName, out engine.Outcome, found, corrects bool) (detected, corrected bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	wrote, known := d.drifted[key]
	if found || corrects {
		detected = !known
		wrote, known = wrote || corrects, true
		d.drifted[key] = wrote
	}
	if known && out.Synced && len(out.Drift) == 0 {
		delete(d.drifted, key)
		corrected = wrote
	}
	return detected, corrected
}

func (d *drifts) forget(key types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.drifted, key)
}
