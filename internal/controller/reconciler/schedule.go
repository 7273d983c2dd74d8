// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Schedule remembers when each object that is as declared is to be checked next.
type Schedule struct {
	mu   sync.Mutex
	next map[types.NamespacedName]time.Time
	// requests counts the checks of each object that were requested, so that a pass that began before a request does
	// not postpone it.
	requests map[types.NamespacedName]int
	// served is the number of requests at the last check.
	served map[types.NamespacedName]int
}

// NewSchedule returns an empty schedule.
func NewSchedule() *Schedule {
	return &Schedule{next: map[types.NamespacedName]time.Time{}, requests: map[types.NamespacedName]int{},
		served: map[types.NamespacedName]int{}}
}

// Request makes a check due now.
func (s *Schedule) Request(key types.NamespacedName, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next[key] = now
	s.requests[key]++
}

// Requested returns how many checks were requested so far.
func (s *Schedule) Requested(key types.NamespacedName) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[key]
}

// Checked sets the next check after a pass that began when so many checks were requested. A later request stays due.
func (s *Schedule) Checked(key types.NamespacedName, requested int, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests[key] == requested {
		s.next[key], s.served[key] = next, requested
	}
}

// IsRequested reports whether a check was requested since the last one.
func (s *Schedule) IsRequested(key types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[key] != s.served[key]
}

// Due returns when an object is to be checked next, and whether that is known.
func (s *Schedule) Due(key types.NamespacedName) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.next[key]
	return t, ok
}

// Set sets the next check.
func (s *Schedule) Set(key types.NamespacedName, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next[key] = t
}

// Forget drops an object that is gone.
func (s *Schedule) Forget(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.next, key)
	delete(s.requests, key)
	delete(s.served, key)
}
