// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"net/http"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/lag"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// At reads an address such as `dynamodb.CreateTable(orders)#2`: the second
// matching request after the rule was set. Without #n it means every one.
func At(address string) Match { return proxy.At(address) }

// LoseAnswer lets the request have its effect, then resets the connection.
func LoseAnswer() Action { return proxy.LoseAnswer() }

// Fail answers with an error in the service's own protocol; the request has no
// effect.
func Fail(status int, code, message string) Action { return proxy.Fail(status, code, message) }

// Throttle answers as a service does that has had too many requests.
func Throttle() Action { return proxy.Throttle() }

// NotFound answers that the resource does not exist, with the service's own
// error, whether it exists or not; the request has no effect.
func NotFound() Action { return proxy.NotFound() }

// ForwardThen lets the request have its effect, calls hook (which may kill the
// client and close its endpoint), then resets the connection.
func ForwardThen(hook func()) Action { return proxy.ForwardThen(hook) }

// BeforeThen calls hook and resets the connection; the request has no effect.
func BeforeThen(hook func()) Action { return proxy.BeforeThen(hook) }

// Hang holds the request back until the rule is released or removed, then
// passes it on.
func Hang() Action { return proxy.Hang() }

// Observe calls hook after the request has had its effect and before it is
// answered; the answer is given as it is.
func Observe(hook func()) Action { return proxy.Observe(hook) }

// Delay passes the request on after a while.
func Delay(d time.Duration) Action { return proxy.Delay(d) }

// DropBefore resets the connection; the request has no effect.
func DropBefore() Action { return proxy.DropBefore() }

// After calls hook and then passes the request on. The hook can send other requests first.
func After(hook func()) Action { return proxy.After(hook) }

// Truncate lets the request have its effect and ends the connection in the
// middle of the answer's body.
func Truncate() Action { return proxy.Truncate() }

// ForReads returns the window of the first n answers to each read after a write.
func ForReads(n int) Window { return lag.ForReads(n) }

// ForTime returns the window of that length after a write.
func ForTime(d time.Duration) Window { return lag.ForTime(d) }

// LikeAWS returns all of it, with the times that AWS's documentation and the
// issues of its clients speak of: seconds, for attributes of queues a minute.
// The clock is one hour ahead.
func LikeAWS() Lag { return lag.LikeAWS() }

// Diff compares two inventories and lists the entries that only one of them has, one per line; "" if they are equal.
func Diff(before, after map[string][]string) string { return catalog().Diff(before, after) }

// InventoryAt is an inventory asked of an endpoint, as any client would.
func InventoryAt(ctx context.Context, url string, regions ...string) (map[string][]string, error) {
	return catalog().InventoryAt(ctx, url, regions...)
}

// Rewrites returns the catalog of the fields that AWS rewrites. Each entry changes every answer, so that a kind that compares the forms
// writes without end.
func Rewrites() []Rewrite { return catalog().Rewrites() }

// RewritesOfRecords returns the entries of the catalog that are from records of users.
func RewritesOfRecords() []Rewrite { return catalog().RewritesOfRecords() }

// Operation names the operation of a request with its resource, and reports whether it changes something.
func Operation(r *http.Request, body []byte) (name string, write bool) {
	return catalog().Operation(r, body)
}
