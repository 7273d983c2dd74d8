// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// remindEvery is the interval between two log entries at Error for a failure that lasts, so that a log that is kept for some hours has it.
const remindEvery = time.Hour

// controllerFailed is the message that controller-runtime logs at Error after each reconcile that failed.
const controllerFailed = "Reconciler error"

// Failures remembers the last failure of each object. An object is retried for as long as it fails, every minute or more often:
// the log has each failure at Error once, and its repetitions at Debug.
type Failures struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	last map[failing]failure
}

// failing is an object as one controller sees it.
type failing struct{ controller, namespace, name string }

type failure struct {
	text   string
	logged time.Time
}

// NewFailures returns a memory without failures.
func NewFailures(c clock.PassiveClock) *Failures {
	return &Failures{clock: c, last: map[failing]failure{}}
}

// Logger returns a logger that writes each failure of a reconcile at Error once, for the controllers of a manager.
func (f *Failures) Logger(log logr.Logger) logr.Logger {
	if log.GetSink() == nil { // it discards everything
		return log
	}
	return log.WithSink(&failureSink{LogSink: log.GetSink(), failures: f})
}

// isNew reports whether a failure is another one than the last of its object, or is due to be shown again.
func (f *Failures) isNew(of failing, text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	if last := f.last[of]; last.text == text && now.Sub(last.logged) < remindEvery {
		return false
	}
	f.last[of] = failure{text: text, logged: now}
	return true
}

// succeeded forgets the failure of an object: the next one is new. A nil Failures remembers nothing.
func (f *Failures) succeeded(controller string, req reconcile.Request) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.last, failing{controller: controller, namespace: req.Namespace, name: req.Name})
}

// failureSink knows from the values of a logger which object it is about.
type failureSink struct {
	logr.LogSink
	failures *Failures
	of       failing
}

// Error implements logr.LogSink.
func (s *failureSink) Error(err error, msg string, values ...any) {
	if msg != controllerFailed || err == nil || s.of.controller == "" || s.failures.isNew(s.of, err.Error()) {
		s.LogSink.Error(err, msg, values...)
		return
	}
	const debug = 1
	if s.Enabled(debug) {
		s.Info(debug, msg, append(values, "error", err.Error())...)
	}
}

// WithValues implements logr.LogSink.
func (s *failureSink) WithValues(values ...any) logr.LogSink {
	next := &failureSink{LogSink: s.LogSink.WithValues(values...), failures: s.failures, of: s.of}
	for i := 0; i+1 < len(values); i += 2 {
		value, _ := values[i+1].(string)
		switch values[i] {
		case "controller":
			next.of.controller = value
		case "namespace":
			next.of.namespace = value
		case "name":
			next.of.name = value
		}
	}
	return next
}

// WithName implements logr.LogSink.
func (s *failureSink) WithName(name string) logr.LogSink {
	return &failureSink{LogSink: s.LogSink.WithName(name), failures: s.failures, of: s.of}
}
