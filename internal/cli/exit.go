// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/plan"
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

// deniedFirst makes missing rights and credentials in AWS a precondition.
func deniedFirst(err error) error {
	if awsclient.Is(err, awsclient.Denied) || awsclient.Is(err, awsclient.Unauthenticated) || awsclient.Is(err, awsclient.Expired) {
		return precondition(err)
	}
	return err
}

// The exit codes of every verb.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitPrecondition = 4
	// exitDataLoss is that of a plan that deletes data, where the caller asked for it.
	exitDataLoss    = 5
	exitTimeout     = 124
	exitInterrupted = 130
	// exitNoReader is that of programs that SIGPIPE ends.
	exitNoReader = 141
)

// failure is an error with an exit code. A failure without an error says nothing: the verb has said it.
type failure struct {
	code int
	err  error
}

// Error implements error.
func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

// Unwrap returns the error.
func (f *failure) Unwrap() error { return f.err }

// usage is a mistake in the command line or in a manifest.
func usage(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// precondition is something that must be there first: a cluster, credentials, a permission.
func precondition(err error) error { return &failure{code: exitPrecondition, err: err} }

// isUnknownCommand reports whether cobra knows no such command; it has no type for the error.
func isUnknownCommand(err error) bool { return strings.HasPrefix(err.Error(), "unknown command") }

// shortened leaves out of an interruption which read it ended: nothing failed there. Errors that came with it stay.
func shortened(code int, err error) error {
	if code == exitInterrupted && !isJoined(err) && errors.Is(err, context.Canceled) {
		return &interruption{}
	}
	return err
}

// isJoined reports whether an error is made of several.
func isJoined(err error) bool {
	_, joined := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	return joined
}

func codeOf(ctx context.Context, err error) int {
	f, known := errors.AsType[*failure](err)
	_, noAccess := errors.AsType[*plan.AccessError](err)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case known:
		return f.code
	case noAccess, apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), isUnreachable(err):
		return exitPrecondition
	case isUnknownCommand(err):
		return exitUsage
	default:
		return exitFailed
	}
}

// isUnreachable reports whether the API server gave no answer.
func isUnreachable(err error) bool {
	_, failed := errors.AsType[*url.Error](err)
	return failed
}

// interruption is an interrupted command that has made changes, or may have.
type interruption struct {
	// changed are the objects that were changed, and left is the number of those that were not.
	changed []string
	left    int
	// waiting is true when every change was made and only the waiting was ended.
	waiting bool
	// text replaces the sentence about the changes where it does not fit.
	text string
}

// Error implements error.
func (i *interruption) Error() string { return "interrupted" }

// said tells a person what was done, what was not, and how to go on.
func (i *interruption) said() string {
	switch {
	case i != nil && i.text != "":
		return i.text
	case i != nil && i.waiting:
		return "The command was interrupted while it waited. All its requests were made, and the operator serves them: see nexusctl status KIND/NAME."
	case i == nil || len(i.changed) == 0:
		return "The command was interrupted and has changed nothing."
	default:
		return fmt.Sprintf("The command was interrupted. Changed: %s. Not changed: %d. To continue, run the command again.", strings.Join(i.changed, ", "), i.left)
	}
}
