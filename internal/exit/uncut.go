// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"context"
	"sync/atomic"
	"time"
)

// uncutKey is the key of the number of operations that an interruption does not cut off.
type uncutKey struct{}

// CountUncut returns a context that makes Uncut count the calls that it begins.
func CountUncut(ctx context.Context) context.Context {
	return context.WithValue(ctx, uncutKey{}, &atomic.Int32{})
}

// Uncut returns a context for an operation that an interruption does not cut off, so that it is known whether it was done.
func Uncut(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	doing, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	n, counted := ctx.Value(uncutKey{}).(*atomic.Int32)
	if !counted {
		return doing, cancel
	}
	n.Add(1)
	var ended atomic.Bool
	return doing, func() {
		if ended.CompareAndSwap(false, true) {
			n.Add(-1)
		}
		cancel()
	}
}

// IsUncut reports whether an operation is under way that an interruption does not cut off.
func IsUncut(ctx context.Context) bool {
	n, counted := ctx.Value(uncutKey{}).(*atomic.Int32)
	return counted && n.Load() > 0
}
