// SPDX-License-Identifier: Apache-2.0

// Package exit knows how a command of nexusctl ends: its exit codes, the errors that have one, and interruptions.
package exit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/plan"
)

// The exit codes of every verb.
const (
	CodeFailed       = 1
	CodeUsage        = 2
	CodePrecondition = 4
	// CodeDataLoss is that of a plan that deletes data, where the caller asked for it.
	CodeDataLoss    = 5
	CodeTimeout     = 124
	CodeInterrupted = 130
	// CodeNoReader is that of programs that SIGPIPE ends.
	CodeNoReader = 141
)

// Failure is an error with an exit code. A failure without an error says nothing: the verb has said it.
type Failure struct {
	Code int
	Err  error
}

// Error implements error.
func (f *Failure) Error() string {
	if f.Err == nil {
		return ""
	}
	return f.Err.Error()
}

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.Err }

// Usage is a mistake in the command line or in a manifest.
func Usage(format string, args ...any) error {
	return &Failure{Code: CodeUsage, Err: fmt.Errorf(format, args...)}
}

// Precondition is something that must be there first: a cluster, credentials, a permission.
func Precondition(err error) error { return &Failure{Code: CodePrecondition, Err: err} }

// IsUnknownCommand reports whether cobra knows no such command; it has no type for the error.
func IsUnknownCommand(err error) bool { return strings.HasPrefix(err.Error(), "unknown command") }

// Shortened leaves out of an interruption which read it ended: nothing failed there. Errors that came with it stay.
func Shortened(code int, err error) error {
	if code == CodeInterrupted && !IsJoined(err) && errors.Is(err, context.Canceled) {
		return &Interruption{}
	}
	return err
}

// IsJoined reports whether an error is made of several.
func IsJoined(err error) bool {
	_, joined := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	return joined
}

// CodeOf returns the exit code of an error.
func CodeOf(ctx context.Context, err error) int {
	f, known := errors.AsType[*Failure](err)
	_, noAccess := errors.AsType[*plan.AccessError](err)
	switch {
	case ctx.Err() != nil:
		return CodeInterrupted
	case known:
		return f.Code
	case noAccess, apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), IsUnreachable(err):
		return CodePrecondition
	case IsUnknownCommand(err):
		return CodeUsage
	default:
		return CodeFailed
	}
}

// IsUnreachable reports whether the API server gave no answer.
func IsUnreachable(err error) bool {
	_, failed := errors.AsType[*url.Error](err)
	return failed
}

// Interruption is an interrupted command that has made changes, or may have.
type Interruption struct {
	// Changed are the objects that were changed, and left is the number of those that were not.
	Changed []string
	Left    int
	// Waiting is true when every change was made and only the waiting was ended.
	Waiting bool
	// Text replaces the sentence about the changes where it does not fit.
	Text string
}

// Error implements error.
func (i *Interruption) Error() string { return "interrupted" }

// Said describes the changes made, the changes not made, and how to go on.
func (i *Interruption) Said() string {
	switch {
	case i != nil && i.Text != "":
		return i.Text
	case i != nil && i.Waiting:
		return "The command was interrupted while it waited. All its requests were made, and the operator serves them: see nexusctl status KIND/NAME."
	case i == nil || len(i.Changed) == 0:
		return "The command was interrupted and has changed nothing."
	default:
		return fmt.Sprintf("The command was interrupted. Changed: %s. Not changed: %d. To continue, run the command again.",
			strings.Join(i.Changed, ", "), i.Left)
	}
}

// DeniedFirst makes missing rights and credentials in AWS a precondition.
func DeniedFirst(err error) error {
	if awsclient.Is(err, awsclient.Denied) || awsclient.Is(err, awsclient.Unauthenticated) || awsclient.Is(err, awsclient.Expired) {
		return Precondition(err)
	}
	return err
}
