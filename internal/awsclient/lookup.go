// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Lookup makes the call op, which describes one resource. It returns nil for a resource that AWS does not
// know, and for every other error.
func Lookup[In, Out, Opt any](ctx context.Context, op func(context.Context, *In, ...func(*Opt)) (*Out, error), in *In) (*Out, error) {
	out, err := op(ctx, in)
	if err == nil {
		return out, nil
	}
	if IsNotFound(err) {
		err = nil
	}
	return nil, err
}

// MarkNotEmpty returns a *kind.NotEmptyError if AWS refuses to delete a resource because of its contents, and every other error as it is.
func MarkNotEmpty(err error) error {
	if Is(err, NotEmpty) {
		return &kind.NotEmptyError{Err: err}
	}
	return err
}

// ExplainVanished returns a kind's Explain that turns "not found" for a part of a resource that was just described into waiting: the
// resource was deleted between the two reads, or a replica of AWS lags. The argument names the answers that differ.
func ExplainVanished[S any](what string) func(error, kind.Seen[S]) error {
	return func(err error, _ kind.Seen[S]) error {
		if !IsNotFound(err) {
			return err
		}
		return &status.Waiting{For: "a second look: " + what, After: time.Second, Usable: true}
	}
}
