// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// runChecked runs a command after a check of its flags. Missing rights in AWS are a precondition.
func runChecked[F interface{ Check() error }](f F, run func(context.Context, F) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		if err := f.Check(); err != nil {
			return err
		}
		return exit.DeniedFirst(run(cmd.Context(), f))
	}
}

// writeNotes adds the notes of a report.
func writeNotes(b *strings.Builder, notes []string) {
	for _, note := range notes {
		b.WriteString(console.Wrap("Note: "+status.Truncate(note, 1024)+".", ""))
	}
}

// report describes for people what a command found and does.
type report interface{ Text() string }

// makeReported makes the changes of a report. As text, it prints the report before them, so that the differences are seen also when
// one of them fails; in other formats it prints it after them.
func makeReported(s *console.Console, output string, dryRun bool, r report, do func() error) error {
	if output == "text" {
		if err := console.PrintAs(s.Out, output, r, r.Text); err != nil {
			return err
		}
	}
	if !dryRun {
		if err := do(); err != nil {
			return err
		}
	}
	if output == "text" {
		return nil
	}
	return console.PrintAs(s.Out, output, r, r.Text)
}

// makeRecorded makes one change after the other, reports them, and takes it over into the ledger. An interruption ends
// it between two changes, and cuts none off, so that it is known what was done.
func makeRecorded(ctx context.Context, s *console.Console, ledger *install.Ledger, changes []install.Change) error {
	var changed []string
	done := &doneChanges{say: s.Say}
	defer done.flush()
	for i, c := range changes {
		if ctx.Err() != nil {
			return &exit.Interruption{Changed: changed, Left: len(changes) - i}
		}
		if err := makeChange(ctx, c); err != nil {
			return exit.DeniedFirst(fmt.Errorf("%s: %w; %d of %d changes were made; run the command again to go on", c.Object, explainConflict(err), i, len(changes)))
		}
		if ledger != nil {
			ledger.Done(c)
		}
		changed = append(changed, c.Object)
		done.add(c)
	}
	return nil
}

// planRecorded records in the ledger what changes are about to create. Without changes it writes nothing.
func planRecorded(ctx context.Context, ledger *install.Ledger, changes []install.Change) error {
	if len(changes) == 0 {
		return nil
	}
	err := ledger.Plan(ctx, changes)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("another nexusctl is at work on this installation: run the command again when it is done: %w", err)
	}
	return err
}

// saveLedger saves what was done, also after an interruption.
func saveLedger(ctx context.Context, ledger *install.Ledger) error {
	if !ledger.Exists() {
		return nil
	}
	saving, cancel := exit.Uncut(ctx, patchTimeout)
	defer cancel()
	return ledger.Save(saving)
}

// makeChange makes a change, again after a failure that passes. An interruption does not cut it off.
func makeChange(ctx context.Context, c install.Change) error {
	doing, cancel := exit.Uncut(ctx, cmp.Or(c.Limit, patchTimeout))
	defer cancel()
	for {
		err := c.Do(doing)
		if _, passes := errors.AsType[*status.Retrying](err); !passes {
			return err
		}
		select {
		case <-doing.Done():
			return err
		case <-time.After(retryPause):
		}
	}
}

// retryPause is between two attempts of a call to AWS.
const retryPause = time.Second

// stillWaiting is the error of a wait that ran out of time.
type stillWaiting struct{ left string }

// Error implements error.
func (w *stillWaiting) Error() string { return w.left }

// notReadyWithin explains a wait that was too short, and returns other errors as they are.
func notReadyWithin(err error, u *unstructured.Unstructured, timeout time.Duration, see string) error {
	if waiting, ok := errors.AsType[*stillWaiting](err); ok {
		return &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("%s: not ready within %s: %s; see %s", console.TitleOf(u), timeout, waiting.left, see)}
	}
	return err
}

// waitFor waits until an object needs nothing any more. The error is a *stillWaiting when the time is over, and an
// *interruption when the command is interrupted.
func waitFor(ctx, limited context.Context, c client.Client, u *unstructured.Unstructured, left func(*unstructured.Unstructured) (string, error)) error {
	missing := "it was not seen yet"
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(u.GroupVersionKind())
	err := waitUntil(ctx, limited, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(u), now); err != nil {
			if meta.IsNoMatchError(err) {
				return false, nil
			}
			return false, client.IgnoreNotFound(err)
		}
		var err error
		missing, err = left(now)
		return missing == "", err
	})
	if limited.Err() != nil && ctx.Err() == nil {
		return &stillWaiting{left: missing}
	}
	return err
}

// waitUntil looks until a look finds all done. The error is an *interruption when the command is interrupted.
func waitUntil(ctx, limited context.Context, look func(context.Context) (bool, error)) error {
	err := wait.PollUntilContextCancel(limited, pollInterval, true, look)
	if ctx.Err() != nil {
		return &exit.Interruption{Text: "The command was interrupted while it waited. What it has changed stays, and what it has requested continues. To continue, run the command again."}
	}
	return err
}
