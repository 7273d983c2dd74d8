// SPDX-License-Identifier: Apache-2.0

package awsclient

import "context"

type fenceKey struct{}

// notSentError says why a fence kept a write from being sent.
type notSentError struct{ why error }

// Error implements error.
func (e *notSentError) Error() string { return e.why.Error() }

// Unwrap returns the error of the fence.
func (e *notSentError) Unwrap() error { return e.why }

// WithFence has check called right before each attempt of a call under the context that may change something, after
// the call waited for its turn. The call is not sent when check returns an error, and fails with that error. Calls of
// one context may check at the same time.
func WithFence(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, fenceKey{}, check)
}

// checkFence returns an error when an operation must not be sent.
func checkFence(ctx context.Context, operation string) error {
	check, ok := ctx.Value(fenceKey{}).(func(context.Context) error)
	if !ok || readOnly(operation) {
		return nil
	}
	if err := check(ctx); err != nil {
		return &notSentError{err}
	}
	return nil
}
