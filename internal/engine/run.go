// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"golang.org/x/sync/errgroup"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/tracing"
)

// StepError is the failure of one AWS call.
type StepError struct {
	Action string
	// Creates is true for the call that makes the resource.
	Creates bool
	// Fixes are the diff paths that the call was to settle.
	Fixes []string
	Err   error
}

// Error implements error.
func (e *StepError) Error() string { return e.Action + ": " + e.Err.Error() }

// Unwrap returns the AWS error.
func (e *StepError) Unwrap() error { return e.Err }

// stepErrors returns the failures of all steps that err joins.
func stepErrors(err error) []*StepError {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*StepError
		for _, e := range joined.Unwrap() {
			out = append(out, stepErrors(e)...)
		}
		return out
	}
	if s, ok := errors.AsType[*StepError](err); ok {
		return []*StepError{s}
	}
	return nil
}

// concurrency bounds how many calls for one resource are under way at a time.
const concurrency = 4

// Run sends the steps of a plan, stage by stage. The calls of one stage run at the same time and Run waits for all of them, so that the
// accepted calls are known; a failed stage ends the run, and so does one with LookAfter. store persists an identifier that AWS assigned, or
// the request that AWS carries out later, before the next action. Run returns the accepted steps in order, including a create if its
// identifier could not be stored.
func Run(ctx context.Context, o Owner, steps []kind.Step, store func(context.Context, kind.Accepted) error) ([]kind.Step, error) {
	var done []kind.Step
	for _, stage := range stagesOf(steps) {
		var group errgroup.Group
		group.SetLimit(concurrency)
		errs, accepted := make([]error, len(stage)), make([]bool, len(stage))
		for i, s := range stage {
			group.Go(func() error {
				accepted[i], errs[i] = execute(ctx, o, s, store)
				return nil
			})
		}
		_ = group.Wait() // the errors are in errs
		for i, s := range stage {
			if accepted[i] {
				done = append(done, s)
			}
		}
		if err := errors.Join(errs...); err != nil {
			return done, err
		}
		if slices.ContainsFunc(stage, func(s kind.Step) bool { return s.LookAfter }) {
			return done, nil
		}
	}
	return done, nil
}

// countLeft returns the steps, and a function that returns how many with an action AWS has not accepted yet.
func countLeft(steps []kind.Step) (counted []kind.Step, left func(action string) int) {
	var mu sync.Mutex
	open := map[string]int{}
	counted = slices.Clone(steps)
	for i, s := range steps {
		open[s.Action]++
		counted[i].Submit = func(ctx context.Context, token string) (kind.Accepted, error) {
			a, err := s.Send(ctx, token)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				open[s.Action]--
			}
			return a, err
		}
	}
	return counted, func(action string) int {
		mu.Lock()
		defer mu.Unlock()
		return open[action]
	}
}

// execute makes the call of one step and reports whether AWS accepted it.
func execute(ctx context.Context, o Owner, s kind.Step, store func(context.Context, kind.Accepted) error) (accepted bool, err error) {
	call, span := tracing.Span(ctx, "step "+s.Action, attribute.StringSlice("step.fields", s.Fixes))
	answer, err := s.Send(call, Token(o, s.Action))
	tracing.End(span, failureOf(err))
	accepted = err == nil
	if err != nil {
		err = &StepError{Action: s.Action, Creates: s.Effect == kind.Creates || s.Effect == kind.Ensures, Fixes: s.Fixes, Err: err}
	}
	if answer != (kind.Accepted{}) {
		err = errors.Join(err, store(ctx, answer))
	}
	return accepted, err
}

// failureOf names a failure for a trace.
func failureOf(err error) string {
	_, isStalled := status.AsStalled(err)
	_, isWaiting := status.AsWaiting(err)
	switch {
	case err == nil:
		return ""
	case isStalled:
		return "stalled"
	case isWaiting:
		return "waiting"
	default:
		return "failed"
	}
}

func stagesOf(steps []kind.Step) [][]kind.Step {
	by := map[int][]kind.Step{}
	for _, s := range steps {
		by[s.Stage] = append(by[s.Stage], s)
	}
	var out [][]kind.Step
	for _, n := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[n])
	}
	return out
}

// Token makes a repeated call harmless: same object, same attempt, same action, same token. It has the form of a UUID because the strictest
// AWS APIs ask for that (Secrets Manager: 32 to 64 characters; EC2: at most 64).
func Token(o Owner, action string) string {
	attempt := 1
	if o.Record.Intent != nil && o.Record.Intent.Attempt > 0 {
		attempt = o.Record.Intent.Attempt
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", o.UID, attempt, action))
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
