// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// While writes wait for the rate limit, the status reports every five seconds how many are left. Reads before the plan, and writes
// that AWS has accepted, are not reported.
func TestPacing_StatusShowsHowManyWritesAreLeft(t *testing.T) {
	o := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set", Generation: 3}}
	r := newRoom(t, "SSMParameterSet", o)
	r.read(o)
	synctest.Test(t, func(t *testing.T) {
		var left atomic.Int64
		left.Store(40)
		p := newPass(r.Reconciler, o)
		p.pacing.call("ssm", "GetParameters")
		stop := p.Running(t.Context(), func(action string) int {
			if action != "ssm:PutParameter" {
				return 0
			}
			return int(left.Load())
		})
		shows := func(what string, after time.Duration, want ...string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := r.written(); !slices.Equal(got, want) {
				t.Errorf("%s: wrote %q, want %q", what, got, want)
			}
		}
		p.pacing.call("ssm", "PutParameter")
		p.pacing.call("ssm", "PutParameter") // another one waits as well
		shows("calls wait", 0, "patch status")
		if m := r.is(o, status.Reconciling, metav1.ConditionTrue, status.ReasonThrottled); !strings.Contains(m, "SSM quota: 40 parameters left") {
			t.Errorf("the message is %q", m)
		}
		left.Store(10)
		p.pacing.call("ssm", "PutParameter")
		shows("less than five seconds later", pacedReport-time.Second)
		shows("five seconds later", time.Second, "patch status")
		if m := r.is(o, status.Reconciling, metav1.ConditionTrue, status.ReasonThrottled); !strings.Contains(m, "10 parameters left") {
			t.Errorf("the message is %q", m)
		}
		left.Store(0)
		p.pacing.call("ssm", "PutParameter")
		shows("AWS has accepted all", pacedReport)
		stop()
		left.Store(5)
		p.pacing.call("ssm", "PutParameter")
		shows("the steps have ended", 2*pacedReport)
	})
}

// A pass that made progress continues soon; others leave the pause to the backoff.
func TestWaitForTurn_ContinuesSoonAfterProgress(t *testing.T) {
	r := newRoom(t, "SSMParameterSet")
	p := newPass(r.Reconciler, &v1alpha1.SSMParameterSet{})
	w, ok := status.AsWaiting(p.pacing.waitForTurn(errors.New("paced")))
	if !ok || w.After != 0 || !w.Usable || strings.Contains(w.For, "left") {
		t.Errorf("without progress: %+v", w)
	}
	p.work.done = []string{"ssm:PutParameter"}
	if w, _ := status.AsWaiting(p.pacing.waitForTurn(errors.New("paced"))); w.After < pacedRetry*9/10 || w.After > pacedRetry*11/10 {
		t.Errorf("after progress it continues in %s", w.After)
	}
}
