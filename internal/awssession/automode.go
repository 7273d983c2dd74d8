// SPDX-License-Identifier: Apache-2.0

package awssession

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
)

// AutoMode asks EKS whether EKS Auto Mode is enabled in the operator's cluster. Its nodes say so too, but it has none while no pod
// needs one.
type AutoMode struct {
	sessions *awsclient.Sessions
	cluster  string
	region   string
	clock    clock.PassiveClock

	mu      sync.Mutex
	enabled bool
	next    time.Time
}

// autoModeEvery is the interval between two questions, also after a failure: without the right to ask, Auto Mode is known by its
// nodes alone.
const autoModeEvery = 10 * time.Minute

// NewAutoMode prepares to ask EKS about the cluster of this name in the region; empty when it is not known.
func NewAutoMode(cluster, region string, sessions *awsclient.Sessions, c clock.PassiveClock) *AutoMode {
	return &AutoMode{sessions: sessions, cluster: cluster, region: region, clock: c}
}

// IsEnabled returns the last answer of EKS, and false where there was none.
func (a *AutoMode) IsEnabled(ctx context.Context) bool {
	if a.cluster == "" {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.clock.Now(); a.next.IsZero() || !now.Before(a.next) {
		asking, cancel := context.WithTimeout(ctx, issuerTimeout)
		defer cancel()
		enabled, err := a.ask(asking)
		if ctx.Err() != nil {
			return a.enabled
		}
		if err == nil {
			a.enabled = enabled
		}
		a.next = now.Add(autoModeEvery)
	}
	return a.enabled
}

func (a *AutoMode) ask(ctx context.Context) (bool, error) {
	session, err := a.sessions.Open(ctx, awsclient.Identity{Key: "operator", Region: a.region})
	if err != nil {
		return false, err
	}
	return session.IsAutoMode(ctx, a.cluster)
}
