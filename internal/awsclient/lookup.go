// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"

	"github.com/nexus-operator/nexus-operator/internal/kind"
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

// MarkNotEmpty returns a *kind.NotEmptyError for the answer by which AWS refuses to delete a resource
// because of its contents, and every other error as it is.
func MarkNotEmpty(err error) error {
	if Is(err, NotEmpty) {
		return &kind.NotEmptyError{Err: err}
	}
	return err
}
