// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"math/rand/v2"
	"time"
)

// UnreadyPoll is the interval of looks at workloads that do not become available: a pod's trouble shows in
// the pod alone, which is not watched.
const UnreadyPoll = 5 * time.Second

// Intervals holds the pauses between retries and between looks at AWS.
type Intervals struct {
	// Check is the interval of checks of resources that are as declared.
	Check time.Duration
	// CheckOf overrides it by kind.
	CheckOf map[string]time.Duration
	// WithEvents is the interval of checks of resources with arriving events of changes, if it is longer; not of the kinds in CheckOf.
	WithEvents time.Duration
	// Stalled is the pause between tries of an object that only a person can help.
	Stalled time.Duration
	// RetryFirst and RetryMost bound the growing pauses between retries of passing failures.
	RetryFirst, RetryMost time.Duration
}

// Jitter spreads an interval by ± 10 %.
func (p Intervals) Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}
