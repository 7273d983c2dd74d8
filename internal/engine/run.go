package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// StepError is the failure of one AWS call.
type StepError struct {
	Action string
	// Creates is true for the call that makes the resource.
	Creates bool
	Err     error
}

// Error implements error.
func (e *StepError) Error() string { return e.Action + ": " + e.Err.Error() }

// Unwrap returns the AWS error.
func (e *StepError) Unwrap() error { return e.Err }

// concurrency bounds how many calls for one resource are under way at a time.
const concurrency = 4

// Run does a plan, stage by stage. The calls of one stage run at the same time and all come to an end,
// so that what was done is known; a failed stage ends the run. store persists an identifier that AWS
// assigned, before anything else is done.
func Run(ctx context.Context, o Owner, p Plan, store func(ctx context.Context, id string) error) error {
	for _, stage := range stages(p.Steps) {
		var group errgroup.Group
		group.SetLimit(concurrency)
		errs := make([]error, len(stage))
		for i, s := range stage {
			group.Go(func() error {
				errs[i] = do(ctx, o, s, store)
				return nil
			})
		}
		_ = group.Wait() // the errors are in errs
		if err := errors.Join(errs...); err != nil {
			return wrap(err, p.creates)
		}
	}
	return nil
}

func do(ctx context.Context, o Owner, s kind.Step, store func(context.Context, string) error) error {
	id, err := s.Do(ctx, Token(o, s.Action))
	if err != nil {
		err = &StepError{Action: s.Action, Err: err}
	}
	if id != "" {
		err = errors.Join(err, store(ctx, id))
	}
	return err
}

func wrap(err error, creates bool) error {
	if s, ok := errors.AsType[*StepError](err); ok {
		s.Creates = creates
	}
	return err
}

func stages(steps []kind.Step) [][]kind.Step {
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

// Token makes a repeated call harmless: same object, same attempt, same action, same token. It has the
// form of a UUID because that is what the strictest AWS APIs ask for (Secrets Manager: 32 to 64
// characters; EC2: at most 64).
func Token(o Owner, action string) string {
	attempt := 1
	if o.Intent != nil && o.Intent.Attempt > 0 {
		attempt = o.Intent.Attempt
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", o.UID, attempt, action))
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
