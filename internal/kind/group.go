// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Group runs the reads of a resource at the same time, as an errgroup.Group does. A panic of one becomes a panic of Wait, so that
// the caller can recover from it: an answer of AWS that lacks a member must not end the process.
type Group struct {
	group  errgroup.Group
	cancel context.CancelFunc
	mu     sync.Mutex
	// panicked is the first panic, with its stack.
	panicked error
}

// NewGroup returns a group, and a context that ends with the first error or with Wait. Without the context, the zero value is ready
// for use.
func NewGroup(ctx context.Context) (*Group, context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	return &Group{cancel: cancel}, ctx
}

// SetLimit limits how many functions run at the same time.
func (g *Group) SetLimit(n int) { g.group.SetLimit(n) }

// Go runs the function in another goroutine.
func (g *Group) Go(f func() error) {
	g.group.Go(func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = g.record(p)
			}
			if err != nil && g.cancel != nil {
				g.cancel()
			}
		}()
		return f()
	})
}

func (g *Group) record(p any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := fmt.Errorf("%v\n%s", p, debug.Stack())
	if g.panicked == nil {
		g.panicked = err
	}
	return err
}

// Wait waits for all functions and returns the first error.
func (g *Group) Wait() error {
	err := g.group.Wait()
	if g.cancel != nil {
		g.cancel()
	}
	if g.panicked != nil {
		panic(g.panicked)
	}
	return err
}
