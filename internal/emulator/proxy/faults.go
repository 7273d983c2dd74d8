// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// Match says which requests a rule is about. Empty fields match everything; the
// texts may contain * and ?.
type Match struct {
	Service, Op, Resource string
	Endpoint              string // name given to Listen
	AccessKey             string // of the sender
	WritesOnly            bool
	Nth                   int // only the nth matching request since the rule was set; 0: every one
	Times                 int // at most so often; 0: without limit
	Percent               int // of the matching requests, evenly spread; 0: all
}

var addressPattern = regexp.MustCompile(`^([^.]*)\.([^(]*)\((.*)\)(?:#(\d+))?$`)

// At reads an address such as `dynamodb.CreateTable(orders)#2`: the second
// matching request after the rule was set. Without #n it means every one.
func At(address string) Match {
	m := addressPattern.FindStringSubmatch(address)
	if m == nil {
		panic(fmt.Sprintf("emulator: %q is not of the form service.Op(resource)#n", address))
	}
	nth, _ := strconv.Atoi(m[4])
	return Match{Service: m[1], Op: m[2], Resource: m[3], Nth: nth}
}

// Action holds the effect of a rule on a request.
type Action struct {
	name  string
	apply func(*Proxy, *transaction)
}

// transaction is one request with the connection to its client.
type transaction struct {
	w http.ResponseWriter
	r *http.Request
	x *Exchange

	released <-chan struct{} // by the rule
}

// DropBefore resets the connection; the request has no effect.
func DropBefore() Action {
	return Action{"dropped before", func(p *Proxy, t *transaction) { p.reply(t.w, t.x, nil) }}
}

// LoseAnswer lets the request have its effect, then resets the connection.
func LoseAnswer() Action { return ForwardThen(nil) }

// ForwardThen lets the request have its effect, calls hook (which may kill the
// client and close its endpoint), then resets the connection.
func ForwardThen(hook func()) Action {
	return Action{"answer lost", func(p *Proxy, t *transaction) {
		p.answered(t.x.call, p.handle(t.r.Context(), t.x))
		if hook != nil {
			hook()
		}
		wire.Reset(t.w)
	}}
}

// BeforeThen calls hook and resets the connection; the request has no effect.
func BeforeThen(hook func()) Action {
	return Action{"dropped before", func(p *Proxy, t *transaction) {
		hook()
		p.reply(t.w, t.x, nil)
	}}
}

// After calls hook and then passes the request on. The hook can send other requests first.
func After(hook func()) Action {
	return Action{"", func(p *Proxy, t *transaction) {
		hook()
		p.reply(t.w, t.x, p.handle(t.r.Context(), t.x))
	}}
}

// Observe calls hook after the request has had its effect and before it is
// answered; the answer is given as it is.
func Observe(hook func()) Action {
	return Action{"", func(p *Proxy, t *transaction) {
		a := p.handle(t.r.Context(), t.x)
		hook()
		p.reply(t.w, t.x, a)
	}}
}

// Delay passes the request on after a while.
func Delay(d time.Duration) Action {
	return Action{"delayed", func(p *Proxy, t *transaction) {
		select {
		case <-time.After(d):
		case <-t.x.endpoint.Closing():
		}
		p.reply(t.w, t.x, p.handle(t.r.Context(), t.x))
	}}
}

// Hang holds the request back until the rule is released or removed, then
// passes it on.
func Hang() Action {
	return Action{"held", func(p *Proxy, t *transaction) {
		select {
		case <-t.released:
		case <-t.x.endpoint.Closing():
		}
		p.reply(t.w, t.x, p.handle(t.r.Context(), t.x))
	}}
}

// Fail answers with an error in the service's own protocol; the request has no
// effect.
func Fail(status int, code, message string) Action {
	return Action{"failed with " + code, func(p *Proxy, t *transaction) {
		p.reply(t.w, t.x, ErrorAnswer(t.x.Request, Error{status, code, message}))
	}}
}

// Throttle answers as a service does that has had too many requests.
func Throttle() Action {
	return Action{"throttled", func(p *Proxy, t *transaction) {
		p.reply(t.w, t.x, ErrorAnswer(t.x.Request, throttling(t.x.Request)))
	}}
}

// NotFound answers that the resource does not exist, with the service's own
// error, whether it exists or not; the request has no effect.
func NotFound() Action {
	return Action{"failed with not found", func(p *Proxy, t *transaction) {
		p.reply(t.w, t.x, NotFoundAnswer(t.x.Request))
	}}
}

// Truncate lets the request have its effect and ends the connection in the
// middle of the answer's body.
func Truncate() Action {
	return Action{"answer truncated", func(p *Proxy, t *transaction) {
		a := p.handle(t.r.Context(), t.x)
		p.answered(t.x.call, a)
		if a == nil || len(a.Body) < 2 {
			wire.Reset(t.w)
			return
		}
		p.copyHeader(t.w, a)
		t.w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
		t.w.WriteHeader(a.Status)
		_, _ = t.w.Write(a.Body[:len(a.Body)/2])
		_ = http.NewResponseController(t.w).Flush()
		wire.Reset(t.w)
	}}
}

// Rule is an action on certain requests, in force until removed.
type Rule = wire.Rule[*Call, Action]

// Fault adds a rule. Rules are tried in the order of their addition; the first that matches a request decides it.
func (p *Proxy) Fault(m Match, a Action) *Rule {
	return p.rules.Add(m.matches, wire.Share{Nth: m.Nth, Times: m.Times, Percent: m.Percent}, a)
}

// ClearFaults removes every rule.
func (p *Proxy) ClearFaults() { p.rules.Clear() }

func (m Match) matches(c *Call) bool {
	return wire.Glob(m.Service, c.Service) && wire.Glob(m.Op, c.Op) && wire.Glob(m.Resource, c.Resource) &&
		wire.Glob(m.Endpoint, c.Endpoint) && wire.Glob(m.AccessKey, c.AccessKey) && (!m.WritesOnly || c.Write)
}
