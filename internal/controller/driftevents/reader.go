// SPDX-License-Identifier: Apache-2.0

package driftevents

import (
	"context"
	"errors"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/driftevents"
)

const (
	// longPoll is the longest time that SQS lets a client wait for a message.
	longPoll = 20 * time.Second
	// firstRetry and lastRetry bound the pauses after failures to read a queue.
	firstRetry = 2 * time.Second
	lastRetry  = time.Minute
)

// The results of a message, as the metric names them.
const (
	resultChecked      = "Checked"
	resultOwn          = "Own"
	resultUnknown      = "Unknown"
	resultIneffective  = "Ineffective"
	resultHeartbeat    = "Heartbeat"
	resultOtherAccount = "OtherAccount"
	resultMalformed    = "Malformed"
	resultTooLarge     = "TooLarge"
	resultFailed       = "Failed"
)

// results returns all of them.
func results() []string {
	return []string{resultChecked, resultOwn, resultUnknown, resultIneffective, resultHeartbeat, resultOtherAccount, resultMalformed,
		resultTooLarge, resultFailed}
}

// reader reads one queue.
type reader struct {
	*Directory
	url string
	// namespace limits the objects that the messages may be about; empty for those of every namespace.
	namespace string
	// open returns the session that reads the queue.
	open func(context.Context) (*awsclient.Session, error)
	stop context.CancelFunc

	mu      sync.Mutex
	failure error
}

// run reads messages until the context ends.
func (r *reader) run(ctx context.Context) {
	pause := firstRetry
	for ctx.Err() == nil {
		err := r.readOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		r.report(ctx, err)
		if err == nil {
			pause = firstRetry
			continue
		}
		r.Env.Metrics.DriftReadFailed()
		select {
		case <-ctx.Done():
		case <-time.After(r.Env.Intervals.Jitter(pause)):
		}
		pause = min(2*pause, lastRetry)
	}
}

// readOnce receives some messages, requests the checks that they cause, and deletes them after that: a message that is not deleted comes
// again.
func (r *reader) readOnce(ctx context.Context) error {
	session, err := r.open(ctx)
	if err != nil {
		return err
	}
	messages, err := session.ReceiveMessages(ctx, r.url, longPoll)
	if err != nil {
		return err
	}
	account := ""
	if r.namespace != "" {
		account = session.Account
	}
	var done []awsclient.Message
	for _, m := range messages {
		result := r.handle(ctx, m.Body, account)
		r.Env.Metrics.DriftMessage(result)
		if result != resultFailed {
			done = append(done, m)
		}
	}
	return session.DeleteMessages(ctx, r.url, done)
}

// handle requests the checks that a message causes. The message must be of the account, unless that is empty.
func (r *reader) handle(ctx context.Context, body, account string) string {
	e, err := driftevents.Parse(body)
	switch {
	case errors.Is(err, driftevents.ErrTooLarge):
		return resultTooLarge
	case err != nil:
		return resultMalformed
	case account != "" && e.Account != account:
		return resultOtherAccount
	case e.Kind == driftevents.Heartbeat:
		return r.beat(e)
	case e.Kind == driftevents.Ineffective:
		return resultIneffective
	case r.Sessions.IsOwnWrite(e.RequestID):
		return resultOwn
	}
	found := 0
	for _, w := range r.Watchers {
		n, err := w.Changed(ctx, e, r.namespace)
		if err != nil {
			ctrl.LoggerFrom(ctx).V(1).Info("could not look up the objects of an event", "error", err.Error())
			return resultFailed
		}
		found += n
	}
	if found == 0 {
		return resultUnknown
	}
	return resultChecked
}

// beat records a heartbeat.
func (r *reader) beat(e driftevents.Event) string {
	if at, known := r.Flow.beat(place{r.namespace, e.Account, e.Region}, e.Time); known {
		r.Env.Metrics.DriftHeartbeat(e.Account, e.Region, at)
	}
	return resultHeartbeat
}

// report remembers how the last attempt went, and has the providers show a change of that.
func (r *reader) report(ctx context.Context, err error) {
	r.mu.Lock()
	changed := (r.failure == nil) != (err == nil) || err != nil && r.failure.Error() != err.Error()
	r.failure = err
	r.mu.Unlock()
	if changed && r.ShowChange != nil {
		r.ShowChange(ctx)
	}
}

// lastFailure returns the error of the last attempt to read.
func (r *reader) lastFailure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure
}
