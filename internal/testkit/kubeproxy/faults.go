// SPDX-License-Identifier: Apache-2.0

package kubeproxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// Rule is an action on certain requests, in force until removed.
type Rule = wire.Rule[*Call, Action]

// Action holds the effect of a rule on a request.
type Action struct {
	name  string
	apply func(*transaction)
}

// Fault adds a rule. Rules are tried in the order of their addition; the first that matches a request decides it.
func (p *Proxy) Fault(m Match, a Action) *Rule {
	return p.rules.Add(m.matches, wire.Share{Nth: m.Nth, Times: m.Times, Percent: m.Percent}, a)
}

// ClearFaults removes every rule and lets held watches go on.
func (p *Proxy) ClearFaults() {
	p.rules.Clear()
	p.watches.release()
}

// DropBefore resets the connection; the request has no effect.
func DropBefore() Action { return BeforeThen(nil) }

// BeforeThen calls hook (which may kill the client and close its endpoint) and
// resets the connection; the request has no effect.
func BeforeThen(hook func()) Action {
	return Action{"dropped before", func(t *transaction) {
		if hook != nil {
			hook()
		}
		t.proxy.answered(t.call, 0)
		wire.Reset(t.w)
	}}
}

// LoseAnswer lets the request have its effect, then resets the connection.
func LoseAnswer() Action { return ForwardThen(nil) }

// ForwardThen lets the request have its effect, calls hook and resets the
// connection.
func ForwardThen(hook func()) Action {
	return Action{"answer lost", func(t *transaction) {
		if response := t.forward(); response != nil {
			response.Body.Close()
		}
		if hook != nil {
			hook()
		}
		wire.Reset(t.w)
	}}
}

// Observe calls hook after the request has had its effect and before it is
// answered; the answer is given as it is.
func Observe(hook func()) Action {
	return Action{"", func(t *transaction) {
		response := t.forward()
		hook()
		t.answer(response)
	}}
}

// Delay passes the request on after a while.
func Delay(d time.Duration) Action {
	return Action{"delayed", func(t *transaction) {
		select {
		case <-time.After(d):
		case <-t.endpoint.Closing():
		}
		t.pass()
	}}
}

// Hang holds the request back until the rule is released or removed, then
// passes it on.
func Hang() Action {
	return Action{"held", func(t *transaction) {
		select {
		case <-t.released:
		case <-t.endpoint.Closing():
		}
		t.pass()
	}}
}

// Fail answers with an error of that HTTP status and reason (metav1.StatusReason…);
// the request has no effect.
func Fail(status int, reason metav1.StatusReason, message string) Action {
	return Action{fmt.Sprintf("failed with %d %s", status, reason), func(t *transaction) {
		answer := metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: int32(status), Reason: reason, Message: message,
			Details: &metav1.StatusDetails{Name: t.call.Name, Group: t.call.Group, Kind: t.call.Resource},
		}
		if status == http.StatusTooManyRequests {
			answer.Details.RetryAfterSeconds = 1
			t.w.Header().Set("Retry-After", strconv.Itoa(1))
		}
		t.proxy.answered(t.call, status)
		t.w.Header().Set("Content-Type", "application/json")
		t.w.WriteHeader(status)
		_ = json.NewEncoder(t.w).Encode(answer)
	}}
}

// Conflict answers as if another client had changed the object since the read.
func Conflict() Action {
	return Fail(http.StatusConflict, metav1.StatusReasonConflict,
		"the object has been modified; please apply your changes to the latest version and try again")
}

// TooManyRequests answers as an overloaded server does.
func TooManyRequests() Action {
	return Fail(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests,
		"the server has received too many requests and has asked us to try again later")
}

// Forbidden answers as if RBAC did not allow the request.
func Forbidden() Action {
	return Fail(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden by a test")
}

// Expired answers 410, as a server does that no longer has the history since the wanted resourceVersion: of a list or of the start of a
// watch.
func Expired() Action {
	return Fail(http.StatusGone, metav1.StatusReasonExpired, "too old resource version")
}

// Unavailable answers as a server does that is shutting down.
func Unavailable() Action {
	return Fail(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "the server is currently unable to handle the request")
}
