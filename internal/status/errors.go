// SPDX-License-Identifier: Apache-2.0

// Package status holds the kinds of failure that steer the controllers, the condition tables, and
// the one summary that turns both into an object's status. A leaf: it imports no client.
package status

import (
	"errors"
	"fmt"
	"time"
)

// Stalled is a failure that only a person can end: bad input, a missing permission, a foreign owner.
// It is still retried, slowly, so that the object recovers automatically once the cause is gone.
type Stalled struct {
	// Reason is a stable CamelCase word of the documented list.
	Reason string
	// Field of the spec at fault, such as "spec.providerRef.namespace"; empty when there is none.
	Field string
	// Message describes the problem and its remedy.
	Message string
	// Certain is true where no value of another object changes it, so that a plan knows it before the other object exists.
	Certain bool
	Cause   error
}

// Error implements error.
func (s *Stalled) Error() string {
	if s.Field != "" {
		return s.Field + ": " + s.Message
	}
	return s.Message
}

// Unwrap returns the cause.
func (s *Stalled) Unwrap() error { return s.Cause }

// Invalid is a Stalled for input that admission could not see to be wrong.
func Invalid(field, format string, args ...any) *Stalled {
	return &Stalled{Reason: ReasonInvalidSpec, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Waiting is not a failure: another object or change must come first.
type Waiting struct {
	// Reason is a stable CamelCase word; empty is ReasonWaiting.
	Reason string
	// For names the awaited state, such as "GlueDatabase/myapp-dev to be ready".
	For string
	// After is the latest time of the next look; a watch usually comes sooner.
	After time.Duration
	// Usable is true when the resource of the object serves its users during the wait: an object that was Ready at its generation stays Ready.
	Usable bool
	// Bounded is true when no one may ever create the awaited resource, such as a VPC that is known only by its identifier in the object: a
	// wait that lasts for ten minutes is reported as Stalled.
	Bounded bool
}

// Error implements error.
func (w *Waiting) Error() string { return "waiting for " + w.For }

// Retrying is a failure that passes: a throttle, a broken connection, an outage. It is retried with
// growing pauses and shown as Reconciling; the phase stays.
type Retrying struct {
	// Reason is ReasonThrottled, ReasonUnreachable, ReasonWebhookFailing or ReasonRetrying.
	Reason string
	Cause  error
}

// Error implements error.
func (r *Retrying) Error() string { return r.Cause.Error() }

// Unwrap returns the cause.
func (r *Retrying) Unwrap() error { return r.Cause }

// AsStalled finds a Stalled in err's chain.
func AsStalled(err error) (*Stalled, bool) { return errors.AsType[*Stalled](err) }

// AsWaiting finds a Waiting in err's chain.
func AsWaiting(err error) (*Waiting, bool) { return errors.AsType[*Waiting](err) }

// AsRetrying finds a Retrying in err's chain, or makes one of the API server's error about a webhook that does not answer.
func AsRetrying(err error) (*Retrying, bool) {
	if r, ok := errors.AsType[*Retrying](err); ok || err == nil {
		return r, ok
	}
	r := failedWebhook(err)
	return r, r != nil
}
