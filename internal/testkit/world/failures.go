// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"time"
)

// Kill ends a component at once, as a crash would. Its state (etcd's data, the
// audit log) stays; moto keeps its state in memory and loses it.
func (w *World) Kill(component string) error {
	p := w.components.named(component)
	if p == nil {
		return fmt.Errorf("this world has no component %q", component)
	}
	return p.kill()
}

// Restart starts a component again under the same address, killing it first if
// it runs, and waits until it works: after etcd or the API server until a write
// has succeeded.
func (w *World) Restart(component string) error {
	p := w.components.named(component)
	if p == nil {
		return fmt.Errorf("this world has no component %q", component)
	}
	if err := p.kill(); err != nil {
		return err
	}
	if err := p.start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.components.options.StartTimeout)
	defer cancel()
	switch component {
	case Etcd, APIServer:
		return w.cluster.waitWrite(ctx)
	case Moto:
		return w.components.waitMoto(ctx)
	}
	time.Sleep(pollInterval)
	return p.alive()
}
