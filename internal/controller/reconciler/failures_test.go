// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// failingLog is a log of the results of one controller's reconciles, in the form of controller-runtime.
type failingLog struct {
	clock      *testclock.FakePassiveClock
	log        logr.Logger
	env        Environment
	err        error
	reconciler reconcile.Reconciler
	lines      []string
}

func newFailingLog(verbosity int) *failingLog {
	f := &failingLog{clock: testclock.NewFakePassiveClock(time.Unix(0, 0))}
	f.env.Failures = NewFailures(f.clock)
	f.log = f.env.Failures.Logger(funcr.New(func(_, line string) { f.lines = append(f.lines, line) }, funcr.Options{Verbosity: verbosity}))
	f.reconciler = f.env.Counted("s3bucket",
		reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, f.err }))
	return f
}

// ends lets a reconcile of an object end with an error, and returns its log entries.
func (f *failingLog) ends(t *testing.T, name string, err error) string {
	t.Helper()
	f.lines, f.err = nil, err
	req := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: name}}
	if _, err := f.reconciler.Reconcile(t.Context(), req); err != nil {
		f.log.WithName("x").WithValues("controller", "s3bucket").WithValues("namespace", "team", "name", name).WithValues("reconcileID",
			"1").Error(err, "Reconciler error")
	}
	return strings.Join(f.lines, "\n")
}

func TestFailures_ShowEachAtErrorOnce(t *testing.T) {
	f := newFailingLog(0)
	denied, throttled := errors.New("denied"), errors.New("throttled")
	for i, step := range []struct {
		name string
		err  error
		wait time.Duration
		logs bool
	}{
		{"a", denied, 0, true},
		{"a", denied, time.Minute, false},
		{"b", denied, 0, true},
		{"a", throttled, 0, true},
		{"a", denied, 0, true},
		{"b", denied, 0, false},
		{"a", denied, 59 * time.Minute, false},
		{"a", denied, time.Minute, true}, // an hour later
		{"a", denied, time.Minute, false},
		{"a", nil, 0, false},
		{"a", denied, 0, true},
	} {
		f.clock.SetTime(f.clock.Now().Add(step.wait))
		if got := f.ends(t, step.name, step.err); (got != "") != step.logs {
			t.Errorf("step %d, %v of %s: logged %q, want a line: %v", i, step.err, step.name, got, step.logs)
		}
	}
}

func TestFailures_ShowRepetitionsAtDebug(t *testing.T) {
	f := newFailingLog(1)
	f.ends(t, "a", errors.New("denied"))
	if got := f.ends(t, "a", errors.New("denied")); !strings.Contains(got, `"level"=1`) || !strings.Contains(got, `"error"="denied"`) ||
		!strings.Contains(got, `"name"="a"`) {
		t.Errorf("logged %q", got)
	}
}

func TestFailures_LeaveOtherErrorsAlone(t *testing.T) {
	f := newFailingLog(0)
	for range 2 {
		f.log.WithValues("controller", "s3bucket", "namespace", "team", "name", "a").Error(errors.New("denied"), "Reading failed")
		f.log.Error(errors.New("denied"), "Reconciler error")
	}
	if len(f.lines) != 4 {
		t.Errorf("logged %q", f.lines)
	}
}

func TestFailures_LeaveALoggerThatDiscardsAlone(t *testing.T) {
	NewFailures(testclock.NewFakePassiveClock(time.Unix(0, 0))).Logger(logr.Discard()).WithValues("controller",
		"s3bucket").Error(errors.New("denied"), "Reconciler error")
}
