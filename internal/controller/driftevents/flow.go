// SPDX-License-Identifier: Apache-2.0

package driftevents

import (
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/driftevents"
)

const (
	// heartbeatPatience limits the age of the last heartbeat: if it is older, events no longer count as arriving. The schedule sends one a
	// minute.
	heartbeatPatience = 5 * time.Minute
	// mostPlaces bounds the accounts and regions that are remembered: a message can name any.
	mostPlaces = 1024
)

// place names the account and region that heartbeats come from. The scope is the namespace of the objects that the queue serves; empty for
// all.
type place struct{ scope, account, region string }

// Flow knows the accounts and regions that events arrive from.
type Flow struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	last map[place]time.Time
	// shown are the places with heartbeats in the metrics. A place is never removed, as its series is not.
	shown map[place]bool
	// flowing are the places with arriving events at the last call of stopped.
	flowing map[place]bool
}

// NewFlow returns a flow without heartbeats.
func NewFlow(c clock.PassiveClock) *Flow {
	return &Flow{clock: c, last: map[place]time.Time{}, shown: map[place]bool{}, flowing: map[place]bool{}}
}

// beat records a heartbeat of a time, and returns that of the newest heartbeat of its place. One of the future counts as of now. It
// returns false for a place that the metrics do not show, because it came after so many others.
func (f *Flow) beat(p place, at time.Time) (time.Time, bool) {
	if now := f.clock.Now(); at.After(now) {
		at = now
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	had, known := f.last[p]
	if !known && len(f.last) >= mostPlaces {
		return time.Time{}, false
	}
	if !known || at.After(had) {
		f.last[p] = at
	}
	if len(f.shown) < mostPlaces {
		f.shown[p] = true
	}
	return f.last[p], f.shown[p]
}

func (f *Flow) isFlowing(p place) bool {
	return f.clock.Since(f.last[p]) < heartbeatPatience
}

// Covers reports whether events of changes of an object's resource arrive. The service is that of the resource's ARN.
func (f *Flow) Covers(o v1alpha1.Resource) bool {
	home := strings.Split(o.CommonStatus().Home, "/")
	if len(home) != 3 {
		return false
	}
	region := driftevents.RegionOf(driftevents.ServiceOfARN(o.CommonStatus().ARN), home[2])
	return f.arrive(o.GetNamespace(), home[1], region)
}

// arrive reports whether events of an account and region arrive for the objects of a namespace.
func (f *Flow) arrive(namespace, account, region string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isFlowing(place{account: account, region: region}) || f.isFlowing(place{scope: namespace, account: account, region: region})
}

// changes reports whether events began or stopped to arrive from any place since the last call.
func (f *Flow) changes() (began, stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range f.last {
		is := f.isFlowing(p)
		began, stopped = began || is && !f.flowing[p], stopped || !is && f.flowing[p]
		f.flowing[p] = is
		if !is {
			delete(f.last, p)
			delete(f.flowing, p)
		}
	}
	return began, stopped
}
