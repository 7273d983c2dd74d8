// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Check says that a resource is looked at only to find drift, so that one call may read many resources: its answer serves the
// checks that follow within the same short time.
type Check struct {
	// At is the start time of the check. The answer of any call that began at Since or later serves it.
	At, Since time.Time
	// Upcoming returns the identifiers of other resources that are to be checked soon with the same identity.
	Upcoming func(ctx context.Context) []string
	// Shared is true once the answer of a call for another check was used.
	Shared bool
}

// maxBatch sets how many identifiers one call names. EC2 accepts 200 values of a filter.
const maxBatch = 100

// Batch reads one resource after the other by calls that read many. It belongs to a kind that is bound to an identity, so that an
// answer never serves another account, region or identity. Its zero value is ready, and its methods may be called concurrently.
type Batch[R any] struct {
	mu      sync.Mutex
	answers map[string]answered[R]
	flights map[string]*batchCall[R]
}

// answered is a resource as a call showed it that began at a time.
type answered[R any] struct {
	began    time.Time
	resource R
}

// batchCall is a call under way, or its answers.
type batchCall[R any] struct {
	began time.Time
	done  chan struct{}
	found map[string]R
}

// Find returns the resource with an identifier, where a call for many showed it: an earlier one, one that is under way, or one that read
// makes for the resource and the upcoming ones. Each answer serves one check. read returns the existing resources by identifier, and an
// error only if it has no answer for any identifier.
//
// It returns nil if the check needs a separate call: for a resource that is not in the answer, after an error, and if no other check is due
// soon. So the failure of a shared call, or the absence of one resource, affects no other check.
func (b *Batch[R]) Find(ctx context.Context, id string, c *Check, read func(ctx context.Context, ids []string) (map[string]R, error)) *R {
	if r := b.take(id, c); r != nil {
		return r
	}
	call := b.underWay(id, c.Since)
	if call == nil {
		return b.lead(ctx, id, *c, read)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-call.done:
		return b.take(id, c)
	}
}

// ByID returns resources by their identifiers, as Find needs them.
func ByID[R any](all []R, id func(R) string) map[string]R {
	out := make(map[string]R, len(all))
	for _, r := range all {
		out[id(r)] = r
	}
	return out
}

// take removes and returns the answer for an identifier; nil if there is none, or its call began too early.
func (b *Batch[R]) take(id string, c *Check) *R {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, ok := b.answers[id]
	delete(b.answers, id)
	if !ok || a.began.Before(c.Since) {
		return nil
	}
	c.Shared = true
	return &a.resource
}

// underWay returns a call under way that names the identifier and began at a time or later; nil if there is none.
func (b *Batch[R]) underWay(id string, since time.Time) *batchCall[R] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if call := b.flights[id]; call != nil && !call.began.Before(since) {
		return call
	}
	return nil
}

// lead makes a call for the resource and for the upcoming resources without an answer or a pending call.
func (b *Batch[R]) lead(ctx context.Context, id string, c Check, read func(context.Context, []string) (map[string]R, error)) *R {
	call := &batchCall[R]{began: c.At, done: make(chan struct{})}
	ids := b.begin(id, c, call, c.Upcoming(ctx))
	defer b.end(ids, call)
	if len(ids) == 1 {
		return nil
	}
	found, err := read(ctx, ids)
	if err != nil {
		return nil
	}
	own, ok := found[id]
	delete(found, id)
	call.found = found
	if !ok {
		return nil
	}
	return &own
}

// begin registers a call and returns the identifiers that it names. It drops answers that serve no check any more.
func (b *Batch[R]) begin(id string, c Check, call *batchCall[R], upcoming []string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.answers, func(_ string, a answered[R]) bool { return a.began.Before(c.Since) })
	ids := []string{id}
	for _, other := range upcoming {
		_, answered := b.answers[other]
		if answered || b.flights[other] != nil || len(ids) == maxBatch || slices.Contains(ids, other) {
			continue
		}
		ids = append(ids, other)
	}
	if b.flights == nil {
		b.answers, b.flights = map[string]answered[R]{}, map[string]*batchCall[R]{}
	}
	for _, each := range ids {
		b.flights[each] = call
	}
	return ids
}

// end keeps the answers of a call and wakes the checks that wait for it.
func (b *Batch[R]) end(ids []string, call *batchCall[R]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, r := range call.found {
		b.answers[id] = answered[R]{began: call.began, resource: r}
	}
	for _, id := range ids {
		if b.flights[id] == call {
			delete(b.flights, id)
		}
	}
	close(call.done)
}
