// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// Pacing are the settings of how often, and how many at a time, objects are reconciled.
type Pacing struct {
	// Workers limits the objects of a kind that are reconciled at a time; WorkersOf overrides it by kind.
	Workers   int
	WorkersOf map[string]int
	// CheckEvery is the interval of drift checks; CheckEveryOf overrides it by kind.
	CheckEvery   time.Duration
	CheckEveryOf map[string]time.Duration
	// CheckEveryWithEvents is the interval of drift checks of resources with events that arrive, where it is longer than CheckEvery.
	CheckEveryWithEvents time.Duration
	// StalledEvery, RetryFirst and RetryMost are the pauses after failures.
	StalledEvery, RetryFirst, RetryMost time.Duration
}

func addPacingFlags(fs *pflag.FlagSet, p *Pacing) {
	fs.IntVar(&p.Workers, "workers", 8, "maximum concurrent reconciles of each kind; one namespace has three quarters of them at most")
	fs.DurationVar(&p.CheckEvery, "check-interval", 5*time.Minute,
		"how often each AWS resource is checked for drift, plus or minus 10 percent")
	fs.DurationVar(&p.StalledEvery, "stalled-interval", time.Minute, "retry interval of stalled objects, which need a change by a person")
	fs.DurationVar(&p.RetryFirst, "retry-first", 500*time.Millisecond, "initial backoff after a transient failure")
	fs.DurationVar(&p.RetryMost, "retry-most", time.Minute, "maximum backoff after transient failures")
}

func (p *Pacing) perKind(workers, intervals map[string]string) error {
	p.WorkersOf, p.CheckEveryOf = map[string]int{}, map[string]time.Duration{}
	for k, v := range workers {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return fmt.Errorf("--kind-workers: %s=%s is not a positive number", k, v)
		}
		p.WorkersOf[k] = n
	}
	for k, v := range intervals {
		d, err := time.ParseDuration(v)
		if err != nil || d < minInterval {
			return fmt.Errorf("--kind-check-interval: %s=%s is not a duration of at least %s", k, v, minInterval)
		}
		p.CheckEveryOf[k] = d
	}
	return nil
}
