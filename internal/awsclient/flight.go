// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"sync"
)

var errFlightLost = errors.New("the call it shared ended without an answer")

// flight lets concurrent callers share one call. It starts no goroutine: the first caller makes the
// call itself, with its own context. golang.org/x/sync/singleflight would let that caller's
// cancellation fail all others; here another takes over.
type flight[T any] struct {
	mu  sync.Mutex
	now *call[T]
}

type call[T any] struct {
	done   chan struct{}
	value  T
	err    error
	gaveUp bool
}

// do runs fn, or waits for who is running it. After ctx ends it returns ctx's error.
func (f *flight[T]) do(ctx context.Context, fn func(context.Context) (T, error)) (T, error) {
	for {
		c, mine := f.join()
		if mine {
			f.run(ctx, c, fn)
			return c.value, c.err
		}
		select {
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		case <-c.done:
		}
		if !c.gaveUp || ctx.Err() != nil {
			return c.value, c.err
		}
	}
}

// busy reports whether a call is running.
func (f *flight[T]) busy() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now != nil
}

func (f *flight[T]) join() (c *call[T], mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now != nil {
		return f.now, false
	}
	f.now = &call[T]{done: make(chan struct{}), err: errFlightLost}
	return f.now, true
}

func (f *flight[T]) run(ctx context.Context, c *call[T], fn func(context.Context) (T, error)) {
	defer func() {
		c.gaveUp = c.err != nil && ctx.Err() != nil
		f.mu.Lock()
		f.now = nil
		f.mu.Unlock()
		close(c.done)
	}()
	c.value, c.err = fn(ctx)
}
