// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
)

// policySeries holds, by binding and policy, since when a policy has failed without a break.
type policySeries struct {
	mu    sync.Mutex
	since map[types.NamespacedName]map[types.NamespacedName]time.Time
}

func newPolicySeries() *policySeries {
	return &policySeries{since: map[types.NamespacedName]map[types.NamespacedName]time.Time{}}
}

// observe notes how a policy of a binding fared, and returns since when its passing failures last; zero when it
// did not fail so.
func (s *policySeries) observe(binding, policy types.NamespacedName, err error, now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !reconciler.IsTransient(err) {
		delete(s.since[binding], policy)
		return time.Time{}
	}
	if s.since[binding] == nil {
		s.since[binding] = map[types.NamespacedName]time.Time{}
	}
	if _, known := s.since[binding][policy]; !known {
		s.since[binding][policy] = now
	}
	return s.since[binding][policy]
}

// drop forgets the policies of a binding that is gone.
func (s *policySeries) drop(binding types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, binding)
}
