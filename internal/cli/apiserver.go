// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// uncutKey is the key of the number of operations that an interruption does not cut off.
type uncutKey struct{}

// countUncut returns a context in which uncut counts what it begins.
func countUncut(ctx context.Context) context.Context {
	return context.WithValue(ctx, uncutKey{}, &atomic.Int32{})
}

// uncut returns a context for an operation that an interruption does not cut off, so that it is known whether it was done.
func uncut(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
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

// isUncut reports whether an operation is under way that an interruption does not cut off.
func isUncut(ctx context.Context) bool {
	n, counted := ctx.Value(uncutKey{}).(*atomic.Int32)
	return counted && n.Load() > 0
}

// unreachableError is an API server that gives no answer.
type unreachableError struct {
	server string
	err    error
}

// Error implements error.
func (e *unreachableError) Error() string {
	return fmt.Sprintf("the API server %s cannot be reached: %v: check that the kubeconfig names the right cluster (--kubeconfig, --context), and the network to it", e.server, e.err)
}

// Unwrap returns the error of the network.
func (e *unreachableError) Unwrap() error { return e.err }

// leadToAPIServer has requests to the API server end with an interruption, also those that libraries make without the
// command's context, and has them say what to do when there is no answer.
func leadToAPIServer(ctx context.Context) func(*rest.Config) *rest.Config {
	return func(cfg *rest.Config) *rest.Config {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &apiServerWay{ctx: ctx, next: next} })
		return cfg
	}
}

// apiServerWay is the transport of requests to the API server.
type apiServerWay struct {
	ctx  context.Context // the one of the command, for requests without it
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper. Only reads end with an interruption: whether a write was done must be known.
func (w *apiServerWay) RoundTrip(r *http.Request) (*http.Response, error) {
	ended := func() {}
	own := r.Context()
	if r.Method == http.MethodGet {
		bound, cancel := context.WithCancel(own)
		stop := context.AfterFunc(w.ctx, func() {
			if !isUncut(w.ctx) {
				cancel()
			}
		})
		ended = func() { stop(); cancel() }
		r = r.WithContext(bound)
	}
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		ended()
		if own.Err() == nil && !errors.Is(err, context.Canceled) {
			err = &unreachableError{server: r.URL.Scheme + "://" + r.URL.Host, err: err}
		}
		return nil, err
	}
	answer.Body = &endingBody{ReadCloser: answer.Body, ended: ended}
	return answer, nil
}

// endingBody calls a function when the body of an answer is closed.
type endingBody struct {
	io.ReadCloser
	ended func()
}

// Close implements io.Closer.
func (b *endingBody) Close() error {
	defer b.ended()
	return b.ReadCloser.Close()
}
