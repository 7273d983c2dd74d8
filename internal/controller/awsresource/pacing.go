// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	// pacedReport is the least time between two reports of one pass that its calls are paced.
	pacedReport = 5 * time.Second
	// pacedRetry is the pause before a pass continues after its last calls were held back, if it made any progress.
	pacedRetry = 5 * time.Second
)

// pacing notes the calls of a pass that wait for the operator's own rate limit.
type pacing struct {
	subject   *subject
	work      *work
	intervals reconciler.Intervals

	// held receives the action of a call that has to wait.
	held chan string
	// left returns how many steps of the current plan with an action AWS has not accepted yet; nil before the first.
	left func(action string) int
}

func newPacing(s *subject, w *work, intervals reconciler.Intervals) *pacing {
	return &pacing{subject: s, work: w, intervals: intervals, held: make(chan string, 1)}
}

// call takes note of a call that has to wait; see awsclient.OnPaced.
func (p *pacing) call(service, operation string) {
	select {
	case p.held <- service + ":" + operation:
	default: // another call waits as well
	}
}

// Running implements engine.Host: while steps wait for the rate limit, the status says so and how many are left.
func (p *pass) Running(ctx context.Context, left func(action string) int) (stop func()) {
	return p.pacing.run(ctx, left)
}

// run shows, until stop returns, that steps wait for the rate limit.
func (p *pacing) run(ctx context.Context, left func(action string) int) (stop func()) {
	p.left = left
	select {
	case <-p.held: // a read before the plan had to wait
	default:
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		p.report(ctx, ended)
	}()
	return func() {
		close(ended)
		<-done
	}
}

// report shows each few seconds that calls wait, until the steps have ended.
func (p *pacing) report(ctx context.Context, ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case action := <-p.held:
			p.show(ctx, action)
		}
		pause := time.NewTimer(pacedReport)
		select {
		case <-ended:
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// show writes into the status that the pass waits for the rate limit. A write that fails is not repeated: the
// end of the pass writes the status again.
func (p *pacing) show(ctx context.Context, action string) {
	if p.left(action) == 0 {
		return
	}
	p.subject.writing.Lock()
	defer p.subject.writing.Unlock()
	st, generation := p.subject.obj.CommonStatus(), p.subject.obj.GetGeneration()
	status.Summarize(&st.Conditions, status.Result{Err: p.waitForQuota(action), Generation: generation, Now: p.subject.clock.Now()})
	st.Ready, st.ObservedGeneration = status.ReadyAt(st.Conditions, generation), generation
	if err := p.subject.patchStatus(ctx); err != nil {
		ctrl.LoggerFrom(ctx).V(1).Info("could not show that AWS calls wait for the rate limit", "error", err.Error())
	}
}

// waitForQuota names the calls that wait for the rate limit, and their number.
func (p *pacing) waitForQuota(action string) *status.Waiting {
	service, _, _ := strings.Cut(action, ":")
	text := "AWS calls that are paced by the " + strings.ToUpper(service) + " quota"
	if p.left != nil && p.left(action) > 0 {
		text += fmt.Sprintf(": %d %s left", p.left(action), cmp.Or(p.subject.entry.Meta().Units[action], "calls"))
	}
	return &status.Waiting{Reason: status.ReasonThrottled,
		For: text + "; a higher quota of the account, or a higher --aws-rates of the operator, shortens this", Usable: true}
}

// waitForTurn returns the result of a pass if its calls would have to wait too long. A pass that made progress continues soon; others wait
// longer each time, so that many objects do not read AWS without effect.
func (p *pacing) waitForTurn(err error) error {
	f := awsclient.Classify(err)
	w := p.waitForQuota(f.Service + ":" + f.Operation)
	if len(p.work.done) > 0 {
		w.After = p.intervals.Jitter(pacedRetry)
	}
	return w
}
