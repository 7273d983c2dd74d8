package controller

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Pace is how fast failures are retried and how often AWS is looked at.
type Pace struct {
	// CheckEvery is the interval of checks of what is as declared.
	CheckEvery time.Duration
	// CheckEveryOf overrides it by kind.
	CheckEveryOf map[string]time.Duration
	// StalledEvery is how often an object that only a person can help is tried again.
	StalledEvery time.Duration
	// RetryFirst and RetryMost bound the growing pauses between retries of passing failures.
	RetryFirst, RetryMost time.Duration
}

// DefaultPace is that of the design: 5 minutes, 60 seconds, half a second to a minute.
func DefaultPace() Pace {
	return Pace{CheckEvery: 5 * time.Minute, StalledEvery: time.Minute, RetryFirst: 500 * time.Millisecond, RetryMost: time.Minute}
}

// jitter spreads an interval by ± 10 %.
func (p Pace) jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}

// pauses counts the growing pauses of each object.
type pauses struct {
	pace    Pace
	backoff *flowcontrol.Backoff
	clock   clock.PassiveClock
}

func newPauses(p Pace, c clock.PassiveClock) *pauses {
	return &pauses{pace: p, backoff: flowcontrol.NewBackOffWithJitter(p.RetryFirst, p.RetryMost, 0.3), clock: c}
}

// after says when to try again after err.
func (p *pauses) after(key types.NamespacedName, err error) time.Duration {
	if _, ok := status.AsStalled(err); ok {
		p.forget(key)
		return p.pace.jitter(p.pace.StalledEvery)
	}
	if w, ok := status.AsWaiting(err); ok && w.After > 0 {
		return w.After
	}
	id := key.String()
	p.backoff.Next(id, p.clock.Now())
	return max(p.backoff.Get(id), p.pace.RetryFirst)
}

func (p *pauses) forget(key types.NamespacedName) { p.backoff.DeleteEntry(key.String()) }

// schedule remembers when each object that is as declared is to be checked next.
type schedule struct {
	mu   sync.Mutex
	next map[types.NamespacedName]time.Time
}

func newSchedule() *schedule { return &schedule{next: map[types.NamespacedName]time.Time{}} }

func (s *schedule) due(key types.NamespacedName) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.next[key]
	return t, ok
}

func (s *schedule) set(key types.NamespacedName, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next[key] = t
}

func (s *schedule) forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.next, key)
}
