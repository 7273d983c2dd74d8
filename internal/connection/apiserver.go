// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"

	"github.com/nexus-operator/nexus-operator/internal/exit"
)

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

// LeadToAPIServer has requests to the API server end with an interruption, also those that libraries make without the command's context,
// and adds a remedy to the error when there is no answer.
func LeadToAPIServer(ctx context.Context) func(*rest.Config) *rest.Config {
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
			if !exit.IsUncut(w.ctx) {
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
